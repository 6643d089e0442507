"""kfold-cv: one partition, every row judged once by a model that has not seen it, the mean of the fold errors."""

import numpy as np
import pytest

from qed import LinearRegression, Ridge, Search, cross_val_score
from qed.selection.metrics.regression import mean_squared_error
from qed.selection.scoring import get_scorer
from qed.selection.splitting.splits import KFold, LeaveOneOut, StratifiedKFold, fold_numbers


def data(n, p=3, seed=0):
    random = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), random.normal(size=(n, p))])
    return X, X @ random.normal(size=p + 1) + 0.5 * random.normal(size=n)


def least_squares(X, y):
    return LinearRegression(fit_intercept=False).fit(X, y).coef_


def test_ten_rows_in_three_folds():
    folds = KFold(3).assign(10)
    np.testing.assert_array_equal(np.bincount(folds), [4, 3, 3])
    assert (np.diff(folds) < 0).any(), "rows are shuffled by default"


@pytest.mark.parametrize(("n", "k"), [(10, 3), (10, 10), (23, 4), (100, 7)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_every_row_is_held_out_once_and_sizes_differ_by_one_at_most(n, k, shuffle):
    held_out = np.zeros(n, dtype=int)
    sizes = []
    for train, test in KFold(k, shuffle=shuffle).split(np.zeros(n)):
        held_out[test] += 1
        sizes.append(len(test))
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(n))
    assert (held_out == 1).all()
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


def test_no_row_is_judged_by_a_model_that_saw_it():
    """A model that knows its training rows by heart recognises none of those it is judged by."""
    X = np.arange(30)
    for train, test in KFold(4).split(X):
        assert not np.isin(X[test], X[train]).any()


def test_one_partition_is_shared_by_all_configurations():
    splitter, X = KFold(4), np.zeros(30)
    first, second = list(splitter.split(X)), list(splitter.split(X))
    for (train, test), (train_again, test_again) in zip(first, second):
        np.testing.assert_array_equal(train, train_again)
        np.testing.assert_array_equal(test, test_again)


def test_one_draw_of_folds_serves_a_whole_search():
    """Pitfall: two candidates that are the same get the same score on every fold, though the folds are drawn without a seed."""
    X, y = data(40)
    grid = {"alpha": [1.0, 2.0, 1.0]}
    for cheap in (True, False):
        folds = KFold(4, random_state=None)
        found = Search(Ridge(), grid, cv=folds, scoring="neg_mean_squared_error", cheap=cheap).fit(X, y).cv_results_
        scores = np.array([found[f"split{fold}_test_score"] for fold in range(4)])
        np.testing.assert_array_equal(scores[:, 0], scores[:, 2])
        assert (scores[:, 0] != scores[:, 1]).all()
        np.testing.assert_allclose(found["mean_test_score"], scores.mean(axis=0), rtol=1e-12)


def test_leaving_one_out_is_k_equal_n_and_has_a_closed_form():
    """For least squares the error of a row left out is e / (1 - h), h its leverage."""
    X, y = data(25)
    left_out = np.empty(25)
    for train, test in LeaveOneOut().split(X):
        left_out[test] = y[test] - X[test] @ least_squares(X[train], y[train])
    leverage = np.diagonal(X @ np.linalg.pinv(X))
    np.testing.assert_allclose(left_out, (y - X @ least_squares(X, y)) / (1 - leverage), rtol=1e-10)
    np.testing.assert_array_equal(np.sort(KFold(25).assign(25)), LeaveOneOut().assign(25))
    scores = cross_val_score(LinearRegression(fit_intercept=False), X, y, cv="loo", scoring="neg_mean_squared_error")
    np.testing.assert_allclose(-scores, left_out**2, rtol=1e-8, atol=1e-14)


def test_the_estimate_is_the_mean_of_the_fold_errors_not_the_pooled_error():
    X, y = data(10)
    splitter, errors, pooled = KFold(3, shuffle=False), [], np.empty(10)
    for train, test in splitter.split(X):
        predicted = X[test] @ least_squares(X[train], y[train])
        errors.append(mean_squared_error(y[test], predicted))
        pooled[test] = (y[test] - predicted) ** 2
    ours = cross_val_score(LinearRegression(fit_intercept=False), X, y, cv=splitter, scoring="neg_mean_squared_error")
    np.testing.assert_allclose(-ours, errors, rtol=1e-10)
    assert np.mean(errors) != pytest.approx(pooled.mean(), rel=1e-6)
    assert np.dot(errors, [4, 3, 3]) / 10 == pytest.approx(pooled.mean(), rel=1e-12)


@pytest.mark.parametrize("name", ["neg_mean_squared_error", "neg_root_mean_squared_error", "r2"])
@pytest.mark.parametrize("splitter", [KFold(5), KFold(5, shuffle=False), StratifiedKFold(5)])
def test_folds_by_subtraction_give_the_scores_of_refitting(name, splitter):
    """One pass collects a Gram matrix per fold; training on the others is total minus part, and so is the score."""
    X, y = data(53)
    joined, scorer = np.column_stack([X, y]), get_scorer(name)
    labels = np.arange(53) % 3
    folds = fold_numbers(splitter, X, labels)
    parts = np.array([joined[folds == fold].T @ joined[folds == fold] for fold in range(5)])
    for fold, (train, test) in enumerate(splitter.split(X, labels)):
        rest, part = parts.sum(axis=0) - parts[fold], parts[fold]
        w = np.linalg.solve(rest[:-1, :-1], rest[:-1, -1])
        error = np.r_[w, -1] @ part @ np.r_[w, -1]
        scatter = part[-1, -1] - part[0, -1] ** 2 / part[0, 0]
        refitted = X[test] @ least_squares(X[train], y[train])
        expected = scorer.sign * scorer.function(y[test], refitted)
        assert scorer.from_sums(part[0, 0], error, scatter) == pytest.approx(expected, rel=1e-9)


def test_the_estimate_is_close_to_the_risk():
    """Over many data sets, five-fold errors average to the risk of models trained on four fifths of the rows."""
    random = np.random.default_rng(0)
    estimates, risks = [], []
    for seed in range(400):
        X = random.normal(size=(30, 2))
        y = X @ [1.0, -1.0] + random.normal(size=30)
        for train, test in KFold(5, random_state=seed).split(X):
            w = least_squares(X[train], y[train])
            estimates.append(mean_squared_error(y[test], X[test] @ w))
            risks.append(1 + np.sum((w - [1.0, -1.0]) ** 2))
    assert np.mean(estimates) == pytest.approx(np.mean(risks), abs=4 * np.std(estimates) / np.sqrt(400))
    risk_with_all_rows = 1 + 2 / (30 - 2 - 1)
    assert np.mean(risks) > risk_with_all_rows
