"""Least squares with coefficients that must not be negative, against SciPy's, and by its own conditions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

import qed

KINDS = ["plain", "duplicates", "nearly dependent", "scales", "far away", "constant column", "sparse"]


def table(kind, rng, n, p):
    X = rng.normal(size=(n, p))
    if kind == "duplicates":
        X[:, 1] = X[:, 0]
    if kind == "nearly dependent":
        X[:, -1] = X[:, 0] + 1e-7 * rng.normal(size=n)
    if kind == "scales":
        X *= 10.0 ** rng.integers(-8, 9, size=p)
    if kind == "far away":
        X += 1e6
    if kind == "constant column":
        X[:, 0] = 3.0
    if kind == "sparse":
        X *= rng.random(X.shape) < 0.2
    return X


def least_error(X, y, alpha, centered):
    """Give it by SciPy's method, with rows for the penalty."""
    if centered:
        X, y = X - X.mean(axis=0), y - y.mean()
    tall = np.vstack([X, np.sqrt(alpha) * np.eye(X.shape[1])])
    return nnls(tall, np.append(y, np.zeros(X.shape[1])))[1] ** 2


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
@pytest.mark.parametrize("shape", [(40, 12), (9, 30), (12, 12)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 10.0])
@pytest.mark.sampled(3)
def test_the_minimum_is_found_and_proven(kind, shape, alpha):
    rng = np.random.default_rng(7)
    X = table(kind, rng, *shape)
    y = X @ np.maximum(rng.normal(size=shape[1]), 0) / np.abs(X).max() + rng.normal(size=shape[0])
    given = sparse.csr_array(X) if kind == "sparse" else X
    for centered in (True, False):
        rest = {"fit_intercept": centered, "positive": True}
        model = (qed.Ridge(alpha, **rest) if alpha else qed.LinearRegression(**rest)).fit(given, y)
        error = ((y - model.predict(given)) ** 2).sum() + alpha * (model.coef_**2).sum()
        # The claims allow for 1e-9 of what residuals are differences of, which is about the target here.
        assert (model.coef_ >= 0).all() and error <= least_error(X, y, alpha, centered) + 1e-8 * (y**2).sum()
        assert model.certificate_ and qed.certify(model, given, y)


def test_where_no_constraint_matters_it_is_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + 0.1 * rng.normal(size=60)
    free, held = qed.LinearRegression().fit(X, y), qed.LinearRegression(positive=True).fit(X, y)
    np.testing.assert_allclose(held.coef_, free.coef_, rtol=1e-12)
    assert (held.rank_, held.condition_) == (free.rank_, free.condition_)


def test_weights_outputs_and_sums():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(50, 6)), rng.normal(size=(50, 3))
    weight = rng.integers(0, 3, size=50).astype(float)
    alpha = [0.1, 1.0, 10.0]
    model = qed.Ridge(alpha, positive=True).fit(X, Y, sample_weight=weight)
    repeated = np.repeat(np.arange(50), weight.astype(int))
    again = qed.Ridge(alpha, positive=True).fit(X[repeated], Y[repeated])
    # All solve the same equations, of a condition number below 10, on the same support.
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-13)
    for t in range(3):
        alone = qed.Ridge(alpha[t], positive=True).fit(X, Y[:, t], sample_weight=weight)
        np.testing.assert_allclose(model.coef_[t], alone.coef_, atol=1e-13)
    parts = qed.Ridge(alpha, positive=True)
    for part in np.array_split(np.arange(50), 4):
        parts.partial_fit(X[part], Y[part], sample_weight=weight[part])
    np.testing.assert_allclose(parts.coef_, model.coef_, atol=1e-13)
    parts.forget(X[:10], Y[:10], sample_weight=weight[:10])
    rest = qed.Ridge(alpha, positive=True).fit(X[10:], Y[10:], sample_weight=weight[10:])
    np.testing.assert_allclose(parts.coef_, rest.coef_, atol=1e-12)


@pytest.mark.parametrize("shape", [(60, 5), (20, 80)])
def test_a_search_gives_the_scores_of_the_plain_way(shape):
    rng = np.random.default_rng(2)
    X = rng.normal(size=shape)
    y = X[:, 0] - X[:, 1] + rng.normal(size=shape[0])
    found = qed.Search(qed.Ridge(), {"alpha": [0.1, 1.0, 10.0], "positive": [True, False]}, cv=4).fit(X, y)
    plain = [qed.cross_val_score(qed.Ridge(**one), X, y, cv=4).mean() for one in found.cv_results_["params"]]
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], plain, rtol=1e-9)


@pytest.mark.parametrize("value", [1e-3, -1e-3])
def test_moved_coefficients_are_noticed(value):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    for j in range(5):
        model = qed.Ridge(positive=True).fit(X, y)
        model.coef_[j] += value
        assert not qed.certify(model, X, y)


def test_what_is_not_defined_is_refused_with_the_reason():
    model = qed.LinearRegression(positive=True).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0])
    with pytest.raises(qed.base.errors.NotAvailableError, match="chosen by the same data"):
        model.inference_  # noqa: B018
    with pytest.raises(qed.base.errors.NotAvailableError, match="positive=True"):
        model.coefficient_errors([[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0])
