"""Intervals and sets hold the truth as often as they promise, and closed forms give what n fits would."""

import warnings

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.selection.guarantees.ranks import guaranteed, rank_of, rows_needed


def curve(n, seed, p=3):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    return X, X[:, 0] - 0.5 * X[:, 1] ** 2 + generator.standard_t(4, size=n)


def by_hand(model, X, y, new, level, weight=None):
    """Leave out each row by a fit of its own, and count ranks by sorting."""
    there = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    table, errors = [], []
    for i in there:
        others = there[there != i]
        given = {} if weight is None else {"sample_weight": weight[others]}
        one = type(model)(**model.get_params()).fit(X[others], y[others], **given)
        errors.append(abs(y[i] - one.predict(X[i : i + 1])[0]))
        table.append(one.predict(new))
    table, errors = np.array(table).T, np.array(errors)
    share = np.ones(len(there)) if weight is None else weight[there]
    ends = []
    for line in table:
        found = []
        for values in (errors - line, line + errors):
            order = np.argsort(values, kind="stable")
            place = np.flatnonzero(np.cumsum(share[order]) >= level * (share.sum() + 1) - 1e-9)
            found.append(values[order[place[0]]])
        ends.append((-found[0], found[1]))
    return np.array(ends)


CLOSED = {
    "least squares": qed.LinearRegression(),
    "ridge": qed.Ridge(0.7),
    "ridge, no intercept": qed.Ridge(0.7, fit_intercept=False),
    "kernel ridge": qed.KernelRidge(0.3, kernel="rbf", gamma=0.4),
    "kernel ridge, primal": qed.KernelRidge(0.3, kernel="linear"),
    "nearest": qed.KNeighborsRegressor(3),
    "nearest, by distance": qed.KNeighborsRegressor(4, weights="distance"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_the_closed_form_of_the_jackknife_is_that_of_n_fits(name):
    X, y = curve(40, seed=1)
    new = curve(7, seed=2)[0]
    model = qed.Conformal(CLOSED[name], method="jackknife+").fit(X, y)
    assert model.left_out_ is not None and not model.members_
    wanted = by_hand(CLOSED[name], X, y, new, 0.8)
    # Leverages and inverses of these tables have condition numbers below 1e4: eleven digits are left at least.
    np.testing.assert_allclose(model.predict_interval(new, level=0.8), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["least squares", "ridge", "kernel ridge"])
def test_weights_count_as_rows_that_are_left_out_together(name):
    X, y = curve(30, seed=3)
    weight = np.random.default_rng(0).integers(0, 3, size=30).astype(float)
    model = qed.Conformal(CLOSED[name]).fit(X, y, sample_weight=weight)
    assert model.method_ == "jackknife+" and len(model.scores_) == np.count_nonzero(weight)
    new = curve(5, seed=4)[0]
    np.testing.assert_allclose(model.predict_interval(new), by_hand(CLOSED[name], X, y, new, 0.9, weight), rtol=1e-9)
    assert model.guarantee_ == 0.0 and qed.certify(model, X, y, weight)
    assert "not proven" in str(model.certificate_)


def test_a_row_of_leverage_one_is_fitted_again():
    X, y = curve(25, seed=5)
    X[:, 2] = 0.0
    X[4, 2] = 1.0  # the only row that knows the third coefficient
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.Conformal(qed.LinearRegression(), method="jackknife+").fit(X, y)
        wanted = by_hand(qed.LinearRegression(), X, y, X[:3], 0.9)
    np.testing.assert_allclose(model.predict_interval(X[:3]), wanted, rtol=1e-8)


def test_models_without_a_closed_form_are_fitted_without_each_row():
    X, y = curve(20, seed=6)
    tree = qed.DecisionTreeRegressor(max_depth=2)
    model = qed.Conformal(tree, method="jackknife+").fit(X, y)
    assert model.how_ == "each of 20 rows left out by a fit of its own"
    new = curve(4, seed=7)[0]
    np.testing.assert_allclose(model.predict_interval(new), by_hand(tree, X, y, new, 0.9), rtol=1e-12)


# The share of 200 new rows, one for each redraw, that are held: at least what is guaranteed but for chance, which with probability
# 1 - 1e-4 is less than four standard deviations of a binomial share. Sets can be much larger than asked for, intervals of continuous
# targets hardly: those of split exceed their level by 1 / (n + 1) at most.
REDRAWS = 200


def held(model, level, seed, n=60):
    hits = 0
    for redraw in range(REDRAWS):
        X, y = curve(n + 1, seed=1000 * seed + redraw)
        ends = model.fit(X[:n], y[:n]).predict_interval(X[n:], level)[0]
        hits += ends[0] <= y[n] <= ends[1]
    return hits / REDRAWS


@pytest.mark.parametrize(
    ("method", "inner"),
    [
        ("jackknife+", qed.Ridge()),
        ("jackknife+", qed.KNeighborsRegressor(5)),
        ("jackknife+", qed.KernelRidge(1.0, kernel="rbf")),
        ("cv+", qed.LinearRegression()),
        ("split", qed.Ridge()),
    ],
)
def test_coverage_over_redraws_is_what_is_promised(method, inner):
    level = 0.8
    model = qed.Conformal(inner, level=level, method=method)
    share = held(model, level, seed=len(method))
    noise = 4 * np.sqrt(level * (1 - level) / REDRAWS)
    assert share >= model.guarantee_ - noise
    assert abs(share - level) <= noise + 1 / (len(model.scores_) + 1)


@pytest.mark.parametrize("class_score", ["likelihood", "cumulative"])
@pytest.mark.parametrize("method", ["cv+", "split"])
def test_sets_hold_the_class_as_often_as_promised(method, class_score):
    level, n, hits = 0.8, 60, 0
    model = qed.Conformal(qed.GaussianNB(), level=level, method=method, folds=2, class_score=class_score)
    for redraw in range(REDRAWS):
        generator = np.random.default_rng(redraw)
        code = generator.integers(0, 3, size=n + 1)
        X = generator.standard_normal((n + 1, 2)) + np.array([[0, 0], [1, 0], [0, 1.5]])[code]
        y = np.array(["a", "b", "c"])[code]
        sets = model.fit(X[:n], y[:n]).predict_set(X[n:])
        hits += model.classes_[sets[0]].tolist().count(y[n])
    assert hits / REDRAWS >= level - 4 * np.sqrt(level * (1 - level) / REDRAWS)
    assert hits / REDRAWS >= model.guarantee_ - 4 * np.sqrt(0.25 / REDRAWS)


def test_ranks_are_counted_with_the_number_that_was_written():
    assert [rank_of(level, 9) for level in (0.1, 0.3, 0.6, 0.7, 0.9)] == [1, 3, 6, 7, 9]
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        needed = rows_needed(level)
        assert rank_of(level, needed) <= needed and rank_of(level, needed - 1) > needed - 1
        assert guaranteed("split", level, needed, 1) >= level
        assert guaranteed("split", level, needed - 1, 1) == 1.0
    assert guaranteed("jackknife+", 0.9, 199, 199) == pytest.approx(0.8, abs=1e-12)
    assert guaranteed("cv+", 0.9, 100, 5) < guaranteed("jackknife+", 0.9, 100, 100)


def test_too_few_rows_for_a_level_give_infinite_intervals_and_a_sentence():
    X, y = curve(8, seed=8)
    with pytest.warns(DegenerateWarning, match="a level of 0.9 needs at least 9 rows to calibrate by, but there are 8"):
        model = qed.Conformal(qed.Ridge()).fit(X, y)
    assert model.guarantee_ == 1.0
    with pytest.warns(DegenerateWarning, match="the intervals are infinite"):
        ends = model.predict_interval(X)
    assert np.isneginf(ends[:, 0]).all() and np.isposinf(ends[:, 1]).all()
    assert np.isfinite(model.predict_interval(X, level=0.5)).all()
    labels = (y > 0).astype(int)
    with pytest.warns(DegenerateWarning, match="the sets hold all classes"):
        classifier = qed.Conformal(qed.GaussianNB(), folds=2).fit(X, labels)
    with pytest.warns(DegenerateWarning):
        assert classifier.predict_set(X).all()


def test_ties_only_make_intervals_larger():
    X, y = curve(30, seed=9)
    y = np.round(y)
    model = qed.Conformal(qed.KNeighborsRegressor(1), method="split", level=0.7).fit(X, y)
    ends = model.predict_interval(X)
    inside = np.abs(y - model.predict(X)) <= np.sort(model.scores_)[int(model.rank_) - 1]
    assert (((ends[:, 0] <= y) & (y <= ends[:, 1])) == inside).all()


def test_folds_are_of_equal_size_and_the_rest_always_trains():
    X, y = curve(23, seed=10)
    model = qed.Conformal(qed.Lasso(0.1), folds=5).fit(X, y)
    assert np.bincount(model.fold_ + 1).tolist() == [3, 4, 4, 4, 4, 4]
    for fold, member in enumerate(model.members_):
        wanted = qed.Lasso(0.1).fit(X[model.fold_ != fold], y[model.fold_ != fold])
        np.testing.assert_allclose(member.coef_, wanted.coef_, rtol=1e-6)
    assert qed.certify(model, X, y)


def test_a_fitted_model_is_calibrated_by_other_rows_only():
    X, y = curve(120, seed=11)
    ridge = qed.Ridge().fit(X[:60], y[:60])
    model = qed.Conformal(ridge, method="prefit").fit(X[60:], y[60:])
    assert model.how_ == "fitted before, calibrated by 60 other rows"
    np.testing.assert_array_equal(model.predict(X[:5]), ridge.predict(X[:5]))
    with pytest.raises(InputError, match="has not seen, and these are those of its fit"):
        qed.Conformal(ridge, method="prefit").fit(X[:60], y[:60])


def test_searches_tables_and_models_of_others_are_held_out_like_any():
    from sklearn.linear_model import LinearRegression

    X, y = curve(60, seed=12)
    search = qed.Conformal(qed.Search(qed.Ridge(), {"alpha": [0.1, 10.0]}, cv=3)).fit(X, y)
    assert search.method_ == "cv+" and qed.certify(search, X, y)
    other = qed.Conformal(LinearRegression()).fit(X, y)
    own = qed.Conformal(qed.LinearRegression(), method="cv+").fit(X, y)
    np.testing.assert_allclose(other.predict_interval(X), own.predict_interval(X), rtol=1e-9)
    table = qed.data.load("penguins").table
    data = qed.rows(table.filter(table["body_mass_g"].is_valid()), target="body_mass_g")
    model = qed.Conformal(qed.TableModel(qed.Ridge())).fit(data)
    assert model.predict_interval(data).shape == (data.count(), 2)
    assert 0.85 <= model.coverage(data).share <= 1.0


def test_single_precision_intervals_lose_nothing_by_rounding():
    X, y = curve(50, seed=13)
    model = qed.Conformal(qed.Ridge()).fit(X.astype(np.float32), y.astype(np.float32))
    ends = model.predict_interval(X.astype(np.float32))
    assert ends.dtype == np.float32


def test_a_saved_model_gives_the_same_intervals(tmp_path):
    X, y = curve(50, seed=14)
    for inner in (qed.Ridge(), qed.KernelRidge(kernel="rbf"), qed.KNeighborsRegressor(3), qed.Lasso(0.1)):
        model = qed.Conformal(inner).fit(X, y)
        qed.save(model, tmp_path / "model.qed")
        again = qed.load(tmp_path / "model.qed")
        np.testing.assert_array_equal(model.predict_interval(X), again.predict_interval(X))
        assert qed.certify(again, X, y)


@pytest.mark.parametrize("model", [qed.KMeans(2), qed.StandardScaler()])
def test_models_that_predict_nothing_to_cover_are_refused(model):
    with pytest.raises(ParameterError, match="neither numbers nor classes"):
        qed.Conformal(model).fit(*curve(20, seed=15))


def test_what_can_not_be_ranked_is_refused_with_the_reason():
    X, y = curve(30, seed=16)
    with pytest.raises(ParameterError, match="has no predict_proba"):
        qed.Conformal(qed.Perceptron()).fit(X, (y > 0).astype(int))
    with pytest.raises(ParameterError, match="a number above 0 and below 1"):
        qed.Conformal(qed.Ridge(), level=1.0).fit(X, y)
    with pytest.raises(ParameterError, match="level must be a number above 0"):
        qed.Conformal(qed.Ridge()).fit(X, y).predict_interval(X, level=0)
