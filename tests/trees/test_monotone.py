"""Boosting with columns in which it may only rise, or only fall: at random points, in its proof, and where nothing stands in its way."""

import numpy as np
import pytest

import qed
from qed.base.errors import InputError, ParameterError
from qed.base.threads.team import team
from qed.trees.bins import Bins
from qed.trees.boosting import growing
from qed.trees.boosting.coding import Coding, known_levels
from qed.trees.boosting.growing import Grid, Grower, Rules
from qed.trees.boosting.monotone import limits_of, mean_values, wrong_way

WAYS = [1, 0, -1]
LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "log_loss", "exponential"]


def table(n=400, seed=0):
    """Columns that go up and down, mostly in the directions asked for, with holes."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)).round(2)
    score = X[:, 0] + np.sin(3 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) - X[:, 2] + 0.5 * random.standard_normal(n)
    X[random.random(X.shape) < 0.05] = np.nan
    return X, score


X, SCORE = table()


def fitted(loss, X=X, score=SCORE, **settings):
    settings = {"max_iter": 8, "monotonic_cst": WAYS, **settings}
    if loss in ("log_loss", "exponential"):
        return qed.GradientBoostingClassifier(loss=loss, **settings), (score > 0).astype(int)
    y = np.round(np.exp(score / 2)) if loss == "poisson" else score
    return qed.GradientBoostingRegressor(loss=loss, **settings), y


def said(model, X):
    return model.predict_proba(X)[:, 1] if hasattr(model, "classes_") else model.predict(X)


def rises(model, column, direction):
    """Give the least step in a direction, at random points, along all values of a column."""
    points = np.random.default_rng(1).standard_normal((40, 3))
    along = []
    for value in np.linspace(-3, 3, 25):
        points[:, column] = value
        along.append(said(model, points))
    return float((direction * np.diff(along, axis=0)).min())


@pytest.mark.parametrize("loss", LOSSES)
def test_the_model_is_monotone_and_proven(loss):
    model, y = fitted(loss)
    free = fitted(loss, monotonic_cst=None)[0].fit(X, y)
    model.fit(X, y)
    assert any(rises(free, column, way) < 0 for column, way in enumerate(WAYS) if way), "nothing is asked of the data"
    assert all(rises(model, column, way) >= 0 for column, way in enumerate(WAYS) if way)
    certificate = qed.certify(model, X, y)
    assert model.certificate_ and certificate, f"{certificate}"
    assert wrong_way(model.forest_, np.array(WAYS)) == 0 < wrong_way(free.forest_, np.array(WAYS))


@pytest.mark.parametrize(
    "settings", [{"subsample": 0.5, "random_state": 0}, {"l2_regularization": 3.0}, {"learning_rate": 4.0}], ids=str
)
def test_drawn_rows_penalties_and_halved_steps_keep_the_direction(settings):
    model, y = fitted("log_loss", **settings)
    model.fit(X, y, sample_weight=np.random.default_rng(2).random(len(X)) + 0.5)
    assert all(rises(model, column, way) >= 0 for column, way in enumerate(WAYS) if way)
    assert qed.certify(model, X, y, sample_weight=np.random.default_rng(2).random(len(X)) + 0.5)


def test_where_nothing_stands_in_the_way_the_model_is_the_free_one():
    steps = np.repeat(np.arange(6.0), 30)[:, None]
    wide = np.hstack([steps, np.zeros_like(steps)])
    for ways in ([1, 0], [1, -1], [0, 0]):
        model, free = (
            qed.GradientBoostingRegressor(max_iter=5, monotonic_cst=asked).fit(wide, steps[:, 0])
            for asked in (ways, None)
        )
        for first, second in zip(model.forest_.columns, free.forest_.columns):
            np.testing.assert_array_equal(first, second)


def test_a_moved_leaf_is_noticed():
    model, y = fitted("squared_error")
    model.fit(X, y)
    kept = model.forest_.value
    for share in (1.001, -1.0, 100.0):
        # The largest leaf, which every bound would have to let through.
        moved = kept.copy()
        moved[np.abs(kept).argmax()] *= share
        object.__setattr__(model.forest_, "value", moved)
        certificate = qed.certify(model, X, y)
        assert not certificate
        object.__setattr__(model.forest_, "value", kept)
    # A leaf on the left of a question about the column that rises.
    nodes = np.flatnonzero((model.forest_.feature[:-1] == 0) & (model.forest_.feature[1:] < 0))
    ways = np.array(WAYS)
    moved = kept.copy()
    moved[nodes[-1] + 1] += 1e3
    object.__setattr__(model.forest_, "value", moved)
    assert wrong_way(model.forest_, ways) > 900


def test_names_saving_and_refusals(tmp_path):
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["up", "free", "down"])
    model, y = fitted("squared_error", max_iter=2)
    named = qed.GradientBoostingRegressor(max_iter=2, monotonic_cst={"down": -1, "up": 1}).fit(frame, y)
    np.testing.assert_array_equal(named.forest_.value, model.fit(X, y).forest_.value)
    qed.save(named, tmp_path / "model.qed")
    assert qed.certify(qed.load(tmp_path / "model.qed"), frame, y)
    for asked, words in (([1], "1 entries"), ({"no": 1}, "no column")):
        with pytest.raises(InputError, match=words):
            qed.GradientBoostingRegressor(monotonic_cst=asked).fit(frame, y)
    with pytest.raises(ParameterError, match="monotonic_cst"):
        qed.GradientBoostingRegressor(monotonic_cst=[2, 0, 0]).fit(X, y)
    with pytest.raises(InputError, match="categories"):
        qed.GradientBoostingRegressor(monotonic_cst=WAYS, categorical_features=[0]).fit(X, y)
    with pytest.raises(InputError, match="two classes"):
        qed.GradientBoostingClassifier(monotonic_cst=WAYS).fit(X, np.digitize(y, [-1, 1]))


def test_bounds_are_the_middles_of_values():
    feature, left, right = np.array([0, 0, -1, -1, -1]), np.array([1, 2, 0, 0, 0]), np.array([4, 3, 0, 0, 0])
    value = mean_values(feature, left, right, np.array([0.0, 0.0, 1.0, 5.0, 4.0]), np.array([0.0, 0.0, 1.0, 1.0, 2.0]))
    np.testing.assert_array_equal(value, [3.5, 3.0, 1.0, 5.0, 4.0])
    limits, by = limits_of(feature, left, right, np.array([1]), value)
    np.testing.assert_array_equal(limits[1:], [[-np.inf, 3.5], [-np.inf, 2.25], [2.25, 3.5], [3.5, np.inf]])
    np.testing.assert_array_equal(by[3], [1, 0])


def test_it_is_as_good_as_that_of_scikit_learn():
    from sklearn.ensemble import HistGradientBoostingRegressor

    wide, score = table(n=900, seed=3)
    wide = np.nan_to_num(wide)
    train, test = slice(0, 500), slice(500, None)
    scores = [
        kind(max_iter=15, monotonic_cst=WAYS).fit(wide[train], score[train]).score(wide[test], score[test])
        for kind in (qed.GradientBoostingRegressor, HistGradientBoostingRegressor)
    ]
    # Four hundred rows tell a share of the variance to about twice its rest over their root.
    assert scores[0] > scores[1] - 2 * (1 - scores[1]) / 20


@pytest.mark.slow
@pytest.mark.parametrize("levels", [(), (1,)])
def test_the_compiled_tree_is_the_plain_one(levels, monkeypatch):
    wide, score = table(n=1500)
    wide[:, 1] = np.round(np.abs(np.nan_to_num(wide[:, 1])) * 8)
    share = 1 / (1 + np.exp(-score))
    slope, curvature, weight = share - (score > 0.3), share * (1 - share), np.empty(0)
    grid = Grid.of(float(np.abs(slope).sum()), float(curvature.sum()), weight, len(wide))
    coding = Coding(Bins.learn(wide), known_levels(wide, levels, 3))
    for rules in (Rules(31, 99, 20.0, 1e-3, 0.0), Rules(300, 6, 3.0, 1e-3, 1.0)):
        allowed, found = np.ones((2 * rules.leaves - 1, 3), dtype=np.uint8), []
        for few, threads in ((1 << 40, 1), (0, 1), (0, 3)):
            monkeypatch.setattr(growing, "FEW", few)
            monkeypatch.setattr(growing, "is_ready", lambda *given, few=few, **named: few == 0)
            grower = Grower(coding.codes(wide, 8), coding, weight, rules, np.array(WAYS, dtype=np.int8))
            with qed.threads(threads), team() as crew:
                leaf = np.zeros(len(wide), dtype=np.int32)
                found.append(grower.grow(crew, slope, curvature, grid, None, allowed, leaf))
        for one in found[1:]:
            for name in ("questions", "gains", "leaf", "limits"):
                np.testing.assert_array_equal(getattr(one, name), getattr(found[0], name), err_msg=name)
