"""A bandit: arms that pay at random, one of them the most on average, and nobody says which."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, integers, one_of
from qed.base.errors import InputError
from qed.base.saving.known import savable


@savable
@dataclass(frozen=True)
class BanditMark:
    """What tells one bandit from another."""

    attributes: ClassVar = {"arms": integers(low=1), "code": integers()}
    arms: int
    code: int

    def difference(self, other: BanditMark) -> str:
        """Say in words how another differs; nothing where it does not."""
        if self.arms != other.arms:
            return f"{self.arms} arms then, {other.arms} now"
        return "" if self.code == other.code else "arms that pay something else"


@savable
@dataclass(frozen=True)
class Bandit:
    """Arms that pay at random.

    Parameters
    ----------
    means : sequence of float
        What each arm pays on average.
    pays : {"coin", "normal"}
        One or nothing, with the chance `means`; or normal around `means`.
    deviation : float
        The standard deviation of normal rewards.

    Examples
    --------
    >>> import qed
    >>> bandit = qed.Bandit([0.2, 0.5, 0.4])
    >>> bandit.gaps
    array([0.3, 0. , 0.1])
    """

    attributes: ClassVar = {"means": floats("arms"), "pays": one_of("coin", "normal"), "deviation": floats(low=0)}
    means: Sequence[float] | np.ndarray
    pays: str = "coin"
    deviation: float = 1.0

    def __post_init__(self) -> None:
        means = np.array(self.means, dtype=np.float64)
        if means.ndim != 1 or not len(means) or not np.isfinite(means).all():
            raise InputError("A bandit needs the mean of every arm: a list of finite numbers, such as [0.2, 0.5].")
        if self.pays not in ("coin", "normal"):
            raise InputError(f"pays must be 'coin' or 'normal', not {self.pays!r}.")
        if self.pays == "coin" and ((means < 0) | (means > 1)).any():
            raise InputError("An arm that pays one or nothing has a mean from 0 to 1; for others give pays='normal'.")
        if not np.isfinite(self.deviation) or self.deviation < 0:
            raise InputError(f"deviation must be a finite number of at least 0, not {self.deviation!r}.")
        object.__setattr__(self, "means", means)

    @property
    def gaps(self) -> np.ndarray:
        """How much less than the best each arm pays on average."""
        means = np.asarray(self.means)
        return np.asarray((means.max() - means).round(15))

    @property
    def fingerprint(self) -> BanditMark:
        """What tells this bandit from others."""
        content = np.asarray(self.means).tobytes() + f"{self.pays} {self.deviation}".encode()
        return BanditMark(len(self.means), zlib.crc32(content))

    def pull(self, arms: np.ndarray, lots: np.random.Generator) -> np.ndarray:
        """Give what arms pay, each by a draw of its own."""
        means = np.asarray(self.means)[arms]
        if self.pays == "coin":
            return (lots.random(len(arms)) < means).astype(float)
        return np.asarray(means + self.deviation * lots.standard_normal(len(arms)))
