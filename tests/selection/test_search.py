"""Searches: the scores of the plain search, found cheaply or not, on every kind of data, and what is said when it can not be."""

import warnings

import dask.dataframe as dask_frame
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import model_selection as peer
from sklearn.callback import ProgressBar
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.linear_model import LogisticRegression as PeerLogisticRegression
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler as PeerScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import qed
from qed.base.errors import (
    DegenerateWarning,
    FitFailedWarning,
    InputError,
    NotAvailableError,
    NotFittedError,
    ParameterError,
)
from qed.base.models.estimator import Estimator, OnePass
from qed.base.models.parameters import integer
from qed.base.models.roles import Classifier, Regressor
from qed.base.models.scoring import Scores
from qed.base.models.searching import Answer
from qed.base.sources.rows import ArrayRows
from qed.selection.searching.candidates import candidates_of, made_with
from qed.selection.searching.folds import Folds
from tests.conformance.checks import run_check

ALPHAS = [float(alpha) for alpha in np.geomspace(1e-3, 1e3, 7)]
ADDITIVE = ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error"]


def problem(seed=0, n=103, p=5, q=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p)) + random.normal(size=p)
    Y = X @ random.normal(size=(p, q)) + random.normal(size=(n, q)) + 3
    return X, Y if q > 1 else Y[:, 0]


def same_table(ours, theirs, tolerance=1e-8):
    """Compare all scores of two searches, and what they chose."""
    names = [name for name in theirs.cv_results_ if name.endswith("_score") and not name.startswith("rank")]
    assert any(name.startswith("split") for name in names)
    for name in names:
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"])
    assert ours.best_params_ == theirs.best_params_ and ours.best_index_ == theirs.best_index_
    assert ours.n_splits_ == theirs.n_splits_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("scoring", [None, *ADDITIVE])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("cheap", [False, True])
@pytest.mark.sampled(3)
def test_ridge_scores_as_the_plain_search_does(scoring, weighted, q, cheap):
    X, y = problem(q=q)
    weight = np.random.default_rng(1).uniform(0, 2, len(X)) if weighted else None
    grid = {"alpha": ALPHAS, "fit_intercept": [True, False]}
    ours = qed.Search(qed.Ridge(), grid, scoring=scoring, cheap=cheap, return_train_score=True).fit(X, y, weight)
    theirs = peer.GridSearchCV(PeerRidge(), grid, scoring=scoring, cv=5, return_train_score=True)
    theirs.fit(X, y, sample_weight=weight)
    same_table(ours, theirs)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.how_.startswith("5 folds from the sums of 1 pass, 7 alphas" if cheap else "fitted 70 models")


@pytest.mark.parametrize("cv", [2, None, 7, "shuffled", "theirs", "holdout", "repeated", "pairs", "masks"])
@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
@pytest.mark.sampled(2)
def test_all_kinds_of_splits(cv, scoring):
    X, y = problem()
    pairs = [(np.arange(60), np.arange(60, 80)), (np.arange(20, 103), np.arange(20))]
    splitters = {
        "shuffled": qed.KFold(4, random_state=3),
        "theirs": peer.KFold(4, shuffle=True, random_state=3),
        "holdout": qed.HoldOut(0.25, random_state=1),
        "repeated": peer.RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        "pairs": pairs,
        "masks": [(np.arange(103) >= 50, np.arange(103) < 50)],
    }
    chosen = splitters.get(cv, cv)
    spelled_out = list(chosen.split(X)) if hasattr(chosen, "split") else chosen
    if cv == "masks":
        spelled_out = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in chosen]
    ours = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv=chosen, scoring=scoring).fit(X, y)
    theirs = peer.GridSearchCV(PeerRidge(), {"alpha": ALPHAS}, cv=spelled_out, scoring=scoring).fit(X, y)
    same_table(ours, theirs)
    one_pass = "1 pass" in ours.how_
    assert one_pass == (cv not in ("repeated", "pairs"))


def test_groups_stay_together():
    X, y = problem(n=90)
    groups = np.random.default_rng(0).integers(0, 6, 90)
    ours = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv=peer.GroupKFold(3)).fit(X, y, groups=groups)
    theirs = peer.GridSearchCV(PeerRidge(), {"alpha": ALPHAS}, cv=peer.GroupKFold(3)).fit(X, y, groups=groups)
    same_table(ours, theirs)
    assert "1 pass" in ours.how_


@pytest.mark.parametrize("scoring", [None, "neg_root_mean_squared_error", "neg_mean_absolute_error"])
@pytest.mark.parametrize("model", ["ridge", "least squares"])
def test_leaving_one_out(scoring, model):
    X, y = problem(n=25)
    if model == "ridge":
        mine, other, grid = qed.Ridge(), PeerRidge(), {"alpha": ALPHAS[::2], "fit_intercept": [True, False]}
    else:
        mine, other, grid = qed.LinearRegression(), PeerLinearRegression(), {"fit_intercept": [True, False]}
    ours = qed.Search(mine, grid, cv="loo", scoring=scoring).fit(X, y)
    theirs = peer.GridSearchCV(other, grid, cv=peer.LeaveOneOut(), scoring=scoring or "neg_mean_squared_error").fit(
        X, y
    )
    same_table(ours, theirs)
    assert ours.how_.startswith("each of 25 rows left out in closed form, 2 passes")
    np.testing.assert_allclose(ours.standard_error_, np.sqrt(_variance(theirs) / 24), rtol=1e-8)
    same_table(qed.Search(mine, grid, cv=peer.LeaveOneOut(), scoring=scoring).fit(X, y), theirs)


def _variance(search):
    return float(search.cv_results_["std_test_score"][search.best_index_] ** 2)


