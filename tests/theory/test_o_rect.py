"""O-RECT: a class as a rectangle. The tightest one around its rows misses none of them; its errors are false alarms alone."""

import numpy as np
import pytest

import qed

PRICE, POWER = (2.0, 6.0), (1.0, 4.0)


def cars(seed, n=80, noise=0.0):
    random = np.random.default_rng(seed)
    X = random.uniform(0, 8, (n, 2))
    family = inside(X, np.array([PRICE[0], POWER[0]]), np.array([PRICE[1], POWER[1]]))
    return X, np.where(random.random(n) < noise, 1 - family, family)


def inside(X, low, high):
    return ((low <= X) & (high >= X)).all(axis=1).astype(int)


def tightest(X, y):
    """Give the sides of the smallest rectangle around the rows of class one."""
    found = qed.tightest_rectangle(X, y == 1)
    assert found.certificate
    return found.low, found.high


@pytest.mark.parametrize("seed", range(4))
def test_the_tightest_rectangle_makes_no_error_on_rows_of_a_rectangle(seed):
    X, y = cars(seed)
    low, high = tightest(X, y)
    assert (qed.confusion_matrix(y, inside(X, low, high)) == np.diag(np.bincount(y))).all()
    assert PRICE[0] <= low[0] <= high[0] <= PRICE[1] and POWER[0] <= low[1] <= high[1] <= POWER[1]
    # Being smaller than the true one, it can only miss: no false alarm on any other rows, however many.
    other, truth = cars(seed + 100, n=4000)
    (_, false_alarms), (missed, _) = qed.confusion_matrix(truth, inside(other, low, high))
    assert false_alarms == 0 < missed < 0.1 * len(truth)


@pytest.mark.parametrize("seed", range(4))
def test_with_wrong_labels_it_still_misses_none_and_errors_are_counted_by_kind(seed):
    X, y = cars(seed, noise=0.1)
    said = inside(X, *tightest(X, y))
    (_, false_alarms), (missed, _) = qed.confusion_matrix(y, said)
    assert missed == 0 and false_alarms == ((y == 0) & (said == 1)).sum() > 0
    assert false_alarms + missed == round(len(y) * (1 - qed.accuracy_score(y, said)))


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_false_alarms_and_misses_are_all_errors(noise):
    X, y = cars(0, noise=noise)
    box = qed.tightest_rectangle(X, y)
    false_alarms, missed = box.errors(X, y)
    assert missed == 0 and false_alarms + missed == (box.contains(X) != y).sum()
    assert (false_alarms == 0) == (noise == 0.0)
    # Any smaller box misses a row: every side is touched.
    inner = X[y == 1]
    for side in range(2):
        assert (inner[:, side] == box.low[side]).any() and (inner[:, side] == box.high[side]).any()
