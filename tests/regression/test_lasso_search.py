"""Searches over the lasso's penalty: one pass or one path a fold, and the scores of the plain way."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso as SklearnLasso
from sklearn.model_selection import GridSearchCV

import qed
from qed.selection.comparing.contenders import contenders


def table(n, p, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p)) + 1.0
    return X, X[:, :4] @ [1.0, 2.0, -3.0, 0.5] + generator.standard_normal(n) + 4.0


GRID = {"alpha": [1.0, 0.01, 0.1, 0.03, 3.0]}


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "neg_mean_absolute_error"])
@pytest.mark.parametrize(("shape", "how"), [((200, 8), "sums of 1 pass"), ((40, 3000), "path of alphas")])
def test_the_scores_are_those_of_the_plain_search(shape, how, scoring):
    X, y = table(*shape)
    grid = GRID if shape[1] < 100 else {"alpha": [0.1, 1.0]}
    cheap = qed.Search(qed.Lasso(), grid, cv=4, scoring=scoring, return_train_score=True).fit(X, y)
    plain = qed.Search(qed.Lasso(), grid, cv=4, scoring=scoring, return_train_score=True, cheap=False).fit(X, y)
    for name in ("mean_test_score", "std_test_score", "mean_train_score"):
        np.testing.assert_allclose(cheap.cv_results_[name], plain.cv_results_[name], rtol=1e-7)
    assert cheap.best_params_ == plain.best_params_
    np.testing.assert_allclose(cheap.best_estimator_.coef_, plain.best_estimator_.coef_, atol=1e-9)
    assert cheap.certificate_ and plain.how_.startswith("fitted")
    expected = "path of alphas" if scoring == "neg_mean_absolute_error" else how
    assert expected in cheap.how_


def test_the_scores_are_those_of_scikit_learn():
    X, y = table(200, 8)
    ours = qed.Search(qed.Lasso(), GRID, cv=5).fit(X, y)
    theirs = GridSearchCV(SklearnLasso(tol=1e-12, max_iter=100_000), GRID, cv=5).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-8)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("cv", [3, "loo"])
def test_families_of_other_parameters(cv):
    X, y = table(30, 5)
    grid = {
        "alpha": [0.0, 0.01, 0.1],
        "l1_ratio": [0.0, 0.3, 1.0],
        "fit_intercept": [True, False],
        "positive": [True, False],
    }
    settings = {"cv": cv, "scoring": "neg_mean_squared_error"}
    cheap = qed.Search(qed.ElasticNet(), grid, **settings).fit(X, y)
    plain = qed.Search(qed.ElasticNet(), grid, cheap=False, **settings).fit(X, y)
    np.testing.assert_allclose(cheap.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-6)
    assert "sums of 1 pass" in cheap.how_


def test_several_outputs_weights_and_a_learning_curve():
    X, y = table(90, 5)
    outputs = np.column_stack([y, y[::-1]])
    weight = np.random.default_rng(0).integers(1, 3, 90).astype(float)
    cheap, plain = (
        qed.Search(qed.Lasso(), GRID, cv=3, cheap=cheap).fit(X, outputs, sample_weight=weight)
        for cheap in (True, False)
    )
    np.testing.assert_allclose(cheap.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-8)
    curve = qed.learning_curve(qed.Lasso(0.1), X, y, cv=3)
    assert np.isfinite(curve.test_scores).all()


def test_the_lasso_takes_part_in_comparisons():
    assert "Lasso" in [one.name for one in contenders("regression", 1000, 5)]
