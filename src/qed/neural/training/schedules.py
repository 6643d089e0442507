r"""How the length of steps changes from epoch to epoch.

==============  =======================================================================================
constant        :math:`\eta_0`
invscaling      :math:`\eta_0 / (t + 1)^{p}` after :math:`t` rows were visited
adaptive        :math:`\eta_0`, divided by five whenever training has got nowhere for a while
step            :math:`\eta_0 / 2` after each tenth part of the epochs
exponential     :math:`\eta_0 e^{-5 k / K}` in epoch :math:`k` of :math:`K`
cosine          :math:`\eta_0 (1 + \cos(\pi k / K)) / 2`
==============  =======================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from qed.base.errors import ParameterError

SCHEDULES = ("constant", "invscaling", "adaptive", "step", "exponential", "cosine")


@dataclass(frozen=True)
class Schedule:
    """The rate of each epoch.

    Parameters
    ----------
    kind : {"constant", "invscaling", "adaptive", "step", "exponential", "cosine"}, default="constant"
        How the rate changes from epoch to epoch.
    first : float, default=0.001
        The rate at the beginning.
    power : float, default=0.5
        Of "invscaling": the power of the rows visited so far that the rate is divided by.
    epochs : int, default=200
        How many epochs there will be.
    """

    kind: str = "constant"
    first: float = 0.001
    power: float = 0.5
    epochs: int = 200

    def __post_init__(self) -> None:
        if self.kind not in SCHEDULES:
            raise ParameterError(f"There is no schedule {self.kind!r}: take one of {', '.join(SCHEDULES)}.")

    def rate(self, epoch: int, visited: int, cuts: int = 0) -> float:
        """Give the rate of an epoch, counted from zero, before which so many rows were visited and the rate was cut so often.

        >>> [round(Schedule("cosine", 1.0, epochs=4).rate(k, 0), 3) for k in range(4)]
        [1.0, 0.854, 0.5, 0.146]
        """
        share = epoch / max(self.epochs, 1)
        return (
            self.first
            * {
                "constant": 1.0,
                "invscaling": (visited + 1.0) ** -self.power,
                "adaptive": 5.0**-cuts,
                "step": 0.5 ** math.floor(10 * share),
                "exponential": math.exp(-5 * share),
                "cosine": (1 + math.cos(math.pi * share)) / 2,
            }[self.kind]
        )
