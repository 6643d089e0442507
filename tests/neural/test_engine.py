"""Every operation goes back as it went forward: its slopes are those of central differences, and of products along all paths."""

import numpy as np
import pytest

from qed.base.errors import InputError, ParameterError
from qed.neural.engine import (
    Affine,
    AveragePool,
    ChannelPool,
    Concatenate,
    Convolve,
    Keep,
    LocalNormalise,
    MaxPool,
    Node,
    Normalise,
    Reshape,
    Tally,
    Windows,
    activation,
    apply,
    constant,
    gradients,
    path_sum,
)
from qed.neural.engine.activations import ACTIVATIONS
from qed.neural.engine.losses import LOSSES, loss_named
from qed.neural.engine.node import Add, Multiply, Power, Product, Sum, in_order

WINDOWS = Windows((3, 2), (2, 1), (1, 1))
STEP = 1e-5


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def apart(*shape):
    """Give values no two of which are closer than a hundredth, so that no maximum changes when one is moved."""
    size = int(np.prod(shape))
    return (np.random.default_rng(1).permutation(size) * 0.02 - 0.01 * size + 0.005).reshape(shape)


CASES = {
    "add": (Add, [normal(3, 4), normal(4, seed=1)]),
    "multiply": (Multiply, [normal(3, 4), normal(3, 1, seed=1)]),
    "power": (lambda: Power(3), [normal(3, 4)]),
    "product": (Product, [normal(3, 4), normal(4, 2, seed=1)]),
    "sum": (Sum, [normal(3, 4)]),
    "affine": (Affine, [normal(5, 4), normal(4, 3, seed=1), normal(3, seed=2)]),
    "affine without offset": (Affine, [normal(5, 4), normal(4, 3, seed=1)]),
    "convolve": (
        lambda: Convolve(Windows((3, 2))),
        [normal(2, 3, 6, 5), normal(4, 3, 3, 2, seed=1), normal(4, seed=2)],
    ),
    "convolve, stride and padding": (lambda: Convolve(WINDOWS), [normal(2, 3, 6, 5), normal(4, 3, 3, 2, seed=1)]),
    "convolve, stride beyond the window": (
        lambda: Convolve(Windows((2, 2), (3, 3))),
        [normal(2, 1, 8, 7), normal(3, 1, 2, 2, seed=1)],
    ),
    "convolve, groups": (lambda: Convolve(Windows((2, 2)), 2), [normal(2, 4, 4, 4), normal(6, 2, 2, 2, seed=1)]),
    "max pool": (lambda: MaxPool(Windows((2, 2), (2, 2))), [apart(2, 3, 6, 5)]),
    "max pool, overlapping": (lambda: MaxPool(WINDOWS), [apart(2, 3, 6, 5)]),
    "average pool": (lambda: AveragePool(WINDOWS), [normal(2, 3, 6, 5)]),
    "channel maximum": (lambda: ChannelPool(3), [apart(2, 6, 3, 3)]),
    "channel mean": (lambda: ChannelPool(3, "mean"), [normal(2, 6, 3, 3)]),
    "reshape": (lambda: Reshape((6,)), [normal(4, 2, 3)]),
    "concatenate": (Concatenate, [normal(2, 2, 3, 3), normal(2, 1, 3, 3, seed=1)]),
    "keep": (lambda: Keep(2.0 * (normal(3, 4, seed=5) > 0)), [normal(3, 4)]),
    "normalise by the batch": (Normalise, [normal(6, 3), normal(3, seed=1), normal(3, seed=2)]),
    "normalise images": (Normalise, [normal(4, 3, 2, 2), normal(3, seed=1), normal(3, seed=2)]),
    "normalise by given": (
        lambda: Normalise(normal(3, seed=3), normal(3, seed=4) ** 2),
        [normal(6, 3), normal(3, seed=1), normal(3, seed=2)],
    ),
    "local normalise": (lambda: LocalNormalise(3, alpha=0.5), [normal(2, 6, 2, 2)]),
    **{f"activation {name}": (lambda name=name: activation(name), [apart(4, 6)]) for name in ACTIVATIONS},
}


def central_differences(make, values, place, seed):
    """Differentiate the sum of ``seed`` times what comes out by one input."""
    found = np.zeros_like(values[place])
    for i in np.ndindex(*found.shape):
        ends = []
        for sign in (1, -1):
            moved = [value.copy() for value in values]
            moved[place][i] += sign * STEP
            ends.append((make().forward(*moved) * seed).sum())
        found[i] = (ends[0] - ends[1]) / (2 * STEP)
    return found


@pytest.mark.parametrize("name", CASES)
def test_slopes_are_those_of_central_differences(name):
    make, values = CASES[name]
    nodes = [Node(value) for value in values]
    result = apply(make(), *nodes)
    seed = normal(*result.shape, seed=9)
    for place, slope in enumerate(gradients(result, nodes, seed=seed)):
        expected = central_differences(make, values, place, seed)
        assert slope.shape == values[place].shape
        # Third derivatives times the square of the step, and rounding divided by the step.
        np.testing.assert_allclose(slope, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_of_losses(name, weighted):
    z, weight = normal(5, 3), np.array([1.0, 0.0, 2.0, 0.5, 3.0]) if weighted else None
    target = {"cross_entropy": np.array([0, 2, 1, 1, 0]), "log_loss": (normal(5, 3, seed=1) > 0) * 1.0}.get(
        name, np.abs(normal(5, 3, seed=2))
    )
    node = Node(z)
    loss = apply(loss_named(name)(target, weight), node)
    expected = central_differences(lambda: loss_named(name)(target, weight), [z], 0, 1.0)
    np.testing.assert_allclose(gradients(loss, [node])[0], expected, atol=1e-8)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"keep"}))
