"""Looking at functions: critical points, convexity, curvature, conditioning; and conjugate gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.base.errors import InputError, ParameterError
from qed.optim import (
    Objective,
    check_convexity,
    check_smoothness,
    check_strong_convexity,
    classify,
    condition_number,
    conjugate_gradients,
    descent_iterations,
    estimate_curvature,
    ridge_condition,
)
from qed.optim.searches.flat import flat_length, safe_length
from qed.optim.searches.methods import Armijo


def symmetric(seed, values):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    H = Q * np.asarray(values) @ Q.T
    return (H + H.T) / 2


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-10, 10).filter(lambda v: abs(v) > 0.01), min_size=1, max_size=4), st.integers(0, 1000))
def test_quadratics_are_what_their_eigenvalues_say(values, seed):
    H = symmetric(seed, values)
    low, high = min(values), max(values)
    expected = "local minimum" if low > 0 else "local maximum" if high < 0 else "saddle"
    assert classify(np.zeros(len(H)), lambda w: H @ w, lambda w: H).kind == expected
    assert classify(np.zeros(len(H)), lambda w: H @ w).kind == expected

    def f(w):
        return w @ H @ w / 2

    box = [-1.0] * len(H), [1.0] * len(H)
    derivatives = {"gradient": lambda w: H @ w, "hessian": lambda w: H}
    assert bool(check_convexity(f, *box, **derivatives, n_samples=50)) == (low > 0)
    found = estimate_curvature(f, *box, **derivatives, n_samples=5)
    assert found.lowest == pytest.approx(low)
    assert found.highest == pytest.approx(high)
    assert check_smoothness(f, max(abs(low), abs(high)) * (1 + 1e-12), *box, **derivatives, n_samples=50)
    if low > 0:
        assert check_strong_convexity(f, low * (1 - 1e-12), *box, **derivatives, n_samples=50)


@pytest.mark.parametrize("height", [1e-150, 1e-10, 1.0, 1e10, 1e150])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_verdicts_do_not_depend_on_units(height, size):
    def f(w):
        return height * (np.log(np.exp(w / size).sum()) + 0.01 * (w / size) @ (w / size))

    box = [-3 * size] * 2, [3 * size] * 2
    assert check_convexity(f, *box, tests=("chord",))
    assert not check_convexity(lambda w: -f(w), *box, tests=("chord",))
    H = symmetric(0, [height, -height])
    assert classify([0.0, 0.0], lambda w: H @ w, lambda w: H).kind == "saddle"


def test_a_far_minimum_is_critical_within_its_own_size():
    found = classify([1e8, 1e8], lambda w: 2 * (w - 1e8))
    assert found.kind == "local minimum"
    assert classify([1e8 + 1e5, 1e8], lambda w: 2 * (w - 1e8)).kind == "not critical"


def test_a_constant_function_is_undetermined():
    found = classify([1.0], lambda w: 0 * w, lambda w: np.zeros((1, 1)))
    assert (found.kind, found.suggests) == ("undetermined", "")


def test_the_same_seed_gives_the_same_witness():
    first, again, other = (
        check_convexity(np.sin, -3.0, 3.0, random_state=seed).witnesses["chord"] for seed in (1, 1, 2)
    )
    assert first.t == again.t
    assert first.t != other.t


def test_findings_read_like_a_certificate():
    text = str(check_convexity(np.sin, -3.0, 3.0))
    assert "no violation found: chord" in text
    assert "NO" in text
    assert text.endswith("Refuted: the function is not convex.")


def test_bad_input_is_named():
    with pytest.raises(InputError, match="not finite at"), np.errstate(invalid="ignore"):
        check_convexity(np.log, -1.0, 1.0)
    with pytest.raises(ParameterError, match="low < high"):
        check_convexity(np.sin, 1.0, -1.0)
    with pytest.raises(ParameterError, match="tests must be some of"):
        check_convexity(np.sin, -1.0, 1.0, tests=("cord",))
    with pytest.raises(ParameterError, match="n_samples"):
        check_convexity(np.sin, -1.0, 1.0, n_samples=0)
    with pytest.raises(ParameterError, match="condition"):
        descent_iterations(0.5)
    with pytest.raises(ParameterError, match="tol"):
        descent_iterations(2.0, 1.0)
    with pytest.raises(ParameterError, match="alpha"):
        ridge_condition(np.eye(2), -1.0)
    with pytest.raises(InputError, match="finite"):
        condition_number([[np.nan]])


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.floats(-150, 150), st.integers(0, 1000))
def test_conjugate_gradients_solve_in_as_many_products_as_dimensions(d, exponent, seed):
    H = 10.0**exponent * symmetric(seed, np.linspace(1, 10, d))
    b = np.random.default_rng(seed).standard_normal(d)
    found = conjugate_gradients(lambda v: H @ v, b, tol=1e-9)
    assert found.iterations <= d
    assert not found.bent_down
    np.testing.assert_allclose(H @ found.solution, b, atol=1e-8)


def test_conjugate_gradients_stop_at_negative_curvature():
    found = conjugate_gradients(lambda v: np.array([1.0, -1.0]) * v, np.array([1.0, 0.1]))
    assert found.bent_down
    nothing = conjugate_gradients(lambda v: -v, np.array([1.0, 0.0]))
    assert nothing.bent_down and not nothing.solution.any()
    zero = conjugate_gradients(lambda v: v, np.zeros(2))
    assert (zero.iterations, zero.residual) == (0, 0.0)


def test_a_preconditioner_saves_products_and_tables_are_as_good_as_vectors():
    H = symmetric(1, np.geomspace(1, 1e6, 40))
    right = np.random.default_rng(1).standard_normal((8, 5))
    inverse = np.linalg.inv(H + np.diag(np.full(40, 0.5)))

    def product(table):
        return (H @ table.ravel()).reshape(8, 5)

    plain = conjugate_gradients(product, right, tol=1e-8)
    found = conjugate_gradients(product, right, 1e-8, None, lambda table: (inverse @ table.ravel()).reshape(8, 5))
    assert found.iterations < 12 < plain.iterations
    # The residual is small in the norm of the preconditioner, whose condition number is a million.
    np.testing.assert_allclose(product(found.solution), right, atol=1e-8 * 1e3 * np.abs(right).sum())
    np.testing.assert_allclose(found.left, right - product(found.solution), atol=1e-8)


def test_few_clusters_of_eigenvalues_take_few_products():
    H = symmetric(0, [1.0] * 20 + [50.0] * 20 + [1000.0] * 10)
    assert conjugate_gradients(lambda v: H @ v, np.ones(50), tol=1e-9).iterations == 3


def test_conjugate_gradients_may_end_by_what_the_solution_is():
    H = symmetric(2, np.geomspace(1, 1e4, 40))
    met: list[np.ndarray] = []

    def near(solution):
        met.append(solution)
        return 1e-2 if np.linalg.norm(solution) > 0.5 else 1e-10

    found = conjugate_gradients(lambda v: H @ v, np.ones(40), near)
    assert found.residual <= near(found.solution) and len(met) == found.iterations + 2
    assert found.iterations < conjugate_gradients(lambda v: H @ v, np.ones(40), 1e-10).iterations


def test_slopes_lead_on_where_values_do_not():
    """At a height of 1e9 values can not tell points apart that are closer than 1e-4 to the minimum."""
    high = Objective(lambda w: 1e9 + w @ w, lambda w: 2 * w)
    step = high.at(np.array([3e-6, -1e-6]))
    length = flat_length(high, step, -step.gradient)
    np.testing.assert_allclose(step.point - length * step.gradient, 0, atol=1e-20)
    assert flat_length(high, step, step.gradient) == 0
    far = high.at(np.array([3e3, 1e3]))
    assert safe_length(Armijo(first=1.0), high, far, -far.gradient) == Armijo(first=1.0).length(
        high, far, -far.gradient
    )
