r"""What is missing from the minimum of penalised squares, by their curvature alone.

With a subgradient :math:`g` of :math:`P` at :math:`w`, and :math:`G = X^\top X`, every other :math:`v` has

.. math:: P(v) \ \ge\ P(w) + g^\top (v - w) + \tfrac12 (v - w)^\top (G + \lambda_2 I) (v - w)
          \ \ge\ P(w) - \tfrac12\, g^\top (G + \lambda_2 I)^{-1} g .

The duality gap measures :math:`g` by the penalty, and says nothing where that is less than what sums round away (values of 1e150 under a
penalty of one). This bound measures it by the columns, so it is as good in any units, as long as the columns are independent. What
rounding did to :math:`G` is counted in (:mod:`qed.linalg.root`). One factorisation, :math:`O(p^3)`.
"""

from __future__ import annotations

import numpy as np

from qed.linalg.normal import Normal


def curvature_gap(gram: np.ndarray, noise: np.ndarray, l2: float, slope: np.ndarray) -> float:
    """Bound what is missing from the minimum where some subgradient has sizes of at most `slope`; infinite where columns are dependent.

    Entries of the matrix are off by no more than ``noise[j] * noise[k]``.

    >>> round(curvature_gap(4.0 * np.eye(2), np.zeros(2), 0.0, np.array([2.0, 0.0])), 9)
    0.5
    """
    if not slope.any():
        return 0.0
    varying, root = Normal(gram, noise).root(l2)
    if root is None or slope[~varying].any() or noise[~varying].any():
        return np.inf
    return 0.5 * float(root.excess(np.zeros((len(root.length), 1)), slope[varying, None], np.zeros(1))[0])
