r"""Thompson sampling: every arm is played with the chance that it is the best, as far as one can believe.

For coins the belief in an arm's mean is a beta distribution, :math:`\mathrm{Beta}(1 + \text{paid}, 1 + \text{not paid})`; for normal
rewards of known deviation it is a normal one around the mean of the pulls, wide at first. An arm is drawn from each belief, and the
largest draw is played. Thompson (1933), On the likelihood that one unknown probability exceeds another.
"""

from __future__ import annotations

import numpy as np

from qed.base.random import Seed
from qed.reinforcement.bandits.bandit import Bandit
from qed.reinforcement.bandits.pulling import BanditPlayer, played


class ThompsonSampling(BanditPlayer):
    """Play each arm as often as it is believed to be the best.

    Parameters
    ----------
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
    >>> player = qed.ThompsonSampling(pulls=1000, runs=100, random_state=0).fit(qed.Bandit([0.2, 0.5, 0.4]))
    >>> player.best_arm_, bool(player.regret_[-1] < 40)
    (1, True)
    """

    def __init__(self, *, pulls: int = 1000, runs: int = 100, random_state: Seed = None) -> None:
        self.pulls, self.runs, self.random_state = pulls, runs, random_state

    def _choose(
        self, bandit: Bandit, counts: np.ndarray, sums: np.ndarray, pull: int, lots: np.random.Generator
    ) -> np.ndarray:
        if bandit.pays == "coin":
            return np.asarray(lots.beta(1 + sums, 1 + counts - sums).argmax(axis=1))
        wide = np.where(counts > 0, bandit.deviation / np.sqrt(np.maximum(counts, 1)), np.inf)
        # An arm that was never pulled may be worth anything: it comes first.
        drawn = played(counts, sums, np.inf) + np.where(counts > 0, wide, 0.0) * lots.standard_normal(counts.shape)
        return np.asarray(drawn.argmax(axis=1))
