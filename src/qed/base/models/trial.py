"""Models that learn by trial, from a world and not from rows.

What they share with other models is the contract: parameters with rules, steps that can be watched, interrupted and gone on with, a
certificate that anyone can recompute, saving. What they are given is one thing, a world, which says what follows an action.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

from sklearn.base import BaseEstimator

from qed.base.certificate import Claim
from qed.base.errors import InputError, NotFittedError
from qed.base.fitted import fitted_attributes
from qed.base.models.parameters import Parameter, check_parameters
from qed.base.running.changing import changing
from qed.base.running.drive import usual_advice, warn_if_unproven
from qed.base.running.stepped import Stepped
from qed.base.running.steps import Ending


class Mark(Protocol):
    """What tells one world from another."""

    def difference(self, other: Any) -> str:
        """Say in words how another differs; nothing where it does not."""


class WorldProblem(Protocol):
    """What is solved: a world, looked at once."""

    source: str

    @property
    def fingerprint(self) -> Mark:
        """What tells this world from others."""


class Trial(Stepped, BaseEstimator):
    """A model that learns from a world: ``fit(world)``. Subclasses have the parameters ``tol`` and ``max_iter``.

    Class attributes
    ----------------
    parameters : mapping of str to Parameter
        The rule and the kind of each parameter.
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {}
    passes: ClassVar[str] = "trial"
    target: ClassVar[str | None] = None
    sparse: ClassVar[bool] = False
    fingerprint_: Mark

    def fit(self, world: Any) -> Self:
        """Learn from a world.

        Parameters
        ----------
        world : World, Bandit or Gymnasium environment
            What answers an action with a reward; each model says which kinds it takes.

        Returns
        -------
        self
            The model, with its ``certificate_``.
        """
        with changing(self, anew=True):
            self._run(self._begin(world))
        return self

    def resume(self, world: Any) -> Self:
        """Go on from where the last fit ended, in the same world: after an interrupt, or with more steps allowed.

        Parameters
        ----------
        world : World, Bandit or Gymnasium environment
            What to act in: the same as in the last fit.

        Returns
        -------
        self
            What an unbroken fit would have given.
        """
        self._check_fitted()
        with changing(self):
            problem = self._begin(world)
            if difference := self.fingerprint_.difference(problem.fingerprint):
                raise InputError(
                    f"{type(self).__name__} was fitted in another world: {difference}. Call fit to begin anew."
                )
            self._run(problem, self.ending_.last or self.ending_.step)
        return self

    @abstractmethod
    def _problem(self, world: Any) -> Any:
        """Make of a world what is to be solved: anything that has a ``fingerprint`` and a ``source``."""

    def _begin(self, *data: Any, reset: bool = True, **named: Any) -> Any:
        check_parameters(self, self.parameters)
        (world,) = data
        return self._problem(world)

    def _open(self, world: Any, y: Any = None, sample_weight: Any = None, **named: Any) -> Any:
        """Give the world as it is, for `qed.certify`."""
        if y is not None or sample_weight is not None:
            raise InputError(f"{type(self).__name__} learns from a world: it has no use for y or weights.")
        return world

    def _evidence(self, world: Any) -> Any:
        return self._problem(world)

    def _restate(self, problem: Any) -> list[Claim]:
        """Compare attributes that follow from the world and the others with what they should be; ``certify`` alone asks for it."""
        return []

    def _difference(self, problem: WorldProblem) -> str | None:
        return self.fingerprint_.difference(problem.fingerprint)

    def _check_fitted(self) -> None:
        if not hasattr(self, "certificate_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet: call fit with a world before using it."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificate_")

    def _attributes(self) -> dict[str, Any]:
        return fitted_attributes(self)

    def _advice(self) -> str:
        """Say what to change where the certificate does not hold, and neither time nor steps were short."""
        return ""

    def _warn(self, ending: Ending) -> None:
        advice = usual_advice(ending, self.max_iter, "call resume to go on from here.", self._advice())
        warn_if_unproven(type(self).__name__, self.certificate_, ending, advice)
