r"""A sum of losses of linear scores, at a place: its value, what pulls at every row, and how it bends.

.. math:: L(z) = \sum_i \omega_i\, \bigl(f_i(z_i) - \min f_i\bigr), \qquad z = Xw + b, \qquad
          \theta_i = -\omega_i f_i'(z_i), \qquad h_i = \omega_i f_i''(z_i) .

The *pull* :math:`\theta` takes the place that the residual has in least squares: :math:`X^\top\theta` is minus the gradient, and
:math:`\theta` is the dual point of the duality gap. An intercept :math:`b` that is not penalised is kept at its best, where
:math:`\sum_i \theta_i = 0`, by Newton steps in one dimension, :math:`O(n)` each. Where the loss hardly bends, the curvature is taken to be
a little share of its mean: a quadratic without any would have no minimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError
from qed.base.numbers import EPS
from qed.optim.functions.losses import Loss
from qed.optim.searches.downhill import downhill

LEAST_CURVATURE = 1e-6
MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class Scored:
    """A place."""

    scores: np.ndarray  # (n,): the predictions, with the constant
    constant: float  # the constant
    value: float  # the loss there, less the least that any scores could give
    noise: float  # what rounding can do to the value
    pull: np.ndarray  # (n,): minus the gradient in the scores


class ScoredLoss:
    """The sum of losses on some rows.

    Weights are positive; `least` is the least sum that any scores could give.

    >>> from qed.optim.functions.losses import PoissonLoss
    >>> counts = ScoredLoss(PoissonLoss(), np.array([1.0, 2.0, 6.0]), np.ones(3), intercept=True)
    >>> round(float(np.exp(counts.beginning().constant)), 12)
    3.0
    """

    def __init__(self, loss: Loss, y: np.ndarray, weight: np.ndarray, *, intercept: bool) -> None:
        self.loss, self.y, self.weight, self.intercept = loss, y, weight, intercept
        lowest = weight * loss.each_conjugate(np.zeros_like(y), y)
        self.least, self._size = -float(lowest.sum()), float(np.abs(lowest).sum())
        low, high = (float((weight * slope).sum()) for slope in loss.slopes(y))
        if intercept and not low < 0 < high:
            raise InputError(
                f"{type(loss).__name__} with an intercept has no minimum on this target, which is {y.flat[0]:g} in every row: "
                "give rows of the other kind too, or use fit_intercept=False."
            )

    def beginning(self) -> Scored:
        """Give the place where all coefficients are zero."""
        return self.balanced(self.at(np.zeros(len(self.y)), 0.0))

    def at(self, scores: np.ndarray, constant: float) -> Scored:
        """Work out value and pull."""
        value = size = self.loss.value(scores, self.y, self.weight)
        if self._size > 0:
            value, size = self.loss.gap(scores, 0.0, self.y, self.weight), abs(size) + self._size
        return Scored(scores, constant, value, 8 * EPS * size, -self.weight * self.loss.gradient(scores, self.y))

    def curvature(self, here: Scored) -> np.ndarray:
        """Give the second derivative for every row, which is nowhere zero."""
        bend = self.loss.curvature(here.scores, self.y)
        mean = float(self.weight @ bend) / float(self.weight.sum())
        return self.weight * np.maximum(bend, LEAST_CURVATURE * (mean if mean > 0 else 1.0))

    def misfit(self, here: Scored, scale: float, pull: np.ndarray | None = None) -> float:
        """Give how far the scores are from being the best for a pull, by default their own, shrunk by `scale`."""
        if pull is None and scale == 1.0:
            return 0.0
        dual = -scale * (here.pull if pull is None else pull) / self.weight
        return self.loss.gap(here.scores, dual, self.y, self.weight)

    def balanced(self, here: Scored) -> Scored:
        """Give the place with the best constant, if there is one."""
        for _ in range(MOST_STEPS if self.intercept else 0):
            total, curvature = float(here.pull.sum()), self.curvature(here)
            rounding = 4 * EPS * float(np.abs(here.pull).sum() + curvature @ np.abs(here.scores))
            if abs(total) <= rounding:
                break
            found = self._shifted(here, total / float(curvature.sum()), rounding)
            if found is None or found is here:
                break
            here = found
        return here

    def _shifted(self, here: Scored, way: float, rounding: float) -> Scored | None:
        """Go along the constant until the pulls are nearly in balance."""
        return downhill(
            lambda t: self.at(here.scores + t * way, here.constant + t * way),
            lambda place: -way * float(place.pull.sum()),
            -way * float(here.pull.sum()),
            lambda place: place.value - here.value,
            noise=here.noise,
            rounding=rounding * abs(way),
        )
