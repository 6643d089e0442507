"""Every model that answers searches cheaply gives the table of the plain search; one that is added has to be listed here."""

import inspect
import warnings

import numpy as np
import pytest

import qed
from qed.base.models.estimator import Estimator
from qed.base.models.roles import Regressor

ALPHAS = [0.01, 0.1, 1.0, 10.0]
# A classifier's accuracy is counted, and is the same unless a row lies on a border; what solvers give differs by their tolerance. A score
# is off by about as much as the predictions are, relative to the target: the second number allows for ten times the solver's `tol`.
EXACT, SOLVED, LOOSE = 1e-8, 1e-5, 1e-3
SEARCHES = {
    "AdaBoostClassifier": (qed.AdaBoostClassifier(random_state=0), {"n_estimators": [1, 3, 6]}, EXACT),
    "AdaBoostRegressor": (qed.AdaBoostRegressor(random_state=0), {"n_estimators": [1, 3, 6]}, EXACT),
    "BernoulliNB": (qed.BernoulliNB(), {"alpha": ALPHAS}, EXACT),
    "BestSubset": (qed.BestSubset(), {"n_nonzero_coefs": [1, 2, 3]}, EXACT),
    "CategoricalNB": (qed.CategoricalNB(), {"alpha": ALPHAS}, EXACT),
    "DecisionTreeClassifier": (qed.DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.005, 0.02, 0.1]}, EXACT),
    "DecisionTreeRegressor": (qed.DecisionTreeRegressor(), {"ccp_alpha": [0.0, 0.05, 0.2, 1.0]}, EXACT),
    "ElasticNet": (qed.ElasticNet(), {"alpha": ALPHAS, "l1_ratio": [0.3, 0.8]}, SOLVED),
    "ExtraTreesClassifier": (qed.ExtraTreesClassifier(random_state=0), {"n_estimators": [2, 4]}, EXACT),
    "ExtraTreesRegressor": (qed.ExtraTreesRegressor(random_state=0), {"n_estimators": [2, 4]}, EXACT),
    "GaussianMAP": (qed.GaussianMAP(), {}, EXACT),
    "GaussianNB": (qed.GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]}, EXACT),
    "GradientBoostingClassifier": (
        qed.GradientBoostingClassifier(early_stopping=False),
        {"max_iter": [1, 4, 8]},
        EXACT,
    ),
    "GradientBoostingRegressor": (qed.GradientBoostingRegressor(early_stopping=False), {"max_iter": [1, 4, 8]}, EXACT),
    "GradientLogisticRegression": (qed.GradientLogisticRegression(), {}, LOOSE),
    "KNeighborsClassifier": (
        qed.KNeighborsClassifier(),
        {"n_neighbors": [1, 3, 7], "weights": ["uniform", "distance"]},
        EXACT,
    ),
    "KNeighborsRegressor": (
        qed.KNeighborsRegressor(),
        {"n_neighbors": [1, 3, 7], "weights": ["uniform", "distance"]},
        EXACT,
    ),
    "KernelInterpolator": (qed.KernelInterpolator(kernel="laplacian"), {"gamma": [0.5, 1.0]}, SOLVED),
    "KernelRidge": (qed.KernelRidge(kernel="rbf"), {"alpha": ALPHAS, "gamma": [0.1, 0.5]}, EXACT),
    "Lasso": (qed.Lasso(), {"alpha": ALPHAS}, SOLVED),
    "LinearDiscriminantAnalysis": (qed.LinearDiscriminantAnalysis(), {"shrinkage": [None, 0.1, 0.5]}, EXACT),
    "LinearRegression": (qed.LinearRegression(), {"fit_intercept": [True, False]}, EXACT),
    "LinearSVC": (qed.LinearSVC(), {"C": ALPHAS}, LOOSE),
    "LinearSVR": (qed.LinearSVR(), {"C": ALPHAS}, LOOSE),
    "LogisticRegression": (qed.LogisticRegression(), {"C": ALPHAS}, LOOSE),
    "MatchingPursuit": (qed.MatchingPursuit(), {"n_nonzero_coefs": [1, 2, 3]}, SOLVED),
    "MultinomialNB": (qed.MultinomialNB(), {"alpha": ALPHAS}, EXACT),
    "OrthogonalMatchingPursuit": (qed.OrthogonalMatchingPursuit(), {"n_nonzero_coefs": [1, 2, 3]}, EXACT),
    "QuadraticDiscriminantAnalysis": (qed.QuadraticDiscriminantAnalysis(), {"shrinkage": [0.0, 0.1, 0.5]}, EXACT),
    "RandomForestClassifier": (qed.RandomForestClassifier(random_state=0), {"n_estimators": [2, 4]}, EXACT),
    "RandomForestRegressor": (qed.RandomForestRegressor(random_state=0), {"n_estimators": [2, 4]}, EXACT),
    "Ridge": (qed.Ridge(), {"alpha": ALPHAS}, EXACT),
    "RidgeClassifier": (qed.RidgeClassifier(), {"alpha": ALPHAS}, EXACT),
    "SVC": (qed.SVC(), {"C": ALPHAS}, LOOSE),
    "SVR": (qed.SVR(), {"C": ALPHAS}, LOOSE),
    "TotalLeastSquares": (qed.TotalLeastSquares(), {}, EXACT),
}

