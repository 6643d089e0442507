"""Questions about categories, medians, counts, and lines in the leaves: judged in fractions, moved, saved, pruned and told in words."""

import copy
from contextlib import suppress
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import qed
from qed.base.compile import interpreted
from qed.base.errors import InputError, ParameterError
from qed.trees.asking import branching
from tests.proof.mutations import changed, numbers_of, put

SPLITS = ("subset", "multiway")


def table(n=40, seed=0):
    """Two columns of categories around one of numbers, with holes; the target hangs on all of them."""
    generator = np.random.default_rng(seed)
    X = np.column_stack(
        [generator.integers(0, 4, n), generator.standard_normal(n).round(1), generator.integers(0, 6, n)]
    )
    effect = generator.standard_normal(6)
    y = effect[X[:, 2].astype(int)] + X[:, 1] * (X[:, 0] % 2) + 0.1 * generator.standard_normal(n)
    X[generator.random(n) < 0.1, 0] = np.nan
    return X, y


def labels(y):
    return np.digitize(y, [-0.6, 0.5])


def purity(sides, classes):
    """Judge what a question leaves, in fractions: of classes Gini's sum, of numbers that of squares."""
    found = Fraction(0)
    for side in sides:
        if classes:
            counts = [sum(1 for y in side if y == k) for k in set(side)]
            found += Fraction(sum(c * c for c in counts), len(side))
        else:
            found += sum(Fraction(float(y)) for y in side) ** 2 / len(side)
    return found


def every_question(X, y, categorical, multiway):
    """Give the sides of every question there is about some rows; missing values may go to either side of a threshold."""
    for j in range(X.shape[1]):
        keys = np.where(np.isnan(X[:, j]), -1.0, X[:, j])
        values = sorted(set(keys))
        if j not in categorical:
            there = [one for one in values if one != -1.0 or not np.isnan(X[:, j]).any()]
            sets = [[*there[: k + 1], *extra] for k in range(len(there)) for extra in ([], set(values) - set(there))]
        elif multiway:
            yield j, [y[keys == one] for one in values]
            continue
        else:
            sets = [chosen for k in range(1, len(values)) for chosen in combinations(values, k)]
        for chosen in sets:
            goes = np.isin(keys, list(chosen))
            if goes.any() and not goes.all():
                yield j, [y[goes], y[~goes]]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_no_question_of_all_is_better(split, classes):
    """The judge tries every subset of the categories, or a branch for each, and every threshold, in exact fractions."""
    X, y = table(30, seed=classes)
    y = y if not classes else labels(y) if classes == 3 else (y > 0).astype(int)
    make = qed.DecisionTreeClassifier if classes else qed.DecisionTreeRegressor
    model = make(categorical_features=[0, 2], categorical_split=split).fit(X, y)
    nodes, leaf = model.tree_, model.apply(X)
    for node in np.flatnonzero(~nodes.is_leaf):
        inside = (leaf >= node) & (leaf < nodes.ends[node])
        starts = [int(child[0]) for _, child in nodes.children(np.array([node])) if len(child)]
        branch = np.searchsorted(starts, leaf[inside], side="right")
        asked = purity([y[inside][branch == b] for b in set(branch)], classes)
        best = max(
            purity(sides, classes)
            for _, sides in every_question(X[inside], y[inside], (0, 2), split == "multiway")
            if len(sides) > 1
        )
        # Sums of numbers near one are rounded to a grid of 2^-52 of them, once for each row.
        assert best - asked <= (0 if classes else 64 * len(y) * 2.0**-52)
    assert qed.certify(model, X, y)
    assert not classes or model.score(X, y) == 1


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("settings_", [{}, {"leaf": "linear", "min_samples_leaf": 5}, {"criterion": "absolute_error"}])
def test_every_moved_number_is_noticed(split, settings_):
    X, y = table()
    model = qed.DecisionTreeRegressor(categorical_features=[0, 2], categorical_split=split, max_depth=3, **settings_)
    model.fit(X, y)
    assert qed.certify(model, X, y)
    for turn, (path, value) in enumerate(numbers_of(model)):
        for what, other in list(changed(value, path[-1]))[turn % 4 :: 4]:
            forged = copy.deepcopy(model)
            put(forged, path, other)
            with suppress(InputError):  # the front door has noticed
                assert not qed.certify(forged, X, y), (path, what)


