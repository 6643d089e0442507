"""How often intervals or sets hold the truth: counted on rows that were not calibrated by."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from qed.base.visible import ShownAsText


@dataclass(frozen=True, repr=False)
class Coverage(ShownAsText):
    """The share of rows whose interval or set holds the truth.

    >>> print(Coverage(0.9, 93, 100, 2.5, "interval", 0.8))
    at level 0.9 the interval holds the truth in 93 of 100 rows (0.930, between 0.861 and 0.971 with 95 %), mean size 2.5; guaranteed 0.8
    """

    level: float  # what was asked for
    hits: int  # rows that are held
    rows: int  # rows there are
    size: float  # the mean width of intervals, or number of classes in sets
    kind: str  # "interval" or "set"
    guarantee: float  # what theory guarantees on average over calibrations

    @property
    def share(self) -> float:
        """The share of rows that are held."""
        return self.hits / self.rows if self.rows else float("nan")

    @property
    def between(self) -> tuple[float, float]:
        """Where the true share is with 95 percent, by Clopper and Pearson."""
        k, n = self.hits, self.rows
        low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, 0.025))
        return low, 1.0 if k == n else float(betaincinv(k + 1, n - k, 0.975))

    def __str__(self) -> str:
        low, high = self.between
        words = f"at level {self.level:g} the {self.kind} holds the truth in {self.hits} of {self.rows} rows"
        sure = f"({self.share:.3f}, between {low:.3f} and {high:.3f} with 95 %)"
        return f"{words} {sure}, mean size {self.size:.3g}; guaranteed {self.guarantee:.3g}"


def outward(low: np.ndarray, high: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Put the two ends of intervals side by side in a precision, rounded so that nothing is lost.

    >>> found = outward(np.array([0.1]), np.array([0.1]), np.dtype(np.float32))
    >>> bool(found[0, 0] <= 0.1 <= found[0, 1]), found.dtype
    (True, dtype('float32'))
    """
    found = np.column_stack([np.minimum(low, high), np.maximum(low, high)]).astype(np.float64)
    if dtype != np.float32:
        return found
    with np.errstate(over="ignore"):
        near = found.astype(np.float32)
        near[:, 0] = np.where(near[:, 0] > found[:, 0], np.nextafter(near[:, 0], np.float32(-np.inf)), near[:, 0])
        near[:, 1] = np.where(near[:, 1] < found[:, 1], np.nextafter(near[:, 1], np.float32(np.inf)), near[:, 1])
    return near
