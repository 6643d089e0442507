"""Many penalties at once, and searches: the same as fitting one by one."""

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateWarning, ParameterError
from qed.kernels import RBF
from qed.linalg.shifted import solve_all

ALPHAS = np.array([1e-3, 0.1, 0.1, 5.0])


@pytest.fixture
def table():
    random = np.random.default_rng(2)
    X = random.normal(size=(36, 3))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.1 * random.normal(size=36)
    return X, y, random.normal(size=(7, 3))


def without(X, y, i, weight=None):
    rest = np.delete(np.arange(len(y)), i)
    return X[rest], y[rest], None if weight is None else weight[rest]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 2])
def test_path_is_what_single_fits_give(table, weighted, outputs):
    X, y, new = table
    y = y if outputs == 1 else np.column_stack([y, y**2])
    weight = np.arange(36) % 4 + 0.5 if weighted else None
    path = qed.kernel_ridge_path(X, y, ALPHAS, kernel="rbf", gamma=0.4, sample_weight=weight)
    for k, alpha in enumerate(ALPHAS):
        model = qed.KernelRidge(alpha, kernel="rbf", gamma=0.4).fit(X, y, weight)
        np.testing.assert_allclose(path.dual_coef[k], model.dual_coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(path.fitted[k], model.predict(X), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(path.predict(new)[k], model.predict(new), rtol=1e-8, atol=1e-10)
        left_out = [
            y[i]
            - qed.KernelRidge(alpha, kernel="rbf", gamma=0.4).fit(*without(X, y, i, weight)).predict(X[i : i + 1])[0]
            for i in range(36)
        ]
        np.testing.assert_allclose(path.leave_one_out_residual[k], left_out, rtol=1e-7, atol=1e-9)
        assert path.leave_one_out_error[k] == pytest.approx(np.mean(np.square(left_out)), rel=1e-7)
    assert path.best == ALPHAS[path.leave_one_out_error.argmin()]


def test_degrees_of_freedom_are_the_trace_of_the_hat_matrix(table):
    X, y, _ = table
    path = qed.kernel_ridge_path(X, y, ALPHAS, kernel="rbf")
    value = np.linalg.eigvalsh(RBF()(X))
    np.testing.assert_allclose(path.degrees_of_freedom, [(value / (value + a)).sum() for a in ALPHAS], rtol=1e-9)
    assert (np.diff(qed.kernel_ridge_path(X, y, kernel="rbf").degrees_of_freedom) < 0).all()


def test_a_weight_is_a_repetition_but_for_what_is_left_out(table):
    X, y, new = table
    weight = np.arange(36) % 3
    path = qed.kernel_ridge_path(X, y, ALPHAS, kernel="rbf", sample_weight=weight.astype(float))
    repeated = qed.kernel_ridge_path(np.repeat(X, weight, 0), np.repeat(y, weight), ALPHAS, kernel="rbf")
    np.testing.assert_allclose(path.predict(new), repeated.predict(new), rtol=1e-8)
    np.testing.assert_allclose(path.training_error, repeated.training_error, rtol=1e-8)
    np.testing.assert_allclose(path.degrees_of_freedom, repeated.degrees_of_freedom, rtol=1e-8)
    assert (path.dual_coef[:, weight == 0] == 0).all()


def test_no_closed_form_for_equal_rows_without_a_penalty(table):
    X, y, _ = table
    X[18:] = X[:18]
    with pytest.warns(DegenerateWarning, match="36 fits"):
        path = qed.kernel_ridge_path(X, y, [0.0, 0.1], kernel="laplacian")
    assert path.degrees_of_freedom[0] == 18
    np.testing.assert_allclose(path.leave_one_out_residual[0], y - np.roll(y, 18), atol=1e-8)


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 33, 130])
def test_all_penalties_against_dense_inverses(n, leave_out):
    random = np.random.default_rng(n)
    X, Y, weight = random.normal(size=(n, 4)), random.normal(size=(n, 2)), random.uniform(0.5, 2, n)
    K = RBF(0.3)(X)
    alphas = np.geomspace(1e-2, 1e2, 30)
    found = solve_all(K.copy(), Y, weight, alphas, leave_out=leave_out)
    for k, alpha in enumerate(alphas):
        inverse = np.linalg.inv(K + alpha * np.diag(1 / weight))
        np.testing.assert_allclose(found.dual[k], inverse @ Y, rtol=1e-8, atol=1e-9)
        if leave_out:
            np.testing.assert_allclose(found.left_out[k], inverse @ Y / np.diagonal(inverse)[:, None], rtol=1e-8)
            assert found.freedom[k] == pytest.approx(np.trace(K @ inverse), rel=1e-8)