def test_single_precision_stays(name):
    make, values = CASES[name]
    nodes = [Node(value.astype(np.float32)) for value in values]
    result = apply(make(), *nodes)
    assert result.value.dtype == np.float32
    assert {slope.dtype for slope in gradients(result, nodes)} == {np.dtype(np.float32)}


def test_a_shared_node_sums_what_comes_back():
    w = Node(np.array([1.0, 2.0]))
    result = (w * w + w).sum()
    np.testing.assert_array_equal(gradients(result, [w])[0], 2 * w.value + 1)


def test_a_circle_is_refused():
    w = Node(1.0)
    a = w + 1.0
    b = a * 2.0
    a.inputs = (w, b)
    with pytest.raises(InputError, match="circle"):
        gradients(b, [w])
    b.inputs = (b, b)
    with pytest.raises(InputError, match="circle"):
        in_order(b)


def test_what_nobody_wants_is_not_calculated():
    class Asked(Product):
        def backward(self, slope, value, *values):
            found = super().backward(slope, value, *values)
            assert found[0] is None
            return found

    weight = Node(normal(4, 2))
    result = apply(Asked(), constant(normal(3, 4)), weight)
    assert gradients(result.sum(), [weight])[0].shape == (4, 2)


def test_nodes_that_are_not_met_have_no_slope():
    w, other = Node(1.0), Node(np.ones(3))
    assert not gradients(2 * w, [other])[0].any()


def test_arithmetic_of_nodes():
    x = Node(np.array([3.0]))
    assert (5 - x).value == 2 and (x - 1.0).value == 2 and (-x).value == -3 and (x**2).value == 9
    assert (np.array([2.0]) * x).value == 6
    assert Node(3).value.dtype == np.float32
    assert "given" in repr(x) and "Power" in repr(x**2)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_paths_give_what_back_propagation_gives_and_grow_without_end(depth):
    """A dense network of width n has n^(L-1) paths from a weight of its first layer; back-propagation visits each edge once."""
    width = 3
    a = [Node(np.array(value)) for value in (0.5, -1.0, 2.0)]
    weight = Node(np.array(0.7))
    a[0] = a[0] * weight
    edges = 0
    for layer in range(depth):
        w = normal(width, width, seed=layer)
        a = [sum((a[i] * float(w[i, j]) for i in range(1, width)), a[0] * float(w[0, j])) for j in range(width)]
    loss = sum(a[1:], a[0])
    by_paths = path_sum(loss, weight)
    tally = Tally()
    (slope,) = gradients(loss, [weight], tally=tally)
    np.testing.assert_allclose(by_paths.derivative[0, 0], slope, rtol=1e-12)
    assert by_paths.paths == width**depth
    edges = sum(sum(source.trained for source in node.inputs) for node in in_order(loss))
    assert tally.edges == edges
    if depth == 3:
        assert by_paths.products > tally.edges


def test_paths_of_vectors_are_products_of_jacobians():
    w = Node(normal(3))
    loss = ((w**2.0) * w).sum()
    np.testing.assert_allclose(path_sum(loss, w).derivative[0], 3 * w.value**2)


def test_too_many_paths_are_refused():
    w = Node(1.0)
    node = w
    for _ in range(30):
        node = node + node
    with pytest.raises(InputError, match="paths"):
        path_sum(node, w)
    assert gradients(node, [w])[0] == 2.0**30


def test_names_that_are_unknown_are_refused():
    with pytest.raises(ParameterError, match="activation"):
        activation("swish")
    with pytest.raises(ParameterError, match="loss"):
        loss_named("hinge")


def test_seeds_and_targets_have_to_fit():
    with pytest.raises(InputError, match="seed"):
        gradients(Node(normal(3)), [], seed=np.ones(2))
    with pytest.raises(InputError, match="match"):
        apply(loss_named("squared_error")(normal(4)), Node(normal(4, 2)))
    with pytest.raises(InputError, match="targets"):
        apply(loss_named("cross_entropy")(np.zeros(3)), Node(normal(4, 2)))
    with pytest.raises(InputError, match="channels"):
        apply(Convolve(Windows((2, 2))), Node(normal(1, 3, 4, 4)), Node(normal(1, 2, 2, 2)))
    with pytest.raises(InputError, match="groups"):
        apply(ChannelPool(4), Node(normal(1, 3, 4, 4)))
    with pytest.raises(InputError, match="fit"):
        Windows((5, 5)).positions(4, 4)


def test_nothing_overflows():
    large = np.array([[1e4, -1e4], [-1e4, 1e4]])
    for name, target in (("cross_entropy", np.array([1, 1])), ("log_loss", np.array([[0.0, 1.0], [0.0, 1.0]]))):
        node = Node(large)
        loss = apply(loss_named(name)(target), node)
        assert np.isfinite(loss.value) and np.isfinite(gradients(loss, [node])[0]).all()
    for name in ("softmax", "logistic", "tanh"):
        assert np.isfinite(activation(name).forward(large)).all()
