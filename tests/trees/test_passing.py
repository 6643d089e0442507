"""Trees whose questions are all answered at once lead every row to the leaf that a walk finds."""

import numpy as np
import pytest

import qed
from qed.base.compile import interpreted
from qed.trees.boosting.forest import Forest, add_values
from qed.trees.boosting.passing import ALL, MOST, TOGETHER, add_few, add_passed, passes_of
from qed.trees.nodes import LEAF, NO_LEVEL

COLUMNS = ("feature", "threshold", "children_right", "missing_go_to_left", "value")


def grown(generator: np.random.Generator, sizes: list[int], p: int, with_levels: bool) -> Forest:
    """Make trees with so many leaves each and questions by chance."""
    nodes, starts, sets = [], [0], []

    def branch(leaves: int, first: int) -> int:
        """Write a tree down in the order of a walk; give how many nodes it has."""
        at = len(nodes)
        nodes.append([LEAF, 0.0, LEAF, False, generator.normal(), LEAF])
        if leaves == 1:
            return 1
        left = int(generator.integers(1, leaves))
        column, missing = int(generator.integers(p)), bool(generator.integers(2))
        by_level = with_levels and column == 0
        size = branch(left, first)
        nodes[at] = [column, 0.0, at + 1 + size - first, missing, 0.0, LEAF]
        nodes[at][1] = 0.0 if by_level else generator.choice([generator.normal(), np.inf, -1.0, 0.0])
        if by_level:
            nodes[at][5] = 0
        return 1 + size + branch(leaves - left, first)

    for leaves in sizes:
        branch(leaves, starts[-1])
        starts.append(len(nodes))
    for node in nodes:
        if node[5] == 0:
            node[5] = len(sets)
            sets.append(np.append(generator.random(NO_LEVEL) < 0.5, node[3]))
    feature, threshold, right, missing, value, level = (np.array(one) for one in zip(*nodes))
    rest = np.zeros(len(nodes)), np.ones(len(nodes), dtype=np.intp), np.ones(len(nodes)), level
    own = np.array(sets, dtype=bool).reshape(-1, NO_LEVEL + 1)
    return Forest(np.array(starts), feature, threshold, right, missing, value, *rest, own)


def walked(forest: Forest, X: np.ndarray, outputs: int) -> np.ndarray:
    totals, levels = np.zeros((len(X), outputs)), forest.level_set if len(forest.sets) else forest.level_set[:0]
    columns = [getattr(forest, name) for name in COLUMNS]
    interpreted(add_values)(X, forest.starts, *columns, levels, forest.sets, 0, forest.n_trees, totals)
    return totals


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("with_levels", [False, True])
def test_questions_at_once_find_the_leaves_of_a_walk(with_levels, dtype):
    generator = np.random.default_rng(7)
    forest = grown(generator, [1, 2, 3, 31, MOST, 5], 4, with_levels)
    assert forest.fault() == ""
    X = generator.standard_normal((150, 4)).round(1).astype(dtype)
    X[:, 0] = generator.choice([0, 1, 7, 254, 255, -1, 0.5, np.nan], 150)
    X[generator.random((150, 4)) < 0.1] = np.nan
    X[generator.random((150, 4)) < 0.05] = np.inf
    X[generator.random((150, 4)) < 0.05] = -np.inf
    passes = passes_of(forest.starts, *(getattr(forest, name) for name in COLUMNS), forest.level_set)
    totals = np.zeros((150, 2))
    add_passed(X, *passes, forest.sets, 0, forest.n_trees, totals)
    assert np.array_equal(totals, walked(forest, X, 2))
    few = np.zeros((150, 2))
    for trees in ((0, 1), (1, 4), (4, 6)):
        add_few(X, passes, forest.sets, *trees, few)
    assert np.array_equal(few, totals)
    assert not (np.diff(passes.starts) % TOGETHER).any()
    assert ((passes.keeps == ALL).sum() + (forest.feature[forest.level_set < 0] >= 0).sum()) == len(passes.keeps)


def test_questions_about_categories_count_as_well():
    """Or all of them would be answered at once, for any number of rows."""
    forest = grown(np.random.default_rng(2), [3, 4], 1, True)
    passes = passes_of(forest.starts, *(getattr(forest, name) for name in COLUMNS), forest.level_set)
    assert len(passes.feature) == 0 and passes.questions == 5


def test_a_tree_with_more_leaves_than_bits_is_walked():
    forest = grown(np.random.default_rng(0), [3, MOST + 1], 3, False)
    assert passes_of(forest.starts, *(getattr(forest, name) for name in COLUMNS), forest.level_set) is None
    X, totals = np.random.default_rng(1).standard_normal((30, 3)), np.zeros((30, 1))
    forest.add_to(X, totals, range(2))
    assert np.array_equal(totals, walked(forest, X, 1))


def test_some_trees_and_some_rows_give_what_all_of_them_do():
    X, y = qed.data.load("diabetes").Xy()
    model = qed.GradientBoostingRegressor(max_iter=30, max_leaf_nodes=6, min_samples_leaf=5).fit(X, y)
    said = model.predict(X)
    assert np.array_equal(np.concatenate([model.predict(X[:1]), model.predict(X[1:])]), said)
    *_, last = model.staged_predict(X)
    assert np.array_equal(last, said)