def test_rows_of_weight_zero_are_not_left_out():
    X, y = problem(n=30)
    weight = np.where(np.arange(30) % 3 == 0, 0.0, 1.5)
    cheap, plain = (
        qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv="loo", cheap=cheap).fit(X, y, weight) for cheap in (True, False)
    )
    without = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv="loo").fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    same_table(cheap, plain)
    same_table(without, plain)
    assert cheap.n_splits_ == 20


def test_too_many_rows_to_list_are_summed_up(monkeypatch):
    from qed.optim.least_squares import search as linear_search

    X, y = problem(n=50)
    listed = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv="loo").fit(X, y)
    monkeypatch.setattr(linear_search, "KEPT", 10)
    summed = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv="loo").fit(X, y)
    assert "split0_test_score" not in summed.cv_results_ and "split0_test_score" in listed.cv_results_
    for name in ("mean_test_score", "std_test_score", "standard_error_test_score"):
        np.testing.assert_allclose(summed.cv_results_[name], listed.cv_results_[name], rtol=1e-12)


class Counted(ArrayRows):
    """Rows that count how many of them are read."""

    def __init__(self, X, y):
        super().__init__(X, y, size=32)
        self.read = 0

    def block(self, start, stop):
        self.read += stop - start
        return super().block(start, stop)


@pytest.mark.parametrize(("options", "passes"), [({}, 1), ({"cv": qed.KFold(4)}, 1), ({"cv": "loo"}, 2)])
def test_the_price_of_one(options, passes):
    X, y = problem(n=320)
    for model, grid in ((qed.Ridge(), {"alpha": ALPHAS}), (qed.LinearRegression(), {"fit_intercept": [True, False]})):
        data = Counted(X, y)
        search = qed.Search(model, grid, **options).fit(data)
        # Leaving one out takes the second pass once with and once without an intercept.
        families = 2 if passes == 2 and "fit_intercept" in grid else 1
        assert data.read == 320 * (1 + families if passes == 2 else 1)
        reference = made_with(model, search.best_params_).fit(X, y)
        np.testing.assert_allclose(search.best_estimator_.coef_, reference.coef_, rtol=1e-10)


def test_other_models_in_closed_form_share_one_pass_as_well():
    X, y = problem(n=320)
    data = Counted(X, y)
    search = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, scoring="neg_mean_absolute_error", refit=False).fit(data)
    assert search.how_ == "fitted 35 models from the statistics of 1 pass"
    # One pass for the statistics, one for the target that the metric needs, and the rows of each fold are seen by 7 models.
    assert data.read == 320 * (1 + 1 + 7)


def closed_form_models():
    for room in (qed.regression, qed.classification):
        for name in room.__all__:
            model = getattr(room, name)
            if isinstance(model, type) and issubclass(model, OnePass) and issubclass(model, (Classifier, Regressor)):
                yield model


@pytest.mark.parametrize("model", list(closed_form_models()), ids=lambda model: model.__name__)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.sampled(2)
def test_every_model_in_closed_form_scores_the_same_cheaply(model, weighted):
    X, y = problem()
    y = y if issubclass(model, Regressor) else np.where(y > np.median(y), "high", "low")
    X = np.floor(np.abs(X) * 2) if model().__sklearn_tags__().input_tags.positive_only else X
    weight = np.random.default_rng(2).integers(1, 4, len(X)).astype(float) if weighted else None
    cheap, plain = (qed.Search(model(), {}, cv=4, cheap=cheap).fit(X, y, weight) for cheap in (True, False))
    same_table(cheap, plain)
    assert "1 pass" in cheap.how_ and plain.how_ == "fitted 4 models"


def test_nearly_perfect_fits_are_summed_from_residuals():
    X, _ = problem(n=200)
    y = X @ np.arange(1.0, 6.0) + 1e-6 * np.random.default_rng(5).normal(size=200)
    for scoring in ADDITIVE:
        grid = {"alpha": [1e-12, 1e-9, 1.0]}
        cheap, plain = (
            qed.Search(qed.Ridge(), grid, scoring=scoring, cheap=cheap, return_train_score=True).fit(X, y)
            for cheap in (True, False)
        )
        same_table(cheap, plain)
    assert cheap.best_score_ > -2e-6


@pytest.mark.parametrize("shift", [0.0, 1e5])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_bad_scales_and_large_means_cost_no_digits(shift, fit_intercept):
    X, y = problem(n=80)
    X = X * np.array([1e-4, 1.0, 1e3, 10.0, 1e-2]) + shift * np.array([0.0, 1.0, 1.0, 0.0, 0.0])
    cheap, plain = (
        qed.Search(qed.Ridge(fit_intercept=fit_intercept), {"alpha": ALPHAS}, cheap=cheap).fit(X, y)
        for cheap in (True, False)
    )
    same_table(cheap, plain)


def test_more_columns_than_rows():
    X, y = problem(n=30, p=60)
    ours = qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X, y)
    same_table(ours, peer.GridSearchCV(PeerRidge(solver="svd"), {"alpha": ALPHAS}, cv=5).fit(X, y), 1e-7)


