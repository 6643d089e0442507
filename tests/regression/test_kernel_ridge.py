"""Kernel ridge regression: against scikit-learn, its forms, weights and sources, its certificate, and what it refuses."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

import qed
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.data.synthetic import ar1_covariance
from qed.kernels import RBF, Laplace, Polynomial
from qed.regression.kernel import ridge
from tests.conformance.checks import run_check

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "poly", "degree": 2, "coef0": 0.5},
    {"kernel": "laplacian", "gamma": 0.3},
]


@pytest.fixture
def table():
    random = np.random.default_rng(4)
    X = random.normal([3, 0, -1], size=(50, 3))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.1 * random.normal(size=50)
    return X, y, random.normal([3, 0, -1], size=(9, 3))


@parametrize_with_checks(
    [
        qed.KernelRidge(kernel="rbf"),
        qed.KernelRidge(kernel="poly", degree=2, form="dual"),
        qed.GeneralizedKernelRidge(kernel="rbf"),
    ]
)
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_scikit_learn_contract(estimator, check):
    run_check(estimator, check)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(table, kernel, outputs, weighted):
    X, y, new = table
    y = y if outputs is None else np.column_stack([y, y**2])
    alpha = 0.3 if outputs is None else [0.3, 2.0]
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float) if weighted else None
    ours, theirs = (kind(alpha=alpha, **kernel).fit(X, y, weight) for kind in (qed.KernelRidge, Theirs))
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-8, atol=1e-9)
    assert ours.certificate_ and qed.certify(ours, X, y, weight)


def test_kernel_objects_functions_and_matrices_say_the_same(table):
    X, y, new = table
    expected = qed.KernelRidge(0.5, kernel="rbf", gamma=0.2).fit(X, y).predict(new)

    def function(x, z):
        return np.exp(-0.2 * np.sum((x - z) ** 2))

    for kernel in (RBF(0.2), function):
        np.testing.assert_allclose(qed.KernelRidge(0.5, kernel=kernel).fit(X, y).predict(new), expected, rtol=1e-10)
    K, across = RBF(0.2)(X), RBF(0.2)(new, X)
    model = qed.KernelRidge(0.5, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.predict(across), expected, rtol=1e-10)
    assert qed.certify(model, K, y)
    weight = np.arange(50.0) % 3
    weighted = qed.KernelRidge(0.5, kernel="precomputed").fit(K, y, weight)
    direct = qed.KernelRidge(0.5, kernel="rbf", gamma=0.2).fit(X, y, weight)
    np.testing.assert_allclose(weighted.predict(across), direct.predict(new), rtol=1e-10)
    assert qed.certify(weighted, K, y, weight)


def test_the_algebra_of_kernels_carries_over(table):
    X, y, new = table
    both = qed.KernelRidge(0.5, kernel=RBF(0.2) + 2 * Polynomial(2)).fit(X, y)
    K = RBF(0.2)(X) + 2 * Polynomial(2)(X)
    dual = np.linalg.solve(K + 0.5 * np.eye(50), y)
    np.testing.assert_allclose(both.predict(new), (RBF(0.2)(new, X) + 2 * Polynomial(2)(new, X)) @ dual, rtol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("form", ["auto", "dual"])
def test_sparse_is_dense(table, kernel, form):
    X, y, new = table
    X, new = np.where(np.abs(X) < 1, 0, X), np.where(np.abs(new) < 1, 0, new)
    dense = qed.KernelRidge(0.5, kernel=kernel, form=form).fit(X, y)
    model = qed.KernelRidge(0.5, kernel=kernel, form=form).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(model.predict(sparse.csr_array(new)), dense.predict(new), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.predict(new), dense.predict(new), rtol=1e-9, atol=1e-10)
    assert qed.certify(model, sparse.csr_array(X), y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rows_of_weight_zero_may_hold_anything(table, kernel):
    X, y, new = table
    weight = np.ones(50)
    weight[[3, 17]] = 0
    holes = X.copy()
    holes[3] = np.nan
    model = qed.KernelRidge(0.5, kernel=kernel).fit(holes, y, weight)
    fewer = qed.KernelRidge(0.5, kernel=kernel).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(model.predict(new), fewer.predict(new), rtol=1e-12)
    assert (model.dual_coef_[[3, 17]] == 0).all() and qed.certify(model, holes, y, weight)


def test_float32_stays_float32(table):
    X, y, new = table
    model = qed.KernelRidge(0.5, kernel="rbf").fit(X.astype(np.float32), y)
    assert model.predict(new.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        model.predict(new.astype(np.float32)), qed.KernelRidge(0.5, kernel="rbf").fit(X, y).predict(new), rtol=1e-4
    )


@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("form", ["auto", "dual"])
def test_the_certificate_objects_when_any_coefficient_is_moved(table, alpha, kernel, form):
    X, y, _ = table
    model = qed.KernelRidge(alpha, kernel=kernel, form=form).fit(X, y)
    assert qed.certify(model, X, y)
    attributes = ["dual_coef_", "coef_"] if model.form_ == "primal" else ["dual_coef_"]
    for attribute in attributes:
        values = getattr(model, attribute)
        place = np.abs(values).argmax()
        values[place] *= 1.001
        assert not qed.certify(model, X, y)
        values[place] /= 1.001
    assert qed.certify(model, X, y)


def test_the_gap_bounds_the_objective(table):
    """The duality gap of a wrong answer is at least its distance from the minimum."""
    X, y, _ = table
    K, alpha = RBF(0.2)(X), 0.5

    def objective(c):
        return np.sum((y - K @ c) ** 2) + alpha * c @ K @ c

    model = qed.KernelRidge(alpha, kernel=RBF(0.2)).fit(X, y)
    least = objective(model.dual_coef_)
    random = np.random.default_rng(0)
    for size in (1e-6, 1e-3, 1.0):
        model.dual_coef_ = model.dual_coef_ + size * random.normal(size=50)
        claim = qed.certify(model, X, y)["objective above its minimum"]
        assert objective(model.dual_coef_) - least <= claim.value * objective(model.dual_coef_) * (1 + 1e-6) + 1e-12


def test_equal_rows_without_a_penalty_are_averaged(table):
    X, y, _ = table
    twice, both = np.vstack([X, X]), np.concatenate([y, y + 1])
    with pytest.warns(DegenerateWarning, match="50 of 100 directions"):
        model = qed.KernelRidge(0.0, kernel=Laplace(gamma=0.5)).fit(twice, both)
    np.testing.assert_allclose(model.predict(X), y + 0.5, atol=1e-9)
    assert model.rank_ == 50 and model.certificate_ and qed.certify(model, twice, both)
    weight = np.repeat([3.0, 1.0], 50)
    with pytest.warns(DegenerateWarning):
        model = qed.KernelRidge(0.0, kernel=Laplace(gamma=0.5)).fit(twice, both, weight)
    np.testing.assert_allclose(model.predict(X), y + 0.25, atol=1e-9)
    assert qed.certify(model, twice, both, weight)
    model.dual_coef_[7] *= 1.001
    assert not qed.certify(model, twice, both, weight)


def test_saved_models_predict_the_same(table, tmp_path):
    X, y, new = table
    for model in (
        qed.KernelRidge(kernel=RBF(0.3) + 1),
        qed.GeneralizedKernelRidge(ar1_covariance(50, 0.5), kernel="rbf"),
    ):
        model.fit(X, y)
        qed.save(model, tmp_path / "model.qed")
        loaded = qed.load(tmp_path / "model.qed")
        np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
        assert qed.certify(loaded, X, y)


def test_what_is_refused(table):
    X, y, _ = table
    K = RBF(0.2)(X)
    with pytest.raises(InputError, match="square"):
        qed.KernelRidge(kernel="precomputed").fit(X, y)
    with pytest.raises(InputError, match="symmetric"):
        qed.KernelRidge(kernel="precomputed").fit(np.triu(K), y)
    with pytest.raises(InputError, match="negative eigenvalue"):
        qed.KernelRidge(kernel="precomputed").fit(-K, y)
    with pytest.raises(InputError, match="column number 1, row 2"):
        qed.KernelRidge(kernel="rbf").fit(np.where(np.arange(150).reshape(50, 3) == 7, np.nan, X), y)
    with pytest.raises(ParameterError, match="alpha"):
        qed.KernelRidge([1.0, 2.0, 3.0]).fit(X, y)
    with pytest.raises(ParameterError, match="kernel must be"):
        qed.KernelRidge(kernel="sigmoid").fit(X, y)
    with pytest.raises(ParameterError, match="form"):
        qed.KernelRidge(form="fast").fit(X, y)


def test_one_row_and_one_column():
    model = qed.KernelRidge(1.0, kernel="rbf").fit([[2.0]], [3.0])
    np.testing.assert_allclose(model.dual_coef_, [1.5])
    assert model.certificate_ and qed.certify(model, [[2.0]], [3.0])


def test_generalized_takes_variances_and_weights(table):
    X, y, new = table
    variance = 0.2 + np.arange(50) / 20
    model = qed.GeneralizedKernelRidge(variance, kernel="rbf").fit(X, y)
    weighted = qed.KernelRidge(1.0, kernel="rbf").fit(X, y, 1 / variance)
    np.testing.assert_allclose(model.predict(new), weighted.predict(new), rtol=1e-10)
    full = qed.GeneralizedKernelRidge(np.diag(variance), kernel="rbf").fit(X, y)
    np.testing.assert_allclose(model.predict(new), full.predict(new), rtol=1e-10)
    model.dual_coef_[4] *= 1.001
    assert not qed.certify(model, X, y)
    with pytest.raises(ParameterError, match="50 rows were given"):
        qed.GeneralizedKernelRidge(np.ones(3)).fit(X, y)
    with pytest.raises(InputError, match="sample_weight"):
        qed.GeneralizedKernelRidge(np.eye(50)).fit(X, y, np.ones(50))
    with pytest.raises(ParameterError, match="positive definite"):
        qed.GeneralizedKernelRidge(np.ones((50, 50))).fit(X, y)


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
@pytest.mark.parametrize("seed", [0, 6, 11])
def test_features_of_very_different_size_are_left_to_the_form_that_can_be_proven(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(25, 4)) * np.power(10.0, random.integers(-6, 7, 4))
    X[:, -1] = 10 * X[:, 0]
    y = random.normal(size=25)
    primal = qed.KernelRidge(kernel="poly", degree=2, form="primal").fit(X, y)
    dual = qed.KernelRidge(kernel="poly", degree=2, form="dual").fit(X, y)
    model = qed.KernelRidge(kernel="poly", degree=2).fit(X, y)
    # Similarities of 1e27 leave next to nothing of a penalty of one: whether there is a proof hangs on the last bits.
    taken = dual if dual.certificate_ and not primal.certificate_ else primal
    assert model.form_ == taken.form_ and hasattr(model, "coef_") == (taken is primal)
    np.testing.assert_array_equal(model.predict(X), taken.predict(X))
    assert bool(model.certificate_) == bool(taken.certificate_) == bool(qed.certify(model, X, y))


def test_a_primal_form_without_a_proof_gives_way(table, monkeypatch):
    X, y, new = table
    own = ridge.solve_primal

    def unproven(*given):
        found, claims = own(*given)
        return found, [*claims, Claim("nothing", 1.0, 0.0)]

    monkeypatch.setattr(ridge, "solve_primal", unproven)
    model = qed.KernelRidge(kernel="poly", degree=2).fit(X, y)
    assert model.form_ == "dual" and model.certificate_ and not hasattr(model, "coef_")
    assert model.reason_ == "the features differ too much in size for the primal form"
    expected = qed.KernelRidge(kernel="poly", degree=2, form="dual").fit(X, y)
    np.testing.assert_array_equal(model.predict(new), expected.predict(new))


@pytest.mark.filterwarnings("error::qed.base.errors.DegenerateWarning")
def test_a_primal_form_that_is_kept_is_not_said_to_leave_directions_out(table, monkeypatch):
    X, y, _ = table
    X = np.vstack([X, X])
    nothing = [Claim("nothing", 1.0, 0.0)]
    monkeypatch.setattr(ridge, "solve_primal", lambda *given, own=ridge.solve_primal: (own(*given)[0], nothing))
    monkeypatch.setattr(qed.KernelRidge, "_claims_about", lambda *given: nothing)
    settings = {"kernel": "poly", "degree": 2, "alpha": 1e-14}
    assert qed.KernelRidge(**settings).fit(X, np.r_[y, y]).form_ == "primal"
    with pytest.raises(DegenerateWarning, match="directions"):
        qed.KernelRidge(**settings, form="dual").fit(X, np.r_[y, y])
