r"""A symmetric matrix turned into a narrow band, :math:`K = Q B Q^\top`, at the speed of matrix products.

The eigenvectors of :math:`K` would serve every shift :math:`K + \alpha I`, but most of the time of finding them goes into memory
traffic. A band is enough: :math:`B + \alpha I` is factored in :math:`O(nb^2)` for each :math:`\alpha`. Panel by panel of :math:`b`
columns, a QR factorisation of what lies below the band gives an orthogonal :math:`H = I - V T V^\top` (Householder reflections in
compact form), which is applied from both sides,

.. math:: H^\top A H = A - V W^\top - W V^\top, \qquad W = A V T - \tfrac12 V\, T^\top V^\top A V T,

for several panels together, tile by tile below the diagonal, and mirrored: the first stage of modern two-stage eigensolvers. Threads share
strips of the product :math:`AV`, tiles of the update and strips of :math:`Q`; all are cut by the size of the matrix alone. Cost:
:math:`\tfrac43 n^3` operations, and as many again to write :math:`Q` out.

Bischof, Lang and Sun (2000), A framework for symmetric band reduction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from qed.linalg.sharing import Task, finish, work_in_order

WIDTH = 32
# Panels whose reflections are collected before the rest of the matrix is turned, and reflections that are applied as one.
DELAYED, GROUP = 4, 8
STRIP = 256


@dataclass(frozen=True, eq=False)
class Reflection:
    """The orthogonal matrix ``I - V T V'`` on the rows from `start` on: a product of Householder reflections with factors `tau`."""

    start: int
    V: np.ndarray
    tau: np.ndarray
    T: np.ndarray

    @classmethod
    def of(cls, start: int, V: np.ndarray, tau: np.ndarray) -> Reflection:
        """Take reflections together: the inverse of T is the strict upper half of V'V, with one over tau on the diagonal."""
        inverse = np.triu(V.T @ V, 1)
        np.fill_diagonal(inverse, np.divide(1.0, tau, out=np.ones_like(tau), where=tau != 0))
        return cls(start, V, tau, np.linalg.inv(inverse))

    @classmethod
    def joined(cls, parts: list[Reflection]) -> Reflection:
        """Make one of several, so that fewer and larger matrices are multiplied."""
        start, n = parts[0].start, parts[0].start + len(parts[0].V)
        V = np.hstack([np.vstack([np.zeros((n - start - len(one.V), one.V.shape[1])), one.V]) for one in parts])
        return cls.of(start, V, np.concatenate([one.tau for one in parts]))

    def apply(self, right: np.ndarray, *, transposed: bool = False) -> None:
        """Multiply a matrix by it (or its transpose) from the left, in place."""
        part = right[self.start :]
        part -= self.V @ ((self.T.T if transposed else self.T) @ (self.V.T @ part))


