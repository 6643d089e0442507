"""The algebra of kernels: every expression is a kernel, has the map it says, prints as itself and survives saving."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
import qed.kernels as room
from qed.base.errors import InputError, ParameterError, SavingError
from qed.kernels import (
    RBF,
    Constant,
    Gaussian,
    Laplace,
    Linear,
    Mapped,
    NotAKernelError,
    OnColumns,
    Polynomial,
    PolynomialOf,
    Power,
    Product,
    QuadraticForm,
    Scaled,
    Sum,
    check_mercer,
    direct_product,
    direct_sum,
    exp,
)
from qed.kernels.mercer import check_gram

P = 3
NAMES = {name: getattr(room, name) for name in room.__all__}
SIZES = st.sampled_from([0.25, 0.5, 1.0, 2.0])


def quadratic(seed):
    root = np.random.default_rng(seed).standard_normal((P, 2))
    return QuadraticForm(root @ root.T)


FINITE = st.one_of(
    st.just(Linear()),
    st.builds(Polynomial, st.integers(1, 3), SIZES, st.sampled_from([0.0, 1.0, 2.5])),
    st.builds(Constant, SIZES),
    st.builds(quadratic, st.integers(0, 9)),
    st.builds(lambda columns: Linear().on(columns), st.lists(st.integers(0, P - 1), min_size=1, max_size=P)),
)
INFINITE = st.one_of(
    st.builds(RBF, SIZES), st.builds(Laplace, SIZES), st.builds(lambda size: Laplace(size, norm=1), SIZES)
)


def larger(kernels):
    return st.one_of(
        st.builds(lambda a, b: a + b, kernels, kernels),
        st.builds(lambda a, b: a * b, kernels, kernels),
        st.builds(lambda c, k: c * k, st.sampled_from([0.0, 0.5, 3.0]), kernels),
        st.builds(lambda k: k**2, kernels),
        st.builds(lambda k: k.polynomial([1.0, 0.0, 0.5]), kernels),
        st.builds(lambda k: k.normalized(), kernels),
        st.builds(lambda k: k.on([2, 0, 1]), kernels),
    )


FINITE_ONES = st.recursive(FINITE, larger, max_leaves=3)
ANY = st.recursive(
    FINITE | INFINITE, lambda inner: larger(inner) | st.builds(lambda k: exp(k.normalized()), inner), max_leaves=5
)


def sample(seed, n=25):
    X = np.random.default_rng(seed).standard_normal((n, P))
    X[n // 2] = X[0]
    X[-1] = 0
    return X


@given(ANY, st.integers(0, 1000))
def test_every_expression_is_positive_semidefinite(kernel, seed):
    X = sample(seed)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    assert check_gram(K), str(check_gram(K))
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(K), rtol=1e-9, atol=1e-9 * np.abs(K).max())
    np.testing.assert_allclose(kernel(X, X[:7]), K[:, :7], rtol=1e-9, atol=1e-9 * np.abs(K).max())


@given(FINITE_ONES, st.integers(0, 1000))
def test_every_finite_map_gives_its_kernel(kernel, seed):
    X = sample(seed, 12)
    count = kernel.n_features(P)
    if count > 5000:
        return
    features = kernel.features(X)
    features = features.toarray() if hasattr(features, "toarray") else features
    assert features.shape == (12, count)
    K = kernel(X)
    np.testing.assert_allclose(features @ features.T, K, rtol=1e-8, atol=1e-10 * np.abs(K).max())


@given(ANY)
@settings(max_examples=100)
def test_a_kernel_prints_as_what_makes_it(kernel):
    again = eval(repr(kernel), dict(NAMES))
    assert again == kernel and hash(again) == hash(kernel) and repr(again) == repr(kernel)


def test_what_prints():
    assert repr(RBF(0.5) + 2 * Polynomial(3)) == "RBF(gamma=0.5) + 2.0 * Polynomial()"
    assert repr((RBF(1) + 1) ** 3) == "(RBF(gamma=1.0) + Constant()) ** 3"
    assert repr(exp(Linear()).on(np.array([0, 2]))) == "exp(Linear()).on([0, 2])"
    assert repr(2 * (3 * Linear())) == "2.0 * (3.0 * Linear())"
    assert repr(direct_sum((Linear(), [0]))) == "Sum((Linear().on([0]),))"
    assert repr((Linear() + RBF()) * Linear()) == "(Linear() + RBF()) * Linear()"


def test_kernels_are_values():
    assert RBF(0.5) == RBF(gamma=0.5) == Gaussian(0.5) != RBF(sigma=1.0)
    assert RBF(0.5) + Linear() == Sum((RBF(0.5), Linear()))
    assert (RBF(1) + Linear()) + Linear() == RBF(1) + (Linear() + Linear())
    assert (RBF(1) * Linear()) * Linear() == Product((RBF(1), Linear(), Linear()))
    assert np.float64(2) * Linear() == Linear() * 2 == Scaled(Linear(), 2) == Linear() / 0.5 == Linear().scale(2)
    assert sum([RBF(1), Linear()]) == RBF(1) + Linear()
    assert 1 + Linear() == Sum((Constant(1), Linear()))
    assert Linear() ** 2 == Power(Linear(), 2)
    assert Linear().polynomial((1, 2)) == PolynomialOf(Linear(), (1.0, 2.0))
    assert QuadraticForm(np.eye(2)) == QuadraticForm([[1, 0], [0, 1]]) != QuadraticForm(2 * np.eye(2))
    assert len({RBF(1), RBF(1.0), QuadraticForm(np.eye(2)), QuadraticForm(np.eye(2))}) == 2
    with pytest.raises(AttributeError):
        RBF(1).gamma = 2


@given(ANY)
@settings(max_examples=25)
def test_kernels_survive_saving(kernel):
    from qed.base.saving.format import Packer, Unpacker

    packer = Packer()
    tree = packer.pack(kernel)
    assert Unpacker(lambda number: packer.arrays[number]).unpack(tree) == kernel


def test_a_model_with_a_kernel_is_saved_and_one_with_a_function_is_not(tmp_path):
    X = sample(0)
    scaler = qed.StandardScaler().fit(X)
    model = qed.Nystroem((RBF(0.5) + Linear()).mapped(scaler), n_components=5, random_state=0).fit(X)
    qed.save(model, tmp_path / "model.qed")
    loaded = qed.load(tmp_path / "model.qed")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    for kernel in (Linear().mapped(np.sin), Linear().conjugate(lambda X: X[:, 0]), room.Custom(np.dot)):
        model = qed.Nystroem(kernel, n_components=5, random_state=0).fit(X)
        with pytest.raises(SavingError, match="function"):
            qed.save(model, tmp_path / "model.qed")


def test_sums_and_products_of_blocks_of_columns():
    X = sample(1)
    added, multiplied = direct_sum((RBF(1), [0, 1]), (Linear(), [2])), direct_product((RBF(1), [0, 1]), (Linear(), [2]))
    np.testing.assert_allclose(added(X), RBF(1)(X[:, :2]) + X[:, 2:] @ X[:, 2:].T, rtol=1e-12)
    np.testing.assert_allclose(multiplied(X), RBF(1)(X[:, :2]) * (X[:, 2:] @ X[:, 2:].T), rtol=1e-12)


def test_maps_by_functions_and_by_models():
    X = sample(2)
    squares = qed.PolynomialFeatures(2).fit(X)
    np.testing.assert_allclose(Linear().mapped(squares)(X), squares.transform(X) @ squares.transform(X).T, rtol=1e-12)
    assert Linear().mapped(squares).n_features(P) == 10
    np.testing.assert_allclose(RBF(1).mapped(np.sin)(X, X[:3]), RBF(1)(np.sin(X), np.sin(X[:3])), rtol=1e-12)
    np.testing.assert_array_equal(RBF(1).mapped(np.sin).diagonal(X), np.ones(len(X)))
    with pytest.raises(InputError, match="a row for each of 25 rows"):
        Linear().mapped(lambda X: X[:3])(X)
    with pytest.raises(InputError, match="NaN"):
        Linear().mapped(lambda X: X * np.nan)(X)


def test_functions_of_rows_as_factors():
    X = sample(3)
    kernel = RBF(1).conjugate(lambda X: X[:, 0])
    np.testing.assert_allclose(kernel(X), RBF(1)(X) * np.outer(X[:, 0], X[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), X[:, 0] ** 2, rtol=1e-12)
    np.testing.assert_allclose(Linear().conjugate(lambda X: X[:, 0]).features(X), X * X[:, [0]], rtol=1e-12)
    assert check_mercer(kernel, X)
    with pytest.raises(InputError, match="one number for each"):
        Linear().conjugate(lambda X: X)(X)
    with pytest.raises(InputError, match="finite"):
        Linear().conjugate(lambda X: np.full(len(X), np.inf))(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda: -2 * Linear(),
        lambda: -Linear(),
        lambda: Linear() * -0.5,
        lambda: Linear().scale(-1),
        lambda: Constant(-1),
        lambda: Linear() + -1,
    ],
)
def test_negative_factors_are_refused_with_a_witness(make):
    with pytest.raises(NotAKernelError, match=">= 0") as caught:
        make()
    assert caught.value.witness.tolist() == [1.0]


def test_an_indefinite_matrix_is_refused_with_a_witness():
    A = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(NotAKernelError, match="smallest eigenvalue is -1") as caught:
        QuadraticForm(A)
    v = caught.value.witness
    assert v @ A @ v < 0
    with pytest.raises(NotAKernelError, match="must be symmetric"):
        QuadraticForm([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ParameterError, match="square"):
        QuadraticForm([[1.0, 2.0]])
    assert QuadraticForm(np.zeros((2, 2)))([[1.0, 2.0]]) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Linear() - Linear(),
        lambda: 1 - Linear(),
        lambda: Linear() ** 0,
        lambda: Linear() ** 1.5,
        lambda: Linear().polynomial([1, -1]),
        lambda: Linear().polynomial([]),
        lambda: Linear() * math.nan,
        lambda: Linear().on([]),
        lambda: Linear().on([-1]),
        lambda: Linear().on(0),
        lambda: Linear().mapped(3),
        lambda: Linear().conjugate(None),
        lambda: Sum(()),
        lambda: Sum((1,)),
        lambda: Power("rbf", 2),
        lambda: OnColumns("rbf", (0,)),
        lambda: Mapped("rbf", np.sin),
        lambda: RBF(0),
        lambda: RBF(-1),
        lambda: RBF(1, sigma=1),
        lambda: RBF(sigma=0),
        lambda: Laplace(norm=3),
        lambda: Polynomial(0),
        lambda: Polynomial(2.5),
        lambda: Polynomial(2, coef0=-1),
        lambda: Polynomial(2, gamma=0),
    ],
)
def test_what_is_no_kernel_is_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_wrong_columns_are_named():
    with pytest.raises(InputError, match="needs column 5, but there are 3"):
        Linear().on([0, 5])(sample(0))
    with pytest.raises(InputError, match="for 2 columns, but X has 3"):
        QuadraticForm(np.eye(2))(sample(0))
    with pytest.raises(TypeError):
        Linear() + "rbf"


@pytest.mark.parametrize(
    "kernel", [RBF(0.5) + 2 * Polynomial(3), quadratic(0).on([0, 1, 2]), exp(Laplace(norm=1))], ids=repr
)
def test_kernels_can_be_copied_sent_and_searched_over(kernel):
    import copy
    import pickle

    from sklearn.base import clone

    assert copy.deepcopy(kernel) == kernel == pickle.loads(pickle.dumps(kernel))
    assert clone(qed.Nystroem(kernel)).kernel == kernel


def test_a_wide_matrix_is_not_printed_to_say_that_it_overflows():
    with pytest.raises(InputError) as caught:
        QuadraticForm(np.eye(200))(np.full((2, 200), 1e200))
    assert len(str(caught.value)) < 600
