"""Training a network of one's own: the same steps, orders and stopping rules as those of the models."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError
from qed.base.random import Seed, seed_of
from qed.base.running.steps import Ending, Halt, Rule, Step
from qed.base.sources.rows import ArrayRows
from qed.base.threads.blas import fitting
from qed.neural.engine.losses import CrossEntropy, loss_named
from qed.neural.engine.node import Array
from qed.neural.network import Network
from qed.neural.training.checking import complex_steps_off
from qed.neural.training.epochs import Judged, Patience
from qed.neural.training.epochs import epochs as steps_of
from qed.neural.training.passes import Augment, Course
from qed.neural.training.schedules import Schedule
from qed.neural.training.updates import Update
from qed.optim.solvers.task import Beginning, Minimisation, Task

# Rows of which the claims are computed.
LOOKED_AT = 8


@dataclass(frozen=True)
class Training:
    """What came of a training.

    Attributes
    ----------
    network : Network
        The network, trained.
    losses : list of float
        The mean loss of each epoch.
    scores : list of float
        The score of the validation rows after each epoch, where there were any.
    ending : Ending
        Why it ended. ``ending.last`` can be given to `train` as start, to go on.
    certificate : Certificate
        What is claimed: slopes are those of the loss, and training led down; no optimum.
    """

    network: Network = field(repr=False)
    losses: list[float]
    scores: list[float]
    ending: Ending = field(repr=False)
    certificate: Certificate = field(repr=False)


def train(
    network: Network,
    X: Array,
    y: Array,
    *,
    sample_weight: Array | None = None,
    update: str | Update = "adam",
    learning_rate: float = 0.001,
    schedule: str = "constant",
    batch: int = 32,
    epochs: int = 10,
    weight_decay: float = 0.0,
    shuffle: bool = True,
    validation: tuple[Array, Array] | None = None,
    patience: int | None = None,
    tol: float = 0.0,
    augment: Augment | None = None,
    random_state: Seed = 0,
    start: Step | None = None,
) -> Training:
    """Train a network, in place.

    Parameters
    ----------
    network : Network
        The network; its weights are where training begins, and where it ends.
    X : array of shape ``(n, *network.input_shape)`` or (n, numbers of a row)
        The rows.
    y : array
        Class numbers for "cross_entropy", or shares of the classes in columns; else what should come out.
    sample_weight : array of shape (n,), optional
        The weights of rows.
    update : {"sgd", "momentum", "nesterov", "adam"} or Update, default="adam"
        How weights move.
    learning_rate : float, default=0.001
        The length of steps.
    schedule : {"constant", "invscaling", "adaptive", "step", "exponential", "cosine"}, default="constant"
        How it changes.
    batch : int, default=32
        Rows in a batch: 1 is on-line learning, all of them is batch learning.
    epochs : int, default=10
        The most epochs.
    weight_decay : float, default=0.0
        The factor of the weights in their slope.
    shuffle : bool, default=True
        Whether each epoch has an order of its own.
    validation : pair of arrays, optional
        Rows and targets to score after each epoch: by accuracy, or by minus the loss. The weights with the least loss are the result.
    patience : int, optional
        End after so many epochs without getting better by more than `tol`; never where it is not given.
    tol : float, default=0.0
        What counts as better.
    augment : callable, optional
        Changes the images of each batch, such as ``shifted(2)`` of :mod:`qed.neural.training.augment`.
    random_state : None, int or NumPy generator, default=0
        The seed of orders, dropping and changes.
    start : Step, optional
        The last step of an earlier training, ``training.ending.last``, to go on from there.

    Returns
    -------
    Training
        Losses, the ending and the certificate.

    Examples
    --------
    >>> from qed.neural import Activation, Dense
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    >>> network = Network([Dense(8), Activation("tanh"), Dense(2)], 2)
    >>> found = train(network, X, y, epochs=200, batch=4, learning_rate=0.05)
    >>> network.forward(X).argmax(axis=1).tolist(), bool(found.certificate)
    ([0, 0, 1, 1], True)
    """
    X = np.asarray(X)
    if math.prod(X.shape[1:]) != math.prod(network.input_shape):
        raise InputError(f"The network takes rows of shape {network.input_shape}, not {X.shape[1:]}.")
    flat = np.ascontiguousarray(X.reshape(len(X), -1), dtype=network.dtype)
    # Compiled loops go where targets send them.
    loss_named(network.loss)(np.asarray(y)).check(len(X), *network.shapes[-1])
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight is not None and not (weight.shape == (len(X),) and (weight >= 0).all() and 0 < weight.sum() < np.inf):
        raise InputError("sample_weight must hold a number from 0 on for each row, and one above 0.")
    rows = ArrayRows(flat, np.asarray(y), weight)
    rule = Update(update) if isinstance(update, str) else update
    seed = seed_of(random_state) if start is None else int(start.seed)
    # A penalty counts for each row of a batch, weight decay as it is.
    course = Course.of(
        network,
        rows,
        batch=batch,
        update=rule,
        penalty=weight_decay * min(batch, len(X)) * float(1.0 if weight is None else weight.mean()),
        shuffle=shuffle,
        seed=seed,
        augment=augment,
    )
    judge = None if validation is None else lambda: _judged(network, *validation)
    stop = Patience(epochs if patience is None else patience, tol, judge)
    run = Minimisation(rule, Rule(tol=0.0, max_iter=epochs - 1, keep="last"))
    # Products of a few rows, such as those of the claims, are too small to be shared.
    with fitting():
        run._run(_Task(course, Schedule(schedule, learning_rate, epochs=epochs), stop), start)
    return Training(network, run.step_.losses, run.step_.scores, run.ending_, run.certificate_)


def _judged(network: Network, X: Array, y: Array) -> Judged:
    """Tell the accuracy where there are classes, else minus the loss, which decides."""
    out = network.forward(X)
    goodness = -float(loss_named(network.loss)(np.asarray(y)).forward(out))
    if loss_named(network.loss) is CrossEntropy and np.ndim(y) == 1:
        return Judged(float((out.argmax(axis=1) == y).mean()), goodness)
    return Judged(goodness, goodness)


class _Task(Task):
    """The training of one network on one table."""

    def __init__(self, course: Course, schedule: Schedule, patience: Patience) -> None:
        self.course, self.schedule, self.patience = course, schedule, patience
        block = course.rows.block(0, min(LOOKED_AT, course.rows.count()))
        self.looked_at = course.read(block)[:2]
        self.first = course.network.gradient(*self.looked_at)[0]
        super().__init__(Beginning(course.network.vector.astype(np.float64), self.first))

    def steps(self, start: Step | None) -> Generator[Step, None, Halt]:
        return steps_of(self.course, self.schedule, self.patience, start)

    def prove(self, step: Step, tol: float) -> list[Claim]:
        network = self.course.network
        network.vector[:] = step.kept if len(step.kept) else step.vector
        double = network.in_double()
        X, y = self.looked_at
        rise = max(0.0, step.losses[-1] - step.losses[0]) / max(abs(step.losses[0]), 1e-300)
        return [
            Claim(
                "back-propagation is the derivative by complex steps (relative)",
                complex_steps_off(double, X, y, np.ones(len(X))),
                1e-8,
            ),
            Claim("the loss of the last epoch above that of the first (relative)", rise, 0.0),
        ]