@pytest.mark.parametrize("cv", [4, "loo"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["plain", "weights", "outputs", "float32", "far"])
@pytest.mark.sampled(2)
def test_wide_tables_are_searched_in_the_space_of_their_rows(kind, fit_intercept, cv):
    X, y = problem(n=40, p=300, q=2 if kind == "outputs" else 1)
    X = {"float32": X.astype(np.float32), "far": X + 1e4}.get(kind, X)
    weight = np.random.default_rng(0).integers(0, 3, 40).astype(float) if kind == "weights" else None
    options = {"scoring": "neg_mean_squared_error", "cv": cv, "return_train_score": cv == 4}
    cheap, plain = (
        qed.Search(qed.Ridge(fit_intercept=fit_intercept), {"alpha": [0.1, 10.0]}, cheap=cheap, **options).fit(
            X, y, weight
        )
        for cheap in (True, False)
    )
    # Predictions of single precision, and about a mean of 1e4 without an intercept, have so many digits.
    same_table(cheap, plain, 1e-4 if kind == "float32" else 1e-6)
    assert cheap.how_.endswith("in the space of the rows") and cheap.best_estimator_.coef_.shape[-1] == 300
    assert qed.Search(qed.LinearRegression(), {}, cv=4).fit(X, y, weight).how_.startswith("fitted 4 models")


def test_a_hole_in_a_wide_table_is_named():
    X, y = problem(n=40, p=300)
    X[7, 200] = np.nan
    with pytest.raises(InputError, match="column number 200, row 7"):
        qed.Search(qed.Ridge(), {"alpha": [1.0, 2.0]}).fit(X, y)


def test_a_fold_whose_training_rows_lose_rank():
    X, y = problem(n=40)
    X = np.column_stack([X, np.r_[np.ones(8), np.zeros(32)]])
    grid = {"fit_intercept": [True, False]}
    with pytest.warns(DegenerateWarning):
        ours = qed.Search(qed.LinearRegression(), grid).fit(X, y)
    same_table(ours, peer.GridSearchCV(PeerLinearRegression(), grid, cv=5).fit(X, y))
    zero = qed.Search(qed.Ridge(), {"alpha": [0.0, 1.0]}).fit(X, y)
    same_table(zero, qed.Search(qed.Ridge(), {"alpha": [0.0, 1.0]}, cheap=False).fit(X, y))


def test_a_target_that_is_constant_in_a_fold_or_everywhere():
    X, y = problem(n=50)
    y[:10] = 2.0
    same_table(
        qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X, y),
        peer.GridSearchCV(PeerRidge(), {"alpha": ALPHAS}, cv=5).fit(X, y),
    )
    constant = qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X, np.full(50, 0.1))
    assert constant.best_score_ == 1.0 and constant.best_index_ == 0


def test_short_numbers_sparse_rows_and_lists():
    X, y = problem()
    reference = qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X, y)
    same_table(qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X.astype(np.float32), y), reference, 1e-5)
    same_table(qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(sparse.csc_array(X), y), reference)
    same_table(qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X.tolist(), y.tolist()), reference)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame):
    X, y = problem()
    named = frame({name: X[:, j] for j, name in enumerate("abcde")})
    for model in (qed.Ridge(), make_pipeline(PeerScaler(), qed.Ridge())):
        grid = {"alpha" if isinstance(model, qed.Ridge) else "ridge__alpha": ALPHAS}
        search = qed.Search(model, grid).fit(named, y)
        assert list(search.feature_names_in_) == list("abcde")
        np.testing.assert_allclose(search.predict(named), search.best_estimator_.predict(named))
    search.fit(X, y)
    assert not hasattr(search, "feature_names_in_")


@pytest.mark.parametrize("kind", ["parquet", "csv", "dask"])
@pytest.mark.parametrize(
    "options",
    [{}, {"cv": "loo"}, {"cv": qed.KFold(3)}, {"scoring": "neg_mean_absolute_error"}, {"cheap": False}],
    ids=["folds", "loo", "shuffled", "absolute", "plain"],
)
@pytest.mark.sampled(2)
def test_files_and_clusters_give_the_same(kind, options, tmp_path):
    X, y = problem(n=120)
    weight = np.random.default_rng(0).uniform(0.5, 2, 120)
    table = pd.DataFrame({**{name: X[:, j] for j, name in enumerate("abcde")}, "target": y, "weight": weight})
    if kind == "dask":
        source = dask_frame.from_pandas(table, npartitions=3)
    else:
        source = tmp_path / f"rows.{kind}"
        table.to_parquet(source) if kind == "parquet" else table.to_csv(source, index=False)
    data = qed.rows(source, target="target", sample_weight="weight", block_size=32)
    streamed = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, **options).fit(data)
    same_table(streamed, qed.Search(qed.Ridge(), {"alpha": ALPHAS}, **options).fit(X, y, weight), 1e-9)
    assert list(streamed.feature_names_in_) == list("abcde")
    np.testing.assert_allclose(streamed.score(data), streamed.scorer_(streamed, table[list("abcde")], y, weight))


def test_pipelines_and_other_libraries_models_are_fitted_one_by_one():
    X, y = problem()
    steps = make_pipeline(PeerScaler(), PeerRidge())
    grid = [{"ridge__alpha": ALPHAS}, {"ridge__alpha": [1.0], "standardscaler__with_mean": [False]}]
    ours = qed.Search(steps, grid, scoring="r2").fit(X, y)
    same_table(ours, peer.GridSearchCV(steps, grid, scoring="r2", cv=5).fit(X, y), 1e-12)
    assert ours.how_ == "fitted 40 models"
    assert ours.cv_results_["param_standardscaler__with_mean"].mask.tolist() == [True] * 7 + [False]


def test_classifiers_get_stratified_folds():
    X, y = problem()
    labels = np.where(y > np.quantile(y, 0.7), "high", np.where(y > np.median(y), "mid", "low"))
    grid = {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}
    tree = DecisionTreeClassifier(random_state=0)
    for scoring in (None, "neg_log_loss", "f1_macro", "roc_auc_ovr"):
        ours = qed.Search(tree, grid, scoring=scoring, cv=3).fit(X, labels)
        same_table(ours, peer.GridSearchCV(tree, grid, scoring=scoring, cv=3).fit(X, labels), 1e-12)
    assert ours.classes_.tolist() == ["high", "low", "mid"]
    np.testing.assert_array_equal(ours.predict_proba(X), ours.best_estimator_.predict_proba(X))


