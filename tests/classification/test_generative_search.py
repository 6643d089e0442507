"""Settings of generative classifiers searched together have the scores of settings fitted one by one."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import qed

GRIDS = {
    "LinearDiscriminantAnalysis": {"shrinkage": [None, 0.1, 0.7, "auto"], "priors": [None, [0.2, 0.5, 0.3]]},
    "QuadraticDiscriminantAnalysis": {"shrinkage": [0.01, 0.5], "reg_param": [0.0, 0.3]},
    "GaussianNB": {"var_smoothing": [1e-9, 0.1, 2.0], "priors": [None, [0.2, 0.5, 0.3]]},
    "BernoulliNB": {"alpha": [0.1, 1.0], "binarize": [0.0, 1.5]},
    "MultinomialNB": {"alpha": [0.01, 1.0, 30.0], "fit_prior": [True, False]},
    "CategoricalNB": {"alpha": [0.01, 1.0, 30.0]},
}


def table(classes=3, n=90):
    generator = np.random.default_rng(4)
    y = generator.integers(0, classes, n)
    return generator.poisson(1 + y[:, None], (n, 4)).astype(float), np.array(["a", "b", "c"])[y]


def scores(name, X, y, **settings):
    found = qed.Search(getattr(qed, name)(), GRIDS[name], refit=False, return_train_score=True, **settings).fit(X, y)
    shown = {key: np.asarray(value) for key, value in found.cv_results_.items() if "score" in key and "time" not in key}
    return found, shown


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("kind", ["plain", "far", "float32", "sparse"])
@pytest.mark.sampled(2)
def test_scores_are_those_of_single_fits(name, kind):
    X, y = table()
    if kind == "far" and name in ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "GaussianNB"):
        X = X + 1e6
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "sparse":
        if name not in ("BernoulliNB", "MultinomialNB"):
            pytest.skip("takes dense rows only")
        X = sparse.csr_array(X)
    scoring = ["accuracy", "neg_log_loss"]
    cheap, ours = scores(name, X, y, cv=4, scoring=scoring)
    plain, theirs = scores(name, X, y, cv=4, scoring=scoring, cheap=False)
    assert "settings together" in cheap.how_ and "fitted" in plain.how_
    # A probability is rounded to the type of the rows, by another product of the same numbers.
    tolerance = 1e-4 if kind == "float32" else 1e-7
    for key, expected in theirs.items():
        np.testing.assert_allclose(ours[key], expected, rtol=tolerance, atol=tolerance, err_msg=key)


def test_weights_count_and_two_classes_are_told_by_one_score():
    X, y = table(classes=2)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    search = {"cv": 3, "scoring": "roc_auc"}
    cheap = qed.Search(qed.MultinomialNB(), {"alpha": [0.1, 5.0]}, **search).fit(X, y, sample_weight=weight)
    plain = qed.Search(qed.MultinomialNB(), {"alpha": [0.1, 5.0]}, cheap=False, **search).fit(
        X, y, sample_weight=weight
    )
    np.testing.assert_allclose(cheap.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-9)
    assert cheap.best_estimator_.certificate_ and qed.certify(cheap.best_estimator_, X, y, weight)


def test_a_fold_that_lacks_a_class_is_fitted_by_itself():
    X, y = table()
    y[:] = np.where(np.arange(len(y)) < 80, "a", "b")
    folds = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = qed.Search(qed.GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv=folds, refit=False).fit(X, y)
    assert "fitted" in found.how_


def test_candidates_are_taken_a_few_at_a_time_where_memory_is_short(monkeypatch):
    X, y = table()
    search = qed.Search(qed.LinearDiscriminantAnalysis(), {"shrinkage": [0.1, 0.3, 0.5]}, cv=3, refit=False)
    whole = search.fit(X, y).cv_results_["mean_test_score"]
    monkeypatch.setattr("qed.classification.together.MOST_NUMBERS", 100)
    np.testing.assert_array_equal(search.fit(X, y).cv_results_["mean_test_score"], whole)
