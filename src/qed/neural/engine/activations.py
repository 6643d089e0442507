r"""Activation functions: what a neuron makes of its weighted sum, entry by entry.

==================  =====================================================  ===========================================
name                :math:`\sigma(z)`                                      :math:`\sigma'(z)`
==================  =====================================================  ===========================================
identity            :math:`z`                                              :math:`1`
heaviside           0, ½ at zero, 1                                        0
step                1 where :math:`z > 0`, else 0                          0
sign                -1, 0 at zero, 1                                       0
piecewise_linear    :math:`z + ½`, kept inside [0, 1]                      1 inside, 0 outside
logistic            :math:`1 / (1 + e^{-z})`                               :math:`\sigma(1 - \sigma)`
tanh                :math:`\tanh z`                                        :math:`1 - \sigma^2`
relu                :math:`\max(0, z)`                                     1 where :math:`z > 0`, else 0
leaky_relu          :math:`z` where :math:`z > 0`, else :math:`\delta z`   1 where :math:`z > 0`, else :math:`\delta`
==================  =====================================================  ===========================================

At a kink the slope is that of the left side; at a jump it is zero, as it is everywhere else, so that nothing before a step ever learns.
Softmax is the exception: :math:`\sigma(z)_i = e^{z_i} / \sum_j e^{z_j}` looks at all entries of a row, and its Jacobian
matrix is :math:`diag(p) - pp^T`.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from qed.base.errors import ParameterError
from qed.neural.engine.node import Array, Operation, Slopes


class Activation(Operation):
    """A function of every entry, with its slope."""

    def forward(self, *values: Array) -> Array:
        return self.of(values[0])

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (slope * self.slope(values[0], value),)

    @abstractmethod
    def of(self, z: Array) -> Array:
        """Give the activation of each entry."""

    @abstractmethod
    def slope(self, z: Array, value: Array) -> Array:
        """Give the derivative at each entry `z`, where the activation is `value`."""


class Identity(Activation):
    """Nothing is done."""

    def of(self, z: Array) -> Array:
        return z

    def slope(self, z: Array, value: Array) -> Array:
        return np.ones_like(z)

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (slope,)


class Flat(Activation):
    """A function that jumps and is flat elsewhere: no slope goes through it."""

    def slope(self, z: Array, value: Array) -> Array:
        return np.zeros_like(z)


class Heaviside(Flat):
    """0 below zero, one half there, 1 above."""

    def of(self, z: Array) -> Array:
        return np.heaviside(z, z.dtype.type(0.5))


class Step(Flat):
    """1 above zero, else 0."""

    def of(self, z: Array) -> Array:
        return np.asarray(z > 0, dtype=z.dtype)


class Sign(Flat):
    """The sign; zero at zero."""

    def of(self, z: Array) -> Array:
        return np.sign(z)


class PiecewiseLinear(Activation):
    """``z + 1/2`` between 0 and 1."""

    def of(self, z: Array) -> Array:
        shifted = z + z.dtype.type(0.5)
        return np.where(shifted.real <= 0, z.dtype.type(0), np.where(shifted.real >= 1, z.dtype.type(1), shifted))

    def slope(self, z: Array, value: Array) -> Array:
        return np.asarray((value > 0) & (value < 1), dtype=z.dtype)


class Logistic(Activation):
    """The logistic function, also called sigmoid; it never overflows."""

    def of(self, z: Array) -> Array:
        # tanh is exact to a rounding at both ends, where exp(-z) would overflow.
        half = z.dtype.type(0.5)
        return half * (np.tanh(half * z) + 1)

    def slope(self, z: Array, value: Array) -> Array:
        return value * (1 - value)


class Tanh(Activation):
    """The hyperbolic tangent."""

    def of(self, z: Array) -> Array:
        return np.tanh(z)

    def slope(self, z: Array, value: Array) -> Array:
        return 1 - value * value


class ReLU(Activation):
    """The positive part."""

    def of(self, z: Array) -> Array:
        return np.maximum(z, 0) if z.dtype.kind == "f" else np.where(z.real > 0, z, 0)

    def slope(self, z: Array, value: Array) -> Array:
        return np.asarray(value > 0, dtype=z.dtype)

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (np.where(value > 0, slope, slope.dtype.type(0)),)


class LeakyReLU(Activation):
    """The positive part, and a share `delta` of the negative one."""

    def __init__(self, delta: float = 0.01) -> None:
        self.delta = delta

    def of(self, z: Array) -> Array:
        return np.where(z.real > 0, z, z.dtype.type(self.delta) * z)

    def slope(self, z: Array, value: Array) -> Array:
        return np.where(z > 0, z.dtype.type(1), z.dtype.type(self.delta))


class Softmax(Operation):
    """Shares of a whole along the last axis; the largest entry is taken off first, so that nothing overflows."""

    def forward(self, *values: Array) -> Array:
        return softmax(values[0])

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (value * (slope - (slope * value).sum(axis=-1, keepdims=True)),)


def softmax(z: Array) -> Array:
    """Give the shares of each row."""
    raised = np.exp(z - z.real.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


ACTIVATIONS: dict[str, type[Operation]] = {
    "identity": Identity,
    "heaviside": Heaviside,
    "step": Step,
    "sign": Sign,
    "piecewise_linear": PiecewiseLinear,
    "logistic": Logistic,
    "sigmoid": Logistic,
    "tanh": Tanh,
    "relu": ReLU,
    "leaky_relu": LeakyReLU,
    "softmax": Softmax,
}


def activation(name: str) -> Operation:
    """Make the operation of that name.

    >>> activation("relu").forward(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    if name not in ACTIVATIONS:
        raise ParameterError(f"There is no activation {name!r}: take one of {', '.join(sorted(ACTIVATIONS))}.")
    return ACTIVATIONS[name]()
