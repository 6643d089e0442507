"""The losses of two classes for many rows: loss, slope and curvature in one compiled pass, several rows at once."""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.optim.functions.logistic_kernel import falling, log_one_plus

ONE = np.ones(1)


def logistic_pieces(
    scores: np.ndarray, y: np.ndarray, weight: np.ndarray, slope: np.ndarray, curvature: np.ndarray
) -> tuple[float, np.ndarray]:
    """Set slopes and curvatures of rows whose labels are -1 and 1; give what their losses, and the sizes of both, add up to.

    >>> slope, curvature = np.empty(2), np.empty(2)
    >>> loss, sizes = logistic_pieces(np.zeros(2), np.array([1.0, -1.0]), np.empty(0), slope, curvature)
    >>> round(loss, 4), sizes, slope, curvature
    (1.3863, array([1. , 0.5]), array([-0.5,  0.5]), array([0.25, 0.25]))
    """
    loss, slopes, curvatures = _pieces(scores, y, weight if len(weight) else ONE, slope, curvature)
    return loss, np.array([slopes, curvatures])


@kernel(fastmath={"reassoc", "contract"})
def _pieces(  # type: ignore[no-untyped-def]
    scores: np.ndarray, y: np.ndarray, weight: np.ndarray, slope: np.ndarray, curvature: np.ndarray
):
    """Do it for weights of shape (n,), or (1,) where all are one."""
    loss, slopes, curvatures, all_one = 0.0, 0.0, 0.0, len(weight) != len(scores)
    for i in range(len(scores)):
        lead = y[i] * scores[i]
        small = falling(abs(lead))
        certain = 1.0 / (1.0 + small)
        wrong = certain * small if lead >= 0 else certain
        bend = small * certain * certain
        w = 1.0 if all_one else weight[i]
        slope[i] = -y[i] * wrong
        curvature[i] = bend
        loss += w * (log_one_plus(small) + max(-lead, 0.0))
        slopes += w * wrong
        curvatures += w * bend
    return loss, slopes, curvatures
