"""C7-ENTROPY, C7-IG, C7-GINI, C7-MISCLASS, C7-CONCAVE, C7-MULTIWAY: what a question is worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import qed
from qed.trees.impurity import impurity, information_gain

COUNTS = arrays(float, (2, 3), elements=st.integers(0, 50).map(float)).filter(
    lambda sides: (sides.sum(axis=1) > 0).all()
)
# Sums of three shares below one, or of logarithms below six.
ROUNDING = 64 * 2.0**-52


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_entropy_is_between_nothing_and_that_of_equal_shares(classes):
    """C7-ENTROPY: none for one class, log K for equal ones, and 0 log 0 is nothing."""
    assert impurity(np.eye(classes)[0] * 7, "entropy") == 0.0
    assert impurity(np.full(classes, 5.0), "entropy") == pytest.approx(np.log2(classes), abs=ROUNDING)
    p = np.linspace(0, 1, 101)
    values = impurity(np.column_stack([p, 1 - p]), "entropy")
    assert values.argmax() == 50 and (np.diff(values, 2) < 0).all()


def test_a_question_that_changes_no_shares_is_worth_nothing():
    """C7-IG: 20 ham and 10 spam, asked into (12, 6) and (8, 4)."""
    assert impurity([20, 10], "entropy") == pytest.approx(0.9182958, abs=5e-8)
    assert information_gain([[12, 6], [8, 4]]) == pytest.approx(0.0, abs=ROUNDING)


@given(COUNTS)
def test_information_is_never_lost_and_is_symmetric(sides):
    """C7-IG: I >= 0, and I(X; Y) = I(Y; X)."""
    assert information_gain(sides) >= -ROUNDING
    turned = sides.T[sides.sum(axis=0) > 0]
    assert information_gain(turned) == pytest.approx(information_gain(sides), abs=ROUNDING)


@given(COUNTS)
def test_three_ways_to_write_gini(sides):
    """C7-GINI: the pairs of different classes, the shares of the others, and one less the squares; at most 1 - 1/K."""
    shares = sides / sides.sum(axis=1, keepdims=True)
    pairs = [sum(p[j] * p[k] for j in range(3) for k in range(3) if j != k) for p in shares]
    np.testing.assert_allclose(impurity(sides), pairs, atol=ROUNDING)
    np.testing.assert_allclose(impurity(sides), 1 - (shares**2).sum(axis=1), atol=ROUNDING)
    assert (impurity(sides) <= 1 - 1 / 3 + ROUNDING).all()


def test_gini_is_how_often_a_label_by_lot_is_wrong():
    """C7-GINI: by simulation, within four standard errors."""
    p, generator = np.array([0.5, 0.3, 0.2]), np.random.default_rng(0)
    first, second = (generator.choice(3, 20000, p=p) for _ in range(2))
    wrong, expected = (first != second).mean(), float(impurity(p))
    assert abs(wrong - expected) < 4 * np.sqrt(expected * (1 - expected) / 20000)


def test_errors_see_no_difference_where_the_others_do():
    """C7-MISCLASS: 40 and 40, asked into (30, 10) | (10, 30) or (20, 40) | (20, 0)."""
    first, second = [[30, 10], [10, 30]], [[20, 40], [20, 0]]
    for sides in (first, second):
        assert information_gain(sides, "misclassification") == pytest.approx(0.25, abs=ROUNDING)
    assert information_gain(first) == pytest.approx(0.1887219, abs=5e-8)
    assert information_gain(second) == pytest.approx(0.3112781, abs=5e-8)
    assert 0.5 - information_gain(first, "gini") == pytest.approx(0.375, abs=ROUNDING)
    assert 0.5 - information_gain(second, "gini") == pytest.approx(1 / 3, abs=ROUNDING)


def test_a_tree_of_errors_takes_the_first_of_equal_questions_and_others_the_better():
    """C7-MISCLASS: the same 80 rows in two columns; by errors both questions are alike, by entropy and Gini the second is better."""
    y = np.repeat([0, 1], 40)
    first = np.concatenate([np.repeat([0.0, 1.0], [30, 10]), np.repeat([0.0, 1.0], [10, 30])])
    second = np.concatenate([np.repeat([0.0, 1.0], [20, 20]), np.repeat([0.0, 1.0], [40, 0])])
    X = np.column_stack([first, second])
    asked = {
        criterion: qed.DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_.feature[0]
        for criterion in ("misclassification", "entropy", "gini")
    }
    assert asked == {"misclassification": 0, "entropy": 1, "gini": 1}


@given(st.tuples(*[st.integers(1, 60)] * 4))
def test_strictly_concave_impurities_reward_every_difference(counts):
    """C7-CONCAVE: entropy and Gini gain where shares differ; errors do not where both sides keep the majority."""
    sides = np.array(counts, dtype=float).reshape(2, 2)
    differ = sides[0, 0] * sides[1, 1] != sides[0, 1] * sides[1, 0]
    for criterion in ("entropy", "gini"):
        gain = information_gain(sides, criterion)
        # Shares of at most 120 rows that differ do so by more than 1 / 120^2, which rounding does not hide.
        assert gain > 1e-9 if differ else abs(gain) < ROUNDING
    majority = sides.sum(axis=0).argmax()
    if (sides[:, majority] >= sides[:, 1 - majority]).all():
        assert abs(information_gain(sides, "misclassification")) < ROUNDING


def test_many_branches_are_weighed_as_two_are():
    """C7-MULTIWAY: the mean over branches; two of them merged tell no more than before."""
    sides = np.array([[8.0, 1.0], [2.0, 6.0], [5.0, 5.0]])
    weight = sides.sum(axis=1) / sides.sum()
    wanted = impurity(sides.sum(axis=0), "entropy") - weight @ impurity(sides, "entropy")
    assert information_gain(sides) == pytest.approx(float(wanted), abs=ROUNDING)
    merged = np.array([sides[0], sides[1] + sides[2]])
    assert information_gain(merged) <= information_gain(sides)
