"""The kernels under the lasso against plain NumPy."""

import numpy as np
import pytest
from scipy import sparse

from qed.optim.functions.gap import duality_gap
from qed.optim.functions.losses import SquaredLoss
from qed.optim.functions.penalties import L1L2
from qed.optim.sparse import columns, dense, support
from qed.optim.sparse.quadratic import SparseQuadratic
from qed.optim.sparse.sweeps import descend, penalty_gap, subtract_rows
from qed.optim.sparse.working_set import Correlations, WorkingSet

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((30, 8))
Y = X[:, :3] @ [3.0, -2.0, 1.0] + GENERATOR.standard_normal(30)
GRAM, RIGHT = X.T @ X, X.T @ Y


def sweep(gram, right, w, l1, l2, positive):
    """One sweep of coordinate descent, written out."""
    w = w.copy()
    for j in range(len(w)):
        pull = right[j] - gram[j] @ w + gram[j, j] * w[j]
        size = max(pull, 0.0) if positive else abs(pull)
        w[j] = np.sign(pull) * max(size - l1, 0.0) / (gram[j, j] + l2)
    return w


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("l2", [0.0, 5.0])
def test_descend(l2, positive):
    w, slope = GENERATOR.standard_normal(8) * (1 - positive), np.empty(8)
    expected = sweep(GRAM, RIGHT, sweep(GRAM, RIGHT, w, 4.0, l2, positive), 4.0, l2, positive)
    slope[:] = RIGHT - GRAM @ w
    assert descend(GRAM, slope, w, 4.0, l2, positive, 2, 0.0) == 2
    np.testing.assert_allclose(w, expected, atol=1e-13)
    np.testing.assert_allclose(slope, RIGHT - GRAM @ w, atol=1e-12)


def test_descend_looks_at_the_first_columns_only():
    padded = np.full((20, 20), np.nan)
    padded[:8, :8] = GRAM
    one, two = np.zeros(8), np.zeros(8)
    descend(GRAM, RIGHT.copy(), one, 4.0, 0.0, False, 3, 0.0)
    descend(padded, RIGHT.copy(), two, 4.0, 0.0, False, 3, 0.0)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("l2", [0.0, 5.0])
def test_penalty_gap_is_that_of_the_general_duality_gap(l2, positive):
    penalty = L1L2(4.0, l2, positive)
    for scale in (0.0, 1e-3, 1.0):
        w = sweep(GRAM, RIGHT, np.zeros(8), 4.0, l2, positive) * (1 + scale)
        r = Y - X @ w
        value, part, shrunk = penalty_gap(X.T @ r, w, 4.0, l2, positive, 0.0, 0.0)
        conjugate = SquaredLoss.conjugate_of_sums(r @ r, r @ Y)
        general = duality_gap(0.5 * r @ r, conjugate, penalty, w, X.T @ r)
        assert 0.5 * r @ r + value == pytest.approx(general.primal, rel=1e-12)
        assert part + 0.5 * (1 - shrunk) ** 2 * (r @ r) == pytest.approx(general.gap, rel=1e-9)
        assert (part, shrunk) == pytest.approx((penalty.gap(w, shrunk * X.T @ r), general.scale), rel=1e-9)
        outside = np.maximum((X.T @ r)[5:] if positive else np.abs(X.T @ r)[5:], 0.0)
        over = np.maximum(outside - 4.0, 0.0)
        few = penalty_gap((X.T @ r)[:5], w[:5], 4.0, l2, positive, outside.max(), over @ over)
        assert w[5:].any() or few == pytest.approx((value, part, shrunk), rel=1e-9)


def test_a_factor_that_grows_and_shrinks_stays_a_factor():
    factor, order, column = np.zeros((8, 8)), np.zeros(8, dtype=np.int64), np.zeros(8)
    members = []
    for step, j in enumerate([3, 0, 6, 2, 7, 1]):
        assert support.append(GRAM, 2.0, factor, order, len(members), j, column)
        members.append(j)
        if step in (3, 5):
            support.remove(factor, order, len(members), 1)
            members.pop(1)
        k = len(members)
        assert order[:k].tolist() == members
        R = np.triu(factor[:k, :k])
        np.testing.assert_allclose(R.T @ R, GRAM[np.ix_(members, members)] + 2.0 * np.eye(k), atol=1e-10)
        right = np.arange(1.0, k + 1)
        solution = right.copy()
        support.forward(factor, k, solution)
        support.backward(factor, k, solution)
        np.testing.assert_allclose((R.T @ R) @ solution, right, atol=1e-10)


