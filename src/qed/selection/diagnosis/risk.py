r"""Where an error comes from: the class of hypotheses, the sample, or the search.

The population risk of a hypothesis is :math:`R(h) = E\,L(y, h(x))`, the empirical risk :math:`\hat R(h) = \frac1n \sum_i L(y_i,
h(x_i))`. With :math:`f^*` the best function at all, :math:`h^*` the best hypothesis of the class, :math:`\hat h` the one of least
empirical risk and :math:`\tilde h` the one that was found,

.. math::

    R(\tilde h) - R(f^*) = \underbrace{R(h^*) - R(f^*)}_{\text{approximation}}
    + \underbrace{R(\hat h) - R(h^*)}_{\text{generalisation}}
    + \underbrace{R(\tilde h) - R(\hat h)}_{\text{optimisation}} .

A larger class lowers the first and raises the second. All risks are measured on the same large sample, so that the parts add up to the last
digit. Bottou and Bousquet (2007), The tradeoffs of large scale learning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from qed.base.errors import ParameterError
from qed.base.random import Seed, generator, seed_of
from qed.selection.metrics.classification import error_rate
from qed.selection.metrics.regression import mean_absolute_error, mean_squared_error

LOSSES: dict[str, Callable[..., float | np.ndarray]] = {
    "squared": mean_squared_error,
    "absolute": mean_absolute_error,
    "0-1": error_rate,
}
Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


class Learner(Protocol):
    """What learns and tells."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Tell."""


@dataclass(frozen=True)
class Risks:
    """The risk of what was learned, and its parts.

    Attributes
    ----------
    empirical : float
        The mean loss on the rows that were learned from.
    population : float
        The mean loss on a large sample.
    oracle : float
        That of the best function at all.
    approximation, generalisation, optimisation : float
        What the class, the sample and the search add to it: together ``population - oracle``.
    """

    empirical: float
    population: float
    oracle: float
    approximation: float
    generalisation: float
    optimisation: float

    def __str__(self) -> str:
        return (
            f"risk {self.population:.4g} = {self.oracle:.4g} that no function avoids + {self.approximation:.4g} by the class "
            f"+ {self.generalisation:.4g} by the sample + {self.optimisation:.4g} by the search; {self.empirical:.4g} on its own rows"
        )


def risk_parts(
    model: Learner,
    draw: Draw,
    truth: Callable[[np.ndarray], np.ndarray],
    n: int,
    *,
    minimiser: Learner | None = None,
    loss: str = "squared",
    population: int = 100_000,
    random_state: Seed = None,
) -> Risks:
    """Take the risk of a model apart, in a world that can be drawn from.

    Parameters
    ----------
    model : estimator
        What learns; it is fitted here.
    draw : callable
        ``draw(n, generator)`` gives n rows and their targets.
    truth : callable
        The best function at all: of least risk for every row.
    n : int
        How many rows the model learns from.
    minimiser : estimator, optional
        What finds the least empirical risk of the same class, where `model` stops before; `model` itself, if not given.
    loss : {"squared", "absolute", "0-1"}
        The loss.
    population : int
        The size of the sample that stands for the population. The best of the class is fitted to as many other rows.
    random_state : int, optional
        The seed.

    Returns
    -------
    Risks
        The risk and its parts.

    Examples
    --------
    >>> import numpy as np, qed
    >>> def draw(n, lots):
    ...     x = lots.uniform(-1, 1, (n, 1))
    ...     return x, x[:, 0] ** 2 + 0.1 * lots.standard_normal(n)
    >>> risks = qed.risk_parts(qed.LinearRegression(), draw, lambda x: x[:, 0] ** 2, 50, random_state=0)
    >>> round(risks.oracle, 3), round(risks.approximation, 3), risks.generalisation > 0
    (0.01, 0.089, True)
    """
    if loss not in LOSSES:
        raise ParameterError(f"loss must be one of {sorted(LOSSES)}, not {loss!r}.")
    seed = seed_of(random_state)

    def judge(known: np.ndarray, predicted: np.ndarray) -> float:
        return float(LOSSES[loss](known, predicted))

    X, y = draw(n, generator(seed, "sample"))
    many, known = draw(population, generator(seed, "population"))
    best = (minimiser or model).fit(*draw(population, generator(seed, "class"))).predict(many)
    of_class = judge(known, best)
    least = judge(known, minimiser.fit(X, y).predict(many)) if minimiser is not None else None
    learned = model.fit(X, y)
    found = judge(known, learned.predict(many))
    least = found if least is None else least
    oracle = judge(known, truth(many))
    return Risks(judge(y, learned.predict(X)), found, oracle, of_class - oracle, least - of_class, found - least)
