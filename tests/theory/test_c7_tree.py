"""C7-TREE, C7-GROW, C7-SPLIT, C7-STOP, C7-PRUNE, O-TREE, O-TREE-PRUNE, O-TREE-REG, O-STUMP: trees of questions."""

import copy

import numpy as np
import pytest

import qed
from qed.trees.impurity import impurity, information_gain


def table(n=120, p=3, classes=3, seed=0, digits=1):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p)).round(digits)
    y = (X[:, 0] > 0) + (generator.random(n) < 0.3).astype(int) + (X[:, 1] > 1) * (classes > 2)
    return X, np.minimum(y, classes - 1)


def conflicts(X, y):
    """How many rows no function of X can be right about: those outside the majority of the rows that coincide with them."""
    _, place = np.unique(X, axis=0, return_inverse=True)
    counts = np.zeros((place.max() + 1, y.max() + 1), dtype=int)
    np.add.at(counts, (place.ravel(), y), 1)
    return int((counts.sum(axis=1) - counts.max(axis=1)).sum())


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_a_full_tree_errs_where_rows_of_different_classes_coincide_and_nowhere_else(digits, criterion):
    """C7-TREE: both directions."""
    X, y = table(digits=digits)
    model = qed.DecisionTreeClassifier(criterion=criterion).fit(X, y)
    wrong = int((model.predict(X) != y).sum())
    assert wrong == conflicts(X, y) and (wrong > 0) == (digits == 0)


def test_leaves_are_boxes_that_cover_the_space_and_do_not_overlap():
    """C7-TREE: every point comes to one leaf, whose box is cut out by the questions above it; what it predicts is constant there."""
    X, y = table()
    model = qed.DecisionTreeClassifier(max_depth=4).fit(X, y)
    nodes, Q = model.tree_, np.random.default_rng(1).uniform(-4, 4, (500, 3))
    boxes = {0: np.array([[-np.inf] * 3, [np.inf] * 3])}
    for node in range(nodes.node_count):
        if nodes.feature[node] >= 0:
            low, high = boxes[node].copy(), boxes[node].copy()
            low[1, nodes.feature[node]] = high[0, nodes.feature[node]] = nodes.threshold[node]
            boxes[node + 1], boxes[int(nodes.children_right[node])] = low, high
    inside = {
        node: ((box[0] < Q) & (box[1] >= Q)).all(axis=1) for node, box in boxes.items() if nodes.feature[node] < 0
    }
    np.testing.assert_array_equal(sum(one.astype(int) for one in inside.values()), 1)
    leaf = model.apply(Q)
    for node, there in inside.items():
        np.testing.assert_array_equal(leaf == node, there)


def test_increasing_changes_of_a_column_change_no_partition():
    """C7-TREE: the same rows come to the same leaves."""
    X, y = table(seed=2)
    plain = qed.DecisionTreeClassifier().fit(X, y)
    bent = qed.DecisionTreeClassifier().fit(np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, 5 * X[:, 2] - 7]), y)
    np.testing.assert_array_equal(plain.tree_.feature, bent.tree_.feature)
    np.testing.assert_array_equal(plain.tree_.n_node_samples, bent.tree_.n_node_samples)


