"""The duality gap: zero at the minimum, an upper bound everywhere, the same from rows and from sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qed.optim import (
    L1,
    L1L2,
    L2,
    AbsoluteLoss,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    SquaredLoss,
    balanced,
    duality_gap,
    fenchel_gap,
)

LOSSES = [SquaredLoss(), AbsoluteLoss(), HuberLoss(0.7), LogisticLoss(), PoissonLoss()]
PENALTIES = [L1(2.0), L1(2.0, positive=True), L2(2.0), L1L2(1.0, 0.5)]


def problem(seed, loss):
    generator = np.random.default_rng(seed)
    X, y, weight = generator.standard_normal((15, 3)), generator.standard_normal(15), generator.integers(0, 3, 15) + 0.5
    if isinstance(loss, LogisticLoss):
        y = np.sign(y)
    return X, np.abs(y) if isinstance(loss, PoissonLoss) else y, weight


def gap_at(w, loss, penalty, X, y, weight):
    theta = -loss.gradient(X @ w, y) * weight
    return duality_gap(
        loss.value(X @ w, y, weight), lambda s: loss.conjugate(-s * theta / weight, y, weight), penalty, w, X.T @ theta
    )


@given(st.sampled_from(LOSSES), st.sampled_from(PENALTIES), st.integers(0, 20), st.lists(st.floats(-3, 3), min_size=3))
def test_no_point_is_below_the_dual_of_another(loss, penalty, seed, values):
    X, y, weight = problem(seed, loss)
    w = np.abs(values[:3]) if penalty.positive else np.array(values[:3])
    found = gap_at(w, loss, penalty, X, y, weight)
    assert found.gap >= -1e-9 * abs(found.primal)
    assert found.gap == pytest.approx(found.primal - found.dual, abs=1e-9)
    for other in (np.zeros(3), np.ones(3), 0.5 * w):
        assert loss.value(X @ other, y, weight) + penalty.value(other) >= found.dual - 1e-9


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(0.7), LogisticLoss()], ids=repr)
def test_the_gap_vanishes_at_the_minimum(loss, penalty):
    X, y, weight = problem(3, loss)
    w = np.zeros(3)
    step = 1.0 / (loss.smoothness * np.linalg.norm(X.T * np.sqrt(weight), 2) ** 2)
    for _ in range(4000):
        gradient = X.T @ (weight * loss.gradient(X @ w, y))
        w = penalty.prox(w - step * gradient, step)
    assert gap_at(w, loss, penalty, X, y, weight).relative < 1e-12


def test_sums_and_rows_give_the_same_gap():
    X, y, weight = problem(5, SquaredLoss())
    w = np.array([0.3, -0.2, 0.1])
    residual = y - X @ w
    expected = gap_at(w, SquaredLoss(), L1(2.0), X, y, weight)
    conjugate = SquaredLoss.conjugate_of_sums(weight @ residual**2, (weight * residual) @ y)
    found = duality_gap(0.5 * weight @ residual**2, conjugate, L1(2.0), w, X.T @ (weight * residual))
    assert found.gap == pytest.approx(expected.gap, rel=1e-12)
    assert found.scale == pytest.approx(expected.scale, rel=1e-12)


def test_the_gap_of_the_course_fixture():
    """X = I, y = (3, 0.5), lambda = 2: half of the course's objective has the penalty 1 |w|, and (2, 0) is its minimum."""
    found = gap_at(np.array([2.0, 0.0]), SquaredLoss(), L1(1.0), np.eye(2), np.array([3.0, 0.5]), np.ones(2))
    assert (found.primal, found.gap, found.relative, found.scale) == (2.625, 0.0, 0.0, 1.0)


def test_without_a_penalty_the_bound_is_empty_but_true():
    X, y, weight = problem(0, SquaredLoss())
    found = gap_at(np.ones(3), SquaredLoss(), L1(0.0), X, y, weight)
    assert found.scale == 0.0 and found.dual == 0.0 and found.relative == 1.0


def test_a_point_that_is_not_allowed_has_an_infinite_gap():
    X, y, weight = problem(0, SquaredLoss())
    assert gap_at(-np.ones(3), SquaredLoss(), L1(2.0, positive=True), X, y, weight).relative == np.inf


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_two_terms_give_the_same_gap(loss, penalty):
    X, y, weight = problem(4, loss)
    w = np.array([0.3, 0.2, 0.1])
    theta = -loss.gradient(X @ w, y) * weight
    whole = gap_at(w, loss, penalty, X, y, weight)
    terms = fenchel_gap(
        loss.value(X @ w, y, weight),
        lambda s: loss.gap(X @ w, -s * theta / weight, y, weight),
        penalty,
        w,
        X.T @ theta,
        -loss.conjugate(np.zeros(15), y, weight),
    )
    assert terms.gap == pytest.approx(whole.gap, rel=1e-9, abs=1e-9)
    assert terms.dual == pytest.approx(whole.dual, rel=1e-9, abs=1e-9)
    assert terms.relative == pytest.approx(whole.relative, rel=1e-9, abs=1e-9)


@given(st.sampled_from(LOSSES), st.integers(0, 50), st.floats(-3, 3))
def test_a_balanced_pull_is_a_dual_point_that_sums_to_zero(loss, seed, constant):
    X, y, weight = problem(seed, loss)
    theta = -loss.gradient(X[:, 0] + constant, y) * weight
    found = balanced(theta)
    assert abs(found.sum()) <= 1e-14 * np.abs(theta).sum()
    assert np.isfinite(loss.conjugate(-found / weight, y, weight))
    assert (np.abs(found) <= np.abs(theta)).all() and (found * theta >= 0).all()
