r"""Upper confidence bounds: the arm that could be the best, as far as is known.

.. math:: a = \arg\max_a\; \hat\mu_a + c\,\sqrt{2 \ln t / N_a}

With :math:`c = 1` and rewards between zero and one the expected regret of :math:`n` pulls is at most
:math:`8 \sum_{a:\Delta_a>0} \ln n / \Delta_a + (1 + \pi^2/3) \sum_a \Delta_a`. Auer, Cesa-Bianchi and Fischer (2002), Finite-time
analysis of the multiarmed bandit problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from qed.base.models.parameters import Parameter
from qed.base.random import Seed
from qed.reinforcement.bandits.bandit import Bandit
from qed.reinforcement.bandits.pulling import POSITIVE, BanditPlayer, played, tied, usual_rules


class UpperConfidence(BanditPlayer):
    """Play the arm whose mean could be the largest, as far as its pulls tell.

    Parameters
    ----------
    width : float, default=1.0
        The factor of the bounds; one for rewards between zero and one, larger where they spread more.
    pulls : int
        How many pulls a run has.
    runs : int
        How many runs are played side by side.
    random_state : int, optional
        The seed.

    Attributes
    ----------
    counts_ : ndarray of shape (runs, n_arms)
        How often each arm was pulled.
    means_ : ndarray of shape (runs, n_arms)
        What each arm paid on average; zero where it was never pulled.
    best_arm_ : int
        The arm that was pulled most.
    regret_ : ndarray of shape (pulls,)
        What not knowing the best arm has cost up to each pull, the mean over runs.
    seed_ : int
        The seed that was used.

    Examples
    --------
    >>> import qed
    >>> bandit = qed.Bandit([0.2, 0.5, 0.4])
    >>> player = qed.UpperConfidence(pulls=1000, runs=100, random_state=0).fit(bandit)
    >>> player.best_arm_, bool(player.regret_[-1] <= player.regret_bound(bandit))
    (1, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = usual_rules(width=POSITIVE)

    def __init__(self, width: float = 1.0, *, pulls: int = 1000, runs: int = 100, random_state: Seed = None) -> None:
        self.width, self.pulls, self.runs, self.random_state = width, pulls, runs, random_state

    def _choose(
        self, bandit: Bandit, counts: np.ndarray, sums: np.ndarray, pull: int, lots: np.random.Generator
    ) -> np.ndarray:
        wide = self.width * np.sqrt(2 * np.log(max(pull, 1)) / np.maximum(counts, 1))
        return tied(played(counts, sums, np.inf) + wide, lots)

    def regret_bound(self, bandit: Bandit) -> float:
        """Give the bound of Auer, Cesa-Bianchi and Fischer on the expected regret, for rewards between zero and one and ``width=1``."""
        gaps = bandit.gaps[bandit.gaps > 0]
        return float(8 * (np.log(self.pulls) / gaps).sum() + (1 + np.pi**2 / 3) * gaps.sum())
