"""What is claimed of a trained network: never that it is the best there is.

The loss of a network has many valleys, and no theory says how deep the one is that was found. What can be said is that the slopes by which
it was trained are those of the loss, to the last digits; how long the gradient still is; what the loss is; and that training led down.

Slopes are compared with complex steps, see :mod:`qed.neural.training.checking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.proof import restated
from qed.neural.engine.node import Array
from qed.neural.models.problem import SAMPLE, NetworkProblem
from qed.neural.network import Network
from qed.neural.training.checking import complex_steps_off

# Rows of the sample through which complex numbers go: so many, or as many as take so many multiplications, but never fewer than a few.
COMPARED_ROWS, COMPARED_PRODUCTS, FEWEST_ROWS = 256, 4_000_000, 16
# As many multiplications go into the loss that is told; a network with many weights would take as long for it as for an epoch.
LOOKED_AT_PRODUCTS = 100_000_000


class Trained(Protocol):
    """What is read of a trained model."""

    coefs_: list[Array]
    intercepts_: list[Array]
    sample_loss_: float
    gradient_norm_: float
    weight_sums_: Array
    loss_: float
    best_loss_: float | None
    loss_curve_: list[float]
    validation_scores_: list[float] | None
    best_validation_score_: float | None
    n_layers_: int
    n_outputs_: int

    out_activation_: str

    def _network(self, problem: NetworkProblem, dtype: type[np.floating]) -> Network: ...

    def _loss_name(self, problem: NetworkProblem) -> str: ...


def out_of(loss: str) -> str:
    """Say what makes predictions of what a network with this loss gives."""
    return {"cross_entropy": "softmax", "log_loss": "logistic", "poisson": "exp"}.get(loss, "identity")


def network_of(model: Trained, problem: NetworkProblem) -> Network:
    """Make the network of the public weights, in double precision."""
    network = model._network(problem, np.float64)
    network.vector[:] = flat(model.coefs_, model.intercepts_)
    return network


def flat(coefs: Sequence[Array], intercepts: Sequence[Array]) -> Array:
    """Give all weights as one vector, layer by layer."""
    return np.concatenate([part.ravel() for pair in zip(coefs, intercepts, strict=True) for part in pair])


def sums_of(coefs: Sequence[Array], intercepts: Sequence[Array]) -> tuple[Array, Array]:
    """Give the sums of the weights and of the offsets of each layer, and those of their sizes."""
    pairs = [(np.asarray(c, np.float64), np.asarray(b, np.float64)) for c, b in zip(coefs, intercepts, strict=True)]
    return np.array([[c.sum(), b.sum()] for c, b in pairs]), np.array([[abs(c).sum(), abs(b).sum()] for c, b in pairs])


def rows_looked_at(weights: int) -> int:
    """Say through how many of the first rows a network with so many weights goes for the loss: fewer, where each takes long.

    >>> rows_looked_at(1_000), rows_looked_at(235_146), rows_looked_at(10**9)
    (2048, 425, 256)
    """
    return min(SAMPLE, max(COMPARED_ROWS, LOOKED_AT_PRODUCTS // max(1, weights)))


def looked_at(network: Network, problem: NetworkProblem, penalty: float) -> tuple[float, Array]:
    """Give the loss of the first rows, with the penalty, and its gradient; of weights that were looked at just now, those of then."""
    known = problem.seen
    if known is not None and known[0] == penalty and np.array_equal(known[1], network.vector):
        return known[2], known[3]
    X, y, weight = (part[: rows_looked_at(network.n_parameters)] for part in problem.sample)
    loss, gradient = network.gradient(X, y, weight, total=max(float(weight.sum()), 1e-300))
    decays = np.concatenate([np.full(w.size, w.decays) for w in network.weights.values()])
    weights = network.vector * decays
    found = loss + 0.5 * penalty * float(weights @ weights), gradient + penalty * weights
    problem.seen = (penalty, network.vector.copy(), *found)
    return found


def claims_of(model: Trained, problem: NetworkProblem, penalty: float) -> list[Claim]:
    """Compute the claims from the public weights and the rows."""
    network = network_of(model, problem)
    loss, gradient = looked_at(network, problem, penalty)
    compared = min(COMPARED_ROWS, max(FEWEST_ROWS, COMPARED_PRODUCTS // max(1, network.n_parameters)))
    last, first = float(model.loss_curve_[-1]), float(model.loss_curve_[0])
    rise = max(0.0, last - first) / max(abs(first), 1e-300)
    return [
        Claim(
            "back-propagation is the derivative by complex steps (relative)",
            complex_steps_off(network, *(part[:compared] for part in problem.sample)),
            1e-8,
        ),
        restated("sample_loss_", model.sample_loss_, loss),
        restated("gradient_norm_", model.gradient_norm_, float(np.linalg.norm(gradient)), slack=1e-6),
        Claim("the loss of the last epoch above that of the first (relative)", rise, 0.0),
    ]


def following(model: Trained, problem: NetworkProblem) -> list[Claim]:
    """Compare what follows from other attributes with what it should be."""
    sums, sizes = sums_of(model.coefs_, model.intercepts_)
    scores = model.validation_scores_
    found = [
        restated("weight_sums_", model.weight_sums_, sums, scale=sizes),
        restated("n_layers_", model.n_layers_, len(model.coefs_) + 1),
        restated("n_outputs_", model.n_outputs_, problem.outputs),
        Claim(
            "out_activation_ is that of the loss (others)",
            float(model.out_activation_ != out_of(model._loss_name(problem))),
            0.0,
        ),
        restated("loss_", model.loss_, model.loss_curve_[-1]),
        restated("best_loss_", model.best_loss_, min(model.loss_curve_) if scores is None else None),
        restated("best_validation_score_", model.best_validation_score_, None if scores is None else max(scores)),
    ]
    return found
