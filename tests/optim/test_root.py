"""Roots of equations and systems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import qed
from qed.base.errors import ConvergenceWarning, InputError
from qed.base.running.steps import Reason
from qed.optim import find_root
from qed.optim.functions.derivatives import jacobian
from qed.optim.solvers.root import root_claims


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0.01, 100))
def test_square_roots(number, start):
    root = find_root(lambda w: w * w - number, start)
    assert root.point == pytest.approx(np.sqrt(number), rel=1e-8)
    assert root.certificate


@pytest.mark.parametrize("jacobian", [None, lambda w: -np.sin(w) - 1])
def test_scalar_like_scipy(jacobian):
    peer = optimize.brentq(lambda w: np.cos(w) - w, 0, 1, xtol=1e-14)
    root = find_root(lambda w: np.cos(w) - w, 1.0, jacobian)
    assert isinstance(root.point, float)
    assert root.point == pytest.approx(peer, abs=1e-12)
    assert root.residual < 1e-12


def test_systems_like_scipy():
    def powell(w):
        return np.array([w[0] + 3 * w[1] ** 2 - 2, np.exp(w[0]) - w[1] - w[2], w[2] * w[0] - 0.5])

    peer = optimize.root(powell, [1.0, 1.0, 1.0], tol=1e-13).x
    root = find_root(powell, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(root.point, peer, rtol=1e-9)
    assert root.certificate


def test_damping_saves_a_start_from_which_the_pure_method_runs_away():
    with pytest.warns(ConvergenceWarning):
        assert not find_root(np.arctan, 3.0, damped=False).certificate
    assert find_root(np.arctan, 3.0).point == pytest.approx(0, abs=1e-10)


def test_damping_backs_off_from_where_the_function_is_not_finite():
    def barrier(w):
        return np.log(w) if w > 0 else np.nan

    assert find_root(barrier, 5.0).point == pytest.approx(1, rel=1e-10)


def test_at_the_root_already_and_at_odd_scales():
    assert find_root(lambda w: w - 1, 1.0).ending.n_iter == 0
    for size in (1e-9, 1e9):
        root = find_root(lambda w, size=size: (w / size) ** 3 - 8, size, scale=size)
        assert root.point == pytest.approx(2 * size, rel=1e-8)
        assert root.certificate


def test_a_double_root_is_found_and_not_certified():
    with pytest.warns(ConvergenceWarning, match="no simple root"):
        root = find_root(lambda w: (w - 1) ** 2, 3.0)
    assert root.point == pytest.approx(1, abs=1e-9)
    assert root.ending.reason is Reason.DEGENERATE
    assert not root.certificate["contraction"].holds


def test_no_root_and_singular_derivatives_end_in_words():
    with pytest.warns(ConvergenceWarning):
        root = find_root(lambda w: w * w + 1, 1.0)
    assert not root.certificate
    with pytest.warns(ConvergenceWarning, match="singular"):
        find_root(lambda w: w * w - 1, 0.0, lambda w: 2 * w)


def test_the_certificate_fails_for_a_point_nearby():
    def circle(w):
        return np.array([w @ w - 25, w[0] - w[1] + 1])

    def slope(w):
        return jacobian(circle, w, "central")

    assert all(claim.holds for claim in root_claims(circle, slope, np.array([3.0, 4.0]), 1e-10))
    for j in range(2):
        moved = np.array([3.0, 4.0])
        moved[j] *= 1.001
        assert not root_claims(circle, slope, moved, 1e-10)[0].holds
        assert not root_claims(circle, slope, moved, 1e-10)[1].holds


def test_bad_input_is_named():
    with pytest.raises(InputError, match="2 finite numbers"):
        find_root(lambda w: w[0], [1.0, 2.0])
    with pytest.raises(InputError, match="finite"):
        find_root(lambda w: np.nan * w, 1.0)
    with pytest.raises(InputError, match="shape"):
        find_root(lambda w: w, [1.0, 2.0], lambda w: np.ones(3))
    with pytest.raises(InputError, match="finite numbers"):
        find_root(lambda w: w, np.inf)


def test_it_can_be_watched():
    with qed.watch() as seen:
        find_root(np.cos, 1.0)
    assert len(seen.traces) == 1
