"""Random forests: what is drawn, what is asked, rows left out, and what order, copies and threads do to them: nothing."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

import qed
from qed.base.compile import interpreted
from qed.trees.forests import growing
from qed.trees.forests.lots import Urn, columns_of, lot_of
from qed.trees.forests.proof import Walked, check_drawn


def table(n=300, p=5, seed=0, holes=0.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p)).round(3)
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.3 * generator.standard_normal(n)
    X[generator.random((n, p)) < holes] = np.nan
    return X, y


def same(first, second):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for a, b in zip(first.trees_, second.trees_)
        for name in ("feature", "threshold", "children_right", "missing_go_to_left")
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_a_forest_does_not_depend_on_what_was_compiled_before(weighted, monkeypatch):
    X, y = table(60, 4, holes=0.05)
    weight = np.random.default_rng(3).random(60) if weighted else None
    found = []
    for run in (growing.grow_bins, interpreted(growing.grow_bins)):
        monkeypatch.setattr(growing, "unless_few", lambda *given, run=run, **named: run)
        found.append(qed.RandomForestClassifier(5, random_state=0).fit(X, np.digitize(y, [0.0]), weight))
    assert same(*found) and np.array_equal(found[0].predict_proba(X), found[1].predict_proba(X))


@pytest.mark.parametrize(
    "make", [qed.RandomForestClassifier, qed.RandomForestRegressor, qed.ExtraTreesClassifier, qed.ExtraTreesRegressor]
)
def test_neither_order_nor_copies_nor_threads_change_a_forest(make):
    X, y = table(holes=0.05)
    y = y if issubclass(make, qed.RandomForestRegressor) else np.digitize(y, [-0.5, 0.6])
    model = make(6, random_state=0).fit(X, y)
    order, times = np.random.default_rng(1).permutation(300), np.random.default_rng(2).integers(0, 3, 300)
    assert same(model, make(6, random_state=0).fit(X[order], y[order]))
    with qed.threads(1):
        assert same(model, make(6, random_state=0).fit(X, y))
    weighted = make(6, random_state=0).fit(X, y, times.astype(float))
    assert same(weighted, make(6, random_state=0).fit(np.repeat(X, times, axis=0), np.repeat(y, times)))
    assert not same(model, make(6, random_state=1).fit(X, y))


@pytest.mark.parametrize(
    "settings", [{}, {"max_features": None}, {"criterion": "entropy"}, {"min_samples_leaf": 4}, {"bootstrap": False}]
)
def test_questions_asked_again(settings):
    X, y = table(200, holes=0.1)
    label = np.digitize(y, [-0.5, 0.6])
    model = qed.RandomForestClassifier(3, random_state=0, **settings).fit(X, label)
    assert qed.certify(model, X, label)
    if not settings:
        # A tree that was grown with other lots asks about other columns.
        problem = model._problem(qed.rows(X, label))
        codes = problem.codes(model.bins_)
        urn = model._urn(problem, codes)
        places, mass = model._drawn(urn, 0)
        rows, nodes = urn.order[places], model.trees_[0]
        walked = Walked(nodes, codes, model.bins_, rows, mass, urn.unit)
        assert check_drawn(walked, problem, lot_of(model.seed_ ^ 1, 0), 1 << 30) < 1e-12
        assert check_drawn(walked, problem, lot_of(model.seed_, 7), 1 << 30) > 1e-3


@pytest.mark.parametrize("make", [qed.ExtraTreesClassifier, qed.ExtraTreesRegressor])
@pytest.mark.parametrize("weights", [None, "whole", "any"])
def test_thresholds_by_chance_are_those_of_their_lots(make, weights):
    X, y = table(80, holes=0.1)
    y = y if make is qed.ExtraTreesRegressor else (y > 0).astype(int)
    generator = np.random.default_rng(3)
    weight = {None: None, "whole": generator.integers(0, 4, 80).astype(float), "any": generator.random(80)}[weights]
    model = make(2, bootstrap=weights == "any", random_state=0).fit(X, y, weight)
    assert qed.certify(model, X, y, weight)
    # The best of all questions is another one than that by chance.
    model.by_chance = False
    assert not qed.certify(model, X, y, weight)


@pytest.mark.parametrize(
    "model",
    [
        qed.ExtraTreesClassifier(2, random_state=0),
        qed.DecisionTreeClassifier(max_bins=8),
        qed.DecisionTreeRegressor(max_bins=8),
    ],
    ids=str,
)
def test_weights_may_have_any_size(model):
    """Products of tiny weights vanish and those of huge ones overflow, unless they are brought near one."""
    X, y = table(80)
    y = y if isinstance(model, qed.DecisionTreeRegressor) else (y > 0).astype(int)
    weight = np.random.default_rng(3).random(80)
    usual = model.fit(X, y, weight).predict(X)
    for power in (-300, 300):
        model.fit(X, y, np.ldexp(weight, power))
        np.testing.assert_array_equal(model.predict(X), usual)
        assert qed.certify(model, X, y, np.ldexp(weight, power))
    wild = np.ldexp(weight, np.arange(-320, 320, 8))
    assert qed.certify(model.fit(X, y, wild), X, y, wild)


def test_all_columns_and_all_rows_make_the_tree():
    """With every column looked at and nothing drawn, a tree of the forest is the exact one where there are no more values than bins."""
    X, y = table(180)
    forest = qed.RandomForestRegressor(2, bootstrap=False, random_state=0).fit(X, y)
    tree = qed.DecisionTreeRegressor().fit(X, y)
    np.testing.assert_array_equal(forest.trees_[0].feature, tree.tree_.feature)
    np.testing.assert_array_equal(forest.trees_[0].n_node_samples, tree.tree_.n_node_samples)


def test_rows_left_out_judge_as_rows_held_out():
    X, y = table(1500)
    label = (y > 0).astype(int)
    model = qed.RandomForestClassifier(60, oob_score=True, random_state=0).fit(X[:1000], label[:1000])
    held_out = model.score(X[1000:], label[1000:])
    theirs = RandomForestClassifier(60, random_state=0).fit(X[:1000], label[:1000]).score(X[1000:], label[1000:])
    # Shares of 1 000 and 500 rows, within four standard errors of their difference.
    assert abs(model.oob_score_ - held_out) < 4 * np.sqrt(0.25 / 1000 + 0.25 / 500)
    assert abs(held_out - theirs) < 4 * np.sqrt(0.1 / 500)


def test_what_is_drawn_is_keyed():
    assert lot_of(0, 1) != lot_of(0, 2) and lot_of(1, 1) != lot_of(0, 1)
    columns = [column for column, _ in columns_of(lot_of(3, 0), 9)]
    np.testing.assert_array_equal(np.sort(columns), np.arange(9))
    urn = Urn(np.zeros((1, 10), np.uint8), np.arange(10.0), None)
    first, times = urn.draw(lot_of(0, 0), 1.0)
    np.testing.assert_array_equal(first, urn.draw(lot_of(0, 0), 1.0)[0])
    assert times.sum() == 10 and urn.draw(lot_of(0, 0), 0.3)[1].sum() == 3


def test_a_search_of_the_number_of_trees_grows_one_forest_for_each_training_set():
    X, y = table(150)
    for model, target in (
        (qed.RandomForestRegressor(random_state=0), y),
        (qed.RandomForestClassifier(random_state=0), (y > 0).astype(int)),
    ):
        grid = {"n_estimators": [9, 3, 6]}
        quick = qed.Search(model, grid, cv=3).fit(X, target)
        plain = GridSearchCV(model, grid, cv=3).fit(X, target)
        assert quick.how_ == "3 folds, all numbers of trees from one forest each"
        # Means of nine numbers.
        np.testing.assert_allclose(
            quick.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=1e-12
        )


def test_one_row_or_one_value_is_a_leaf():
    X, y = np.zeros((3, 1)), np.array([0, 1, 0])
    model = qed.RandomForestClassifier(2, random_state=0).fit(X, y)
    assert all(nodes.node_count == 1 for nodes in model.trees_) and model.bins_.counts.tolist() == [1]


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
def test_a_row_that_is_never_left_out_is_not_judged():
    model = qed.RandomForestRegressor(2, oob_score=True, random_state=0).fit([[1.0]], [2.0])
    assert model.oob_score_ == 0.0 and qed.certify(model, [[1.0]], [2.0])