# It has the hook of its family, which has nothing to say of it.
SILENT = {"GradientLogisticRegression"}


def answering():
    """Name the models that answer searches in a way of their own."""
    found = {name: getattr(qed, name) for name in dir(qed) if name[0].isupper()}
    return {
        name
        for name, kind in found.items()
        if inspect.isclass(kind) and issubclass(kind, Estimator) and kind._search is not Estimator._search
    }


def data(model):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((90, 4)) + [1.0, 0.0, 2.0, 0.5]
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * generator.standard_normal(90)
    if type(model).__name__ in ("BernoulliNB", "CategoricalNB", "MultinomialNB"):
        X = np.floor(np.abs(X))
    return X, y if isinstance(model, Regressor) else np.digitize(y, np.quantile(y, [0.4, 0.7]))


def test_no_model_that_answers_searches_is_forgotten():
    assert answering() == set(SEARCHES)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.sampled(3)
def test_the_cheap_table_is_the_plain_one(name):
    model, grid, tolerance = SEARCHES[name]
    X, y = data(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cheap, plain = (qed.Search(model, grid, cv=3, cheap=cheap).fit(X, y) for cheap in (True, False))
    each = [f"split{fold}_test_score" for fold in range(3)]
    for column in each:
        np.testing.assert_allclose(
            cheap.cv_results_[column], plain.cv_results_[column], rtol=tolerance, atol=tolerance, err_msg=cheap.how_
        )
    assert plain.how_.startswith("fitted")
    assert (cheap.how_ == plain.how_) == (name in SILENT)
    best = plain.cv_results_["mean_test_score"]
    assert best[cheap.best_index_] == pytest.approx(best.max(), rel=tolerance, abs=tolerance)


@pytest.mark.parametrize(
    "name", ["LinearRegression", "Ridge", "KernelRidge", "KNeighborsRegressor", "KNeighborsClassifier"]
)
def test_leaving_one_out_in_closed_form_is_the_plain_way(name):
    model, grid, _ = SEARCHES[name]
    X, y = data(model)
    X, y = X[:30], y[:30]
    cheap, plain = (qed.Search(model, grid, cv="loo", cheap=cheap).fit(X, y) for cheap in (True, False))
    np.testing.assert_allclose(
        cheap.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-8, atol=1e-10
    )
    assert cheap.best_params_ == plain.best_params_


def test_stages_of_folds_have_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    tables = []
    for count in (1, 2, 3, 4):
        with qed.threads(count):
            found = qed.Search(qed.GradientBoostingRegressor(early_stopping=False), {"max_iter": [1, 4, 8]}, cv=5).fit(
                X, y
            )
        scores = found.cv_results_
        tables.append(np.array([scores[f"split{fold}_test_score"] for fold in range(5)]))
        assert found.best_estimator_.certificate_
    assert all(np.array_equal(tables[0], other) for other in tables[1:])
