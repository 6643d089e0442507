r"""Epsilon-greedy: the arm that has paid best, and now and then any arm.

Where the chance of any arm stays :math:`\epsilon`, regret grows in a straight line for ever, by :math:`\epsilon` times the mean gap a
pull; where it decays, more slowly. Sutton and Barto (2018), Reinforcement learning, chapter 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from qed.base.models.parameters import Parameter
from qed.base.random import Seed
from qed.reinforcement.bandits.bandit import Bandit
from qed.reinforcement.bandits.pulling import BanditPlayer, played, tied, usual_rules
from qed.reinforcement.exploration import DecayingExploration, as_decaying, exploration_rule


class EpsilonGreedy(BanditPlayer):
    """Play the arm that has paid best, and with a small chance any arm.

    Parameters
    ----------
    exploration : float or DecayingExploration, default=0.1
        The chance of an arm at random.
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
    >>> player = qed.EpsilonGreedy(0.1, pulls=1000, runs=100, random_state=0).fit(qed.Bandit([0.2, 0.5, 0.4]))
    >>> player.best_arm_, bool(player.regret_[-1] > 0.1 * 1000 * 0.4 / 3)
    (1, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = usual_rules(exploration=exploration_rule())

    def __init__(
        self,
        exploration: float | DecayingExploration = 0.1,
        *,
        pulls: int = 1000,
        runs: int = 100,
        random_state: Seed = None,
    ) -> None:
        self.exploration, self.pulls, self.runs, self.random_state = exploration, pulls, runs, random_state

    def _choose(
        self, bandit: Bandit, counts: np.ndarray, sums: np.ndarray, pull: int, lots: np.random.Generator
    ) -> np.ndarray:
        explores = lots.random(len(counts)) < as_decaying(self.exploration).at(pull)
        anywhere = lots.integers(counts.shape[1], size=len(counts))
        return np.where(explores, anywhere, tied(played(counts, sums, np.inf), lots))