def test_a_dependent_column_is_not_appended():
    twin = np.column_stack([X[:, :3], X[:, 0] - 2 * X[:, 1]])
    gram = twin.T @ twin
    factor, order, column = np.zeros((4, 4)), np.zeros(4, dtype=np.int64), np.zeros(4)
    assert all(support.append(gram, 0.0, factor, order, k, k, column) for k in range(3))
    assert not support.append(gram, 0.0, factor, order, 3, 3, column)
    assert support.append(gram, 1e-3, np.zeros((4, 4)), order, 0, 3, column)


def test_first_zero():
    coef, order, sign = np.array([1.0, -2.0, 0.5]), np.array([0, 1, 2]), np.array([1.0, -1.0, 1.0])
    assert support.first_zero(coef, order, 3, np.array([-2.0, 8.0, 1.0]), sign, 1.0) == (0.25, 1)
    assert support.first_zero(coef, order, 3, np.array([1.0, -1.0, -0.4]), sign, 1.0) == (1.0, -1)


@pytest.mark.parametrize("l1", [40.0, 5.0, 0.1])
@pytest.mark.parametrize("l2", [0.0, 2.0])
@pytest.mark.parametrize("positive", [True, False])
def test_newton_steps_end_where_ten_thousand_sweeps_end(l1, l2, positive):
    problem = SparseQuadratic(GRAM, RIGHT, Y @ Y)
    objective, gap = problem.solve(L1L2(l1, l2, positive), 1e-12)
    w = np.zeros(8)
    descend(GRAM, RIGHT.copy(), w, l1, l2, positive, 10_000, 0.0)
    np.testing.assert_allclose(problem.coef, w, atol=1e-9)
    assert abs(gap) <= 1e-12 * objective
    np.testing.assert_allclose(problem.slope, RIGHT - GRAM @ problem.coef, atol=1e-11)
    assert problem.rest == pytest.approx(np.sum((Y - X @ problem.coef) ** 2), rel=1e-9)


def test_the_direction_of_the_path_is_its_slope():
    problem = SparseQuadratic(GRAM, RIGHT, Y @ Y)
    problem.solve(L1L2(5.0, 0.0), 1e-12)
    here, way = problem.coef.copy(), problem.direction()
    problem.solve(L1L2(5.0 - 1e-4, 0.0), 1e-12)
    np.testing.assert_allclose(problem.coef, here + 1e-4 * way, atol=1e-12)


def added(chosen, count, places):
    """Add columns to so many that were chosen, and give the products that are written."""
    room = np.full((count + len(places), 2 * len(places)), np.nan)  # a part of a larger matrix, as in a working set
    chosen.add(places, room[:, : len(places)])
    assert np.isnan(room[:, len(places) :]).all()
    return room[:, : len(places)]


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kind", ["dense", "fortran", "single", "sparse"])
@pytest.mark.parametrize("often", [True, False])
@pytest.mark.sampled(2)
def test_columns_are_centred_and_weighted(often, kind, centered):
    weight = GENERATOR.integers(1, 4, 30).astype(float)
    shifted = X + 1.0
    shifted[:, 2] = 0.1 if often else 0.0
    seen = shifted - np.average(shifted, axis=0, weights=weight) if centered else shifted
    seen = seen * np.sqrt(weight)[:, None]
    make = {
        "dense": lambda: shifted,
        "fortran": lambda: np.asfortranarray(shifted),
        "single": lambda: shifted.astype(np.float32),
        "sparse": lambda: sparse.csr_array(shifted),
    }
    found = columns.columns_of(make[kind](), weight, centered=centered, often=often)
    assert isinstance(found, columns.PlainColumns) == (not often and kind != "sparse")
    atol = 1e-4 if kind == "single" else 1e-10
    vector = GENERATOR.standard_normal(30)
    places = np.array([5, 0, 7])
    np.testing.assert_allclose(found.length, np.linalg.norm(seen, axis=0), atol=atol)
    assert not centered or found.length[2] == 0.0
    np.testing.assert_allclose(found.correlate(vector), seen.T @ vector, atol=atol)
    np.testing.assert_allclose(found.correlate(vector, places), seen[:, places].T @ vector, atol=atol)
    np.testing.assert_allclose(found.products(vector[:, None])[:, 0], seen.T @ vector, atol=atol)
    np.testing.assert_allclose(found.outer(), seen @ seen.T, atol=10 * atol)
    chosen = found.chosen()
    added(chosen, 0, places)
    np.testing.assert_allclose(added(chosen, 3, np.array([1])), seen[:, [5, 0, 7, 1]].T @ seen[:, [1]], atol=10 * atol)
    np.testing.assert_allclose(chosen.correlate(vector), seen[:, [5, 0, 7, 1]].T @ vector, atol=atol)
    rest = vector.copy()
    chosen.subtract(rest, np.array([1.0, 0.0, -2.0, 3.0]))
    np.testing.assert_allclose(rest, vector - seen[:, [5, 0, 7, 1]] @ [1.0, 0.0, -2.0, 3.0], atol=atol)


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_chosen_columns_can_count_rows_differently(kind, centered):
    shifted, weight = X + 3.0, GENERATOR.uniform(0.1, 4, 30)
    seen = shifted - np.average(shifted, axis=0, weights=weight) if centered else shifted
    expected = seen.T @ (weight[:, None] * seen)
    chosen = columns.columns_of(kind(shifted), None, centered=centered).chosen()
    order = np.array([5, 0, 7, 1, 2])
    added(chosen, 0, order[:3])
    np.testing.assert_allclose(
        chosen.weigh(weight, centered=centered), expected[np.ix_(order[:3], order[:3])], atol=1e-10
    )
    np.testing.assert_allclose(added(chosen, 3, order[3:]), expected[np.ix_(order, order[3:])], atol=1e-10)
    chosen.keep(np.array([1, 2, 4]))
    kept = order[[1, 2, 4]]
    np.testing.assert_allclose(added(chosen, len(kept), np.array([6])), expected[np.ix_([*kept, 6], [6])], atol=1e-10)
    plain = shifted - shifted.mean(axis=0) if centered else shifted
    vector = GENERATOR.standard_normal(30)
    np.testing.assert_allclose(chosen.correlate(vector), plain[:, [*kept, 6]].T @ vector, atol=1e-10)


