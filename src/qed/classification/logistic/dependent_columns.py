r"""Columns that are exact combinations of others: a copy, the last of a full set of dummies, a total of counts.

Without a penalty the coefficients of such columns are undetermined, yet the minimum exists and can be proven: it is that of the columns
left when these are dropped. Floating point can not tell a column that is a combination of others from one that differs by rounding,
which has a minimum of its own, far away. So the null vectors that an eigenvalue decomposition suggests are rounded to fractions with small
denominators, and :math:`Xv = 0` is checked row by row in arithmetic that notices every rounding (Knuth's two-sum; products of few digits
are exact).
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from scipy.linalg import eigh, qr

from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.normal import equilibrate

NEARLY_NULL = 1e-9
LARGEST_DENOMINATOR, LARGEST_FACTOR = 64, 2**20


def dependent_columns(rows: Rows, gram: np.ndarray, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Say which columns are exact combinations of those that are left when they are dropped.

    Parameters
    ----------
    rows : Rows
        The rows.
    gram : ndarray of shape (q, q)
        Weighted products of the shifted and scaled columns; q may be one more than there are columns, for a constant one.
    shift, scale : ndarray of shape (p,)
        How the columns are shifted and scaled.

    Examples
    --------
    >>> from qed.base.sources.open import rows
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> Z = np.column_stack([X, np.ones(3)])
    >>> dependent_columns(rows(X), Z.T @ Z, np.zeros(2), np.ones(2)).sum()
    np.int64(1)
    """
    q, p = len(gram), len(scale)
    dropped = np.zeros(q, dtype=bool)
    if not np.isfinite(gram).all():
        return dropped
    scaled, length = equilibrate(gram)
    value, vector = eigh(scaled)
    inner = vector[:, value < NEARLY_NULL * value[-1]] / length[:, None]
    if inner.shape[1] == 0:
        return dropped
    pivots = qr(inner[:p].T, mode="r", pivoting=True)[1][: inner.shape[1]]
    null = inner / np.append(scale, np.ones(q - p))[:, None]
    if q > p:
        null[p] -= shift @ null[:p]
    try:
        basis = np.linalg.solve(null[pivots].T, null.T)
    except np.linalg.LinAlgError:
        return dropped
    found = {int(pivot): whole for pivot, line in zip(pivots, basis) if (whole := _whole(line)) is not None}
    if found:
        missed = rows.fold(_missed, np.array(list(found.values())), q > p)
        dropped[[pivot for pivot, failures in zip(found, missed) if failures == 0]] = True
    return dropped


def _whole(line: np.ndarray) -> np.ndarray | None:
    """Give the whole numbers that a vector is a multiple of, but for rounding; None where there are no small ones."""
    parts = [Fraction(float(value)).limit_denominator(LARGEST_DENOMINATOR) for value in line]
    if not np.allclose([float(part) for part in parts], line, rtol=1e-6, atol=1e-6):
        return None
    common = lcm(*(part.denominator for part in parts))
    found = np.array([float(part * common) for part in parts])
    return found if np.abs(found).max() < LARGEST_FACTOR else None


def _missed(block: Block, vectors: np.ndarray, constant: bool) -> np.ndarray:
    """Count, for each vector, the rows on which its product is not exactly zero, or rounding does not let it be told."""
    X = block.X if block.weight is None else block.X[block.weight > 0]
    columns = {
        int(j): np.asarray(X[:, [j]].toarray() if hasattr(X, "toarray") else X[:, [j]], dtype=np.float64)[:, 0]
        for j in np.flatnonzero(vectors.any(axis=0))
        if j < X.shape[1]
    }
    found = np.zeros(len(vectors), dtype=np.int64)
    for number, vector in enumerate(vectors):
        total = np.full(X.shape[0], vector[-1] if constant else 0.0)
        off = np.zeros(X.shape[0], dtype=bool)
        for j, x in columns.items():
            if vector[j] == 0:
                continue
            if np.frexp(abs(vector[j]))[0] != 0.5:
                with np.errstate(over="ignore"):
                    off |= x.astype(np.float32) != x
            product = vector[j] * x
            bigger = total + product
            back = bigger - total
            off |= ((total - (bigger - back)) + (product - back)) != 0
            total = bigger
        found[number] = int((off | (total != 0)).sum())
    return found