@dataclass(frozen=True, eq=False)
class Band:
    """The decomposition ``K = Q B Q'`` with a narrow B."""

    lower: np.ndarray  # (b + 1, n): the diagonals of B, from the main one downwards, as LAPACK has them
    reflections: tuple[Reflection, ...]  # the factors of Q

    @classmethod
    def of(cls, K: np.ndarray) -> Band:
        """Decompose a symmetric matrix, which is used up.

        >>> K = 1 / (1.0 + np.add.outer(np.arange(50), np.arange(50)))
        >>> band = Band.of(K.copy())
        >>> B = sum(np.diag(line[: 50 - d], -d) for d, line in enumerate(band.lower))
        >>> Q = band.orthogonal()
        >>> bool(np.abs(Q @ (B + np.tril(B, -1).T) @ Q.T - K).max() < 1e-13)
        True
        """
        n = len(K)
        b = max(1, min(WIDTH, n - 1))
        lower, reflections, delayed = np.zeros((b + 1, n)), [], _Update(K, b)
        for first in range(0, n, b):
            below = min(first + b, n)
            panel = delayed.columns(first, below)
            if n - below > 1:
                h, tau = np.linalg.qr(panel[below - first :], mode="raw")
                V = np.tril(h.T[:, : len(tau)], -1)
                V[np.arange(len(tau)), np.arange(len(tau))] = tau != 0
                V[:, tau == 0] = 0.0
                panel[below - first :] = np.triu(h.T)
                reflections.append(Reflection.of(below, V, tau))
                delayed.add(reflections[-1])
            for d in range(b + 1):
                line = panel.diagonal(-d)
                lower[d, first : first + len(line)] = line
        return cls(lower, tuple(reflections))

    def _grouped(self) -> Iterator[Reflection]:
        """Give the factors from the last to the first, some of them together."""
        for stop in range(len(self.reflections), 0, -GROUP):
            yield Reflection.joined(list(self.reflections[max(0, stop - GROUP) : stop]))

    def turned(self, right: np.ndarray) -> np.ndarray:
        """Give ``Q' right``."""
        found = right.copy()
        for one in self.reflections:
            one.apply(found, transposed=True)
        return found

    def turned_back(self, right: np.ndarray) -> np.ndarray:
        """Give ``Q right``."""
        found = right.copy()
        for one in reversed(self.reflections):
            one.apply(found)
        return found

    def orthogonal(self) -> np.ndarray:
        """Write Q out; what a factor leaves alone is not touched."""
        Q = np.eye(self.lower.shape[1])
        work_in_order(self._writing(Q))
        return Q.T

    def _writing(self, Q: np.ndarray) -> Iterator[Task]:
        """Give the tasks that apply every factor to every strip of rows of the transpose of Q, each strip after the factor before."""
        for k, one in enumerate(self._grouped()):
            factor = (one.V @ one.T).T
            for start in range(one.start - one.start % STRIP, len(Q), STRIP):
                part = Q[max(start, one.start) : start + STRIP, one.start :]
                before = [(k - 1, start)] if k and start + STRIP > self._first(k - 1) else []
                yield Task((k, start), partial(_turn, part, one.V, factor), before)

    def _first(self, k: int) -> int:
        """Say which row the k-th factor from the end begins with."""
        return self.reflections[max(0, len(self.reflections) - (k + 1) * GROUP)].start


def _turn(part: np.ndarray, V: np.ndarray, factor: np.ndarray) -> None:
    part -= (part @ V) @ factor


class _Update:
    """A symmetric matrix ``A - P R'`` of which the second part is subtracted only when several panels have been collected."""

    def __init__(self, A: np.ndarray, b: int) -> None:
        self.A, self.used = A, 0
        self._P, self._R = np.empty((2, len(A), 2 * b * DELAYED))

    @property
    def P(self) -> np.ndarray:
        return self._P[:, : self.used]

    @property
    def R(self) -> np.ndarray:
        return self._R[:, : self.used]

    def columns(self, first: int, last: int) -> np.ndarray:
        """Give some columns, from the diagonal on."""
        return np.asarray(self.A[first:, first:last] - self.P[first:] @ self.R[first:last].T)

    def _strips(self, start: int) -> list[slice]:
        """Cut the rows from `start` on into strips, whose places are fixed."""
        tops = range(start - start % STRIP, len(self.A), STRIP)
        return [slice(max(top, start), min(top + STRIP, len(self.A))) for top in tops]

    def add(self, H: Reflection) -> None:
        """Turn the part from the start of a reflection on, from both sides."""
        start, V, T = H.start, H.V, H.T
        W, collected = np.empty(V.shape), self.R[start:].T @ V
        strips = self._strips(start)
        finish(partial(self._multiply, rows, V, collected, W[rows.start - start :]) for rows in strips)
        W = W @ T
        W -= V @ (0.5 * (T.T @ (V.T @ W)))
        for whole, parts in ((self._P, (V, W)), (self._R, (W, V))):
            whole[start:, self.used : self.used + 2 * len(T)] = np.hstack(parts)
        self.used += 2 * len(T)
        if self.used == self._P.shape[1]:
            pairs = ((rows, columns) for i, rows in enumerate(strips) for columns in strips[: i + 1])
            finish(partial(self._subtract, *pair) for pair in pairs)
            self.used = 0

    def _multiply(self, rows: slice, V: np.ndarray, collected: np.ndarray, out: np.ndarray) -> None:
        """Write some rows of ``(A - P R') V``."""
        out = out[: rows.stop - rows.start]
        np.matmul(self.A[rows, len(self.A) - len(V) :], V, out=out)
        out -= self.P[rows] @ collected

    def _subtract(self, rows: slice, columns: slice) -> None:
        """Bring a tile and its mirror image up to date."""
        tile = self.A[rows, columns]
        tile -= self.P[rows] @ self.R[columns].T
        if rows != columns:
            self.A[columns, rows] = tile.T
