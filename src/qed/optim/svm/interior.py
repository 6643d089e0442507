r"""Linear support vector machines on data of any scale: a primal-dual interior-point method whose equations are solved by rotations.

.. math:: \min_{w, b}\ \tfrac12 \|w\|^2 + \sum_v C_v\, \ell(u_v), \qquad u_v = s_v (t_v - w^\top x_v - b) - \varepsilon,

with :math:`\ell(u) = u_+` or :math:`u_+^2` (see :mod:`qed.optim.svm.linear`). With :math:`\xi \ge u`, :math:`\xi \ge 0` and
:math:`z = \xi - u`, a solution has :math:`w = \sum_v s_v \alpha_v x_v`, :math:`\sum_v s_v \alpha_v = 0`, :math:`\alpha_v z_v = 0` and
:math:`(C_v - \alpha_v) \xi_v = 0`, or :math:`\alpha_v = 2 C_v \xi_v` where slack is squared. Newton's method is applied to these with
the products asked to be equal to a number that falls to zero (Mehrotra's predictor and corrector). Its equations are a least-squares
problem with weights that grow apart without bound, as rows and columns of a bad table do: solved by a QR with the longest rows
first and columns chosen by what is left of them, no row loses its digits to another. Cost: :math:`O(np^2)` for each of some thirty steps.

Ferris and Munson (2002), Interior-point methods for massive support vector machines; Cox and Higham (1998), Stability of Householder QR
factorization for weighted least squares problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from qed.base.numbers import EPS, TINY

# A step ends this close to the nearest bound.
SHORT = 0.995
# Steps, and how many of them may bring nothing.
MOST, PATIENCE = 150, 12
# Where so much of what the equations are off by is more than the products, these are to be so much of what they are.
KEEP, CENTRE = 1.0, 1.0
# The gap is taken on this far below what is asked for, where that costs a step or two.
AIM = 0.1


class Pieces(NamedTuple):
    """A table with what is lost on its rows; arrays of pieces have the shape (sides, n)."""

    X: np.ndarray  # dense, with no more columns than rows
    offset: np.ndarray  # s t - epsilon
    sign: np.ndarray
    cost: np.ndarray
    squared: bool
    intercept: bool

    def excess(self, w: np.ndarray, b: float) -> np.ndarray:
        """Give u of all pieces."""
        return np.asarray(self.offset - self.sign * (self.X @ w + b))

    def primal(self, w: np.ndarray, b: float) -> float:
        """Give the objective at a point."""
        over = np.maximum(self.excess(w, b), 0.0)
        return float(w @ w / 2 + (self.cost * (over**2 if self.squared else over)).sum())

    def spread(self, alpha: np.ndarray) -> tuple[np.ndarray, float]:
        """Give the sums of signed multipliers times row, and of signed multipliers."""
        signed = (self.sign * alpha).sum(axis=0)
        return signed @ self.X, float(signed.sum())

    def inside(self, alpha: np.ndarray) -> np.ndarray:
        """Put multipliers inside their bounds; with a constant, make those of the heavier sign less, until they balance."""
        alpha = np.maximum(alpha, 0.0) if self.squared else np.clip(alpha, 0.0, self.cost)
        if not self.intercept:
            return alpha
        up, down = float(alpha[self.sign > 0].sum()), float(alpha[self.sign < 0].sum())
        least = min(up, down)
        return np.asarray(alpha * np.where(self.sign > 0, least / max(up, TINY), least / max(down, TINY)))

    def bound(self, alpha: np.ndarray) -> tuple[float, float]:
        """Give the bound from below of multipliers, once they are inside, and how far rounding may have moved it."""
        alpha = self.inside(alpha)
        w, _ = self.spread(alpha)
        taken = float((alpha**2 / (4 * self.cost)).sum()) if self.squared else 0.0
        value = float((alpha * self.offset).sum() - w @ w / 2 - taken)
        # Sums of n terms are off by n roundings of their size; those of w count with the length of w, and squared.
        many = EPS * (alpha.size + len(w))
        off = many * float(np.linalg.norm(alpha.sum(axis=0) @ np.abs(self.X)))
        length = float(np.linalg.norm(w))
        return value, many * float((alpha * np.abs(self.offset)).sum() + taken + length**2) + off * (length + off)


class Solved(NamedTuple):
    """The best point and the best bound that were found."""

    w: np.ndarray
    b: float
    primal: float
    dual: float
    rounding: float  # how far rounding may have moved that bound
    alpha: np.ndarray  # of shape (sides, n)


class _Point(NamedTuple):
    w: np.ndarray
    b: float
    xi: np.ndarray
    z: np.ndarray
    alpha: np.ndarray
    missed: np.ndarray  # u less xi, plus z: it shrinks with each step, and what rounding does to u is none of it


def solved(pieces: Pieces, tol: float) -> Solved:
    """Solve until the gap is a small part of the tolerance, or nothing gets better."""
    point = _inside(pieces)
    best = Solved(point.w, point.b, pieces.primal(point.w, point.b), *pieces.bound(point.alpha), point.alpha)
    idle = 0
    for _ in range(MOST):
        with np.errstate(all="ignore"):
            moved = _newton(pieces, point)
        if moved is None:
            break
        point, before = moved, best.primal - best.dual
        primal, (dual, rounding) = pieces.primal(point.w, point.b), pieces.bound(point.alpha)
        if primal < best.primal:
            best = best._replace(w=point.w, b=point.b, primal=primal)
        if dual > best.dual:
            best = best._replace(dual=dual, rounding=rounding, alpha=point.alpha)
        gap = best.primal - best.dual
        idle = 0 if gap < 0.9 * before else idle + 1
        if gap <= AIM * tol * best.primal or idle >= PATIENCE:
            break
    return best


def _inside(pieces: Pieces) -> _Point:
    """Begin with no slope and the constant that the level gives, half of all costs as multipliers, and room for all."""
    w, b, alpha = np.zeros(pieces.X.shape[1]), 0.0, pieces.inside(pieces.cost / 2)
    u = pieces.excess(w, b)
    room = max(float(np.abs(u).mean()), TINY)
    if pieces.squared:
        alpha = alpha * max(room, TINY)
        xi = alpha / (2 * pieces.cost)
        z = np.maximum(xi - u, 0.0) + room
    else:
        xi, z = np.maximum(u, 0.0) + room, np.maximum(-u, 0.0) + room
    return _Point(w, b, xi, z, alpha, u - xi + z)


def _newton(pieces: Pieces, point: _Point) -> _Point | None:
    """Make one predictor-corrector step."""
    cost, sign, squared = pieces.cost, pieces.sign, pieces.squared
    w, b, xi, z, alpha, missed = point
    beta = cost - alpha
    stiff = z / alpha + (1 / (2 * cost) if squared else xi / beta)
    theta = 1 / stiff
    across, total = pieces.spread(alpha)
    factor = _Factor(pieces, theta.sum(axis=0))
    if not factor.finite:
        return None

    def direction(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray]:
        """Give the direction in which ``alpha z`` grows by `lower` and ``beta xi`` by `upper`."""
        rho = missed + lower / alpha - (0.0 if squared else upper / beta)
        dw, db = factor.solve((sign * theta * rho).sum(axis=0), across - w, total if pieces.intercept else 0.0)
        da = theta * (rho - sign * (pieces.X @ dw + db))
        dz = (lower - z * da) / alpha
        dxi = da / (2 * cost) if squared else (upper + xi * da) / beta
        return dw, db, dxi, dz, da

    def room(step: tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray], most: float) -> float:
        _, _, dxi, dz, da = step
        ends = [_room(z, dz), _room(alpha, da)] + ([] if squared else [_room(beta, -da), _room(xi, dxi)])
        return min(most, *ends)

    step = direction(-alpha * z, -beta * xi)
    first = room(step, 1.0)
    _, _, dxi, dz, da = step
    now, ahead = float((alpha * z).sum()), float(((alpha + first * da) * (z + first * dz)).sum())
    count = alpha.size
    if not squared:
        now += float((beta * xi).sum())
        ahead += float(((beta - first * da) * (xi + first * dxi)).sum())
        count *= 2
    share = (max(ahead, 0.0) / now) ** 3 if now > 0 else 0.0
    # Products must not vanish before the multipliers add up to w: the bounds would stand in the way from then on.
    if KEEP * float(((across - w) ** 2).sum()) > now:
        share = CENTRE
    level = share * now / count
    step = direction(level - alpha * z - da * dz, level - beta * xi + da * dxi)
    dw, db, dxi, dz, da = step
    if not all(np.isfinite(part).all() for part in step):
        return None
    length = min(1.0, SHORT * room(step, 1 / SHORT))
    if length <= 0.0:
        return None
    alpha = np.maximum(alpha + length * da, np.finfo(float).tiny)
    xi = alpha / (2 * cost) if squared else np.maximum(xi + length * dxi, np.finfo(float).tiny)
    if not squared:
        alpha = np.minimum(alpha, cost * (1 - 2.0**-53))
    z = np.maximum(z + length * dz, np.finfo(float).tiny)
    return _Point(w + length * dw, b + length * db, xi, z, alpha, (1 - length) * missed)


class _Factor:
    """The triangle of ``[sqrt(theta) (X 1); I]``, columns of like length, longest rows first, columns chosen by what is left."""

    def __init__(self, pieces: Pieces, theta: np.ndarray) -> None:
        n, p = pieces.X.shape
        self.root, self.p, self.intercept = np.sqrt(theta), p, pieces.intercept
        self.table = np.zeros((n + p, p + int(pieces.intercept)))
        self.table[:n, :p] = self.root[:, None] * pieces.X
        if pieces.intercept:
            self.table[:n, p] = self.root
        self.table[n:, :p][np.arange(p), np.arange(p)] = 1.0
        length = np.linalg.norm(self.table, axis=0)
        self.finite = bool(np.isfinite(length).all())
        if not self.finite:
            return
        self.unit = 1 / np.where(length > 0, length, 1.0)
        self.table *= self.unit
        self.order = np.argsort(-np.abs(self.table).max(axis=1), kind="stable")
        self.Q, self.R, self.columns = qr(self.table[self.order], mode="economic", pivoting=True, check_finite=False)

    def solve(self, pulled: np.ndarray, behind: np.ndarray, total: float) -> tuple[np.ndarray, float]:
        """Solve ``(I + X' theta X) dw + X' theta db = X' pulled + behind``, with the like for the constant."""
        target = np.concatenate([np.divide(pulled, self.root, out=np.zeros_like(pulled), where=self.root > 0), behind])
        right = self.Q.T @ target[self.order]
        if self.intercept and total != 0.0:
            edge = np.zeros(len(self.columns))
            edge[self.columns == self.p] = self.unit[self.p] * total
            right = right + solve_triangular(self.R, edge, trans="T", check_finite=False)
        found = np.empty(len(self.columns))
        found[self.columns] = solve_triangular(self.R, right, check_finite=False)
        found *= self.unit
        return (found[:-1], float(found[-1])) if self.intercept else (found, 0.0)


def _room(values: np.ndarray, change: np.ndarray) -> float:
    """Say how far one can go before a value turns negative."""
    falling = change < 0
    return float((-values[falling] / change[falling]).min(initial=np.inf))
