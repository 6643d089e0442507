r"""Kernels: similarities that are inner products in disguise, :math:`k(x, z) = \langle \phi(x), \phi(z) \rangle`.

A function is a kernel when some feature map :math:`\phi` gives it, or, which is the same, when it is symmetric and all its
Gram matrices :math:`K_{ij} = k(x_i, x_j)` are positive semidefinite. Methods that need inner products only can then work
with :math:`\phi(x)` without ever making it: the kernel trick. Kernels make new kernels, and the operators here are the
rules by which they do: ``RBF(0.5) + 2 * Polynomial(3)``, ``k ** 3``, ``exp(k)``, ``k.on([0, 2])``.

A kernel is a value: it never changes, is equal to another with the same parameters, and prints as what makes it. One that
holds no function of the user's can be part of a saved model.

Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, chapter 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, TypeGuard, TypeVar

import numpy as np

from qed.base.errors import NotAvailableError, ParameterError
from qed.base.models.checks import is_finite
from qed.base.models.parameters import Parameter
from qed.kernels.inputs import check_pair
from qed.kernels.tiles import Bound, Tiles, overflowed, quiet

SUM, PRODUCT, POWER, ATOM = range(4)
Table = TypeVar("Table")


@dataclass(frozen=True)
class Rules:
    """The rules by which kernels make kernels, each a class of the modules above this one.

    Kernels of all kinds have the same operators, and what these make are kernels of all kinds. So the operators are written
    here, below all kernels, and the room, above all of them, says what each operator makes.
    """

    constant: Callable[[float], Kernel]
    sum: Callable[[tuple[Kernel, ...]], Kernel]
    product: Callable[[tuple[Kernel, ...]], Kernel]
    scaled: Callable[[Kernel, float], Kernel]
    power: Callable[[Kernel, int], Kernel]
    polynomial: Callable[[Kernel, Any], Kernel]
    exponential: Callable[[Kernel], Kernel]
    conjugated: Callable[[Kernel, Callable[[Any], Any]], Kernel]
    normalized: Callable[[Kernel], Kernel]
    on_columns: Callable[[Kernel, Any], Kernel]
    mapped: Callable[[Kernel, Any], Kernel]


class Kernel(ABC):
    """A positive semidefinite similarity of rows.

    Subclasses are frozen dataclasses. They say how they are bound to two tables, what a row's similarity to itself is
    and, where there is a finite one, their feature map.
    """

    # NumPy's numbers leave ``number * kernel`` to the kernel.
    __array_ufunc__ = None
    rules: ClassVar[Rules]
    _precedence: ClassVar[int] = ATOM

    @abstractmethod
    def _bind(self, X: Any, Z: Any) -> Bound:
        """Prepare to fill tiles of the matrix of two checked tables; `Z` is `X` for a table with itself."""

    @abstractmethod
    def _diagonal(self, X: Any) -> np.ndarray:
        """Give ``k(x, x)`` of the rows of a checked table, in float64."""

    def _features(self, X: Any) -> Any:
        """Give the explicit features of a checked table, when `n_features` says that there are some."""
        raise NotImplementedError

    def n_features(self, p: int) -> int | None:
        """Count the features of the explicit map for tables of `p` columns; None where there is no finite map.

        Parameters
        ----------
        p : int
            The number of columns.
        """
        return None

    def _inner(self) -> tuple[Kernel, ...]:
        """Give the kernels that this one is made of."""
        return ()

    @property
    def is_symmetric(self) -> bool:
        """Say whether ``k(x, z) == k(z, x)`` is known beforehand, so that half of a Gram matrix is enough."""
        return all(kernel.is_symmetric for kernel in self._inner())

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        """Give the Gram matrix of two tables.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The rows.
        Z : array-like or sparse matrix of shape (m, p), optional
            The rows to compare with; the default is `X`, and the matrix then is exactly symmetric.

        Returns
        -------
        ndarray of shape (n, m)
            float32 when both tables are, else float64.

        Examples
        --------
        >>> from qed.kernels import Polynomial
        >>> Polynomial(2)([[1.0, 2.0]], [[3.0, 4.0], [3.0, -1.0]])
        array([[144.,   4.]])
        """
        return self.tiles(X, Z).whole()

    def tiles(self, X: Any, Z: Any = None) -> Tiles:
        """Give the Gram matrix of two tables without working it out: what is asked of it is, tile by tile.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The rows.
        Z : array-like or sparse matrix of shape (m, p), optional
            The rows to compare with; the default is `X`, and the matrix then is exactly symmetric.

        Examples
        --------
        >>> from qed.kernels import Linear
        >>> Linear().tiles([[1.0], [2.0], [3.0]]).rows([2, 0])
        array([[3., 6., 9.],
               [1., 2., 3.]])
        """
        pair = check_pair(X, Z)
        with quiet():
            bound = self._bind(pair.X, pair.Z)
        shape = pair.X.shape[0], pair.Z.shape[0]
        return Tiles(bound, shape, pair.dtype, bound.held + pair.held, Z is None and self.is_symmetric, self)

    def diagonal(self, X: Any) -> np.ndarray:
        """Give the similarity of each row to itself, ``k(x, x)``, without the rest of the Gram matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The rows.
        """
        pair = check_pair(X)
        with quiet():
            return self._finite(self._diagonal(pair.X).astype(pair.dtype, copy=False))

    def _finite(self, values: Table) -> Table:
        if not is_finite(values):
            raise overflowed(self)
        return values

    def blocks(self, X: Any, Z: Any = None, *, memory: int = 1 << 28) -> Iterator[tuple[slice, np.ndarray]]:
        """Give the Gram matrix in blocks of rows, for matrices that do not fit into memory.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The rows.
        Z : array-like or sparse matrix of shape (m, p), optional
            The rows to compare with; the default is `X`, and the matrix then is exactly symmetric.
        memory : int, default=2**28
            How many bytes may be used, besides the tables and what functions of your own need. Two blocks are counted,
            since yours is still there while the next is made.

        Yields
        ------
        rows : slice
            Which rows of `X` these are.
        block : ndarray of shape (rows, m)
            Their part of the matrix.

        Examples
        --------
        >>> import numpy as np
        >>> from qed.kernels import RBF
        >>> X = np.arange(1000.0).reshape(-1, 1)
        >>> sums = [block.sum(axis=1) for _, block in RBF(0.5).blocks(X, memory=2**20)]
        >>> len(sums) > 1, bool(np.allclose(np.concatenate(sums), RBF(0.5)(X).sum(axis=1)))
        (True, True)
        """
        return self.tiles(X, Z).blocks(int(memory))

    def features(self, X: Any, *, max_features: int = 1_000_000) -> Any:
        """Give the explicit feature map of each row: ``k(X, Z)`` is ``features(X) @ features(Z).T``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The rows.
        max_features : int, default=1_000_000
            Refuse to make more columns than that; their number is known before anything is made.

        Raises
        ------
        NotAvailableError
            When the kernel has no finite map.
        """
        pair = check_pair(X)
        count = self.n_features(pair.X.shape[1])
        if count is None:
            raise NotAvailableError(
                f"{self!r} has no finite feature map that is known. qed.Nystroem gives an approximate one, and so does "
                "qed.RandomFourierFeatures for the Gaussian kernel."
            )
        if count > max_features:
            raise ParameterError(
                f"{self!r} has {count} features for {pair.X.shape[1]} columns, more than max_features={max_features}. "
                "Work with the kernel, which needs none of them, or allow more."
            )
        with quiet():
            return self._finite(self._features(pair.X).astype(pair.dtype, copy=False))

    def __add__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return self.rules.sum((self, other))
        return self.rules.sum((self, self.rules.constant(other))) if _is_number(other) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        if not _is_number(other):
            return NotImplemented
        return self.rules.sum((self.rules.constant(other), self)) if other != 0 else self

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return self.rules.product((self, other))
        return self.scale(other) if _is_number(other) else NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        return self.scale(other) if _is_number(other) else NotImplemented

    def __truediv__(self, other: object) -> Kernel:
        return self.scale(1 / other) if _is_number(other) and other != 0 else NotImplemented

    def __pow__(self, degree: int) -> Kernel:
        return self.rules.power(self, degree)

    def __neg__(self) -> Kernel:
        return self.scale(-1)

    def __sub__(self, other: object) -> Kernel:
        raise ParameterError(
            f"The difference of kernels is no kernel in general: {self!r} - {other!r} may have negative Gram matrices. "
            "Sums, products and multiples by numbers >= 0 are."
        )

    __rsub__ = __sub__

    def scale(self, factor: float) -> Kernel:
        """Multiply the kernel by a number that is not negative: ``factor * k``.

        Parameters
        ----------
        factor : float
            The number.
        """
        return self.rules.scaled(self, factor)

    def exp(self) -> Kernel:
        """Give the kernel :math:`e^{k(x, z)}`."""
        return self.rules.exponential(self)

    def polynomial(self, coefficients: Sequence[float]) -> Kernel:
        r"""Give the kernel :math:`\sum_j c_j\, k(x, z)^j`, with coefficients that are not negative.

        Parameters
        ----------
        coefficients : sequence of float
            The coefficients, that of the constant first.
        """
        return self.rules.polynomial(self, coefficients)

    def conjugate(self, function: Callable[[Any], Any]) -> Kernel:
        """Give the kernel ``f(x) k(x, z) f(z)``.

        Parameters
        ----------
        function : callable
            Takes a table of rows and gives a number for each.
        """
        return self.rules.conjugated(self, function)

    def normalized(self) -> Kernel:
        r"""Give the kernel :math:`k(x, z) / \sqrt{k(x, x)\, k(z, z)}`: the cosine of the angle between features."""
        return self.rules.normalized(self)

    def on(self, columns: Sequence[int]) -> Kernel:
        """Let the kernel see some columns only.

        Parameters
        ----------
        columns : sequence of int
            The numbers of the columns, from 0.
        """
        return self.rules.on_columns(self, columns)

    def mapped(self, feature_map: Any) -> Kernel:
        """Give the kernel ``k(phi(x), phi(z))``.

        Parameters
        ----------
        feature_map : callable or fitted transformer
            Takes a table of rows and gives a table of their features.
        """
        return self.rules.mapped(self, feature_map)

    def _shown(self, least: int) -> str:
        """Print the kernel as a part of a larger expression, in parentheses where that binds more strongly."""
        return repr(self) if self._precedence >= least else f"({self!r})"

    def __repr__(self) -> str:
        given = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]  # type: ignore[arg-type]
        shown = ", ".join(f"{name}={value!r}" for name, value, default in given if value != default)
        return f"{type(self).__name__}({shown})"


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def checked(kernel: Kernel, name: str, rule: Parameter) -> Any:
    """Give the parameter `name` of a kernel, if it is what its rule wants."""
    return rule.checked(f"{type(kernel).__name__}: {name}", getattr(kernel, name))


@dataclass(frozen=True, repr=False)
class OfOne(Kernel):
    """A kernel that is made of one other."""

    kernel: Kernel

    def __post_init__(self) -> None:
        checked(self, "kernel", Parameter("a kernel", lambda value: isinstance(value, Kernel), "model"))

    def _inner(self) -> tuple[Kernel, ...]:
        return (self.kernel,)


def keep(kernel: Kernel, **values: object) -> None:
    """Set fields of a frozen kernel while it is made."""
    for name, value in values.items():
        object.__setattr__(kernel, name, value)