def test_values_that_are_models_or_arrays():
    X, y = problem(q=2)
    models = qed.Search(make_pipeline(PeerScaler(), PeerRidge()), {"ridge": [PeerRidge(5.0), PeerLinearRegression()]})
    assert isinstance(models.fit(X, y).best_params_["ridge"], (PeerRidge, PeerLinearRegression))
    arrays = qed.Search(qed.Ridge(), {"alpha": [np.array([1.0, 10.0]), 1.0]}).fit(X, y)
    plain = qed.Search(qed.Ridge(), {"alpha": [np.array([1.0, 10.0]), 1.0]}, cheap=False).fit(X, y)
    np.testing.assert_allclose(arrays.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-10)
    assert arrays.cv_results_["param_alpha"].dtype == object


def test_the_table_has_the_peers_names():
    X, y = problem()
    grid = {"alpha": ALPHAS, "fit_intercept": [True, False]}
    ours = qed.Search(qed.Ridge(), grid, return_train_score=True).fit(X, y).cv_results_
    theirs = peer.GridSearchCV(PeerRidge(), grid, return_train_score=True, cv=5).fit(X, y).cv_results_
    assert set(theirs) <= set(ours) and set(ours) - set(theirs) == {"standard_error_test_score"}
    for name in theirs:
        assert len(ours[name]) == len(theirs[name])
    assert ours["param_alpha"].dtype == float and ours["param_fit_intercept"].dtype == bool
    assert ours["params"] == theirs["params"]


def test_the_best_model_answers():
    X, y = problem()
    labels = (y > np.median(y)).astype(int)
    search = qed.Search(PeerLogisticRegression(), {"C": [0.1, 1.0]})
    assert hasattr(search, "predict_proba") and not hasattr(search, "transform")
    assert not hasattr(search, "classes_") and not hasattr(search, "n_features_in_")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        search.predict(X)
    search.fit(X, labels)
    np.testing.assert_array_equal(search.decision_function(X), search.best_estimator_.decision_function(X))
    assert search.score(X, labels) == search.best_estimator_.score(X, labels)
    assert search.n_features_in_ == 5 and search.refit_time_ > 0
    scaled = qed.Search(PeerScaler(), {"with_mean": [True]}, scoring=lambda model, X, y: 0.5).fit(X)
    assert scaled.transform(X).shape == X.shape and scaled.inverse_transform(scaled.transform(X)).shape == X.shape


def test_without_refit_there_is_a_table_but_no_model():
    X, y = problem()
    search = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, refit=False).fit(X, y)
    assert search.best_params_ == qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X, y).best_params_
    with pytest.raises(NotAvailableError, match="refit=False"):
        search.predict(X)
    assert not hasattr(search, "certificate_") and not hasattr(search, "best_estimator_")
    search.set_params(refit=True).fit(X, y).set_params(refit=False).fit(X, y)
    assert not hasattr(search, "best_estimator_") and not hasattr(search, "refit_time_")


def test_the_best_model_comes_with_its_proof():
    X, y = problem()
    search = qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X, y)
    assert search.certificate_ and qed.certify(search, X, y)
    search.best_estimator_.coef_[0] *= 1.001
    assert not qed.certify(search, X, y)


def test_searches_can_be_saved_and_sent(tmp_path):
    import pickle

    X, y = problem()
    search = qed.Search(qed.Ridge(), {"alpha": ALPHAS}).fit(X, y)
    qed.save(search, tmp_path / "search.qed")
    for again in (qed.load(tmp_path / "search.qed"), pickle.loads(pickle.dumps(search))):
        np.testing.assert_array_equal(again.predict(X), search.predict(X))
        assert again.best_params_ == search.best_params_


def test_searches_inside_searches():
    X, y = problem()
    inner = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv=3)
    outer = qed.Search(inner, {"scoring": ["r2", "neg_mean_absolute_error"]}, cv=4, scoring="r2").fit(X, y)
    theirs = peer.cross_val_score(peer.GridSearchCV(PeerRidge(), {"alpha": ALPHAS}, cv=3), X, y, cv=4, scoring="r2")
    found = [outer.cv_results_[f"split{fold}_test_score"][0] for fold in range(4)]
    np.testing.assert_allclose(found, theirs, rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"cv": qed.KFold(4)}, {"cv": "loo"}, {"cheap": False}])
