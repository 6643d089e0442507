"""Quadratic programs: every answer is judged in exact arithmetic, and problems without a minimum are told by a witness."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import qed
from qed.base.errors import InputError, ParameterError
from qed.optim import solve_qp


def random_program(seed):
    """A program of integers or of real numbers, with or without a minimum, of all ranks and scales."""
    random = np.random.default_rng(seed)
    d, m = int(random.integers(1, 7)), int(random.integers(0, 13))
    k = min(int(random.integers(0, 3)), d)
    factor = random.standard_normal((d, int(random.integers(0, d + 1))))
    scale = 10.0 ** int(random.choice([0, 0, -6, 6]))
    whole = random.random() < 0.5
    G = random.integers(-3, 4, (m, d)).astype(float) if whole else random.standard_normal((m, d))
    h = random.integers(-2, 6, m).astype(float) if whole else random.standard_normal(m) + 0.5
    A, b = random.integers(-2, 3, (k, d)).astype(float), random.integers(-2, 3, k).astype(float)
    q = random.standard_normal(d) * (random.random() < 0.8)
    return factor @ factor.T * scale, q * scale, G, h, A, b


def fraction(values):
    return [[Fraction(float(v)) for v in row] for row in np.atleast_2d(values)]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), Fraction(0))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_status_is_true(seed):
    P, q, G, h, A, b = random_program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solve_qp(P, q, G, h, A, b)
    feasible = linprog(
        np.zeros(len(q)),
        G if len(h) else None,
        h if len(h) else None,
        A if len(b) else None,
        b if len(b) else None,
        (None, None),
    )
    assert bool(found.certificate) == (found.status != "unknown")
    if found.status == "infeasible":
        assert feasible.status != 0
        combined = found.multipliers @ G + found.equality_multipliers @ A
        assert (found.multipliers >= 0).all() and np.abs(combined).max() <= 1e-5
        assert found.multipliers @ h + found.equality_multipliers @ b < 0
    elif found.status == "unbounded":
        assert feasible.status == 0
        far = found.point + 1e6 * found.direction
        assert (G @ far <= h + 1e-2).all() and q @ found.direction < 0
    elif found.status == "optimal":
        assert feasible.status == 0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_gap_is_no_smaller_than_the_truth(seed):
    P, q, G, h, A, b = random_program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solve_qp(P, q, G, h, A, b)
    if found.status != "optimal":
        return
    x, above, equal = (
        fraction(part)[0] if len(part) else [] for part in (found.point, found.multipliers, found.equality_multipliers)
    )
    Px = [dot(row, x) for row in fraction(P)]
    value = dot(x, Px) / 2 + dot(fraction(q)[0], x)
    bound = (
        -dot(x, Px) / 2 - dot(fraction(h)[0] if len(h) else [], above) - dot(fraction(b)[0] if len(b) else [], equal)
    )
    claim = found.certificate["objective is off"]
    terms = [dot(x, Px), dot(fraction(q)[0], x), dot(fraction(h)[0] if len(h) else [], above)]
    size = float(sum(abs(term) for term in terms))
    # What rounding may hide is in the bound of the claim.
    assert abs(float(value - bound)) <= (claim.value + claim.bound) * max(
        size, 1.0 + float(np.abs(P).max(initial=0.0) + np.abs(q).max())
    )


def test_known_minima_are_found_to_the_last_digits():
    found = solve_qp(None, [-1.0, -1.0], [[1, 2], [3, 1], [-1, 0], [0, -1]], [4, 6, 0, 0])
    np.testing.assert_allclose(found.point, [1.6, 1.2], rtol=1e-12)
    found = solve_qp(np.eye(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.point, [-1.0, -2.0, -3.0], rtol=1e-14)
    redundant = solve_qp(np.eye(2), [1.0, 0.0], A=[[1, 1], [2, 2]], b=[1, 2])
    np.testing.assert_allclose(redundant.point, [0.0, 1.0], atol=1e-14)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_units_change_nothing(scale):
    random = np.random.default_rng(0)
    L, q, G = random.standard_normal((4, 4)), random.standard_normal(4), random.standard_normal((9, 4))
    plain = solve_qp(L @ L.T, q, G, np.ones(9))
    other = solve_qp(L @ L.T * scale, q * scale, G * 1e3, np.full(9, 1e3))
    np.testing.assert_allclose(other.point, plain.point, rtol=1e-7, atol=1e-9)
    assert plain.certificate and other.certificate


def test_steps_can_be_watched_and_budgeted():
    with qed.watch() as seen:
        solve_qp(np.eye(2), np.zeros(2), [[-1.0, 0.0]], [-1.0])
    assert seen.trace.model == "InteriorPoint" and len(seen.trace.records) > 2


def test_too_few_steps_are_said():
    random = np.random.default_rng(1)
    G, h = random.standard_normal((60, 10)), random.random(60) + 0.1
    with pytest.warns(qed.base.errors.ConvergenceWarning, match="Try max_iter=10"):
        found = solve_qp(np.eye(10), 10 * random.standard_normal(10), G, h, max_iter=1)
    assert found.status == "unknown" and not found.certificate


@pytest.mark.parametrize(
    "given, words",
    [
        ({"P": np.diag([1.0, -1.0]), "q": [0, 0]}, "not convex"),
        ({"P": [[1.0, 1.0], [0.0, 1.0]], "q": [0, 0]}, "symmetric"),
        ({"P": np.eye(3), "q": [0, 0]}, "shape"),
        ({"P": None, "q": [0, 0], "G": [[1.0, 0.0]]}, "belong together"),
        ({"P": None, "q": [0, 0], "G": [[1.0]], "h": [1.0]}, "shape"),
        ({"P": None, "q": [0, 0], "G": [[1.0, 0.0]], "h": [np.inf]}, "finite"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        solve_qp(**given)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="max_iter"):
        solve_qp(np.eye(1), [0.0], max_iter=0)
