"""Kernel logistic regression: its gap, its weights, its kernels; and comparisons that leave out what has too many classes."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import ConvergenceWarning
from qed.kernels.mercer import NotAKernelError
from qed.linalg.few_kernel import few_times, times_few


def table(k=2, n=120, p=3):
    random = np.random.default_rng(k)
    X = random.standard_normal((n, p))
    return X, (X @ random.standard_normal((p, k)) + random.gumbel(size=(n, k))).argmax(axis=1)


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


def test_a_hole_in_a_sparse_row_of_weight_zero_is_the_same_hole_again():
    X, y = table()
    weight = np.ones(len(X))
    weight[0], X[0, 0] = 0.0, np.nan
    rows = sparse.csr_array(X)
    model = qed.KernelLogisticRegression(gamma=0.5).fit(rows, y, sample_weight=weight)
    assert qed.certify(model, rows, y, sample_weight=weight)
    rows.data[5] *= 2
    assert not qed.certify(model, rows, y, sample_weight=weight)


def test_what_is_no_kernel_is_refused():
    _, y = table(n=20)
    with pytest.raises(NotAKernelError, match="negative eigenvalues"):
        qed.KernelLogisticRegression(kernel="precomputed").fit(-np.eye(20), y)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("C", [1e-6, 1e3, 1e6])
def test_any_strength_is_proven(k, C):
    """A large C makes the proof ask for scores to twice the digits."""
    X, y = table(k, 60)
    model = qed.KernelLogisticRegression(C=C).fit(X, y)
    assert model.certificate_ and qed.certify(model, X, y)


@pytest.mark.parametrize("n, p, m", [(1, 1, 3), (7, 5, 4), (10, 33, 10), (131, 20, 5)])
def test_products_with_few_vectors_are_products(n, p, m):
    random = np.random.default_rng(0)
    X, W, V = random.standard_normal((n, p)), random.standard_normal((m, p)), random.standard_normal((n, m))
    # A sum of so many products, in any order, is off by at most their number of units.
    np.testing.assert_allclose(times_few(X, W), X @ W.T, atol=4 * p * 2.3e-16 * 40)
    np.testing.assert_allclose(few_times(V, X), V.T @ X, atol=4 * n * 2.3e-16 * 40)


def test_many_classes_are_left_out_of_a_comparison_with_a_reason():
    X, y = table(3, 60)
    found = qed.compare(X, y, budget=1e-6)
    dear = ("Logistic", "upport vector")
    out = [entry.failure for entry in found.entries if any(name in entry.name for name in dear)]
    assert len(out) >= 3 and all("left out" in reason and "3 classes" in reason for reason in out)


@pytest.mark.slow
def test_hundreds_of_classes_have_an_end():
    random = np.random.default_rng(0)
    X = random.standard_normal((6000, 40))
    y = np.char.add("c", (np.arange(6000) % 701).astype(str))
    found = qed.compare(X, y)
    out = {entry.name: entry.failure for entry in found.entries if entry.failure}
    assert {"Logistic regression", "Linear support vector machine"} <= set(out)
    assert all("701 classes" in reason and "minutes" in reason for reason in out.values())
    assert {"Gaussian naive Bayes", "Linear discriminant analysis"} <= {
        e.name for e in found.entries if e.model is not None
    }


def test_prices_grow_with_the_work():
    """Planes and passes are counted: three times the rows, or the classes, cost three times as much; pairs of classes nine times."""
    for kind in (qed.LogisticRegression, qed.LinearSVC):
        one = kind._seconds_on(6000, 40, 100)
        assert kind._seconds_on(18_000, 40, 100) == pytest.approx(3 * one, rel=0.05)
        assert kind._seconds_on(6000, 40, 300) == pytest.approx(3 * one, rel=0.05)
    assert qed.SVC._seconds_on(6000, 40, 300) == pytest.approx(9 * qed.SVC._seconds_on(6000, 40, 100), rel=0.01)
