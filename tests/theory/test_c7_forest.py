"""C7-AVGVAR, C7-BAG, C7-RF, O-BAG, O-RF: means of trees from rows and columns drawn by lot."""

from functools import cache

import numpy as np
import pytest

import qed
from qed.trees.forests.lots import Urn, lot_of
from qed.trees.problem import features_tried


def table(n=150, p=6, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * generator.standard_normal(n)


@cache
def five_trees():
    return qed.RandomForestRegressor(5, random_state=0).fit(*table())


@pytest.mark.parametrize("correlation", [0.0, 0.4])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 50])
def test_a_mean_varies_less_the_less_its_parts_agree(correlation, n):
    """C7-AVGVAR: the variance of a mean is rho + (1 - rho) / n of that of its parts; a forest's answer is such a mean."""

    class Parts:
        @staticmethod
        def sample(count, seed):
            generator = np.random.default_rng(seed)
            common = np.repeat(generator.standard_normal(count // n), n)
            return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * generator.standard_normal(count)

    found = qed.stats.assess_estimator(lambda X: X.mean(axis=1), Parts, 0.0, n, repeats=20000, random_state=n)
    # The variance of 20 000 Gaussian numbers is off by sqrt(2 / 20 000) of itself; four times that.
    assert found.variance == pytest.approx(correlation + (1 - correlation) / n, rel=4 * np.sqrt(2 / 20000))
    assert found.seems_unbiased
    forest, X = five_trees(), table()[0]
    trees = np.stack([nodes.value[nodes.apply(X), 0] for nodes in forest.trees_])
    # A mean of five numbers.
    np.testing.assert_allclose(forest.predict(X), trees.mean(axis=0), rtol=8 * 2.0**-52, atol=8 * 2.0**-52)


def test_rows_are_drawn_with_replacement_and_equally_often():
    """C7-BAG: draws are uniform, by a chi-squared test; m below n is a share."""
    n, trees = 50, 400
    urn = Urn(np.zeros((1, n), np.uint8), np.arange(float(n)), None)
    times = np.zeros(n)
    for tree in range(trees):
        rows, count = urn.draw(lot_of(5, tree), 0.6)
        assert count.sum() == 30
        times[rows] += count
    expected = trees * 30 / n
    # Chi-squared with 49 degrees of freedom: mean 49, standard deviation 9.9.
    assert ((times - expected) ** 2 / expected).sum() < 49 + 5 * np.sqrt(98)


@pytest.mark.parametrize(("n", "share"), [(10, 0.65132), (100, 0.63397), (1000, 0.63230)])
def test_a_row_is_drawn_by_two_of_three_trees(n, share):
    """O-BAG: 1 - (1 - 1/n)^n, which tends to 0.632."""
    urn = Urn(np.zeros((1, n), np.uint8), np.arange(float(n)), None)
    trees = 20000 // n
    found = np.mean([len(urn.draw(lot_of(1, tree), 1.0)[0]) / n for tree in range(trees)])
    # Each row is in or out: at most 0.25 of variance, over 20 000 of them.
    assert found == pytest.approx(share, abs=4 * np.sqrt(0.25 / 20000))


def test_nothing_drawn_makes_all_trees_alike():
    """C7-RF: with all rows and all columns every tree is the single one."""
    X, y = table()
    forest = qed.RandomForestRegressor(4, bootstrap=False, max_features=None, random_state=0).fit(X, y)
    for nodes in forest.trees_[1:]:
        np.testing.assert_array_equal(nodes.threshold, forest.trees_[0].threshold)
    np.testing.assert_array_equal(forest.trees_[0].feature, qed.DecisionTreeRegressor().fit(X, y).tree_.feature)


def test_fewer_columns_make_trees_that_agree_less():
    """C7-RF: the mean correlation between trees falls with the number of columns looked at."""
    X, y = table(300)
    Q = table(400, seed=9)[0]
    agreement = []
    for tried in (6, 3, 1):
        forest = qed.RandomForestRegressor(20, max_features=tried, random_state=0).fit(X, y)
        said = np.stack([nodes.value[nodes.apply(Q), 0] for nodes in forest.trees_])
        agreement.append(np.corrcoef(said)[np.triu_indices(20, 1)].mean())
    assert agreement[0] > agreement[1] > agreement[2]


def test_a_forest_varies_less_than_a_tree():
    """C7-RF, O-RF: over training sets drawn anew."""
    Q = table(200, seed=50)[0]
    trees = np.stack([qed.DecisionTreeRegressor().fit(*table(seed=k)).predict(Q) for k in range(8)])
    forests = np.stack(
        [
            qed.RandomForestRegressor(12, max_features="sqrt", random_state=0).fit(*table(seed=k)).predict(Q)
            for k in range(8)
        ]
    )
    assert forests.var(axis=0).mean() < trees.var(axis=0).mean() / 2


def test_the_root_of_the_number_of_columns():
    """O-RF: rounded down, at least one."""
    assert [features_tried("sqrt", p) for p in (1, 2, 4, 8, 9, 20)] == [1, 1, 2, 2, 3, 4]