def test_children_add_up_and_two_fits_are_the_same():
    """C7-GROW: every row comes to one leaf, counts add up, and nothing is left to chance."""
    X, y = table()
    nodes = qed.DecisionTreeClassifier().fit(X, y).tree_
    asking = nodes.feature >= 0
    left, right = nodes.children_left[asking], nodes.children_right[asking]
    np.testing.assert_array_equal(
        nodes.n_node_samples[asking], nodes.n_node_samples[left] + nodes.n_node_samples[right]
    )
    assert nodes.n_node_samples[~asking].sum() == len(X)
    again = qed.DecisionTreeClassifier().fit(X, y).tree_
    order = np.random.default_rng(3).permutation(len(X))
    shuffled = qed.DecisionTreeClassifier().fit(X[order], y[order]).tree_
    for other in (again, shuffled):
        for name in ("feature", "threshold", "children_right", "value"):
            np.testing.assert_array_equal(getattr(nodes, name), getattr(other, name))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_the_sweep_finds_what_brute_force_finds(criterion):
    """C7-SPLIT, O-STUMP: no threshold on a dense grid is worth more, and equal values are never separated."""
    X, y = table(seed=4)
    stump = qed.DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
    best = max(
        _worth(X[:, j] <= v, y, criterion) for j in range(3) for v in np.linspace(-4, 4, 1601) if _splits(X[:, j], v)
    )
    found = _worth(X[:, stump.tree_.feature[0]] <= stump.tree_.threshold[0], y, criterion)
    # Two sums of a few shares each.
    assert found == pytest.approx(best, abs=16 * 2.0**-52)
    assert stump.tree_.threshold[0] not in X[:, stump.tree_.feature[0]]


def _splits(column, value):
    return 0 < (column <= value).sum() < len(column)


def _worth(goes, y, criterion):
    return information_gain([np.bincount(y[side], minlength=3) for side in (goes, ~goes)], criterion)


def test_a_column_has_one_question_less_than_values():
    """C7-SPLIT: a tree on one column with as many classes as values asks all of them."""
    x = np.array([3.0, 1.0, 2.0, 2.0, 5.0, 1.0])[:, None]
    model = qed.DecisionTreeClassifier().fit(x, [2, 0, 1, 1, 3, 0])
    assert model.get_n_leaves() - 1 == len(np.unique(x)) - 1
    np.testing.assert_array_equal(np.sort(model.tree_.threshold[model.tree_.feature >= 0]), [1.5, 2.5, 4.0])


def test_scaled_gini_chooses_the_same():
    """O-TREE: four times the impurity is a matter of units: the importances, too, are shares and add up to one."""
    X, y = table(classes=2)
    model = qed.DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0, abs=8 * 2.0**-52)
    p = np.array([0.2, 0.5, 0.9])
    np.testing.assert_allclose(4 * p * (1 - p), 2 * impurity(np.column_stack([p, 1 - p])), rtol=4 * 2.0**-52)


def test_limits_are_kept_and_tighter_ones_give_subtrees():
    """C7-STOP, O-TREE-PRUNE: depth, rows and gain."""
    X, y = table(n=300)
    for name, values in {
        "max_depth": [6, 4, 2, 1],
        "min_samples_leaf": [2, 5, 20, 60],
        "min_samples_split": [4, 20, 60, 200],
        "min_impurity_decrease": [0.0, 0.001, 0.01, 0.1],
    }.items():
        sizes = [qed.DecisionTreeClassifier(**{name: value}).fit(X, y).get_n_leaves() for value in values]
        assert sizes == sorted(sizes, reverse=True) and sizes[-1] < sizes[0]
    assert qed.DecisionTreeClassifier(max_depth=3).fit(X, y).get_depth() == 3
    nodes = qed.DecisionTreeClassifier(min_samples_leaf=7).fit(X, y).tree_
    assert nodes.n_node_samples.min() >= 7


