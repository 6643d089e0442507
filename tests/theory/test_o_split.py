"""O-SPLIT: 70 to 30, shuffled first, seeded; no row lost or twice; training far below test error means overfitting."""

import numpy as np
import pytest

import qed


@pytest.mark.parametrize("n", [10, 101, 1000])
def test_parts_are_disjoint_and_exhaustive_and_seeded(n):
    rows = np.arange(n)
    train, test = qed.train_test_split(rows[:, None], test_size=0.3, random_state=0)
    assert sorted([*train[:, 0], *test[:, 0]]) == rows.tolist()
    assert abs(len(test) - 0.3 * n) <= 1
    again = qed.train_test_split(rows[:, None], test_size=0.3, random_state=0)
    assert (again[0] == train).all() and (again[1] == test).all()
    other = qed.train_test_split(rows[:, None], test_size=0.3, random_state=1)
    assert not (other[1] == test).all()


def test_rows_are_shuffled_first():
    """Rows sorted by class would leave a class out of the training rows."""
    y = np.repeat([0, 1, 2], 50)
    train, test = qed.train_test_split(y[:, None], test_size=0.3, random_state=0)
    assert set(train[:, 0]) == set(test[:, 0]) == {0, 1, 2}


def test_training_far_below_test_error_is_overfitting():
    lots = np.random.default_rng(0)
    X = lots.standard_normal((200, 3))
    y = (X[:, 0] + lots.standard_normal(200) > 0).astype(int)
    train, test, y_train, y_test = qed.train_test_split(X, y, test_size=0.3, random_state=0)
    tree = qed.DecisionTreeClassifier(random_state=0).fit(train, y_train)
    assert qed.error_rate(y_train, tree.predict(train)) == 0 < 0.2 < qed.error_rate(y_test, tree.predict(test))
    stump = qed.DecisionTreeClassifier(max_depth=1, random_state=0).fit(train, y_train)
    gap = qed.error_rate(y_test, stump.predict(test)) - qed.error_rate(y_train, stump.predict(train))
    assert gap < 0.15
