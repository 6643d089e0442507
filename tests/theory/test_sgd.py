"""SGD: a row is drawn uniformly, the mean update is that of gradient descent, and the seed decides everything."""

from itertools import islice

import numpy as np
import pytest

from qed.optim import StochasticGradient
from tests.theory.fixtures import problem
from tests.theory.quadratics import squares

X, Y, _ = problem(n=20, p=3)
TOTAL = squares(X, Y)
POINT = np.array([0.3, -1.0, 2.0])


def test_rows_are_uniform():
    method = StochasticGradient(0.1, seed=5)
    drawn = np.concatenate([method.rows(t, 20) for t in range(1, 20_001)])
    counts = np.bincount(drawn, minlength=20)
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8, "chi-square with 19 degrees of freedom, 1 in 1000"


def test_the_mean_update_is_the_gradient_within_four_standard_errors():
    updates = np.array(
        [
            next(islice(StochasticGradient(0.01, every=1, seed=s).steps(TOTAL, POINT), 1, 2)).iterate - POINT
            for s in range(500)
        ]
    )
    error = updates.std(axis=0) / np.sqrt(len(updates))
    assert (np.abs(updates.mean(axis=0) + 0.01 * TOTAL.gradient(POINT)) <= 4 * error).all()


def test_the_seed_decides():
    def end(seed):
        return next(islice(StochasticGradient(0.01, seed=seed).steps(TOTAL, POINT), 5, 6)).point

    np.testing.assert_array_equal(end(1), end(1))
    assert (end(1) != end(2)).any()


def test_a_constant_step_ends_in_a_cloud_unless_the_terms_share_their_minimum():
    best = np.linalg.lstsq(X, Y)[0]

    def distances(total, answer, step):
        steps = islice(StochasticGradient(step, seed=0).steps(total, np.zeros(3)), 300, 400)
        return np.array([np.linalg.norm(s.point - answer) for s in steps])

    noisy = distances(TOTAL, best, 0.02)
    assert noisy.min() > 1e-3, "it does not settle"
    truth = np.array([1.0, 2.0, 3.0])
    assert distances(squares(X, X @ truth), truth, 0.02).max() < 1e-6, "without noise all rows agree, and it does"
    assert distances(TOTAL, best, lambda t: 0.02 / (1 + t / 1000)).max() < noisy.mean(), "a falling step gets closer"


def test_k_is_one():
    assert StochasticGradient().batch == 1
    assert all(len(StochasticGradient(0.1).rows(t, 20)) == 1 for t in range(1, 50))


def test_it_resumes_to_the_last_bit():
    for options in (
        {},
        {"draw": "shuffle", "batch": 3},
        {"draw": "replacement", "batch": 7},
        {"average": True, "every": 13},
        {"step": None},
    ):
        method = StochasticGradient(**{"step": 0.02, "seed": 9, **options})
        whole = list(islice(method.steps(TOTAL, POINT), 12))
        again = list(islice(method.steps(TOTAL, POINT, start=whole[4]), 7))
        for one, other in zip(whole[5:], again):
            np.testing.assert_array_equal(one.point, other.point)
            assert one.epochs == other.epochs and one.number == other.number


@pytest.mark.parametrize("n", [3, 10**6])
def test_an_update_looks_at_its_rows_only(n):
    seen = []

    from qed.optim import FiniteSum

    total = FiniteSum(lambda w, rows: float(w @ w), lambda w, rows: (seen.append(rows), 2 * w)[1], n)
    list(islice(StochasticGradient(0.1, batch=3 if n > 3 else 1, every=50).steps(total, [1.0]), 2))
    assert sum(1 if isinstance(rows, slice) else 0 for rows in seen) <= 2, (
        "all rows only for the two steps that are shown"
    )
    assert max(len(rows) for rows in seen if not isinstance(rows, slice)) <= 3
