"""Penalties on sizes: the minimum, by conditions written out here, on every way that leads to it."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp, softmax

import qed
from qed.base.errors import InputError
from qed.classification.logistic.regression import LogisticRegression

# The gap proves 1e-10 of the objective; slopes are then off by at most its root, times that of the curvature.
SLOPE = 1e-4


def classes(n, p, k, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.3, 3, size=p) + rng.normal(size=p)
    W = rng.normal(size=(k, p)) * (np.arange(p) < 4)
    return X, (X @ W.T + 2 * rng.gumbel(size=(n, k))).argmax(axis=1)


def scores(model, X):
    found = X @ model.coef_.T + model.intercept_
    return np.column_stack([np.zeros(len(found)), found[:, 0]]) if found.shape[1] == 1 else found


def objective(model, X, y, C, share, weight=1.0):
    z = scores(model, X)
    loss = weight * (logsumexp(z, axis=1) - z[np.arange(len(y)), y])
    sizes, squares = np.abs(model.coef_).sum(), (model.coef_**2).sum()
    return C * loss.sum() + share * sizes + 0.5 * (1 - share) * squares


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_conditions_of_a_minimum_hold(k, share, intercept):
    X, y = classes(150, 8, k)
    C = 0.1
    model = qed.LogisticRegression(C=C, l1_ratio=share, fit_intercept=intercept).fit(X, y)
    assert model.certificate_, model.certificate_
    seen, chance = np.eye(k)[y], softmax(scores(model, X), axis=1)
    gradient = C * (chance - seen).T @ X + 0
    gradient = gradient[1:] if k == 2 else gradient
    gradient = gradient + (1 - share) * model.coef_
    zero, size = model.coef_ == 0, np.abs(C * X).sum()
    assert zero.any() and not zero.all()
    assert (np.abs(gradient[zero]) <= share + SLOPE * size).all()
    np.testing.assert_allclose(gradient[~zero], -share * np.sign(model.coef_[~zero]), atol=SLOPE * size)
    if intercept:
        np.testing.assert_allclose((chance - seen).sum(axis=0), 0, atol=SLOPE * len(y))


@pytest.mark.parametrize("k", [2, 3])
def test_weights_are_repetition_and_sparse_tables_are_tables(k):
    X, y = classes(80, 5, k)
    X[np.abs(X) < 0.7] = 0
    weight = np.random.default_rng(1).integers(0, 3, size=80)
    kwargs = {"C": 0.5, "l1_ratio": 1.0}
    one = qed.LogisticRegression(**kwargs).fit(X, y, sample_weight=weight)
    values = [objective(one, X, y, 0.5, 1.0, weight)]
    for table, labels, w in (
        (np.repeat(X, weight, axis=0), np.repeat(y, weight), None),
        (sparse.csr_array(X), y, weight),
    ):
        other = qed.LogisticRegression(**kwargs).fit(table, labels, sample_weight=w)
        assert other.certificate_
        values.append(objective(other, X, y, 0.5, 1.0, weight))
    np.testing.assert_allclose(values, values[0], rtol=3e-10)


def test_all_ways_end_at_the_same_minimum(monkeypatch):
    X, y = classes(300, 30, 2)
    found = []
    for smallest, modelled in ((0, 1024), (1 << 60, 1024), (1 << 60, 0)):
        monkeypatch.setattr("qed.classification.logistic.beginning.SMALLEST_TABLE", smallest)
        monkeypatch.setattr("qed.classification.logistic.sparse_likelihood.MOST_MODELLED", modelled)
        model = qed.LogisticRegression(C=0.3, l1_ratio=0.9).fit(X, y)
        assert model.certificate_, model.certificate_
        found.append(objective(model, X, y, 0.3, 0.9))
    np.testing.assert_allclose(found, found[0], rtol=3e-10)


def test_older_words_mean_the_same():
    X, y = classes(60, 4, 2)
    pairs = [
        ({"penalty": "l1"}, {"l1_ratio": 1.0}),
        ({"penalty": "elasticnet", "l1_ratio": 0.3}, {"l1_ratio": 0.3}),
        ({"penalty": "l2", "l1_ratio": None}, {}),
        ({"penalty": None}, {"C": np.inf}),
    ]
    for older, newer in pairs:
        one, other = qed.LogisticRegression(**older).fit(X, y), qed.LogisticRegression(**newer).fit(X, y)
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_a_certificate_of_sizes_objects_to_other_coefficients():
    X, y = classes(100, 6, 3)
    model = qed.LogisticRegression(C=0.3, l1_ratio=1.0).fit(X, y)
    model.coef_ = model.coef_ * 1.001
    assert not qed.certify(model, X, y)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("k", [2, 3])
def test_a_search_along_the_path_is_the_plain_search(share, k, monkeypatch):
    X, y = classes(120, 5, k)
    grid, tables = {"C": [1.0, 0.03, 0.2]}, []
    for cheap in (True, False):
        if not cheap:
            monkeypatch.setattr(LogisticRegression, "_search", lambda self, question: None)
        search = qed.Search(qed.LogisticRegression(l1_ratio=share), grid, cv=3, scoring="neg_log_loss").fit(X, y)
        assert ("path" in search.how_) is cheap
        tables.append(search.cv_results_["mean_test_score"])
    # Coefficients are right to the root of the gap.
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-4)


def test_a_fit_that_would_take_days_is_refused_in_a_sentence(monkeypatch):
    X, y = classes(60, 3, 3)
    monkeypatch.setattr("qed.classification.logistic.problem.MOST_SECONDS", 1e-6)
    with pytest.raises(InputError, match="hours on 60 rows, 3 columns and 3 classes"):
        qed.LogisticRegression().fit(X, y)