def test_the_number_of_threads_changes_nothing(options):
    X, y = problem(n=400)
    found = []
    for count in (1, 2, 3):
        with qed.threads(count):
            data = qed.rows(X, y, block_size=64)
            found.append(qed.Search(qed.Ridge(), {"alpha": ALPHAS}, **options).fit(data))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
        np.testing.assert_array_equal(found[0].best_estimator_.coef_, other.best_estimator_.coef_)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"alpha": 1.0}, "values of 'alpha' must be a list"),
        ({"alpha": []}, "no values for 'alpha'"),
        ({"alpha": {1.0, 2.0}}, "must be a list"),
        ([], "dict of lists"),
        ("alpha", "dict of lists"),
        ([["alpha"]], "made of dicts"),
        ({"alhpa": [1.0]}, "no parameter 'alhpa'. Did you mean 'alpha'"),
        ({"alpha": [1.0, -1.0]}, "alpha must be .* not -1.0"),
    ],
)
def test_wrong_grids(grid, message):
    for cheap in (True, False):
        with pytest.raises(ParameterError, match=message):
            qed.Search(qed.Ridge(), grid, cheap=cheap).fit(*problem())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cv": 104}, InputError, "103 rows can not fill 104 folds"),
        ({"cv": "five"}, ParameterError, "cv must be"),
        ({"cv": 103}, InputError, "on fold 0 of 103: the score 'score' is not defined"),
        ({"cv": "loo", "scoring": "r2"}, ParameterError, "R² is not defined on a single row"),
        ({"cv": [([0, 1], [500])]}, InputError, "names row 500"),
        ({"scoring": "r3"}, ParameterError, "no score 'r3'"),
        ({"refit": "yes"}, ParameterError, "refit must be True or False"),
        ({"error_score": "ignore"}, ParameterError, "error_score must be 'raise' or a number"),
    ],
)
def test_wrong_settings(options, error, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(error, match=message):
            qed.Search(qed.Ridge(), {"alpha": [1.0]}, **options).fit(*problem())


def test_wrong_data():
    X, y = problem()
    search = qed.Search(qed.Ridge(), {"alpha": [1.0]})
    with pytest.raises(InputError, match="X has 103 rows and y has 102"):
        search.fit(X, y[1:])
    with pytest.raises(InputError, match="requires y"):
        search.fit(X)
    for nothing in (3, np.array(1.0), (value for value in y)):
        with pytest.raises(InputError, match="no rows to count"):
            search.fit(X, nothing)
    with pytest.raises(InputError, match="single row"):
        search.fit(X[:1], y[:1])
    with pytest.raises(ParameterError, match="an object, not its class"):
        qed.Search(qed.Ridge, {"alpha": [1.0]}).fit(X, y)
    with pytest.raises(InputError, match="can not read rows that are streamed"):
        qed.Search(PeerRidge(), {"alpha": [1.0]}).fit(qed.rows(X, y))
    with pytest.raises(ParameterError, match="does not take sample_weight"):
        qed.Search(PeerRidge(), {"alpha": [1.0]}, scoring=lambda model, X, y: 0.0).fit(X, y, np.ones(103))
    for weight in (np.repeat([1.0, 0.0], [3, 100]), np.zeros(103)):
        with pytest.raises(InputError, match="weight|fold"):
            search.fit(X, y, weight)
    holes = X.copy()
    holes[77, 2] = np.nan
    for model in (qed.Ridge(), qed.GradientRidge()):
        for cheap in (True, False):
            with pytest.raises(InputError, match="NaN: column number 2, row 77"):
                qed.Search(model, {"alpha": [1.0]}, cheap=cheap).fit(holes, y)


class Moody(PeerRidge):
    """A model that fails for some settings on some rows."""

    def fit(self, X, y, sample_weight=None):
        if self.alpha > 5 and len(X) == 82:
            raise RuntimeError("not today")
        return super().fit(X, y, sample_weight)


def test_a_fit_that_fails_is_named():
    X, y = problem()
    with pytest.raises(RuntimeError, match=r"Moody\(alpha=10.0\) on fold 0 of 5: not today"):
        qed.Search(Moody(), {"alpha": [1.0, 10.0]}, scoring="r2").fit(X, y)
    with pytest.warns(FitFailedWarning, match=r"Moody\(alpha=10.0\) on fold . of 5 failed and scores -7.0"):
        search = qed.Search(Moody(), {"alpha": [1.0, 10.0]}, scoring="r2", error_score=-7.0).fit(X, y)
    table = np.array([search.cv_results_[f"split{fold}_test_score"] for fold in range(5)])
    assert (table[:3, 1] == -7.0).all() and (table[3:, 1] > 0).all() and (table[:, 0] > 0).all()
    with pytest.warns(FitFailedWarning):
        nan = qed.Search(Moody(), {"alpha": [10.0, 1.0]}, scoring="r2", error_score=np.nan).fit(X, y)
    assert nan.best_params_ == {"alpha": 1.0} and nan.cv_results_["rank_test_score"].tolist() == [2, 1]
    with pytest.warns(FitFailedWarning, match="alpha must be"):
        wrong = qed.Search(qed.Ridge(), {"alpha": [-1.0, 1.0]}, error_score=-np.inf).fit(X, y)
    assert wrong.best_params_ == {"alpha": 1.0}


def test_classes_that_are_missing_in_a_fold():
    X, _ = problem(n=30)
    labels = np.array(["a"] * 14 + ["b"] * 14 + ["c"] * 2)
    folds = qed.KFold(3, shuffle=False)
    with pytest.raises(InputError, match="fold 2 of 3.*'c'"):
        qed.Search(PeerLogisticRegression(), {"C": [1.0]}, cv=folds, scoring="neg_log_loss").fit(X, labels)
    cheap, plain = (
        qed.Search(qed.MajorityClassifier(), {}, cv=folds, cheap=cheap).fit(X, labels) for cheap in (True, False)
    )
    same_table(cheap, plain)
    with pytest.warns(DegenerateWarning, match="some folds go without it"):
        qed.Search(qed.MajorityClassifier(), {}, cv=3).fit(X, labels)


class Obliging(qed.Ridge):
    """A model that answers for itself."""

    def _search(self, question):
        Obliging.asked = (question.rows.count(), len(question.models), question.folds.n_splits, self.n_features_in_)
        return Obliging.answer(question)


def test_a_model_is_asked_first():
    X, y = problem()
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    grid = {"alpha": [1.0, 2.0]}
    Obliging.answer = staticmethod(lambda question: Answer("by magic", {"score": Scores.of(table)}))
    search = qed.Search(Obliging(), grid, cv=2).fit(X, y)
    assert Obliging.asked == (103, 2, 2, 5)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], [1.5, 3.5])
    assert search.how_ == "by magic"
    assert qed.Search(Obliging(), grid, cv=2, cheap=False).fit(X, y).how_ == "fitted 4 models"
    # Without the training scores that are wanted, its answer is none.
    training = {"cv": 2, "return_train_score": True}
    assert qed.Search(Obliging(), grid, **training).fit(X, y).how_ == "fitted 4 models from the statistics of 1 pass"
    Obliging.answer = staticmethod(lambda question: Answer("by magic", {"score": Scores.of(table, table + 1)}))
    assert qed.Search(Obliging(), grid, **training).fit(X, y).how_ == "by magic"
    Obliging.answer = staticmethod(lambda question: None)
    assert "1 pass" in qed.Search(Obliging(), grid, cv=2).fit(X, y).how_
    Obliging.answer = staticmethod(lambda question: Answer("by magic", {"score": Scores.of(table[:1])}))
    with pytest.raises(InputError, match=r"gave scores of shape \(1, 2\)"):
        qed.Search(Obliging(), grid, cv=2).fit(X, y)


