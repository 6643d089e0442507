"""C7-MULTIWAY, O-TREE, O-TREE-REG: a branch for each value, subsets by their means, and lines in the leaves."""

from itertools import combinations

import numpy as np
import pytest

import qed
from qed.trees.impurity import impurity, information_gain


def test_c7_multiway_conditional_entropy_is_the_weighted_sum_over_branches():
    sides = np.array([[3, 1], [0, 4], [2, 2]])
    X = np.repeat([0.0, 1.0, 2.0], sides.sum(axis=1))[:, None]
    y = np.concatenate([np.repeat([0, 1], side) for side in sides])
    model = qed.DecisionTreeClassifier(criterion="entropy", categorical_features=[0], categorical_split="multiway").fit(
        X, y
    )
    nodes = model.tree_
    children = [int(child[0]) for _, child in nodes.children(np.array([0]))]
    share = nodes.weighted_n_node_samples[children] / nodes.weighted_n_node_samples[0]
    gained = nodes.impurity[0] - share @ nodes.impurity[children]
    assert gained == pytest.approx(information_gain(sides), abs=8 * 2.0**-52)
    np.testing.assert_allclose(nodes.impurity[children], impurity(sides, "entropy"), atol=4 * 2.0**-52)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_c7_multiway_of_two_values_is_a_binary_question(criterion):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), [0, 1, 1, 1, 0]
    trees = [
        qed.DecisionTreeClassifier(criterion=criterion, categorical_features=[0], categorical_split=split).fit(X, y)
        for split in ("subset", "multiway")
    ]
    plain = qed.DecisionTreeClassifier(criterion=criterion).fit(X, y)
    for tree in trees:
        assert sorted(tree.tree_.impurity) == pytest.approx(sorted(plain.tree_.impurity))


@pytest.mark.parametrize("seed", range(4))
def test_o_tree_no_subset_is_better_than_the_best_cut_of_the_means(seed):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(0, 7, 40).astype(float), generator.standard_normal(40)
    model = qed.DecisionTreeRegressor(categorical_features=[0], max_depth=1).fit(X[:, None], y)

    def squares(goes):
        return sum(((y[side] - y[side].mean()) ** 2).sum() for side in (goes, ~goes))

    values = sorted(set(X))
    best = min(squares(np.isin(X, chosen)) for k in range(1, len(values)) for chosen in combinations(values, k))
    # Sums of 40 squares of numbers near one.
    assert ((y - model.predict(X[:, None])) ** 2).sum() <= best + 64 * 40 * 2.0**-52 * (y @ y)


def test_o_tree_reg_lines_in_the_leaves_fit_a_function_of_pieces():
    x = np.linspace(-1, 1, 41)[:, None]
    y = np.where(x[:, 0] <= 0, x[:, 0], 100 + 3 * x[:, 0])
    model = qed.DecisionTreeRegressor(max_depth=1, leaf="linear").fit(x, y)
    # The rounding of a line through at most 41 numbers of size 100.
    assert np.abs(model.predict(x) - y).max() <= 16 * 41 * 103 * 2.0**-52
    assert model.certificate_


def test_o_tree_reg_no_question_makes_the_squares_more():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((50, 2)), generator.standard_normal(50)
    errors = [
        ((y - qed.DecisionTreeRegressor(max_depth=depth).fit(X, y).predict(X)) ** 2).sum() for depth in (1, 2, 3, 5)
    ]
    assert all(after <= before + 1e3 * 2.0**-52 * (y @ y) for before, after in zip(errors, errors[1:]))
