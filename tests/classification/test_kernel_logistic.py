"""Kernel logistic regression, and logistic regression by gradients, against logistic regression itself."""

import warnings

import numpy as np
import pytest

import qed
from qed.base.errors import ConvergenceWarning
from qed.kernels.mercer import NotAKernelError
from qed.linalg.few_kernel import few_times, times_few


def table(k=2, n=120, p=3):
    random = np.random.default_rng(k)
    X = random.standard_normal((n, p))
    return X, (X @ random.standard_normal((p, k)) + random.gumbel(size=(n, k))).argmax(axis=1)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_o_logreg_k_a_linear_kernel_is_the_penalised_fit(k, intercept):
    X, y = table(k)
    settings = {"C": 2.0, "fit_intercept": intercept, "class_weight": "balanced"}
    dual = qed.KernelLogisticRegression(kernel="linear", **settings).fit(X, y)
    plain = qed.LogisticRegression(**settings).fit(X, y)
    # Both are proven to 1e-10 of the objective, so coefficients agree to its root.
    np.testing.assert_allclose(dual.dual_coef_ @ X, plain.coef_, atol=1e-4)
    np.testing.assert_allclose(dual.predict_proba(X), plain.predict_proba(X), atol=1e-4)
    assert dual.certificate_ and qed.certify(dual, X, y)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gap_is_never_below_what_a_longer_fit_gains(k):
    X, y = table(k, 60)
    best = qed.KernelLogisticRegression(C=5.0).fit(X, y).ending_.step.objective
    for number in range(1, 6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = qed.KernelLogisticRegression(C=5.0, max_iter=number).fit(X, y)
        K = model._similarity.gram(X)
        image = K @ model.dual_coef_.T
        scores = image + model.intercept_
        both = np.column_stack([np.zeros(len(X)), scores]) if k == 2 else scores
        loss = np.logaddexp.reduce(both, axis=1) - both[np.arange(len(X)), y]
        value = 5.0 * loss.sum() + 0.5 * (model.dual_coef_.T * image).sum()
        assert model.certificate_["objective above its minimum"].value >= (value - best) / value - 1e-12


def test_weights_are_repetitions_and_a_given_matrix_is_a_kernel():
    X, y = table()
    weight = np.arange(len(X)) % 3
    weighted = qed.KernelLogisticRegression(gamma=0.5).fit(X, y, sample_weight=weight)
    repeated = qed.KernelLogisticRegression(gamma=0.5).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)
    K = qed.kernels.RBF(0.5)(X)
    given = qed.KernelLogisticRegression(kernel="precomputed").fit(K, y, sample_weight=weight)
    np.testing.assert_allclose(given.predict_proba(K), weighted.predict_proba(X), atol=1e-5)


def test_what_is_no_kernel_is_refused():
    _, y = table(n=20)
    with pytest.raises(NotAKernelError, match="negative eigenvalues"):
        qed.KernelLogisticRegression(kernel="precomputed").fit(-np.eye(20), y)


@pytest.mark.parametrize("solver", ["gradient", "svrg"])
def test_gradients_lead_to_the_same_minimum(solver):
    X, y = table(n=60)
    model = qed.GradientLogisticRegression(solver=solver, batch=8, tol=1e-5).fit(X, y)
    assert model.certificate_
    np.testing.assert_allclose(model.coef_, qed.LogisticRegression().fit(X, y).coef_, atol=1e-3)


def test_stochastic_gradients_say_how_far_they_are():
    X, y = table(n=60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = qed.GradientLogisticRegression(solver="sgd", batch=8, max_iter=6).fit(X, y)
    best = qed.LogisticRegression().fit(X, y).ending_.step.objective
    above = (model.ending_.step.objective - best) / model.ending_.step.objective
    assert not model.certificate_ and 0 < above <= model.certificate_["objective above its minimum"].value
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        part = qed.GradientLogisticRegression(solver="sgd", batch=8, max_iter=3).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        part.set_params(max_iter=6).resume(X, y)
    np.testing.assert_array_equal(part.coef_, model.coef_)


@pytest.mark.parametrize("n, p, m", [(1, 1, 3), (7, 5, 4), (10, 33, 10), (131, 20, 5)])
def test_products_with_few_vectors_are_products(n, p, m):
    random = np.random.default_rng(0)
    X, W, V = random.standard_normal((n, p)), random.standard_normal((m, p)), random.standard_normal((n, m))
    # A sum of so many products, in any order, is off by at most their number of units.
    np.testing.assert_allclose(times_few(X, W), X @ W.T, atol=4 * p * 2.3e-16 * 40)
    np.testing.assert_allclose(few_times(V, X), V.T @ X, atol=4 * n * 2.3e-16 * 40)


def test_many_classes_are_left_out_of_a_comparison_with_a_reason(monkeypatch):
    monkeypatch.setattr("qed.selection.comparing.comparison.MOST_SECONDS", 1e-6)
    X, y = table(3, 60)
    found = qed.compare(X, y)
    out = [entry.failure for entry in found.entries if "Logistic" in entry.name]
    assert out and all("left out" in reason and "3 classes" in reason for reason in out)