def test_a_model_can_answer_with_what_it_is_handed():
    """Everything that the protocol hands to a model is enough to fill the table by the plain way."""

    def answer(question):
        table = question.table(question.asking(Obliging(), "predict"))
        for members in question.families("alpha"):
            assert len(members) == 7 and len({question.models[c].fit_intercept for c in members}) == 1
            for fold in question.folds:
                training, held_out = question.training(fold), question.held_out(fold)
                for c in members:
                    model = qed.Ridge(**question.candidates[c]).fit(training)
                    table.judge(c, fold, predict=model.predict(held_out))
                    if question.train_scores:
                        table.judge(c, fold, train=True, predict=model.predict(training))
        return table.answer("with what was handed over")

    X, y = problem()
    weight = np.random.default_rng(0).uniform(size=len(X))
    grid = {"alpha": ALPHAS, "fit_intercept": [True, False]}
    Obliging.answer = staticmethod(answer)
    for scoring in ("r2", "neg_max_error"):
        given = None if scoring == "neg_max_error" else weight
        options = {"scoring": scoring, "return_train_score": True}
        search = qed.Search(Obliging(), grid, **options).fit(X, y, given)
        assert search.how_ == "with what was handed over"
        same_table(search, qed.Search(qed.Ridge(), grid, **options).fit(X, y, given))


class Neighbours(Classifier, Estimator):
    """The k nearest rows in one column vote: all k from one search for neighbours."""

    parameters = {"k": integer(1)}

    def __init__(self, k=1):
        self.k = k

    def _solve(self, problem):
        block = problem.rows.array()
        self.X_, self.y_ = block.X, np.asarray(block.y)
        self.classes_ = np.unique(self.y_)

    def _prove(self, problem):
        return []

    def _shares(self, X, known, labels, classes, ks):
        order = np.argsort(np.abs(X[:, :1] - known[:, 0]), axis=1, kind="stable")
        votes = np.cumsum(labels[order][:, :, None] == classes, axis=1)
        return [votes[:, k - 1] / k for k in ks]

    def _decide(self, block):
        return self.predict_proba(block.X)[:, 1] - 0.5

    def predict_proba(self, X):
        return self._shares(X, self.X_, self.y_, self.classes_, [self.k])[0]

    def _search(self, question):
        table, X = question.table(question.asking(self, "predict", "predict_proba")), question.rows.array().X
        for fold in question.folds:
            train, test = question.folds.train(fold), question.folds.test(fold)
            classes = np.unique(question.target[train])
            ks = [model.k for model in question.models]
            for c, share in enumerate(self._shares(X[test], X[train], question.target[train], classes, ks)):
                label = classes[(share[:, 1] > 0.5).astype(int)]
                table.judge(c, fold, predict=label, predict_proba=share, classes_=classes)
        return table.answer("one search for neighbours per fold")


def test_a_classifier_answers_for_labels_and_probabilities():
    X, y = problem(n=60, p=1)
    labels = np.where(y > np.median(y), "high", "low")
    scoring = ["accuracy", "neg_log_loss", "f1_macro", "roc_auc"]
    grid = {"k": [3, 7, 15]}
    cheap, plain = (
        qed.Search(Neighbours(), grid, scoring=scoring, refit="accuracy", cv=3, cheap=cheap).fit(X, labels)
        for cheap in (True, False)
    )
    for name in scoring:
        np.testing.assert_allclose(
            cheap.cv_results_[f"mean_test_{name}"], plain.cv_results_[f"mean_test_{name}"], rtol=1e-12
        )
    assert cheap.best_params_ == plain.best_params_
    # The area under the curve asks for decision values, which the model did not hand over: it is found by fitting.
    assert cheap.how_ == "one search for neighbours per fold; roc_auc: fitted 9 models"


SEVERAL = ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error"]


@pytest.mark.parametrize("cheap", [False, True])
@pytest.mark.parametrize("scoring", [SEVERAL, tuple(SEVERAL), {name: name for name in SEVERAL}], ids=type)
def test_several_scorers_fill_several_tables(scoring, cheap):
    X, y = problem()
    options = {"scoring": scoring, "refit": "neg_mean_absolute_error", "return_train_score": True, "cv": 5}
    ours = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cheap=cheap, **options).fit(X, y)
    theirs = peer.GridSearchCV(PeerRidge(), {"alpha": ALPHAS}, **options).fit(X, y)
    extra = {f"standard_error_test_{name}" for name in SEVERAL}
    assert set(ours.cv_results_) == set(theirs.cv_results_) | extra
    for name, values in theirs.cv_results_.items():
        if "_test_" in name or "_train_" in name:
            np.testing.assert_allclose(ours.cv_results_[name], values, rtol=1e-8)
    assert ours.best_params_ == theirs.best_params_ and ours.best_index_ == theirs.best_index_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
    assert ours.multimetric_ and set(ours.scorer_) == set(SEVERAL)
    np.testing.assert_allclose(ours.score(X, y), theirs.score(X, y), rtol=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)
    if cheap:
        assert ours.how_ == (
            "5 folds from the sums of 1 pass, 7 alphas from one eigendecomposition each; "
            "neg_mean_absolute_error: fitted 35 models from the statistics of 1 pass"
        )