def same_scores(model, grid, X, y, weight=None, rtol=1e-8, **how):
    cheap = qed.Search(model, grid, **how).fit(X, y, weight)
    plain = qed.Search(model, grid, cheap=False, **how).fit(X, y, weight)
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(cheap.cv_results_[name], plain.cv_results_[name], rtol=rtol, atol=1e-12)
    assert cheap.best_params_ == plain.best_params_ and cheap.certificate_
    assert "together" in cheap.how_ and "fitted" in plain.how_
    return cheap


MODELS = [qed.KernelRidge(kernel="rbf"), qed.KernelRidge(kernel="poly", degree=2), qed.KernelRidge(form="dual")]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("cv", [3, "loo"])
@pytest.mark.parametrize("case", ["plain", "weights", "outputs"])
@pytest.mark.sampled(2)
def test_search_is_the_plain_search(table, model, cv, case):
    X, y, _ = table
    weight = (np.arange(36) % 4).astype(float) if case == "weights" else None
    y = np.column_stack([y, y**2]) if case == "outputs" else y
    same_scores(model, {"alpha": [1e-2, 0.3, 4.0]}, X, y, weight, cv=cv)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "neg_root_mean_squared_error", "neg_max_error"])
@pytest.mark.parametrize("cv", [3, "loo"])
@pytest.mark.sampled(2)
def test_search_with_any_score(table, model, scoring, cv):
    X, y, _ = table
    if cv == "loo" and model.kernel == "poly" and scoring == "neg_max_error":
        model = qed.KernelRidge(kernel="poly", degree=2, form="dual")
    same_scores(model, {"alpha": [1e-2, 0.3]}, X[:14], y[:14], cv=cv, scoring=scoring)


def test_search_over_the_kernel_too(table):
    X, y, _ = table
    grid = {"alpha": [1e-2, 0.3, 4.0], "gamma": [0.1, 1.0], "kernel": ["rbf", "laplacian"]}
    same_scores(qed.KernelRidge(), grid, X, y, cv=3)
    same_scores(qed.KernelInterpolator(kernel="rbf"), {"gamma": [1.0, 3.0]}, X, y, cv=3, rtol=1e-5)


def test_search_with_training_scores_and_given_splits(table):
    X, y, _ = table
    splits = [(np.arange(20), np.arange(20, 36)), (np.arange(10, 36), np.arange(10))]
    grid = {"alpha": [1e-2, 0.3, 4.0]}
    found = same_scores(qed.KernelRidge(kernel="rbf"), grid, X, y, cv=splits, return_train_score=True)
    plain = qed.Search(qed.KernelRidge(kernel="rbf"), grid, cv=splits, return_train_score=True, cheap=False).fit(X, y)
    np.testing.assert_allclose(found.cv_results_["mean_train_score"], plain.cv_results_["mean_train_score"], rtol=1e-8)


def test_a_precomputed_kernel_can_be_searched(table):
    X, y, _ = table
    grid = {"alpha": [1e-2, 0.3, 4.0]}
    direct = qed.Search(qed.KernelRidge(kernel="rbf"), grid, cv=3).fit(X, y)
    found = qed.Search(qed.KernelRidge(kernel="precomputed"), grid, cv=3).fit(RBF()(X), y)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], direct.cv_results_["mean_test_score"], rtol=1e-10)


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_penalties_too_small_for_equal_rows(table):
    X, y, _ = table
    X[18:] = X[:18]
    model = qed.KernelRidge(kernel="laplacian")
    same_scores(model, {"alpha": [0.0, 1e-18, 0.1]}, X, y, cv=3, scoring="neg_mean_squared_error", rtol=1e-6)
    same_scores(model, {"alpha": [0.0, 0.1]}, X[14:26], y[14:26], cv="loo", rtol=1e-6)


def test_r2_has_no_meaning_on_single_rows(table):
    X, y, _ = table
    with pytest.raises(ParameterError, match="single row"):
        qed.Search(qed.KernelRidge(kernel="rbf"), {"alpha": [1.0]}, cv="loo", scoring="r2").fit(X, y)


def test_the_path_can_be_drawn(table):
    X, y, _ = table
    path = qed.kernel_ridge_path(X, y, kernel="rbf")
    assert len(path.alphas) == 50
    ax = path.plot()
    assert ax.get_xscale() == "log" and len(ax.get_lines()) == 3


@pytest.mark.parametrize("alphas", [[-1.0], [], [np.nan]])
def test_penalties_must_be_numbers(table, alphas):
    X, y, _ = table
    with pytest.raises(ParameterError, match="alphas"):
        qed.kernel_ridge_path(X, y, alphas, kernel="rbf")
