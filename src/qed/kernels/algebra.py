r"""Kernels joined: sums and products.

.. math:: k_1 + k_2, \qquad k_1 k_2, \qquad k_a(x_a, z_a) + k_b(x_b, z_b), \qquad k_a(x_a, z_a)\, k_b(x_b, z_b).

A sum puts the features of both side by side. A product multiplies each feature of one with each of the other, so that
its Gram matrix, the product of theirs entry by entry, is positive semidefinite too (Schur). The two may see different
columns. The parts are filled tile by tile and joined in place.

Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, proposition 3.22.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.parameters import number
from qed.kernels.functions import refuse_negative
from qed.kernels.inputs import dense
from qed.kernels.kernel import PRODUCT, SUM, Kernel, checked, keep
from qed.kernels.tiles import Bound, Places


@dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """The kernel that is the same number for all rows: what ``k + 1`` adds.

    Parameters
    ----------
    value : float, default=1.0
        The number, at least zero.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> (Linear() + 1)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[12.]])
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        refuse_negative(self.value, "Constant: value")
        keep(self, value=float(checked(self, "value", number(0))))

    def _bind(self, X: Any, Z: Any) -> Bound:
        return Bound(lambda rows, columns, out: out.fill(self.value))

    def _diagonal(self, X: Any) -> np.ndarray:
        return np.full(X.shape[0], self.value)

    def n_features(self, p: int) -> int:
        return 1

    def _features(self, X: Any) -> np.ndarray:
        return np.full((X.shape[0], 1), math.sqrt(self.value))


@dataclass(frozen=True, repr=False)
class _Joined(Kernel):
    """Several kernels, joined by an operation on their values."""

    kernels: tuple[Kernel, ...]
    _operation: ClassVar[Any]
    _sign: ClassVar[str]

    def __post_init__(self) -> None:
        # One flat tuple: sums and products are both associative.
        parts: list[Kernel] = []
        for kernel in tuple(self.kernels):
            if not isinstance(kernel, Kernel):
                raise ParameterError(f"{type(self).__name__}: kernels must be kernels, not {kernel!r}.")
            parts += kernel._inner() if type(kernel) is type(self) else (kernel,)
        if not parts:
            raise ParameterError(f"{type(self).__name__}: give at least one kernel.")
        keep(self, kernels=tuple(parts))

    def _inner(self) -> tuple[Kernel, ...]:
        return self.kernels

    def _bind(self, X: Any, Z: Any) -> Bound:
        first, *others = (kernel._bind(X, Z) for kernel in self.kernels)

        def fill(rows: Places, columns: slice, out: np.ndarray) -> None:
            first.fill(rows, columns, out)
            scratch = np.empty_like(out)
            for other in others:
                other.fill(rows, columns, scratch)
                self._operation(out, scratch, out=out)

        held = first.held + sum(other.held for other in others)
        return Bound(fill, held, max([first.extra, *(1 + other.extra for other in others)]))

    def _diagonal(self, X: Any) -> np.ndarray:
        return reduce(self._operation, (kernel._diagonal(X) for kernel in self.kernels))

    def _counts(self, p: int) -> list[int] | None:
        counts = [kernel.n_features(p) for kernel in self.kernels]
        return None if None in counts else [count for count in counts if count is not None]

    def __repr__(self) -> str:
        if len(self.kernels) == 1:
            return f"{type(self).__name__}({self.kernels!r})"
        return self._sign.join(kernel._shown(self._precedence + 1) for kernel in self.kernels)


@dataclass(frozen=True, repr=False)
class Sum(_Joined):
    """The sum of kernels, ``k1 + k2``: features side by side.

    Parameters
    ----------
    kernels : tuple of Kernel
        The terms.

    Examples
    --------
    >>> from qed.kernels import RBF, Polynomial
    >>> RBF(0.5) + 2 * Polynomial(3)
    RBF(gamma=0.5) + 2.0 * Polynomial()
    """

    _precedence: ClassVar[int] = SUM
    _operation: ClassVar[Any] = np.add
    _sign: ClassVar[str] = " + "

    def n_features(self, p: int) -> int | None:
        counts = self._counts(p)
        return None if counts is None else sum(counts)

    def _features(self, X: Any) -> np.ndarray:
        return np.hstack([dense(kernel._features(X)) for kernel in self.kernels])


@dataclass(frozen=True, repr=False)
class Product(_Joined):
    """The product of kernels, ``k1 * k2``: every feature of one times every feature of the other.

    Parameters
    ----------
    kernels : tuple of Kernel
        The factors.

    Examples
    --------
    >>> from qed.kernels import Linear, RBF
    >>> Linear() * RBF(2)
    Linear() * RBF(gamma=2.0)
    """

    _precedence: ClassVar[int] = PRODUCT
    _operation: ClassVar[Any] = np.multiply
    _sign: ClassVar[str] = " * "

    def n_features(self, p: int) -> int | None:
        counts = self._counts(p)
        return None if counts is None else math.prod(counts)

    def _features(self, X: Any) -> np.ndarray:
        parts = (dense(kernel._features(X)) for kernel in self.kernels)
        return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), parts)


def direct_sum(*blocks: tuple[Kernel, Sequence[int]]) -> Kernel:
    """Add kernels that each see columns of their own: ``ka(xa, za) + kb(xb, zb)``.

    Parameters
    ----------
    *blocks : pairs of a kernel and a list of column numbers
        The kernels and what they see.

    Examples
    --------
    >>> from qed.kernels import Linear, RBF, direct_sum
    >>> direct_sum((Linear(), [0, 1]), (RBF(1), [2]))
    Linear().on([0, 1]) + RBF(gamma=1.0).on([2])
    """
    return Sum(tuple(kernel.on(columns) for kernel, columns in blocks))


def direct_product(*blocks: tuple[Kernel, Sequence[int]]) -> Kernel:
    """Multiply kernels that each see columns of their own: ``ka(xa, za) * kb(xb, zb)``.

    Parameters
    ----------
    *blocks : pairs of a kernel and a list of column numbers
        The kernels and what they see.

    Examples
    --------
    >>> from qed.kernels import Linear, RBF, direct_product
    >>> direct_product((Linear(), [0, 1]), (RBF(1), [2]))
    Linear().on([0, 1]) * RBF(gamma=1.0).on([2])
    """
    return Product(tuple(kernel.on(columns) for kernel, columns in blocks))