def test_several_scorers_need_one_pass():
    X, y = problem(n=320)
    data = Counted(X, y)
    scoring = ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error"]
    qed.Search(qed.Ridge(), {"alpha": ALPHAS}, scoring=scoring, refit="r2").fit(data)
    assert data.read == 320
    data = Counted(X, y)
    qed.Search(qed.Ridge(), {"alpha": ALPHAS}, scoring=["r2", "neg_mean_absolute_error"], refit="r2").fit(data)
    # One pass for the statistics of both, one for the target, and the rows that a fold holds out are seen once by all models.
    assert data.read == 320 * (1 + 1 + 1)


@pytest.mark.parametrize("kind", ["lasso", "wide", "kernel", "pursuit", "loo"])
def test_several_scorers_are_those_of_single_searches(kind):
    X, y = problem(n=40)
    if kind == "wide":
        X = np.column_stack([X, np.random.default_rng(0).normal(size=(40, 600))])
    models = {"kernel": qed.KernelRidge(kernel="rbf"), "pursuit": qed.OrthogonalMatchingPursuit(), "loo": qed.Ridge()}
    model = models.get(kind, qed.Lasso())
    grid = {"n_nonzero_coefs": [1, 3]} if kind == "pursuit" else {"alpha": [0.1, 1.0]}
    scoring = ["neg_mean_squared_error", "neg_mean_absolute_error"]
    cv = "loo" if kind == "loo" else 4
    several = qed.Search(model, grid, cv=cv, scoring=scoring, refit=False).fit(X, y)
    assert "fitted" not in several.how_
    for name in scoring:
        plain = qed.Search(model, grid, cv=cv, scoring=name, refit=False, cheap=False).fit(X, y)
        np.testing.assert_allclose(
            several.cv_results_[f"mean_test_{name}"], plain.cv_results_["mean_test_score"], rtol=1e-6
        )


def test_which_of_several_scorers_decides():
    X, y = problem()
    grid, scoring = {"alpha": ALPHAS}, ["r2", "neg_max_error"]
    table = qed.Search(qed.Ridge(), grid, scoring=scoring, refit=False).fit(X, y)
    assert not hasattr(table, "best_params_") and not hasattr(table, "best_score_")
    with pytest.raises(NotAvailableError, match="choose one from cv_results_"):
        table.predict(X)
    for refit in (True, "accuracy"):
        with pytest.raises(ParameterError, match="the name of the one that decides .*'r2', 'neg_max_error'"):
            qed.Search(qed.Ridge(), grid, scoring=scoring, refit=refit).fit(X, y)
    strictest = qed.Search(qed.Ridge(), grid, scoring=scoring, refit=lambda results: len(results["params"]) - 1)
    assert strictest.fit(X, y).best_params_ == {"alpha": ALPHAS[-1]} and not hasattr(strictest, "best_score_")
    assert strictest.score(X, y) == pytest.approx(strictest.best_estimator_.score(X, y))
    with pytest.raises(ParameterError, match="from 0 to 6, not 7"):
        qed.Search(qed.Ridge(), grid, refit=lambda results: 7).fit(X, y)


def test_a_callable_may_give_several_scores():
    X, y = problem()

    def both(model, X, y):
        error = model.predict(X) - y
        return {"worst": -np.abs(error).max(), "bias": -abs(error.mean())}

    options = {"scoring": both, "refit": "worst", "cv": 4, "return_train_score": True}
    ours = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, **options).fit(X, y)
    theirs = peer.GridSearchCV(PeerRidge(), {"alpha": ALPHAS}, **options).fit(X, y)
    assert ours.best_params_ == theirs.best_params_ and ours.multimetric_
    for name in ("mean_test_worst", "std_test_bias", "mean_train_worst"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-8)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_several_scorers_can_be_saved(tmp_path):
    X, y = problem()
    search = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, scoring=["r2", "neg_max_error"], refit="r2").fit(X, y)
    qed.save(search, tmp_path / "search.qed")
    assert qed.load(tmp_path / "search.qed").score(X, y) == search.score(X, y)


class Opinionated(PeerRidge):
    """A regressor with a score of its own."""

    def score(self, X, y, sample_weight=None):
        return -float(np.abs(self.predict(X) - y).max())


def test_no_scoring_means_the_models_own_score():
    X, y = problem()
    ours = qed.Search(Opinionated(), {"alpha": ALPHAS}).fit(X, y)
    same_table(ours, peer.GridSearchCV(Opinionated(), {"alpha": ALPHAS}, cv=5).fit(X, y))
    nested = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv=3, scoring="neg_mean_absolute_error")
    theirs = peer.GridSearchCV(PeerRidge(), {"alpha": ALPHAS}, cv=3, scoring="neg_mean_absolute_error")
    np.testing.assert_allclose(
        qed.cross_val_score(nested, X, y, cv=4), peer.cross_val_score(theirs, X, y, cv=4), rtol=1e-9
    )


def test_a_bootstrap_repeats_rows():
    X, y = problem()
    draws = np.random.default_rng(0).integers(0, 103, (3, 103))
    cv = [(draw, np.setdiff1d(np.arange(103), draw)) for draw in draws]
    for model, grid in ((qed.Lasso(), {"alpha": [0.1, 1.0]}), (qed.OrthogonalMatchingPursuit(), {})):
        found = qed.Search(model, grid, cv=cv).fit(X, y)
        same_table(found, peer.GridSearchCV(model, grid, cv=cv).fit(X, y))


def test_no_table_without_a_single_fit():
    X, y = problem()
    search = qed.Search(Moody(), {"alpha": [1.0, 2.0]}, scoring=lambda model, X, y: 1 / 0, error_score=np.nan)
    with pytest.raises(InputError, match="All 10 fits failed"), pytest.warns(FitFailedWarning):
        search.fit(X, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["duplicate", "sum", "constant"])
