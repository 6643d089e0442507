"""The kernels that grow a tree: the cut of each node is the value that sorting would put in its middle, whatever the values are."""

import numpy as np
import pytest

from qed.base.threads.counting import threads
from qed.neighbors.growing import LEVELS, MANY, split
from qed.neighbors.tree import Tree


def columns(kind: str, n: int) -> np.ndarray:
    """Give values that are easy, hard or unfair to cut in the middle."""
    random = np.random.default_rng(n)
    return {
        "normal": random.standard_normal(n),
        "equal": np.zeros(n),
        "two": random.integers(0, 2, n).astype(float),
        "few": random.integers(0, 5, n).astype(float),
        "ordered": np.arange(n, dtype=float),
        "falling": -np.arange(n, dtype=float),
        "far": np.where(np.arange(n) % 7 == 0, 1e300, random.standard_normal(n) * 1e-300),
        # What the sample sees is not what there is.
        "hidden": np.where((2 * np.arange(n) + 1) * 63 % (2 * n) < 126, random.random(n), 5.0 + random.random(n)),
        "zeros": np.where(random.random(n) < 0.5, -0.0, 0.0),
    }[kind]


KINDS = ["normal", "equal", "two", "few", "ordered", "falling", "far", "hidden", "zeros"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [33, 65, 257, MANY, MANY + 1, 5003])
def test_a_cut_is_where_sorting_would_put_it(kind, n, dtype):
    with np.errstate(over="ignore"):
        X = np.stack([columns(kind, n).clip(-1e38, 1e38).astype(dtype), np.zeros(n, dtype)])
    points, numbers = X.copy(), np.arange(n)
    column, value = np.zeros(1, np.intp), np.zeros(1)
    split(points, numbers, 1, 0, n, 2, column, value, np.empty(n), np.empty(n, dtype), *np.empty((2, n), np.intp))
    assert column[0] == 0
    assert value[0] == np.sort(X[0].astype(np.float64))[n // 2]
    assert (points[0, : n // 2] <= value[0]).all() and (points[0, n // 2 :] >= value[0]).all()
    assert np.array_equal(np.sort(numbers), np.arange(n))
    assert np.array_equal(points, X[:, numbers])
    # Each side keeps the order of its rows.
    assert (np.diff(numbers[: n // 2]) > 0).all() and (np.diff(numbers[n // 2 :]) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_the_same_for_any_number_of_threads(kind):
    X = np.stack([columns(kind, 5003), np.roll(columns(kind, 5003), 17)], axis=1)
    trees = []
    for count in (1, 2, 3):
        with threads(count):
            trees.append(Tree.of(X))
    assert trees[0].misplaced() == 0
    assert len(trees[0].column) < 2**LEVELS
    for tree in trees[1:]:
        for name in Tree.attributes:
            assert np.array_equal(getattr(tree, name), getattr(trees[0], name))


def test_queries_answered_in_the_order_of_their_leaves_find_what_each_finds_alone():
    random = np.random.default_rng(3)
    X, Q = random.integers(0, 9, (6000, 3)).astype(float), random.integers(-1, 10, (700, 3)).astype(float)
    tree = Tree.of(X)
    together = tree.nearest(Q, 4, 2.0)
    for i in range(0, 700, 50):
        alone = tree.nearest(Q[i : i + 1], 4, 2.0)
        assert np.array_equal(alone.number[0], together.number[i])
        assert np.array_equal(alone.size[0], together.size[i])


@pytest.mark.parametrize("p", [1, 3])
def test_rows_whose_columns_lie_one_after_another_are_not_moved(p):
    X = np.asfortranarray(np.random.default_rng(1).random((200, p)))
    X.setflags(write=False)
    before = X.copy()
    Tree.of(X)
    assert np.array_equal(X, before)
