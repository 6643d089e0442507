r"""What a method compares rows by: a kernel, or a matrix of similarities that somebody else worked out.

Methods of the kernel trick see their rows only through :math:`K_{ij} = k(x_i, x_j)` and predict by sums of similarities to the
rows they kept, :math:`f(z) = \sum_i c_i\, k(x_i, z)`. Both are the same to them whether there is a kernel or ``"precomputed"``
was said, and the table is the matrix itself: of the rows fitted with each other in ``fit``, of new rows with those in
``predict``. `Similarity` is that, and `WithKernel` reads it from the parameters that all such models have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.checks import is_finite
from qed.kernels.inputs import as_double, check_table, dense
from qed.kernels.kernel import Kernel
from qed.kernels.names import PRECOMPUTED, as_kernel
from qed.kernels.tiles import Bound, Tiles

# So many new rows are prepared at a time.
NEW_ROWS = 8160


@dataclass(frozen=True)
class Similarity:
    """A kernel, or the promise that tables are matrices of similarities already.

    Attributes
    ----------
    kernel : Kernel or None
        The kernel; None when similarities are precomputed.

    Examples
    --------
    >>> from qed.kernels import RBF, Similarity
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> by_rows, given = Similarity.of("rbf", gamma=0.5), Similarity.of("precomputed")
    >>> K = by_rows.gram(X)
    >>> bool((given.gram(K) == K).all())
    True
    >>> new = np.array([[2.0]])
    >>> coefficients = np.array([[1.0], [0.0], [-1.0]])
    >>> by_rows.combined(new, X, coefficients).round(4), given.combined(RBF(0.5)(new, X), K, coefficients).round(4)
    (array([[-0.4712]]), array([[-0.4712]]))
    """

    kernel: Kernel | None

    @classmethod
    def of(
        cls,
        kernel: str | Kernel | Callable[[Any, Any], Any],
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
    ) -> Similarity:
        """Read parameters, which are those of `as_kernel`; the kernel may also be "precomputed"."""
        if isinstance(kernel, str) and kernel == PRECOMPUTED:
            return cls(None)
        return cls(as_kernel(kernel, gamma, degree, coef0))

    def tiles(self, X: Any) -> Tiles:
        """Give the Gram matrix of a table, of which as much is worked out as is asked for: see `Tiles`."""
        if self.kernel is not None:
            return self.kernel.tiles(X)
        K = check_table(X)
        K = K if isinstance(K, np.ndarray) else K.toarray()
        _refuse_oblong(K.shape)

        def fill(rows: Any, columns: slice, out: np.ndarray) -> None:
            out[...] = K[rows, columns]

        return Tiles(Bound(fill), K.shape, K.dtype, 0, False, self)

    def gram(self, X: Any) -> np.ndarray:
        """Give the Gram matrix of a table: symmetric, in float64, and free to be overwritten.

        A matrix that was given, or made by a function, is checked; what rounding did to its symmetry is removed.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n, p)
            The rows; of shape (n, n) when they are similarities.
        """
        n = X.shape[0]
        try:
            if self.kernel is None:
                _refuse_oblong(X.shape)
                return symmetric_part(dense(as_double(X)))
            K = self.kernel(as_double(X))
            return K if self.kernel.is_symmetric else symmetric_part(K)
        except MemoryError:
            raise InputError(
                f"The kernel matrix of {n} rows needs {8 * n**2 / 2**30:.0f} gigabytes, more than there are. Fit fewer rows, or "
                "take a kernel with few explicit features, such as 'linear' or 'poly'."
            ) from None

    def diagonal(self, X: Any) -> np.ndarray:
        """Give the similarity of each row of a table to itself, in float64."""
        return np.asarray(X.diagonal(), np.float64) if self.kernel is None else self.kernel.diagonal(as_double(X))

    def chosen(self, X: Any, which: Any) -> Any:
        """Give some rows of a table; of a matrix of similarities, those with each other.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n, p)
            The table.
        which : ndarray of bool or int
            Which rows.
        """
        if self.kernel is not None:
            return X[which]
        _refuse_oblong(X.shape)
        return X[which][:, which]

    def combined(self, X: Any, kept: Any, coefficients: np.ndarray) -> np.ndarray:
        r"""Give :math:`\sum_i c_i k(x_i, z)` for every row z of a table; rows kept whose coefficients are zero cost nothing.

        Parameters
        ----------
        X : ndarray or sparse array of shape (m, p)
            The rows z; of shape (m, n) when they are similarities to the rows kept.
        kept : ndarray or sparse array of shape (n, p)
            The rows x, or their own similarities.
        coefficients : ndarray of shape (n, q)
            For each row kept one coefficient for each output.

        Returns
        -------
        ndarray of shape (m, q), float64
            The sums.
        """
        used = coefficients.any(axis=1)
        if not used.all():
            kept, coefficients = kept[used], coefficients[used]
            X = X if self.kernel is not None else X[:, used]
        if self.kernel is None:
            return np.asarray(X @ coefficients)
        if len(coefficients) == 0:
            return np.zeros((X.shape[0], coefficients.shape[1]))
        # The rows kept come first: distances are measured from their mean, whatever the new rows are.
        known, starts = as_double(kept), range(0, X.shape[0], NEW_ROWS)
        parts = (self.kernel.tiles(known, as_double(X[start : start + NEW_ROWS])) for start in starts)
        return np.concatenate([part.combined(coefficients) for part in parts])

    def __repr__(self) -> str:
        return "Similarity('precomputed')" if self.kernel is None else f"Similarity({self.kernel!r})"


class WithKernel:
    """A part of models that have the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``: see `KERNEL_PARAMETERS`."""

    kernel: Any
    gamma: float | None
    degree: int
    coef0: float

    @property
    def _similarity(self) -> Similarity:
        return Similarity.of(self.kernel, self.gamma, self.degree, self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        return tags


def _refuse_oblong(shape: tuple[int, ...]) -> None:
    if shape[0] != shape[1]:
        raise InputError(
            f"A precomputed kernel matrix compares the rows fitted with each other, so it is square, not of shape {shape}."
        )


def symmetric_part(K: np.ndarray) -> np.ndarray:
    """Check that a matrix from elsewhere is finite and symmetric, and remove its rounding.

    >>> symmetric_part(np.array([[1.0, 0.5 + 1e-12], [0.5 - 1e-12, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    if not is_finite(K):
        i, j = (int(k) for k in np.argwhere(~np.isfinite(K))[0])
        raise InputError(f"The kernel matrix must be finite, but entry ({i}, {j}) is {K[i, j]}.")
    gap = np.abs(K - K.T)
    if gap.max(initial=0.0) > 1e-8 * np.abs(K).max(initial=0.0):
        i, j = (int(k) for k in np.unravel_index(gap.argmax(), gap.shape))
        raise InputError(
            f"A kernel is symmetric, but entry ({i}, {j}) of its matrix is {K[i, j]:g} and entry ({j}, {i}) is {K[j, i]:g}."
        )
    return np.asarray((K + K.T) / 2)
