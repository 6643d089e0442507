r"""What is missing from the minimum of penalised squares, by their curvature alone.

With a subgradient :math:`g` of :math:`P` at :math:`w`, and :math:`G = X^\top X`, every other :math:`v` has

.. math:: P(v) \ \ge\ P(w) + g^\top (v - w) + \tfrac12 (v - w)^\top (G + \lambda_2 I) (v - w)
          \ \ge\ P(w) - \tfrac12\, g^\top (G + \lambda_2 I)^{-1} g .

The duality gap measures :math:`g` by the penalty, and says nothing where that is less than what sums round away (values of 1e150 under a
penalty of one). This bound measures it by the columns, so it is as good in any units, as long as the columns are independent. With columns
of length one, :math:`D^2 = \operatorname{diag}(G + \lambda_2 I)`, the inverse is at most one over the least eigenvalue, less what
rounding, :math:`|\Delta G_{jk}| \le h_j h_k`, can do to it. One decomposition, :math:`O(p^3)`.
"""

from __future__ import annotations

import numpy as np

from qed.base.numbers import EPS


def curvature_gap(gram: np.ndarray, noise: np.ndarray, l2: float, slope: np.ndarray) -> float:
    """Bound what is missing from the minimum where the least subgradient is at most `slope`; infinite where columns are dependent.

    >>> curvature_gap(4.0 * np.eye(2), np.zeros(2), 0.0, np.array([2.0, 0.0])).__round__(9)
    0.5
    """
    if not slope.any():
        return 0.0
    length = np.sqrt(gram.diagonal() + l2)
    seen = (length > 0) | (noise > 0) | (slope > 0)
    if not (length[seen] > 0).all():
        return np.inf
    length, p = length[seen], int(seen.sum())
    scaled = gram[np.ix_(seen, seen)] / length / length[:, None]
    scaled.ravel()[:: p + 1] = 1.0
    lost = float(((noise[seen] / length) ** 2).sum()) + 4 * p**2 * EPS
    if not np.isfinite(scaled).all():
        return np.inf
    least = float(np.linalg.eigvalsh(scaled)[0]) - lost
    return 0.5 * float(((slope[seen] / length) ** 2).sum()) / least if least > lost else np.inf