def test_a_question_that_is_worth_nothing_may_be_what_the_next_one_needs():
    """C7-STOP: on XOR every first question is worth nothing; a full tree asks one, a rule of any gain stops at the root."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = [0, 1, 1, 0]
    assert qed.DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0
    assert qed.DecisionTreeClassifier(min_impurity_decrease=1e-9).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("kind", [qed.DecisionTreeClassifier, qed.DecisionTreeRegressor])
def test_pruning_by_rows_held_out(kind):
    """C7-PRUNE, O-TREE-PRUNE: no more leaves, no more errors, and no question left that would better be a leaf."""
    X, y = table(n=400, digits=6)
    target = y if kind is qed.DecisionTreeClassifier else X[:, 0] + 0.3 * y
    model = kind().fit(X[:200], target[:200])
    pruned = model.prune(X[200:], target[200:])
    assert pruned.get_n_leaves() < model.get_n_leaves()
    assert pruned.n_pruned_ == model.get_n_leaves() - pruned.get_n_leaves()
    assert pruned.score(X[200:], target[200:]) >= model.score(X[200:], target[200:])
    nodes = pruned.tree_
    for node in np.flatnonzero(nodes.feature >= 0):
        collapsed = np.arange(nodes.node_count) == node
        other = copy.copy(pruned)
        other.tree_ = nodes.kept(collapsed)
        assert other.score(X[200:], target[200:]) < pruned.score(X[200:], target[200:])
    assert qed.certify(pruned, X[:200], target[:200])


def test_every_price_of_a_leaf_has_its_best_subtree():
    """C7-PRUNE: among all subtrees of a small tree, that of the path has the least impurity plus price."""
    X, y = table(n=40, seed=6)
    whole = qed.DecisionTreeClassifier(max_depth=3).fit(X, y)
    nodes = whole.tree_
    share = nodes.weighted_n_node_samples / len(X) * nodes.impurity
    asking = np.flatnonzero(nodes.feature >= 0)
    costs = {}
    for choice in range(1 << len(asking)):
        collapsed = np.zeros(nodes.node_count, dtype=bool)
        collapsed[asking[[bool(choice >> k & 1) for k in range(len(asking))]]] = True
        part = nodes.kept(collapsed)
        leaves = part.feature < 0
        costs[choice] = (part.n_leaves, float((part.impurity * part.weighted_n_node_samples / len(X))[leaves].sum()))
    path = qed.DecisionTreeClassifier(max_depth=3).cost_complexity_pruning_path(X, y)
    assert path.impurities[0] == pytest.approx(share[nodes.feature < 0].sum(), abs=1e-12)
    for alpha, after in zip(path.ccp_alphas, [*path.ccp_alphas[1:], path.ccp_alphas[-1] + 1]):
        price = (alpha + after) / 2
        found = qed.DecisionTreeClassifier(max_depth=3, ccp_alpha=price).fit(X, y).tree_
        cost = float((found.impurity * found.weighted_n_node_samples / len(X))[found.feature < 0].sum())
        best = min(value + price * leaves for leaves, value in costs.values())
        # Sums of some ten terms below one.
        assert cost + price * found.n_leaves == pytest.approx(best, abs=64 * 2.0**-52)


def test_leaves_of_numbers_are_means_and_questions_lower_the_error():
    """O-TREE-REG: the mean is the best constant, and the squared error never rises with a question."""
    generator = np.random.default_rng(5)
    X = generator.standard_normal((150, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * generator.standard_normal(150)
    model = qed.DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y)
    leaf = model.apply(X)
    for node in np.unique(leaf):
        # A mean of at most 150 numbers of size one.
        assert model.tree_.value[node, 0] == pytest.approx(y[leaf == node].mean(), abs=150 * 2.0**-52)
    errors = [((qed.DecisionTreeRegressor(max_leaf_nodes=k).fit(X, y).predict(X) - y) ** 2).sum() for k in range(2, 30)]
    assert all(after <= before + 1e-12 for before, after in zip(errors, errors[1:]))


def test_cells_of_a_width_follow_a_slope():
    """O-TREE: a piecewise constant tree is off by at most the slope times half the width of a cell."""
    x = np.linspace(0, 1, 2049)[:, None]
    y = np.abs(x[:, 0] - 0.3) * 2.0
    model = qed.DecisionTreeRegressor(max_leaf_nodes=64).fit(x, y)
    leaf = model.apply(x)
    for node in np.unique(leaf):
        there = leaf == node
        width = np.ptp(x[there])
        assert np.abs(model.predict(x)[there] - y[there]).max() <= 2.0 * width * (1 + 1e-9) + 1e-12
