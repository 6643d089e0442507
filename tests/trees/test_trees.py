"""Decision trees: exact growing, missing values, weights, threads, what is kept of them, and what they look like in words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import qed
from qed.base.compile import interpreted
from qed.base.errors import InputError, ParameterError
from qed.trees import growing
from qed.trees.columns import Columns, midway
from qed.trees.growing import Rules, Targets, grow
from qed.trees.impurity import KINDS
from qed.trees.sweeping import grow_below

PARTS = ("feature", "threshold", "children_right", "missing_go_to_left", "value", "impurity", "n_node_samples")


def table(n, p=4, seed=0, holes=0.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p)).round(2)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.2 * generator.standard_normal(n)
    X[generator.random((n, p)) < holes] = np.nan
    return X, y


def labels(y):
    return np.digitize(y, [-0.5, 0.7])


def assert_same(first, second):
    for name in PARTS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("kind", ["gini", "entropy", "misclassification", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_and_interpreted_growing_agree(kind, weighted, monkeypatch):
    X, y = table(150, holes=0.1)
    number = kind == "squared_error"
    label = np.zeros(150, dtype=np.intp) if number else labels(y)
    weight = np.random.default_rng(1).random(150) if weighted else None

    def grown(run):
        monkeypatch.setattr(growing, "unless_few", lambda *given, **named: run)
        columns = Columns(X, label, 1 if number else 3)
        targets = Targets.of(KINDS[kind], 1 if number else 3, weight, y if number else None)
        return grow(columns, targets, Rules(5, 2, 2, 0.0, -np.inf, 4, 0))

    for one, other in zip(grown(grow_below).parts, grown(interpreted(grow_below)).parts):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("make", [qed.DecisionTreeClassifier, qed.DecisionTreeRegressor])
def test_threads_blocks_and_precision_change_nothing(make, monkeypatch):
    X, y = table(3000, holes=0.02)
    X, y = X.astype(np.float32), labels(y) if make is qed.DecisionTreeClassifier else y
    monkeypatch.setattr(growing, "MANY", 200)  # many nodes are searched by all threads
    trees = []
    for threads in (1, 2, 4):
        with qed.threads(threads):
            trees.append(make().fit(X, y).tree_)
    monkeypatch.setattr(growing, "MANY", 1 << 40)
    trees += [make().fit(X, y).tree_, make().fit(X.astype(np.float64), y).tree_]
    for other in trees[1:]:
        assert_same(trees[0], other)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]), st.booleans())
def test_weights_are_repetitions(seed, holes, numbers):
    X, y = table(40, 3, seed, holes)
    y = y if numbers else labels(y)
    times = np.random.default_rng(seed).integers(0, 4, 40)
    times[:10] = 1
    if not numbers and len(np.unique(y[times > 0])) < 2:
        return
    make = qed.DecisionTreeRegressor if numbers else qed.DecisionTreeClassifier
    weighted = make(max_depth=4).fit(X, y, times.astype(float)).tree_
    repeated = make(max_depth=4).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).tree_
    np.testing.assert_array_equal(weighted.feature, repeated.feature)
    np.testing.assert_array_equal(weighted.threshold, repeated.threshold)
    # Means of at most 160 numbers of size one.
    np.testing.assert_allclose(weighted.value, repeated.value, atol=1e3 * 2.0**-52)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings_", [{}, {"max_depth": 4}, {"min_samples_leaf": 7}, {"max_leaf_nodes": 9}])
def test_scikit_learn_leaves_as_much_impurity(seed, settings_):
    """Of equally good questions it takes any, so trees differ; the first question and what is left at few leaves do not."""
    X, y = table(300, seed=seed, holes=0.05)
    pairs = [
        (qed.DecisionTreeRegressor(**settings_), DecisionTreeRegressor(random_state=0, **settings_), y),
        (qed.DecisionTreeClassifier(**settings_), DecisionTreeClassifier(random_state=0, **settings_), labels(y)),
    ]
    for ours, theirs, target in pairs:
        nodes, others = ours.fit(X, target).tree_, theirs.fit(X, target).tree_
        sides = (nodes.children_left[0], nodes.children_right[0]), (others.children_left[0], others.children_right[0])
        left = [
            sum(tree.impurity[s] * tree.weighted_n_node_samples[s] for s in pair)
            for tree, pair in zip((nodes, others), sides)
        ]
        # Theirs is worked out from sums of squares, which cancel.
        assert left[0] == pytest.approx(left[1], rel=1e-9)


def test_missing_values_go_where_they_help():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    model = qed.DecisionTreeClassifier().fit(X, ["a", "b", "a", "a"])
    assert model.predict([[np.nan], [1.0], [2.0]]).tolist() == ["a", "a", "b"]
    assert model.tree_.missing_go_to_left[0]
    # Nothing but missing values on the right.
    model = qed.DecisionTreeClassifier().fit([[1.0], [2.0], [np.nan]], ["a", "a", "b"])
    assert model.tree_.threshold[0] == np.inf
    assert model.predict([[9.0], [np.nan]]).tolist() == ["a", "b"]
    # Where none was missing, with the larger side.
    model = qed.DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    assert model.predict([[np.nan]]).tolist() == ["a"]
    with pytest.raises(InputError, match="infinity"):
        qed.DecisionTreeClassifier().fit([[1.0], [np.inf]], ["a", "b"])


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-5, 1e150, 1e300])
def test_targets_and_columns_of_any_size(scale):
    X, y = table(60)
    for model, target in (
        (qed.DecisionTreeRegressor(max_depth=3), y * np.sqrt(scale)),
        (qed.DecisionTreeClassifier(max_depth=3), labels(y)),
    ):
        features = model.fit(X, y if isinstance(model, qed.DecisionTreeRegressor) else target).tree_.feature
        scaled = model.fit(X * scale, target)
        np.testing.assert_array_equal(scaled.tree_.feature, features)
        assert qed.certify(scaled, X * scale, target)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_targets_whose_squares_are_no_numbers(scale):
    X, y = table(20)
    with pytest.raises(InputError, match="squares"):
        qed.DecisionTreeRegressor().fit(X, y * scale)


def test_a_target_far_away_spoils_only_its_own_leaf():
    X, y = table(80)
    y[0] = 1e15
    model = qed.DecisionTreeRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X)[1:], y[1:], rtol=1e-12)


def test_thresholds_lie_between_values():
    tiny = np.array([5e-324, 1.0, 1.0, -1e308])
    high = np.array([1e-323, np.nextafter(1.0, 2), 2.0, 1e308])
    found = midway(tiny, high)
    assert ((tiny <= found) & (found < high)).all()


def test_drawn_columns_follow_the_seed_alone():
    X, y = table(200, 8)
    first, second, other = (
        qed.DecisionTreeRegressor(max_features="sqrt", random_state=seed).fit(X, y).tree_ for seed in (0, 0, 1)
    )
    assert_same(first, second)
    assert not np.array_equal(first.feature, other.feature)
    # Columns without a question are no excuse: more are drawn.
    constant = np.hstack([np.zeros((200, 20)), X[:, :1]])
    assert (
        qed.DecisionTreeRegressor(max_features=1, random_state=0).fit(constant, X[:, 0]).score(constant, X[:, 0]) == 1
    )


def test_classes_weigh_what_they_are_told():
    X, y = table(200)
    y = (y > 1.2).astype(int)
    factors = {0: 1.0, 1: 5.0}
    given = qed.DecisionTreeClassifier(class_weight=factors, max_depth=3).fit(X, y)
    weighed = qed.DecisionTreeClassifier(max_depth=3).fit(X, y, np.where(y == 1, 5.0, 1.0))
    assert_same(given.tree_, weighed.tree_)


@pytest.mark.parametrize(
    "grid", [{"max_depth": [1, 3, None]}, {"ccp_alpha": [0.0, 0.01, 0.1], "min_samples_leaf": [1, 5]}]
)
def test_a_search_grows_one_tree_for_each_training_set(grid):
    X, y = table(150)
    for model, target in ((qed.DecisionTreeRegressor(), y), (qed.DecisionTreeClassifier(), labels(y))):
        quick = qed.Search(model, grid, cv=3).fit(X, target)
        plain = GridSearchCV(model, grid, cv=3).fit(X, target)
        assert quick.how_ == "3 folds, all sizes from one tree each"
        np.testing.assert_allclose(
            quick.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=1e-12
        )


def test_nodes_that_are_no_tree_are_refused():
    X, y = table(60)
    model = qed.DecisionTreeRegressor(max_depth=3).fit(X, y)
    nodes = model.tree_
    assert nodes.fault() == ""
    right = nodes.children_right.copy()
    right[0] = 0
    assert "after its parent" in replace(nodes, children_right=right).fault()
    right[0] = nodes.node_count
    assert replace(nodes, children_right=right).fault()
    model.tree_ = replace(nodes, feature=np.where(nodes.feature >= 0, 9, -1))
    with pytest.raises(InputError, match="column 9"):
        model.predict(X)
    assert not qed.certify(model, X, y)


def test_a_tree_in_words():
    iris = qed.data.load("iris")
    model = qed.DecisionTreeClassifier().fit(*iris.Xy())
    text = qed.export_text(model, feature_names=iris.features, max_depth=1, show_weights=True)
    assert "weights: [50.00, 0.00, 0.00] class: setosa" in text and "truncated branch" in text
    assert text.splitlines()[0] == "|--- petal_length <= 2.45"
    with pytest.raises(InputError, match="feature_names must contain 4"):
        qed.export_text(model, feature_names=["a"])


def test_paths_lead_from_the_root_to_the_leaf():
    X, y = table(50)
    model = qed.DecisionTreeRegressor(max_depth=3).fit(X, y)
    path, leaf = model.decision_path(X).toarray(), model.apply(X)
    assert path[:, 0].all() and path[np.arange(50), leaf].all()
    depths = np.zeros(model.tree_.node_count, dtype=int)
    for depth, level in enumerate(model.tree_.levels):
        depths[level] = depth
    np.testing.assert_array_equal(path.sum(axis=1), depths[leaf] + 1)


@pytest.mark.parametrize(
    "wrong", [{"min_samples_leaf": 0}, {"max_features": "all"}, {"criterion": "mae"}, {"ccp_alpha": -1.0}]
)
def test_parameters_that_make_no_sense(wrong):
    with pytest.raises(ParameterError):
        qed.DecisionTreeClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12, 1e15])
def test_what_lies_between_large_numbers_keeps_its_digits(offset):
    """Means of nodes are differences from one of their numbers, so that a tree that is cut down says what one of its size says."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((120, 3))
    y = X[:, 0] + 0.2 * generator.standard_normal(120) + offset
    for model in (
        qed.DecisionTreeRegressor(max_leaf_nodes=4),
        qed.DecisionTreeRegressor(ccp_alpha=0.05),
        qed.RandomForestRegressor(2, min_samples_leaf=9, random_state=0),
    ):
        assert qed.certify(model.fit(X, y), X, y)
    # What offset takes from the targets themselves is gone; of what is left no digit may be lost to the means.
    left = y - offset
    near = qed.DecisionTreeRegressor(max_depth=3).fit(X, left).tree_.impurity
    far = qed.DecisionTreeRegressor(max_depth=3).fit(X, y).tree_.impurity
    np.testing.assert_allclose(far, near, rtol=1e4 * 2.0**-52, atol=1e4 * 2.0**-52 * near[0])
