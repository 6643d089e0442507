"""How often a learner tries something else than what looks best: always as often, or ever more seldom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from qed.base.attributes import floats
from qed.base.errors import ParameterError
from qed.base.models.parameters import Parameter, number
from qed.base.saving.known import savable


@savable
@dataclass(frozen=True)
class DecayingExploration:
    """Try at random with a chance that is halved again and again, down to a last one.

    Parameters
    ----------
    start : float
        The chance of a random action in the first episode.
    end : float
        The chance that is left in the end.
    halving : float
        After how many episodes the chance is half of what it was.

    Examples
    --------
    >>> from qed import DecayingExploration
    >>> [DecayingExploration(start=1.0, end=0.1, halving=100).at(episode) for episode in (0, 100, 200, 1000)]
    [1.0, 0.5, 0.25, 0.1]
    """

    attributes: ClassVar = {"start": floats(low=0, high=1), "end": floats(low=0, high=1), "halving": floats(above=0)}
    start: float = 1.0
    end: float = 0.05
    halving: float = 1000.0

    def at(self, episode: int) -> float:
        """Give the chance of a random action in an episode."""
        return float(max(self.end, self.start * 0.5 ** (episode / self.halving)))


def exploration_rule() -> Parameter:
    """Accept a chance, or a chance that decays."""

    def accepts(value: object) -> bool:
        if isinstance(value, DecayingExploration):
            chances = number(0, 1).accepts(value.start) and number(0, 1).accepts(value.end)
            return chances and number(0, above=True).accepts(value.halving)
        return number(0, 1).accepts(value)

    return Parameter("a chance from 0 to 1, or DecayingExploration(start, end, halving)", accepts)


def as_decaying(exploration: float | DecayingExploration) -> DecayingExploration:
    """Give a chance as one that stays what it is.

    >>> as_decaying(0.25).at(10_000)
    0.25
    """
    if isinstance(exploration, DecayingExploration):
        return exploration
    if not exploration_rule().accepts(exploration):
        raise ParameterError(f"exploration must be {exploration_rule().wanted}, not {exploration!r}.")
    return DecayingExploration(float(exploration), float(exploration), 1.0)
