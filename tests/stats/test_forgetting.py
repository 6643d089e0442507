"""Rows are learned and forgotten every day for years: what moments say of their rounding is right, by exact arithmetic, and stays small."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest

from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.stats.moments import Moments

ROUNDS, DAYS, ROWS = 2000, 30, 4


def ordinary(random, day):
    return random.standard_normal((ROWS, 3)), None


def weighted(random, day):
    return random.standard_normal((ROWS, 3)), random.uniform(0.1, 3.0, ROWS)


def far_away(random, day):
    return random.standard_normal((ROWS, 3)) * [1.0, 1e-3, 1e4] + [1e7, 5.0, -1e5], None


def drifting(random, day):
    return random.standard_normal((ROWS, 3)) + day * np.array([0.1, -1.0, 1e-3]), None


def outliers(random, day):
    return random.standard_normal((ROWS, 3)) * (1e5 if day % 500 == 7 else 1.0), None


def heavy(random, day):
    return random.standard_normal((ROWS, 3)), np.full(ROWS, 1e9 if day % 400 == 9 else 1.0) * random.uniform(1, 2, ROWS)


def single(random, day):
    """Days of one row, of which every third is the same."""
    row = random.standard_normal((1, 3))
    return (row if day % 3 else np.ones((1, 3))), None


def exactly(days):
    """Give weight, mean and scatter of the rows of some days in fractions."""
    rows = [[Fraction(float(value)) for value in row] for X, _ in days for row in X]
    weights = [Fraction(float(w)) for X, weight in days for w in (np.ones(len(X)) if weight is None else weight)]
    total = sum(weights)
    mean = [sum(w * row[j] for w, row in zip(weights, rows, strict=True)) / total for j in range(3)]
    away = [[value - middle for value, middle in zip(row, mean, strict=True)] for row in rows]
    scatter = [
        [sum(prod((w, row[j], row[k])) for w, row in zip(weights, away, strict=True)) for k in range(3)]
        for j in range(3)
    ]
    return total, mean, scatter


def assert_right(found, days):
    """Compare with the rows in exact arithmetic: all errors are within what the moments say."""
    total, mean, scatter = exactly(days)
    h, slip = found.noise, found.slip
    assert abs(Fraction(found.weight) - total) <= Fraction(found.doubt)
    for j in range(3):
        # The mean is kept to the square of a rounding at each update.
        known = Fraction(float(found.mean[j])) + Fraction(float(found.rest[j]))
        assert abs(known - mean[j]) <= Fraction(float(slip[j])) + abs(mean[j]) * ROUNDS * Fraction(EPS) ** 2
        for k in range(3):
            assert abs(Fraction(float(found.scatter[j, k])) - scatter[j][k]) <= Fraction(float(h[j])) * Fraction(
                float(h[k])
            )


@pytest.mark.parametrize("kind", [ordinary, weighted, far_away, drifting, outliers, heavy, single])
def test_what_is_said_of_rounding_is_right_after_thousands_of_updates(kind):
    random = np.random.default_rng(5)
    days = [kind(random, day) for day in range(DAYS)]
    moments = [Moments.of(Block(X[:, :2], X[:, 2], weight)) for X, weight in days]
    found = sum(moments[1:], moments[0])
    assert_right(found, days)
    for day in range(DAYS, DAYS + ROUNDS):
        days.append(kind(random, day))
        X, weight = days[-1]
        moments.append(Moments.of(Block(X[:, :2], X[:, 2], weight)))
        found = found + moments[-1] - moments[-1 - DAYS]
        if day % 250 < 2:
            assert_right(found, days[-DAYS:])
    assert_right(found, days[-DAYS:])
    if kind not in (outliers, heavy):
        # Of sixteen digits two thousand rounds cost seven, and eight where weights have digits to lose.
        least = 1e-9 if kind is weighted else 1e-10
        assert (found.noise**2 <= 10 * least * found.scatter.diagonal()).all()
        assert (found.slip <= least * np.sqrt(found.scatter.diagonal() / found.weight)).all()
