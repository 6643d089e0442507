"""Columns that follow from several others, such as a total and its parts; they are said once, with their names."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import qr

from qed.features.understanding.copies import linear_words, standardised
from qed.features.understanding.views import ColumnView, TableView

MOST_COLUMNS, MOST_ROWS, MOST_TERMS = 200, 4000, 6
EXACT = 1e-9


def sums(view: TableView) -> Iterator[str]:
    """Say which columns are sums of others, and whether the target is."""
    numbers = [one for one in view.left if standardised(one.numbers) is not None][:MOST_COLUMNS]
    if len(numbers) < 2:
        return
    matrix = np.column_stack([np.asarray(one.numbers) for one in numbers])[
        :: max(1, len(view.columns[0].rows) // MOST_ROWS)
    ]
    there = np.isfinite(matrix).all(axis=1)
    if there.sum() <= len(numbers) + 5:
        return
    matrix = matrix[there]
    center, spread = matrix.mean(axis=0), matrix.std(axis=0)
    kept = np.flatnonzero(spread > 0)
    numbers, matrix = [numbers[j] for j in kept], (matrix[:, kept] - center[kept]) / spread[kept]
    center, spread = center[kept], spread[kept]
    free, tied = _independent(matrix)
    for j in tied:
        words = _combination(matrix, int(j), free, numbers, center, spread)
        if words:
            yield f"{numbers[int(j)].name} follows from other columns: it is {words}"
    if view.y is not None and view.is_number:
        y = view.y[:: max(1, len(view.columns[0].rows) // MOST_ROWS)][there]
        words = _target_as_sum(matrix, y, free, numbers, center, spread)
        if words:
            yield f"{view.target} follows from columns without error: it is {words}. Are they known before it?"


def _independent(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give columns that do not follow from one another, the earlier ones first, and those that follow from them."""
    free: list[int] = []
    tied: list[int] = []
    basis = np.zeros((len(matrix), 0))
    for j in range(matrix.shape[1]):
        rest = matrix[:, j] - basis @ (basis.T @ matrix[:, j])
        rest -= basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size <= 1e-8 * np.sqrt(len(matrix)):
            tied.append(j)
        else:
            free.append(j)
            basis = np.column_stack([basis, rest / size])
    return np.array(free, dtype=np.int64), np.array(tied, dtype=np.int64)


def _solved(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    Q, R, order = qr(matrix, mode="economic", pivoting=True)
    found = np.zeros(matrix.shape[1])
    found[order] = np.linalg.solve(R, Q.T @ y)
    return found


def _combination(
    matrix: np.ndarray, j: int, free: np.ndarray, numbers: list[ColumnView], center: np.ndarray, spread: np.ndarray
) -> str:
    return _words(_solved(matrix[:, free], matrix[:, j]) * spread[j], center[j], free, numbers, center, spread)


def _target_as_sum(
    matrix: np.ndarray,
    y: np.ndarray,
    free: np.ndarray,
    numbers: list[ColumnView],
    center: np.ndarray,
    spread: np.ndarray,
) -> str:
    if len(y) <= 2 * len(free) + 10 or y.std() == 0:
        return ""
    slopes = _solved(matrix[:, free], y - y.mean())
    off = np.abs(y - y.mean() - matrix[:, free] @ slopes).max()
    return _words(slopes, y.mean(), free, numbers, center, spread) if off <= EXACT * np.abs(y).max() else ""


def _words(
    slopes: np.ndarray, mean: float, free: np.ndarray, numbers: list[ColumnView], center: np.ndarray, spread: np.ndarray
) -> str:
    """Write a combination of columns in their own units; nothing where it has too many terms to be of use."""
    big = np.flatnonzero(np.abs(slopes) > 1e-7 * np.abs(slopes).max(initial=0.0))
    if not 1 <= len(big) <= MOST_TERMS:
        return ""
    factors = slopes[big] / spread[free[big]]
    offset = float(mean - factors @ center[free[big]])
    terms = [(float(factor), numbers[int(free[k])].name) for factor, k in zip(factors, big)]
    return linear_words(terms, offset, max(abs(mean), float(np.abs(slopes).max())))
