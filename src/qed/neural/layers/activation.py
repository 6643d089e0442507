"""Activations, dropping and normalising as layers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.neural.engine.activations import ACTIVATIONS, LeakyReLU, activation
from qed.neural.engine.node import Node, apply
from qed.neural.engine.normalising import LocalNormalise, Normalise
from qed.neural.engine.shaping import Keep
from qed.neural.layers.layer import Layer, Scope, Shape, Weight


class Activation(Layer):
    """A function of every entry, by its name.

    Parameters
    ----------
    name : str
        "identity", "heaviside", "step", "sign", "piecewise_linear", "logistic" (or "sigmoid"), "tanh", "relu", "leaky_relu"
        or "softmax".
    delta : float, default=0.01
        The slope of "leaky_relu" below zero.
    """

    def __init__(self, name: str, delta: float = 0.01) -> None:
        activation(name)
        self.name, self.delta = name, delta

    def shape(self, given: Shape) -> Shape:
        return given

    def run(self, x: Node, scope: Scope) -> Node:
        operation = LeakyReLU(self.delta) if ACTIVATIONS[self.name] is LeakyReLU else activation(self.name)
        return apply(operation, x)


class Dropout(Layer):
    """In training, every value is dropped with some probability, and the others are raised so that the mean stays.

    Parameters
    ----------
    rate : float, default=0.5
        The probability of being dropped. In prediction nothing is.
    """

    def __init__(self, rate: float = 0.5) -> None:
        if not 0 <= rate < 1:
            raise ParameterError(f"rate must be at least 0 and below 1, not {rate!r}.")
        self.rate = rate

    def shape(self, given: Shape) -> Shape:
        return given

    def run(self, x: Node, scope: Scope) -> Node:
        if not scope.training or self.rate == 0:
            return x
        if scope.draws is None:
            raise InputError("Dropout needs random draws in training: give forward a generator, as draws=.")
        kept = scope.draws.random(x.shape, dtype=np.float32) >= self.rate
        return apply(Keep(kept.astype(x.value.dtype) / x.value.dtype.type(1 - self.rate)), x)


class BatchNorm(Layer):
    """Every channel, or column, gets a mean and a spread of its own, which are trained.

    Parameters
    ----------
    epsilon : float, default=1e-5
        Added to the variance.
    momentum : float, default=0.1
        The share of the new batch in the running means that prediction uses.
    """

    by_rows: ClassVar[bool] = False

    def __init__(self, epsilon: float = 1e-5, momentum: float = 0.1) -> None:
        self.epsilon, self.momentum = epsilon, momentum

    def shape(self, given: Shape) -> Shape:
        return given

    def weights(self, given: Shape) -> dict[str, Weight]:
        each = (given[0],)
        return {
            "scale": Weight(each, "ones"),
            "bias": Weight(each),
            "mean": Weight(each, trained=False),
            "variance": Weight(each, "ones", trained=False),
        }

    def run(self, x: Node, scope: Scope) -> Node:
        mean, variance = scope.running[scope.prefix + "mean"], scope.running[scope.prefix + "variance"]
        if not scope.training:
            return apply(Normalise(mean, variance, self.epsilon), x, scope["scale"], scope["bias"])
        operation = Normalise(epsilon=self.epsilon)
        made = apply(operation, x, scope["scale"], scope["bias"])
        assert operation.mean is not None and operation.variance is not None
        count = x.value.size // x.shape[1]
        mean += self.momentum * (operation.mean - mean)
        variance += self.momentum * (operation.variance * count / max(count - 1, 1) - variance)
        return made


class LocalNorm(Layer):
    """Response normalisation across channels: a channel is damped by its neighbours.

    Parameters
    ----------
    size : int, default=5
        How many channels are looked at.
    alpha, beta, k : float
        Its constants.
    """

    def __init__(self, size: int = 5, alpha: float = 1e-4, beta: float = 0.75, k: float = 2.0) -> None:
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def shape(self, given: Shape) -> Shape:
        return given

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(LocalNormalise(self.size, self.alpha, self.beta, self.k), x)
