r"""How weights move against their gradient: plain steps, momentum, Nesterov's look ahead, and Adam.

==========  =================================================================================================
sgd         :math:`w \leftarrow w - \eta g`
momentum    :math:`v \leftarrow \mu v - \eta g,\quad w \leftarrow w + v`
nesterov    the same :math:`v`, and :math:`w \leftarrow w + \mu v - \eta g`
adam        :math:`m \leftarrow \beta_1 m + (1 - \beta_1) g,\ s \leftarrow \beta_2 s + (1 - \beta_2) g^2`,
            :math:`w \leftarrow w - \eta \hat m / (\sqrt{\hat s} + \epsilon)`, both divided by :math:`1 - \beta^t`
==========  =================================================================================================

All weights lie in one vector, so an update is one loop. Numbers below the square of what can be told from zero are set to it: a
processor takes a hundred times as long for numbers below 1e-38, and Adam would make many of them.

Kingma and Ba (2015), Adam; Sutskever and others (2013), On the importance of initialization and momentum in deep learning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.compile import kernel
from qed.base.errors import ParameterError
from qed.neural.engine.node import Array

KINDS = ("sgd", "momentum", "nesterov", "adam")
# Below so many weights NumPy is as fast, and nobody waits for a compiler.
COMPILED_FROM = 1 << 14


@dataclass
class Moving:
    """What an epoch changes: weights, what the rule of updates remembers, and how many updates there were."""

    vector: Array
    first: Array
    second: Array
    updates: int = 0


@dataclass(frozen=True)
class Update:
    """A rule of updates.

    Parameters
    ----------
    kind : {"sgd", "momentum", "nesterov", "adam"}
        The rule.
    momentum : float, default=0.9
        The share of the last move that is kept.
    beta_1, beta_2, epsilon : float
        The constants of Adam.
    """

    kind: str = "adam"
    momentum: float = 0.9
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"There is no rule of updates {self.kind!r}: take one of {', '.join(KINDS)}.")

    def begin(self, vector: Array) -> tuple[Array, Array]:
        """Give what is remembered before the first update: moves or means of gradients, and means of their squares."""
        second = np.zeros_like(vector) if self.kind == "adam" else np.zeros(0, vector.dtype)
        return np.zeros_like(vector), second

    def code(self) -> int:
        """Give the number by which kernels know the rule."""
        return KINDS.index(self.kind)

    def constants(self, rate: float, t: int) -> tuple[float, float, float, float, float, float]:
        """Give what update number `t`, from one on, needs: the rate, two shares, two corrections and epsilon."""
        if self.kind != "adam":
            return rate, 0.0 if self.kind == "sgd" else self.momentum, 0.0, 1.0, 1.0, 0.0
        return rate, self.beta_1, self.beta_2, 1 / (1 - self.beta_1**t), 1 / (1 - self.beta_2**t), self.epsilon

    def step(self, vector: Array, gradient: Array, first: Array, second: Array, rate: float, t: int) -> None:
        """Move a vector, in place, by its gradient; `t` counts from one."""
        constants = [vector.dtype.type(value) for value in self.constants(rate, t)]
        if len(vector) >= COMPILED_FROM:
            move = adam_rows if self.kind == "adam" else momentum_rows
            last = () if self.kind == "adam" else (self.kind == "nesterov",)
            move(vector, gradient, first, second, *constants, *last)
        else:
            self._plain(vector, gradient, first, second, constants)

    def _plain(self, vector: Array, gradient: Array, first: Array, second: Array, constants: list[np.floating]) -> None:
        rate, share, share_2, correct, correct_2, epsilon = constants
        if self.kind == "adam":
            first += (1 - share) * (gradient - first)
            second += (1 - share_2) * (gradient * gradient - second)
            vector -= rate * correct * first / (np.sqrt(second * correct_2) + epsilon)
            return
        first *= share
        first -= rate * gradient
        vector += share * first - rate * gradient if self.kind == "nesterov" else first


@kernel(within=True, fastmath={"contract"})
def adam_rows(vector, gradient, first, second, rate, share, share_2, correct, correct_2, epsilon):  # type: ignore[no-untyped-def]
    """Move a vector by Adam."""
    one = vector.dtype.type(1)
    zero, tiny = vector.dtype.type(0), vector.dtype.type(1e-18)
    rest, rest_2, length = one - share, one - share_2, rate * correct
    for i in range(len(vector)):
        g = gradient[i]
        m = share * first[i] + rest * g
        s = share_2 * second[i] + rest_2 * g * g
        m = m if abs(m) > tiny else zero
        s = s if s > tiny * tiny else zero
        first[i], second[i] = m, s
        vector[i] -= length * m / (np.sqrt(s * correct_2) + epsilon)


@kernel(within=True, fastmath={"contract"})
def momentum_rows(vector, gradient, first, second, rate, share, share_2, correct, correct_2, epsilon, ahead):  # type: ignore[no-untyped-def]
    """Move a vector by momentum, looking ahead or not; with a share of zero, by plain steps."""
    zero, tiny = vector.dtype.type(0), vector.dtype.type(1e-18)
    for i in range(len(vector)):
        v = share * first[i] - rate * gradient[i]
        v = v if abs(v) > tiny else zero
        first[i] = v
        vector[i] += share * v - rate * gradient[i] if ahead else v