@pytest.mark.parametrize("shape", [(1, 1), (5, 40), (200, 3), (130, 33)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lines_are_columns(shape, dtype):
    table = GENERATOR.standard_normal(shape).astype(dtype)
    lines = np.empty((shape[1] - shape[1] // 3, shape[0]))
    places = np.arange(shape[1] // 3, shape[1])
    dense.pick(table, places, np.zeros(len(places)), np.ones(shape[0]), lines)
    np.testing.assert_array_equal(lines, table.T[shape[1] // 3 :])
    for order in "CF":
        found = columns.columns_of(np.array(table, order=order), None, centered=False)
        np.testing.assert_array_equal(found.lines, table.T)


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_far_from_zero_are_laid_out(order):
    for far in (
        X + 100.0,
        np.where(np.arange(X.shape[1]) == 3, 2.0, X),
        np.where(np.arange(X.shape[1]) == 3, np.nan, X),
    ):
        table = np.array(far, order=order)
        assert isinstance(columns.columns_of(table, None, centered=True, often=False), columns.DenseColumns)


def test_columns_that_need_no_change_are_not_copied():
    table = np.asfortranarray(X)
    assert np.shares_memory(columns.columns_of(table, None, centered=False).lines, table)
    before = table.copy()
    columns.columns_of(table, None, centered=True)
    np.testing.assert_array_equal(table, before)


def test_no_column_that_reaches_a_limit_is_overlooked():
    wide = GENERATOR.standard_normal((20, 500))
    seen = columns.columns_of(wide, None, centered=False)
    residual = GENERATOR.standard_normal(20)
    correlations = Correlations(seen, residual)
    for size in (0.0, 1e-3, 0.05, 0.3, 2.0):
        moved = 0.9 * residual + size * GENERATOR.standard_normal(20)
        exact = wide.T @ moved
        for limit in (1.0, 5.0, 9.0):
            places, values = correlations.reaching(moved, limit)
            assert set(np.flatnonzero(np.abs(exact) >= limit)) <= set(places.tolist())
            np.testing.assert_allclose(values, exact[places], atol=1e-12)


def test_a_working_set_lets_go_of_columns_and_still_ends_right(monkeypatch):
    monkeypatch.setattr("qed.optim.sparse.working_set.SPARE", 0)
    wide = GENERATOR.standard_normal((40, 300))
    y = wide[:, :10] @ np.ones(10) + GENERATOR.standard_normal(40)
    problem = WorkingSet(columns.columns_of(wide, None, centered=False), y)
    largest = np.abs(wide.T @ y).max()
    for l1 in largest * np.array([0.5, 0.1, 0.02, 0.6, 0.05, 0.01]):
        *_, (objective, gap) = problem.rounds(L1L2(l1, 0.0), 1e-8)
        r = y - wide @ problem.coef
        assert abs(gap) <= 1e-8 * objective and np.abs(wide.T @ r).max() <= l1 * (1 + 1e-6)
        np.testing.assert_allclose(problem.residual, r, atol=1e-10)


def test_subtract_rows():
    total, coef = Y[:8].copy(), np.array([0.0, 2.0, -1.0])
    subtract_rows(total, GRAM, coef)
    np.testing.assert_allclose(total, Y[:8] - coef @ GRAM[:3], atol=1e-12)