@pytest.mark.parametrize("kind", ["gini", "squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.slow
def test_compiled_and_interpreted_growing_agree(kind, split, monkeypatch):
    X, y = table(120)
    make = qed.DecisionTreeClassifier if kind == "gini" else qed.DecisionTreeRegressor
    target = labels(y) if kind == "gini" else np.abs(y).round() if kind == "poisson" else y
    weight = np.random.default_rng(1).random(120)
    trees = []
    for run in (branching.grow_any, interpreted(branching.grow_any)):
        monkeypatch.setattr(branching, "interpreted", lambda kernel, run=run: run)
        model = make(criterion=kind, categorical_features=[0, 2], categorical_split=split)
        trees.append(model.fit(X, target, weight).tree_)
    for name in ("feature", "threshold", "children_right", "missing_go_to_left", "level_set", "sets", "value"):
        np.testing.assert_array_equal(getattr(trees[0], name), getattr(trees[1], name))


def test_what_was_not_there_goes_with_most():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [2.0]]), [1.0, 1.0, 1.0, 5.0, 9.0]
    model = qed.DecisionTreeRegressor(categorical_features=[0], categorical_split="multiway").fit(X, y)
    assert model.predict([[0.0], [1.0], [2.0], [3.0], [np.nan], [-1.0], [300.0], [0.5]]).tolist() == [1, 5, 9] + 5 * [1]
    assert qed.export_text(model, feature_names=["colour"]).splitlines()[::2] == [
        "|--- colour in [other]",
        "|--- colour in [1]",
        "|--- colour in [2]",
    ]
    model = qed.DecisionTreeRegressor(categorical_features=[0], max_depth=1).fit(
        [[0.0], [1.0], [np.nan]], [0.0, 4.0, 4.1]
    )
    assert model.predict([[np.nan], [0.0], [7.0]]).round(6).tolist() == [4.05, 0.0, 4.05]
    assert "feature_0 in [0]" in qed.export_text(model) and "feature_0 in [other]" in qed.export_text(model)
    with pytest.raises(InputError, match="number the categories"):
        qed.DecisionTreeRegressor(categorical_features=[0]).fit([[0.5], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("split", SPLITS)
def test_pruned_and_saved_trees_keep_their_branches(split, tmp_path):
    X, y = table(60)
    model = qed.DecisionTreeRegressor(categorical_features=[0, 2], categorical_split=split, leaf="linear").fit(X, y)
    smaller = model.prune(*table(60, seed=1))
    assert smaller.get_n_leaves() < model.get_n_leaves() and not smaller.tree_.fault()
    assert qed.certify(smaller, X, y)
    for settings_ in ({"ccp_alpha": 0.05}, {"max_leaf_nodes": 7}, {"max_depth": 2}):
        part = qed.DecisionTreeRegressor(categorical_features=[0, 2], categorical_split=split, **settings_).fit(X, y)
        assert part.get_n_leaves() < model.get_n_leaves() and qed.certify(part, X, y)
        assert part.get_n_leaves() <= settings_.get("max_leaf_nodes", 60)
    qed.save(smaller, tmp_path / "m.qed")
    again = qed.load(tmp_path / "m.qed")
    np.testing.assert_array_equal(again.predict(X), smaller.predict(X))
    assert qed.certify(again, X, y)


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_asks_the_same_by_other_criteria(criterion, weighted):
    X, y = table(50, seed=3)
    X = X[:, 1:] + np.random.default_rng(0).standard_normal((50, 2))
    X[::9, 1] = np.nan
    y = np.random.default_rng(2).poisson(np.exp(y)).astype(float) if criterion == "poisson" else y
    weight = np.random.default_rng(1).integers(1, 4, 50).astype(float) if weighted else None
    ours = qed.DecisionTreeRegressor(criterion=criterion, max_depth=2, min_samples_leaf=5).fit(X, y, weight)
    theirs = DecisionTreeRegressor(criterion=criterion, max_depth=2, min_samples_leaf=5, random_state=0).fit(
        X, y, weight
    )
    assert qed.certify(ours, X, y, weight)
    # Sums of 50 numbers, and logarithms of them.
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e3 * 2.0**-52)
    np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, rtol=1e4 * 2.0**-52, atol=1e3 * 2.0**-52)
    smaller = ours.prune(X[:20], y[:20])
    assert smaller.get_n_leaves() <= ours.get_n_leaves()


def test_counts_and_lines_that_can_not_be():
    with pytest.raises(InputError, match="negative"):
        qed.DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], [-1.0, 1.0])
    with pytest.raises(ParameterError, match="squared"):
        qed.DecisionTreeRegressor(criterion="poisson", leaf="linear").fit([[0.0], [1.0]], [2.0, 1.0])


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e100])
def test_lines_stay_within_what_their_leaf_has_seen(scale):
    X, y = table(60)
    X[:, 1] = X[:, 1] * scale + 1e3 * scale
    model = qed.DecisionTreeRegressor(leaf="linear", min_samples_leaf=8, leaf_alpha=0.01).fit(X, y)
    assert qed.certify(model, X, y)
    far = model.predict(X * 50)
    assert y.min() <= far.min() and far.max() <= y.max()
    assert " * (feature_1 - " in qed.export_text(model)


@pytest.mark.parametrize("criterion", ["absolute_error", "squared_error"])
def test_a_proof_without_room_looks_at_no_node(monkeypatch, criterion):
    monkeypatch.setattr("qed.trees.model.SAMPLED", 0)
    X = np.arange(6.0)[:, None]
    model = qed.DecisionTreeRegressor(criterion=criterion, max_depth=1).fit(X, X[:, 0] > 2)
    assert "(0 of 3 nodes)" in str(model.certificate_) and qed.certify(model, X, X[:, 0] > 2)
