r"""Lines in the leaves of a tree: every node predicts a linear function of the row in the place of a constant.

.. math:: \hat y(x) = \operatorname{clip}\Bigl(\bar y + \sum_j b_j (x_j - \bar x_j)\Bigr), \qquad
          \min_b \sum_i w_i \bigl(y_i - \bar y - (x_i - \bar x)^\top b\bigr)^2 + \alpha \sum_i w_i \sum_j s_j^2 b_j^2,

over the rows of the node, with their means :math:`\bar y`, :math:`\bar x` and the mean squares :math:`s_j^2` of the columns about these;
of all best ones the shortest. A missing value counts as the mean of the node, columns of categories do not take part, and what is predicted
stays within the targets that the node has seen, so that no line runs away beyond its rows. The questions are those of a tree with
constants. Every node has its line, so that pruning needs no rows to fit again: :math:`O(np^2)` for each level of the tree.

Quinlan (1992), Learning with continuous classes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.checks import overflowed
from qed.base.models.proof import restated
from qed.base.numbers import EPS
from qed.trees.nodes import Nodes
from qed.trees.problem import NumberTreeProblem


def with_lines(nodes: Nodes, problem: NumberTreeProblem, alpha: float) -> Nodes:
    """Give the nodes with the line of each."""
    center, bounds = _surroundings(nodes, problem)
    slope = np.zeros_like(center)
    for node, rows in _rows_of(nodes, problem.X):
        table, target, scale = _system(nodes, problem, center, node, rows, alpha)
        if scale.any():
            found = np.linalg.lstsq(table, target, rcond=max(table.shape) * EPS)[0]
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                slope[node] = np.where(scale > 0, found / scale * problem.size, 0.0)
    if not np.isfinite(slope).all():
        raise overflowed(problem.model)
    return replace(nodes, slope=slope, center=center, bounds=bounds)


def along(nodes: Nodes, X: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Give what some nodes, one for each row, predict along their lines."""
    assert nodes.slope is not None and nodes.center is not None and nodes.bounds is not None
    away = np.asarray(X, dtype=np.float64) - nodes.center[at]
    said = nodes.value[at, 0] + np.einsum("ij,ij->i", np.where(np.isnan(away), 0.0, away), nodes.slope[at])
    return np.asarray(np.clip(said, *nodes.bounds[at].T))


def claims_of_lines(nodes: Nodes, problem: NumberTreeProblem, alpha: float) -> list[Claim]:
    """Claim that no other line is nearer to the rows of its node: what is left is orthogonal to every column.

    By Householder's method, or through singular values, a solution is that of a table that differs by a few times the rows times the
    columns in the last digit (Higham 2002, theorem 20.3), and what is orthogonal to that table is so to ours but for as much.
    """
    assert nodes.slope is not None and nodes.center is not None
    worst, idle, longest = 0.0, 0, 1
    for node, rows in _rows_of(nodes, problem.X):
        table, target, scale = _system(nodes, problem, nodes.center, node, rows, alpha)
        own = nodes.slope[node] / problem.size * scale
        idle += int((nodes.slope[node][scale == 0] != 0).sum())
        with np.errstate(over="ignore", invalid="ignore"):
            rest = target - table @ own
            size = np.linalg.norm(table) * np.linalg.norm(own) + np.linalg.norm(target)
            length = np.linalg.norm(table, axis=0) * size
            share = np.abs(table.T @ rest) / np.where(length > 0, length, 1.0)
        worst, longest = max(worst, float(np.nan_to_num(share, nan=np.inf).max(initial=0.0))), max(longest, len(table))
    return [
        Claim("what lines leave is orthogonal to the columns, but for", worst, 16 * longest * problem.X.shape[1] * EPS),
        Claim("slopes of columns that do not vary", float(idle), 0.0),
    ]


def restated_lines(nodes: Nodes, problem: NumberTreeProblem) -> list[Claim]:
    """Compare means and bounds of the nodes with those of the rows."""
    center, bounds = _surroundings(nodes, problem)
    return [restated("tree_.center", nodes.center, center), restated("tree_.bounds", nodes.bounds, bounds)]


def costs_of_lines(nodes: Nodes, X: np.ndarray, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Give the squared distances of rows from the line of every node above their leaves, added up."""
    found = np.zeros(nodes.node_count)
    for level in nodes.levels:
        above, inside = nodes.above(level, leaf)
        cost = weight[inside] * (y[inside] - along(nodes, X[inside], above[inside])) ** 2
        found += np.bincount(above[inside], cost, nodes.node_count)
    return found


def _rows_of(nodes: Nodes, X: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Give the rows of every node."""
    leaf = nodes.apply(X)
    order = np.argsort(leaf, kind="stable")
    first, last = (np.searchsorted(leaf[order], ends) for ends in (np.arange(nodes.node_count), nodes.ends))
    return [(node, np.sort(order[first[node] : last[node]])) for node in range(nodes.node_count)]


def _surroundings(nodes: Nodes, problem: NumberTreeProblem) -> tuple[np.ndarray, np.ndarray]:
    """Give the means of the columns in every node, and the least and the largest target."""
    center, bounds = np.zeros((nodes.node_count, problem.X.shape[1])), np.zeros((nodes.node_count, 2))
    numbers = np.ones(problem.X.shape[1], dtype=bool) if problem.is_categorical is None else ~problem.is_categorical
    for node, rows in _rows_of(nodes, problem.X):
        if not len(rows):
            continue
        y = problem.number[rows] * problem.size
        bounds[node] = y.min(), y.max()
        x = problem.X[rows].astype(np.float64)
        there = ~np.isnan(x) & numbers
        weight = np.where(there, problem.weights[rows, None], 0.0)
        total, one = weight.sum(axis=0), np.where(there, x, -np.inf).max(axis=0)
        one = np.where(np.isfinite(one), one, 0.0)
        # About one of them, so that equal ones differ by nothing.
        away = np.where(there, x - one, 0.0)
        center[node] = one + (weight * away).sum(axis=0) / np.where(total > 0, total, 1.0)
    return center, bounds


def _system(
    nodes: Nodes, problem: NumberTreeProblem, center: np.ndarray, node: int, rows: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the least squares of a node, with columns near one: the table, the targets, and by what slopes are to be divided."""
    weight = problem.weights[rows]
    weight = np.sqrt(weight / weight.max(initial=1e-300))[:, None]
    away = problem.X[rows].astype(np.float64) - center[node]
    away = np.where(np.isnan(away), 0.0, away)
    if problem.is_categorical is not None:
        away[:, problem.is_categorical] = 0.0
    # A column that is constant but for how its mean was rounded is constant.
    scale = np.abs(away).max(axis=0, initial=0.0)
    scale = np.where(scale > 4 * EPS * np.abs(center[node]), scale, 0.0)
    table = weight * np.where(scale > 0, away / np.where(scale > 0, scale, 1.0), 0.0)
    target = weight[:, 0] * (problem.number[rows] - nodes.value[node, 0] / problem.size)
    if alpha > 0:
        penalty = np.sqrt(alpha * (table**2).sum(axis=0))
        table, target = np.vstack([table, np.diag(penalty)]), np.append(target, np.zeros(len(penalty)))
    return table, target, scale