def test_dependent_columns_take_one_pass_more(kind, fit_intercept):
    X, y = problem(n=320)
    more = {"duplicate": X[:, 0], "sum": X[:, 0] + X[:, 1], "constant": np.ones(320)}[kind]
    X = np.column_stack([X, more])
    grid = {"alpha": [0.0, 1e-9, 1e-6, 1e-3, 1.0, 100.0]}
    data = Counted(X, y)
    cheap = qed.Search(qed.Ridge(fit_intercept=fit_intercept), grid).fit(data)
    # The moments of all folds, their factors where moments are too coarse, and the factor of all rows for the last fit.
    assert data.read <= 3 * 320
    same_table(cheap, qed.Search(qed.Ridge(fit_intercept=fit_intercept), grid, cheap=False).fit(X, y))
    data = Counted(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        least = qed.Search(qed.LinearRegression(), {}).fit(data)
        same_table(least, qed.Search(qed.LinearRegression(), {}, cheap=False).fit(X, y))
    # One pass more of the last fit: the rows have to bear out that columns depend on each other.
    assert data.read <= 4 * 320 and "the sums of 2 passes" in least.how_


def test_those_who_watch():
    X, y = problem()
    with qed.watch() as seen:
        search = qed.Search(qed.GradientRidge(), {"alpha": [1.0, 2.0]}, cv=3).fit(X, y)
    # The search is traced as a whole, and the last fit to all rows as itself; the fits in between are its steps.
    assert [trace.model for trace in seen.traces] == ["Search", "GradientRidge"]
    records = seen.traces[0].records
    assert [record["number"] for record in records] == [1, 2, 3, 4, 5, 6]
    scores = [search.cv_results_[f"split{fold}_test_score"][c] for fold in range(3) for c in range(2)]
    np.testing.assert_allclose([-record["objective"] for record in records], scores)


class Listener:
    """A callback that keeps what it is told."""

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.told.append(f"end {context.task_name}")


def test_callbacks_are_told(capsys):
    X, y = problem()
    listener = Listener()
    qed.Search(qed.Ridge(), {"alpha": [1.0, 2.0]}, cv=2).set_callbacks(listener).fit(X, y)
    assert listener.told == [
        *("setup", "begin fit", "begin search", "end search", "begin refit", "end refit", "end fit", "teardown")
    ]
    listener.told.clear()
    with qed.threads(1):
        qed.Search(qed.Ridge(), {"alpha": [1.0, 2.0]}, cv=2, cheap=False).set_callbacks(listener).fit(X, y)
    assert listener.told.count("begin fit") == listener.told.count("end fit") == 1 + 4
    qed.Search(qed.Ridge(), {"alpha": [1.0]}, cv=2, cheap=False).set_callbacks(ProgressBar()).fit(X, y)
    assert "Search" in capsys.readouterr().out


def test_candidates_come_in_a_fixed_order():
    grid = [{"b": [1, 2], "a": np.array([0.5, 1.5])}, {"c": range(2)}]
    expected = [{"a": 0.5, "b": 1}, {"a": 0.5, "b": 2}, {"a": 1.5, "b": 1}, {"a": 1.5, "b": 2}, {"c": 0}, {"c": 1}]
    assert candidates_of(grid) == expected == list(peer.ParameterGrid(grid))
    assert type(candidates_of(grid)[0]["a"]) is float


def test_folds_know_their_rows():
    folds = Folds.of(qed.HoldOut(0.25, shuffle=False), range(8))
    assert folds.assignment.tolist() == [-1] * 6 + [0, 0] and folds.train(0).tolist() == list(range(6))
    repeated = Folds.of([([0, 0, 1], [2])], range(3))
    assert repeated.assignment is None
    with pytest.raises(InputError, match="more than once"):
        repeated.training(qed.rows(np.zeros((3, 1))), 0)


@parametrize_with_checks([qed.Search(qed.LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)])
@pytest.mark.sampled(3)
def test_scikit_learns_own_checks(estimator, check):
    run_check(estimator, check)


def test_rows_of_weight_zero_are_in_no_fold():
    generator = np.random.default_rng(0)
    X, weight = generator.normal(size=(60, 3)), np.repeat([0.0, 1.0, 3.0], 20)
    y = X @ [1.0, 2.0, 0.0] + generator.normal(size=60)
    for model, target in ((qed.Ridge(), y), (qed.RidgeClassifier(), y > 0)):
        found = qed.Search(model, {"alpha": [0.1, 10.0]}, cv=3).fit(X, target, sample_weight=weight)
        fewer = qed.Search(model, {"alpha": [0.1, 10.0]}, cv=3).fit(X[20:], target[20:], sample_weight=weight[20:])
        scores = (one.cv_results_["mean_test_score"] for one in (found, fewer))
        np.testing.assert_allclose(*scores, rtol=1e-12)


@pytest.mark.parametrize("kind", ["tall", "wide", "two targets"])
def test_what_does_not_follow_from_squares_is_judged_on_the_way(kind):
    random = np.random.default_rng(3)
    X = random.standard_normal((40, 90 if kind == "wide" else 6))
    y = X[:, :2] + random.standard_normal((40, 2))
    y = y if kind == "two targets" else y[:, 0]
    scoring = ["r2", "neg_mean_absolute_error", "neg_max_error"][: 2 if kind == "two targets" else 3]
    settings = {"cv": 4, "scoring": scoring, "refit": False}
    cheap = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, **settings).fit(X, y)
    plain = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cheap=False, **settings).fit(X, y)
    assert "fitted" not in cheap.how_ and "fitted" in plain.how_
    for name in scoring:
        for fold in range(4):
            column = f"split{fold}_test_{name}"
            # Coefficients of conditions near one are right to about 1e-13.
            np.testing.assert_allclose(cheap.cv_results_[column], plain.cv_results_[column], rtol=1e-8)
