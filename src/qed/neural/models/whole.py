"""Training by all rows at once: L-BFGS on the loss of the whole table, for small data."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from qed.base.running.steps import Halt, Step, noting
from qed.base.sources.block import Block, as_dense
from qed.neural.engine.node import Array
from qed.neural.models.problem import NetworkProblem
from qed.neural.network import Network
from qed.optim.functions.objective import Objective
from qed.optim.solvers.lbfgs import LBFGS


class Both:
    """A loss and its gradient, added up over blocks."""

    def __init__(self, loss: float, gradient: Array) -> None:
        self.loss, self.gradient = loss, gradient

    def __add__(self, other: Both) -> Both:
        return Both(self.loss + other.loss, self.gradient + other.gradient)


def descend(
    network: Network, problem: NetworkProblem, penalty: float, start: Step | None = None
) -> Generator[Step, None, Halt]:
    """Give the steps of L-BFGS on the loss of all rows, with the penalty."""
    total = problem.total
    decays = np.concatenate([np.full(weight.size, weight.decays) for weight in network.weights.values()])
    double = Network(network.layers, network.input_shape, loss=network.loss, dtype=np.float64)
    last: list[tuple[Array, Both]] = []

    def at(point: Array) -> Both:
        if not last or not np.array_equal(last[0][0], point):
            found = problem.learned.fold(_of_block, double, point, total)
            weights = point * decays
            last[:] = [
                (
                    point.copy(),
                    Both(found.loss + 0.5 * penalty * float(weights @ weights), found.gradient + penalty * weights),
                )
            ]
        return last[0][1]

    objective = Objective(lambda point: at(point).loss, lambda point: at(point).gradient)
    steps = LBFGS().steps(objective, network.vector.astype(np.float64), start)
    losses = [] if start is None else list(start.state["losses"])

    def note(step: Step) -> None:
        losses.append(step.objective)
        step.state["losses"] = list(losses)

    return noting(steps, note)


def _of_block(block: Block, network: Network, point: Array, total: float) -> Both:
    X = as_dense(block.X)
    return Both(
        *network.gradient(np.asarray(X, np.float64), np.asarray(block.y), block.weights, total=total, vector=point)
    )
