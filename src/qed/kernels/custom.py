"""A kernel by a function of the user's: no promise is made that it is one; `check_mercer` can refute it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, boolean, calling
from qed.kernels.kernel import Kernel, checked
from qed.kernels.tiles import Bound


@dataclass(frozen=True, repr=False)
class Custom(Kernel):
    """A kernel by a function of your own.

    Parameters
    ----------
    function : callable
        Takes two rows and gives a number; or, if `vectorized`, takes two tables and gives the matrix of all pairs.
    vectorized : bool, default=False
        Which of the two it is. Whole tables are much faster.

    Notes
    -----
    The function may be called from several threads at a time. All pairs are asked for, also those on both sides of the
    diagonal, so that `check_mercer` sees whether it is symmetric. A model that holds a function can not be saved.

    Examples
    --------
    >>> from qed.kernels import Custom, check_mercer
    >>> smaller = Custom(lambda x, z: min(x[0], z[0]))
    >>> smaller([[1.0], [2.0]])
    array([[1., 1.],
           [1., 2.]])
    >>> bool(check_mercer(smaller, [[1.0], [2.0], [5.0]]))
    True
    """

    function: Callable[[Any, Any], Any]
    vectorized: bool = False

    def __post_init__(self) -> None:
        checked(self, "function", Parameter("a function of two rows or of two tables", callable))
        checked(self, "vectorized", boolean())

    @property
    def is_symmetric(self) -> bool:
        return False

    def _bind(self, X: Any, Z: Any) -> Bound:
        return Bound(lambda rows, columns, out: self._fill(X[rows], Z[columns], out), extra=1)

    def _fill(self, X: Any, Z: Any, out: np.ndarray) -> None:
        with calling("kernel", self.function, "two tables" if self.vectorized else "two rows"):
            given = self.function(X, Z) if self.vectorized else [[self.function(x, z) for z in Z] for x in X]
        name = getattr(self.function, "__name__", "function")
        try:
            values = np.asarray(given, dtype=np.float64).reshape(out.shape)
        except (TypeError, ValueError):
            wanted = f"a matrix of the shape {out.shape}" if self.vectorized else "one number for two rows"
            raise InputError(f"Custom: {name} must give {wanted}, not {given!r:.80}.") from None
        if np.isnan(values).any():
            i, j = np.argwhere(np.isnan(values))[0]
            raise InputError(f"Custom: {name} gives NaN for the rows {X[i]!r:.80} and {Z[j]!r:.80}.")
        out[...] = values

    def _diagonal(self, X: Any) -> np.ndarray:
        found, one = np.empty(X.shape[0]), np.empty((1, 1))
        for i in range(X.shape[0]):
            self._fill(X[i : i + 1], X[i : i + 1], one)
            found[i] = one[0, 0]
        return found

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", repr(self.function))
        return f"Custom({name}, vectorized=True)" if self.vectorized else f"Custom({name})"
