r"""Losses of a batch, as operations: one number from predictions :math:`Z` and targets.

==================  =======================================================================================
name                loss of a row with target :math:`y`
==================  =======================================================================================
cross_entropy       :math:`\log\sum_j e^{z_j} - z_y`; with targets of 0 and 1, :math:`-\sum_j y_j\log p_j`
log_loss            :math:`\sum_j \log(1 + e^{z_j}) - y_j z_j`, each column a yes or no of its own
squared_error       :math:`\tfrac12\sum_j (z_j - y_j)^2 / k` over :math:`k` columns
absolute_error      :math:`\sum_j |z_j - y_j| / k`
poisson             :math:`\sum_j (e^{z_j} - y_j z_j) / k`
==================  =======================================================================================

The loss of a batch is their weighted mean. Softmax and the logistic function are part of the loss: together, their slope is simply
:math:`p - y`, and nothing overflows or vanishes on the way.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.neural.engine.activations import Logistic, softmax
from qed.neural.engine.node import Array, Operation, Slopes


class Loss(Operation):
    """The weighted mean of the losses of rows.

    Parameters
    ----------
    target : array
        What should come out: classes by number, or a row of numbers for each row.
    weight : array of shape (n,), optional
        The weight of each row.
    total : float, optional
        What the weighted sum is divided by; the sum of the weights where it is not given.
    """

    def __init__(self, target: Array, weight: Array | None = None, total: float | None = None) -> None:
        self.target, self.weight = np.asarray(target), weight
        self.total = float(len(self.target) if weight is None else weight.sum()) if total is None else total

    def forward(self, *values: Array) -> Array:
        self.check(*values[0].shape)
        each = self.each(values[0], self._matching(values[0]))
        summed = each.sum() if self.weight is None else (each * self.weight).sum()
        return np.asarray(summed / self.total, dtype=values[0].dtype)

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        share = np.asarray(slope / self.total, dtype=values[0].dtype)
        found = self.slope(values[0], self._matching(values[0])) * share
        return (found if self.weight is None else found * self.weight[:, None].astype(found.dtype),)

    def check(self, *shape: int) -> None:
        """Refuse targets that do not match what comes out, which has this shape."""
        if shape not in (self.target.shape, (*self.target.shape, 1)):
            raise InputError(f"The target has shape {self.target.shape}, what comes out {shape}: they have to match.")

    def _matching(self, z: Array) -> Array:
        return self.target.reshape(z.shape)

    @abstractmethod
    def each(self, z: Array, target: Array) -> Array:
        """Give the loss of each row."""

    @abstractmethod
    def slope(self, z: Array, target: Array) -> Array:
        """Give the derivative of each row's loss by what came out for it."""


class CrossEntropy(Loss):
    """Softmax and cross-entropy: the surprise at the true class."""

    def check(self, *shape: int) -> None:
        if self.target.ndim != 1:
            return super().check(*shape)
        n, k, own = shape[0], shape[-1], self.target
        if len(own) != n:
            raise InputError(f"There are {len(own)} targets for {n} rows.")
        if own.dtype.kind not in "biuf" or not ((own >= 0) & (own < k) & (own == np.floor(own))).all():
            raise InputError(f"Classes are whole numbers from 0 to {k - 1}, one for each output: y holds others.")

    def _matching(self, z: Array) -> Array:
        if self.target.ndim == 1:
            ones = np.zeros(z.shape, dtype=z.real.dtype)
            ones[np.arange(len(z)), self.target.astype(np.intp)] = 1
            return ones
        return super()._matching(z)

    def each(self, z: Array, target: Array) -> Array:
        above = z - z.real.max(axis=1, keepdims=True)
        total = np.log(np.exp(above).sum(axis=1))
        return np.asarray(total * target.sum(axis=1) - (above * target).sum(axis=1))

    def slope(self, z: Array, target: Array) -> Array:
        return np.asarray(softmax(z) * target.sum(axis=1, keepdims=True) - target)


class LogLoss(Loss):
    """The logistic function and cross-entropy of each column."""

    def each(self, z: Array, target: Array) -> Array:
        # log(1 + e^z) is max(z, 0) + log(1 + e^-|z|), which never overflows.
        size = np.where(z.real > 0, z, -z)
        return np.asarray((np.where(z.real > 0, z, 0) + np.log1p(np.exp(-size)) - z * target).sum(axis=1))

    def slope(self, z: Array, target: Array) -> Array:
        return np.asarray(Logistic().of(z) - target, dtype=z.dtype)


class SquaredError(Loss):
    """Half the mean of the squared errors."""

    def each(self, z: Array, target: Array) -> Array:
        return np.asarray(((z - target) ** 2).mean(axis=1) / 2)

    def slope(self, z: Array, target: Array) -> Array:
        return np.asarray((z - target) / z.dtype.type(z.shape[1]), dtype=z.dtype)


class AbsoluteError(Loss):
    """The mean of the absolute errors; no slope where one is zero."""

    def each(self, z: Array, target: Array) -> Array:
        return np.asarray(np.abs(z - target).mean(axis=1))

    def slope(self, z: Array, target: Array) -> Array:
        return np.asarray(np.sign(z - target) / z.dtype.type(z.shape[1]), dtype=z.dtype)


class Poisson(Loss):
    """The Poisson likelihood of counts whose logarithm is predicted."""

    def each(self, z: Array, target: Array) -> Array:
        return np.asarray((np.exp(z) - target * z).mean(axis=1))

    def slope(self, z: Array, target: Array) -> Array:
        return np.asarray((np.exp(z) - target) / z.dtype.type(z.shape[1]), dtype=z.dtype)


LOSSES: dict[str, type[Loss]] = {
    "cross_entropy": CrossEntropy,
    "log_loss": LogLoss,
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "poisson": Poisson,
}


def loss_named(name: str) -> type[Loss]:
    """Give the loss of that name."""
    if name not in LOSSES:
        raise ParameterError(f"There is no loss {name!r}: take one of {', '.join(sorted(LOSSES))}.")
    return LOSSES[name]
