r"""Kernels of changed rows.

.. math:: f(x)\,k(x, z)\,f(z), \qquad k(\phi(x), \phi(z)), \qquad k(x_a, z_a), \qquad x^\top A z \ (A \succeq 0).

With any real :math:`f`, features are multiplied by it; with any :math:`\phi`, features of features are features; and
:math:`x^\top A z = (A^{1/2} x)^\top (A^{1/2} z)`. Whatever belongs to one row is worked out once for each row, before any
tile is filled.

Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, proposition 3.22.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.parameters import Parameter, integer
from qed.base.numbers import EPS
from qed.kernels.inputs import as_double, check_table, dense, size_of
from qed.kernels.kernel import ATOM, Kernel, OfOne, checked, keep
from qed.kernels.mercer import NotAKernelError, check_gram
from qed.kernels.tiles import Bound, Places, dot


@dataclass(frozen=True, repr=False)
class Weighed(OfOne):
    """A kernel whose rows have weights of their own: ``f(x) k(x, z) f(z)``."""

    @abstractmethod
    def _weights(self, X: Any) -> np.ndarray:
        """Give the weight of each row."""

    def _bind(self, X: Any, Z: Any) -> Bound:
        bound = self.kernel._bind(X, Z)
        left = self._weights(X)
        right = left if Z is X else self._weights(Z)

        def fill(rows: Places, columns: slice, out: np.ndarray) -> None:
            bound.fill(rows, columns, out)
            out *= left[rows, None]
            out *= right[columns]

        return bound._replace(fill=fill, held=bound.held + left.nbytes + right.nbytes)

    def _diagonal(self, X: Any) -> np.ndarray:
        return self.kernel._diagonal(X) * self._weights(X) ** 2

    def n_features(self, p: int) -> int | None:
        return self.kernel.n_features(p)

    def _features(self, X: Any) -> np.ndarray:
        return dense(self.kernel._features(X)) * self._weights(X)[:, None]


@dataclass(frozen=True, repr=False)
class Conjugated(Weighed):
    """The kernel ``f(x) k(x, z) f(z)``, with any real function of a row.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    function : callable
        Takes a table of rows and gives a number for each.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> Linear().conjugate(lambda X: X[:, 0])([[1.0, 2.0], [2.0, 0.0]])
    array([[ 5.,  4.],
           [ 4., 16.]])
    """

    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, "function", Parameter("a function of the rows", callable))

    def _weights(self, X: Any) -> np.ndarray:
        given = self.function(X)
        try:
            weights = np.asarray(given, dtype=np.float64).reshape(X.shape[0])
        except (TypeError, ValueError):
            raise InputError(
                f"Conjugated: the function must give one number for each of {X.shape[0]} rows, not {given!r:.80}."
            ) from None
        if not np.isfinite(weights).all():
            row = int(np.flatnonzero(~np.isfinite(weights))[0])
            raise InputError(f"Conjugated: the function gives {weights[row]} for row {row}: it must be finite.")
        return weights

    def __repr__(self) -> str:
        return f"{self.kernel._shown(ATOM)}.conjugate({getattr(self.function, '__name__', repr(self.function))})"


@dataclass(frozen=True, repr=False)
class Normalized(Weighed):
    r"""The kernel :math:`k(x, z) / \sqrt{k(x, x)\,k(z, z)}`: features of length one, and their angle's cosine.

    A row whose features are all zero has no direction; its similarity to everything is zero.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> Linear().normalized()([[3.0, 4.0]], [[30.0, 40.0], [4.0, -3.0], [0.0, 0.0]]).round(12)
    array([[1., 0., 0.]])
    """

    def _weights(self, X: Any) -> np.ndarray:
        squares = self.kernel._diagonal(X)
        if not np.isfinite(squares).all():
            row = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise InputError(
                f"The similarity of row {row} to itself overflows in {self.kernel!r}: scale the columns first."
            )
        return np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)

    def _diagonal(self, X: Any) -> np.ndarray:
        return (self.kernel._diagonal(X) > 0).astype(np.float64)

    def __repr__(self) -> str:
        return f"{self.kernel._shown(ATOM)}.normalized()"


@dataclass(frozen=True, repr=False)
class OfChanged(OfOne):
    """A kernel that sees rows after they were changed."""

    @abstractmethod
    def _change(self, X: Any) -> Any:
        """Give the table that the inner kernel sees."""

    def _bind(self, X: Any, Z: Any) -> Bound:
        left = self._change(X)
        right = left if Z is X else self._change(Z)
        bound = self.kernel._bind(left, right)
        return bound._replace(held=bound.held + size_of(left) + (0 if right is left else size_of(right)))

    def _diagonal(self, X: Any) -> np.ndarray:
        return self.kernel._diagonal(self._change(X))

    def _features(self, X: Any) -> Any:
        return self.kernel._features(self._change(X))


@dataclass(frozen=True, repr=False)
class OnColumns(OfChanged):
    """A kernel that sees some columns only: ``k.on([0, 2])``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    columns : tuple of int
        The numbers of the columns, from 0.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> Linear().on([0, 2])([[1.0, 100.0, 2.0]])
    array([[5.]])
    """

    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = tuple(np.asarray(self.columns).tolist()) if np.ndim(self.columns) == 1 else ()
        if not columns or not all(integer(0).accepts(column) for column in columns):
            raise ParameterError(f"OnColumns: columns must be numbers of columns from 0 on, not {self.columns!r}.")
        keep(self, columns=columns)

    def _change(self, X: Any) -> Any:
        if max(self.columns) >= X.shape[1]:
            raise InputError(f"{self!r} needs column {max(self.columns)}, but there are {X.shape[1]}, counted from 0.")
        return X[:, list(self.columns)]

    def n_features(self, p: int) -> int | None:
        return self.kernel.n_features(len(self.columns))

    def __repr__(self) -> str:
        return f"{self.kernel._shown(ATOM)}.on({list(self.columns)!r})"


@dataclass(frozen=True, repr=False)
class Mapped(OfChanged):
    """The kernel ``k(phi(x), phi(z))`` of features.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the features.
    feature_map : callable or fitted transformer
        Takes a table of rows and gives a table of their features. It must look at one row at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.kernels import Linear
    >>> Linear().mapped(lambda X: X**2)([[1.0, 2.0]], [[3.0, 1.0]])
    array([[13.]])
    """

    feature_map: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = "a function of the rows, or a fitted transformer"
        checked(self, "feature_map", Parameter(wanted, lambda value: callable(getattr(value, "transform", value))))

    def _change(self, X: Any) -> Any:
        given = getattr(self.feature_map, "transform", self.feature_map)(X)
        made = as_double(check_table(given, "The result of the feature map"))
        if made.shape[0] != X.shape[0]:
            raise InputError(
                f"The feature map must give a row for each of {X.shape[0]} rows, not the shape {made.shape}."
            )
        return made

    def n_features(self, p: int) -> int | None:
        return self.kernel.n_features(int(self._change(np.ones((1, p))).shape[1]))

    def __repr__(self) -> str:
        name = getattr(self.feature_map, "__name__", repr(self.feature_map))
        return f"{self.kernel._shown(ATOM)}.mapped({name})"


@dataclass(frozen=True, repr=False, eq=False)
class QuadraticForm(Kernel):
    r"""The kernel :math:`k(x, z) = x^\top A z`, with a symmetric positive semidefinite matrix.

    Parameters
    ----------
    matrix : array-like of shape (p, p)
        The matrix :math:`A`. One that is not positive semidefinite is refused, with a witness.

    Attributes
    ----------
    root : ndarray of shape (p, rank)
        A matrix :math:`B` with :math:`A = BB^\top`: the features are :math:`B^\top x`.

    Examples
    --------
    >>> from qed.kernels import QuadraticForm
    >>> QuadraticForm([[2.0, 0.0], [0.0, 1.0]])([[1.0, 1.0]], [[3.0, 4.0]]).round(12)
    array([[10.]])
    >>> QuadraticForm([[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
        ...
    qed.kernels.mercer.NotAKernelError: The matrix of a QuadraticForm must be positive semidefinite, ...
    """

    matrix: Any
    root: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        matrix = as_double(check_table(self.matrix, "The matrix")).copy()
        if matrix.shape[0] != matrix.shape[1]:
            raise ParameterError(f"The matrix of a QuadraticForm must be square, not of the shape {matrix.shape}.")
        found = check_gram(matrix)
        if found.pair is not None:
            i, j = found.pair
            raise NotAKernelError(
                f"The matrix of a QuadraticForm must be symmetric: the entries ({i}, {j}) and ({j}, {i}) are "
                f"{matrix[i, j]:g} and {matrix[j, i]:g}."
            )
        if found.witness is not None:
            raise NotAKernelError(
                f"The matrix of a QuadraticForm must be positive semidefinite, but its smallest eigenvalue is "
                f"{found.smallest:g}: v'Av = {found.witness @ matrix @ found.witness:g} for the witness "
                f"v = {np.array2string(found.witness, precision=4, threshold=20)}.",
                found.witness,
            )
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        kept = values > len(matrix) * EPS * max(values[-1], 0.0)
        root = vectors[:, kept] * np.sqrt(values[kept]) if kept.any() else np.zeros((len(matrix), 1))
        for array in (matrix, root):
            array.flags.writeable = False
        keep(self, matrix=matrix, root=root)

    def _bind(self, X: Any, Z: Any) -> Bound:
        left = self._features(X)
        right = left if Z is X else self._features(Z)
        return dot(left, right)._replace(held=left.nbytes + (0 if right is left else right.nbytes))

    def _diagonal(self, X: Any) -> np.ndarray:
        return np.asarray((self._features(X) ** 2).sum(axis=1))

    def n_features(self, p: int) -> int:
        return int(self.root.shape[1])

    def _features(self, X: Any) -> np.ndarray:
        if X.shape[1] != len(self.root):
            raise InputError(f"This QuadraticForm is for {len(self.root)} columns, but X has {X.shape[1]}.")
        return np.asarray(X @ self.root)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuadraticForm) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((QuadraticForm, self.matrix.tobytes()))

    def __repr__(self) -> str:
        return f"QuadraticForm({self.matrix.tolist()!r})"
