"""Penalties: the proximal map is optimal, conjugates are suprema, dual scaling reaches the border of the domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from qed.base.errors import ParameterError
from qed.optim import L1, L1L2, L2

PENALTIES = [L1(0.7), L1(0.7, positive=True), L2(1.5), L1L2(0.7, 1.5), L1L2(0.7, 1.5, positive=True), L1(0.0)]
penalties = st.sampled_from(PENALTIES)
numbers = st.floats(-10, 10)
vectors = st.lists(numbers, min_size=1, max_size=5).map(np.array)


def allowed(penalty, w):
    return np.abs(w) if penalty.positive else w


@given(penalties, vectors, st.floats(0.01, 5))
def test_prox_is_optimal_by_its_own_kkt_distance(penalty, w, step):
    v = penalty.prox(w, step)
    np.testing.assert_allclose(penalty.kkt_distance(v, (v - w) / step), 0.0, atol=1e-9 / step)


@given(penalties, numbers, st.floats(0.01, 5))
def test_prox_is_the_minimiser(penalty, w, step):
    v = penalty.prox(np.array([w]), step)
    low = 0.0 if penalty.positive else -30.0
    found = minimize_scalar(
        lambda x: step * penalty.value([x]) + 0.5 * (x - w) ** 2, bounds=(low, 30.0), method="bounded"
    )
    assert step * penalty.value(v) + 0.5 * (v[0] - w) ** 2 <= found.fun + 1e-12
    assert v[0] == pytest.approx(found.x, abs=1e-3)


@given(penalties, vectors, vectors, st.floats(0.01, 5))
def test_prox_brings_points_no_further_apart(penalty, a, b, step):
    size = min(len(a), len(b))
    a, b = a[:size], b[:size]
    assert np.linalg.norm(penalty.prox(a, step) - penalty.prox(b, step)) <= np.linalg.norm(a - b) + 1e-12


@given(st.sampled_from([L1(0.7), L1(0.7, positive=True)]), vectors)
def test_prox_of_l1_gives_plain_zeros(penalty, w):
    v = penalty.prox(w, 1.0)
    assert not np.signbit(v[v == 0]).any()
    np.testing.assert_array_equal(v == 0, (w if penalty.positive else np.abs(w)) <= 0.7)


@given(penalties, vectors, vectors)
def test_fenchel_young(penalty, w, u):
    size = min(len(w), len(u))
    w, u = allowed(penalty, w[:size]), u[:size]
    assert penalty.value(w) + penalty.conjugate(u) >= u @ w - 1e-9


@given(st.sampled_from([penalty for penalty in PENALTIES if penalty.l2 > 0]), numbers)
def test_the_conjugate_is_the_supremum(penalty, u):
    low = 0.0 if penalty.positive else -40.0
    found = minimize_scalar(lambda w: penalty.value([w]) - u * w, bounds=(low, 40.0), method="bounded")
    assert penalty.conjugate([u]) == pytest.approx(-found.fun, abs=1e-3)


@given(penalties, vectors)
def test_dual_scaling_is_feasible_and_as_large_as_can_be(penalty, u):
    s = penalty.dual_scale(u)
    assert 0 <= s <= 1
    assert np.isfinite(penalty.conjugate(s * u))
    if s < 1:
        assert penalty.conjugate(1.001 * s * u + 1e-9 * np.sign(u)) == np.inf


@given(penalties, vectors, vectors)
def test_kkt_distance_is_zero_at_subgradients_only(penalty, w, noise):
    size = min(len(w), len(noise))
    w, noise = allowed(penalty, w[:size]), noise[:size]
    inside = np.where(w == 0, penalty.l1 * np.tanh(noise), penalty.l1 * np.sign(w)) + penalty.l2 * w
    np.testing.assert_allclose(penalty.kkt_distance(w, -inside), 0.0, atol=1e-12)
    beyond = np.where(w == 0, penalty.l1 + 1.0, inside + noise)
    expected = np.where(w == 0, 1.0, np.abs(noise))
    np.testing.assert_allclose(penalty.kkt_distance(w, -beyond), expected, atol=1e-12)


def test_a_negative_coefficient_is_not_allowed_where_it_must_be_positive():
    penalty = L1(1.0, positive=True)
    assert penalty.value([-1.0]) == np.inf
    assert penalty.kkt_distance([-1.0], [0.0])[0] == np.inf
    assert penalty.kkt_distance([0.0], [5.0])[0] == 0.0
    assert penalty.conjugate([-9.0]) == 0.0


def test_without_any_strength_only_a_zero_correlation_is_feasible():
    assert L2(0.0).dual_scale([0.0]) == 1.0
    assert L2(0.0).dual_scale([1.0]) == 0.0
    assert L2(0.0).conjugate([1.0]) == np.inf


@pytest.mark.parametrize("make", [lambda: L1(-1.0), lambda: L2(np.inf), lambda: L1L2(0.0, np.nan)])
def test_strengths_are_checked(make):
    with pytest.raises(ParameterError, match="strength"):
        make()
