r"""The likelihood of a mixture climbed by its gradient, to compare with EM.

With :math:`r_{ij}` the shares of the rows as they are now (Fisher's identity), and :math:`\Sigma_j^{-1} = U_j U_j^\top`,

.. math:: \frac{\partial \ell}{\partial \mu_j} = \Sigma_j^{-1} \sum_i r_{ij} (x_i - \mu_j), \qquad
          \frac{\partial \ell}{\partial U_j} = N_j \operatorname{diag}(U_j)^{-1} - \sum_i r_{ij} (x_i - \mu_j)(x_i - \mu_j)^\top U_j, \qquad
          \frac{\partial \ell}{\partial a_j} = N_j - W \alpha_j,

so the fold of the E step gives the gradient, too. Weights are a softmax of :math:`a`, and the diagonals of the triangles :math:`U_j` are
exponentials of free numbers: every point is a mixture. Columns are taken in units of their standard deviations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qed.base.errors import DegenerateError
from qed.base.running.steps import Halt, Step
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.problem import MixtureProblem
from qed.clustering.mixtures.shapes import is_diagonal, precisions_of, roots_of
from qed.clustering.mixtures.shares import Shares
from qed.optim.functions.objective import Objective
from qed.optim.minimize import as_method

# The largest squared distance, in deviations, that a climb may come to.
MOST_SQUARE = 1e200
METHODS = {"gradient": "line search", "lbfgs": "lbfgs"}


class Coordinates:
    """Free numbers that stand for mixtures like a given one, in the units of the columns of a problem."""

    def __init__(self, problem: MixtureProblem, like: Mixture) -> None:
        deviation = np.sqrt(problem.summary.variance)
        self.like, self.held, self.centre = like, problem.held, problem.summary.mean
        self.unit = np.where(deviation > 0, deviation, 1.0)
        self.above = np.triu_indices(like.p, 1)

    def of(self, mixture: Mixture) -> np.ndarray:
        """Give the numbers of a mixture."""
        parts = [((mixture.means - self.centre) / self.unit).ravel()]
        if not self.held.weights:
            parts.append(np.log(np.maximum(mixture.weights, 1e-300)))
        if not self.held.covariances:
            if is_diagonal(mixture.kind):
                parts.append(np.log(mixture.roots * self._factor()).ravel())
            else:
                scaled = (mixture.roots * self.unit[:, None]).reshape(-1, mixture.p, mixture.p)
                parts.append(np.log(np.diagonal(scaled, axis1=1, axis2=2)).ravel())
                parts.append(scaled[:, self.above[0], self.above[1]].ravel())
        return np.concatenate(parts)

    def _factor(self) -> np.ndarray | float:
        return self.unit if self.like.kind == "diag" else float(np.exp(np.log(self.unit).mean()))

    def mixture(self, numbers: np.ndarray) -> Mixture:
        """Give the mixture of such numbers."""
        like, (k, p) = self.like, self.like.means.shape
        means, place = numbers[: k * p].reshape(k, p) * self.unit + self.centre, k * p
        weights = like.weights
        if not self.held.weights:
            free, place = numbers[place : place + k], place + k
            weights = np.exp(free - free.max())
            weights = weights / weights.sum()
        if self.held.covariances:
            return Mixture(like.kind, weights, means, like.covariances, like.roots)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if is_diagonal(like.kind):
                roots = np.exp(numbers[place:]).reshape(like.roots.shape) / self._factor()
                return Mixture(like.kind, weights, means, 1 / roots**2, roots)
            roots = np.zeros((like.roots.size // (p * p), p, p))
            cut = place + roots.shape[0] * p
            roots[:, range(p), range(p)] = np.exp(numbers[place:cut]).reshape(-1, p)
            roots[:, self.above[0], self.above[1]] = numbers[cut:].reshape(len(roots), -1)
            roots = roots / self.unit[:, None]
            diagonal = np.diagonal(roots, axis1=1, axis2=2)
            whole = np.isfinite(roots).all() and diagonal.all()
            inverse = np.linalg.inv(roots) if whole else np.full(roots.shape, np.inf)
            covariances = np.swapaxes(inverse, 1, 2) @ inverse
        return Mixture(
            like.kind, weights, means, covariances.reshape(like.roots.shape), roots.reshape(like.roots.shape)
        )

    def gradient(self, mixture: Mixture, found: Shares) -> np.ndarray:
        """Give the gradient of the mean log-likelihood in these numbers, from how the rows are shared out."""
        total, weight = found.total, found.weight
        precisions = precisions_of(mixture.turns, "diag" if is_diagonal(mixture.kind) else "full")
        pull = weight[:, None] * found.shift
        slopes = pull * precisions if is_diagonal(mixture.kind) else (precisions @ pull[:, :, None])[:, :, 0]
        parts = [(slopes * self.unit).ravel()]
        if not self.held.weights:
            parts.append(weight - total * mixture.weights)
        if not self.held.covariances:
            parts += self._of_roots(mixture, found)
        return np.concatenate(parts) / total

    def _of_roots(self, mixture: Mixture, found: Shares) -> list[np.ndarray]:
        weight = found.weight
        if is_diagonal(mixture.kind):
            about = (found.scatter + weight[:, None] * found.shift**2) * mixture.turns**2
            each = weight[:, None] - about
            return [each.ravel() if mixture.kind == "diag" else each.sum(axis=1)]
        about = found.scatter + weight[:, None, None] * (found.shift[:, :, None] * found.shift[:, None])
        slopes = -(about @ mixture.turns)
        diagonal = np.diagonal(mixture.turns, axis1=1, axis2=2)
        along = weight[:, None] + np.diagonal(slopes, axis1=1, axis2=2) * diagonal
        beside = slopes[:, self.above[0], self.above[1]] / self.unit[self.above[0]]
        if mixture.kind == "tied":
            along, beside = along.sum(axis=0), beside.sum(axis=0)
        return [along.ravel(), beside.ravel()]


def climb(
    problem: MixtureProblem, begin: Mixture, way: str, start: Step | None
) -> Iterator[tuple[Mixture, Step] | Halt]:
    """Climb the likelihood from a mixture, or go on from a step of the method; give each mixture with its step."""
    coordinates, method = Coordinates(problem, begin), as_method(METHODS[way])

    reach = float(((problem.summary.high - problem.summary.low) ** 2).sum())

    def value(numbers: np.ndarray) -> float:
        mixture = coordinates.mixture(numbers)
        if not _is_sound(mixture, reach):
            return np.inf
        with np.errstate(all="ignore"):
            found = -problem.found(mixture).mean_likelihood
        return found if np.isfinite(found) else np.inf

    def gradient(numbers: np.ndarray) -> np.ndarray:
        mixture = coordinates.mixture(numbers)
        return -coordinates.gradient(mixture, problem.found(mixture))

    objective = Objective(value, gradient)
    step = method.begin(objective, coordinates.of(begin)) if start is None else method.advance(objective, start)
    while isinstance(step, Step):
        yield coordinates.mixture(step.point), step
        step = method.advance(objective, step)
    yield step


def _is_sound(mixture: Mixture, reach: float) -> bool:
    """Say whether no covariance is singular: towards those the likelihood may rise without end, and numbers give out.

    Squared distances of rows that lie in a box, whose squared diagonal is `reach`, have to be numbers.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(np.abs(precisions_of(mixture.roots, mixture.kind)).max())
    if not (np.isfinite(mixture.covariances).all() and largest * max(reach, 1.0) <= MOST_SQUARE):
        return False
    try:
        roots_of(mixture.covariances, mixture.kind)
    except DegenerateError:
        return False
    return True
