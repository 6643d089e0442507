r"""The columns of a table as atoms of unit length, and which of them is nearest to a residual.

.. math:: z_j = \frac{x_j - \bar x_j \mathbf 1}{\|x_j - \bar x_j \mathbf 1\|}, \qquad
   \arg\max_j \frac{|z_j^\top r|}{\|r\|} = \arg\min_j \min_\nu \|r - \nu x_j\|.

Looking at all atoms is what greedy methods spend their time on, and it is the memory that limits it. So dense atoms
are kept in single precision, unless they are few, and several residuals are compared with them at once. What rounding can do to a product
of two vectors of length n is at most :math:`(n + 3)\,2^{-24}`; all atoms that come that near to the best are compared
again in double precision. The choice is therefore exact; atoms that then differ by less than `TIE`, relative, count as equally
near, and the first of them is taken. Where few atoms are wanted they are looked at so seldom that a copy does not pay, and the
table is taken as it is. One with many more rows than columns is compressed first, to a triangle with the same products
between its columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.numbers import EPS, TINY, largest, smallest
from qed.base.sources.block import is_sparse
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.optim.sparse.dense import NEAR, PlainColumns
from qed.regression.greedy.few_rows import few_rows
from qed.stats.moments import Moments
from qed.stats.products import present_rows

TIE = 2.0**-36
TALL = 4
LARGEST = 4096
WIDTH = 512
NARROW = 256
CHUNK = 4096
SINGLE = 2.0**-24
# So many looks at all atoms take less than a copy that makes them cheaper.
FEW_TURNS = 32
# So few atoms are all looked at every time.
FEW_ATOMS = 32
# So many values stay in the cache in double precision.
SMALL = 1 << 15

# The share of a column's distance from zero that the rounding of its values may be.
BLUR = 64 * EPS


def noise(count: int) -> float:
    """Say how far rounding may carry a product of two vectors of `count` numbers, relative to their lengths.

    >>> noise(100) < 1e-13
    True
    """
    return 16 * EPS * (4 + math.sqrt(count))


def size_of(vector: np.ndarray) -> float:
    """Give the length of a vector."""
    return math.sqrt(vector @ vector)


def over(top: Any, length: np.ndarray) -> np.ndarray:
    """Divide by lengths, where they are not zero; there, give zero.

    >>> over(1.0, np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    if smallest(length) > 0:
        return np.asarray(top / length)
    return np.divide(top, length, out=np.zeros(len(length)), where=length > 0)


class Atoms:
    """Columns, centred and weighted, and seen as having unit length.

    Attributes
    ----------
    length : ndarray of shape (p,)
        The length of each column; zero for those that are constant but for rounding, which are never chosen.
    slack : float
        By how much a nearness may be off.

    Examples
    --------
    >>> atoms = Atoms(np.array([[3.0, 1.0], [4.0, 0.0]]), np.zeros(2))
    >>> atoms.length, atoms.units([0]).ravel()
    (array([5., 1.]), array([0.6, 0.8]))
    >>> residual = np.array([2.0, 0.1])
    >>> atoms.nearest(atoms.nearness(residual[None])[0], residual)
    1
    """

    def __init__(
        self, X: Any, center: np.ndarray, root: np.ndarray | None = None, plain: PlainColumns | None = None
    ) -> None:
        self.X, self.center, self.root, self.plain = X, center, root, plain
        self.count, self.size = X.shape
        self.sparse, self.small = is_sparse(X), False
        if plain is not None:
            self.slack = 2 * (1 + NEAR) * (self.count + 4) * EPS
            self.length, self._scale = plain.length, over(1.0, plain.length)
            return
        self.length, self._scale = np.zeros((2, self.size))
        self.small = not self.sparse and self.count * self.size <= SMALL
        self.slack = 0.0 if self.sparse else (min(self.count, CHUNK) + 4) * (EPS if self.small else SINGLE)
        kind = np.float64 if self.small else np.float32
        self._kept = np.empty((0 if self.sparse else self.size, self.count), dtype=kind)
        if self.size <= NARROW:
            return self._measure(0)
        for _ in work(partial(self._measure, start) for start in range(0, self.size, NARROW)):
            continue

    def _measure(self, start: int) -> None:
        """Find the lengths of some columns, and keep them as atoms."""
        part = slice(start, min(start + NARROW, self.size))
        values = self._raw(part)
        length = np.sqrt(np.einsum("ij,ij->i", values, values))
        length[length <= self._rounding(part)] = 0.0
        self.length[part], self._scale[part] = length, over(1.0, length)
        if not self.sparse:
            np.multiply(values, self._scale[part, None], out=self._kept[part], casting="same_kind")

    def _rounding(self, which: Any) -> Any:
        """Say how long what rounding leaves of columns far from zero may be."""
        total = self.count if self.root is None else float(self.root @ self.root)
        return BLUR * math.sqrt(total) * np.abs(self.center[which])

    def blur(self, atom: int) -> float:
        """Say which part of an atom may be rounding."""
        return float(self._rounding(atom) * self._scale[atom])

    def _raw(self, chosen: Any) -> np.ndarray:
        """Give columns, centred and weighted, as rows of float64."""
        if self.plain is not None:
            values = np.empty((len(chosen), self.count))
            self.plain.write(np.asarray(chosen), values)
            return values
        found = self.X[:, chosen]
        values = np.empty((found.shape[1], self.count))
        np.subtract((found.toarray() if self.sparse else found).T, self.center[chosen, None], out=values)
        if self.root is not None:
            values *= self.root
        return values

    def units(self, chosen: Sequence[int] | np.ndarray) -> np.ndarray:
        """Give atoms as rows of float64."""
        return self._kept[chosen] if self.small else self._raw(chosen) * self._scale[chosen, None]

    def unit(self, atom: int) -> np.ndarray:
        """Give one atom, which is not to be written to."""
        return self._kept[atom] if self.small else self.units([atom])[0]

    def nearness(self, residuals: np.ndarray) -> np.ndarray:
        """Give ``|z_j' r| / ||r||`` for all atoms (as columns) and residuals (as rows), to within `slack`."""
        if self.small and len(residuals) == 1:
            return np.abs(_products(residuals, self._kept)) / max(size_of(residuals[0]), TINY)
        size = np.maximum(np.sqrt(np.einsum("ij,ij->i", residuals, residuals)), TINY)[:, None]
        if self.small:
            return np.abs(_products(residuals, self._kept)) / size
        unit = residuals / size
        if self.plain is not None:
            return np.abs(self.plain.products(unit.T).T * self._scale)
        if self.sparse:
            weighted = unit if self.root is None else unit * self.root
            product = (self.X.T @ weighted.T).T - np.outer(weighted.sum(axis=1), self.center)
            return np.abs(product * self._scale)
        near, single = np.empty((len(residuals), self.size)), unit.astype(np.float32)
        tasks = (partial(self._compare, near, single, start) for start in range(0, self.size, WIDTH))
        for _ in work(tasks):
            continue
        return near

    def _compare(self, near: np.ndarray, unit: np.ndarray, start: int) -> None:
        part = slice(start, min(start + WIDTH, self.size))
        near[:, part] = np.abs(_products(unit, self._kept[part]))

    @property
    def worth_guessing(self) -> bool:
        """Whether several residuals are compared at less than the price of one by one: not with a table as it came, nor with few atoms."""
        return self.plain is None and self.size > FEW_ATOMS

    def some(self, chosen: np.ndarray) -> SomeAtoms:
        """Give some atoms, to be compared with one residual after another."""
        return SomeAtoms(self, chosen, self.X[:, chosen] if self.sparse else self._kept[chosen])

    def nearest(self, near: np.ndarray, residual: np.ndarray, places: np.ndarray | None = None) -> int:
        """Choose the atom nearest to a residual; among equals the first.

        `near` has the nearness of all atoms, or of those at `places` (rising), to within `slack`.
        """
        doubtful = (near >= (1 - TIE) * largest(near) - 2 * self.slack).nonzero()[0]
        if places is not None:
            doubtful = places[doubtful]
        if len(doubtful) == 1:
            return int(doubtful[0])
        parts = [doubtful[i : i + WIDTH] for i in range(0, len(doubtful), WIDTH)]
        exact = np.concatenate([np.abs(self.units(part) @ residual) for part in parts])
        return int(doubtful[np.argmax(exact >= (1 - TIE) * exact.max())])


class SomeAtoms:
    """Some atoms of many, small enough to stay near the processor."""

    def __init__(self, atoms: Atoms, places: np.ndarray, values: Any) -> None:
        self.atoms, self.places, self.values = atoms, places, values

    def nearest(self, residual: np.ndarray) -> int:
        """Choose the nearest of them."""
        atoms = self.atoms
        size = size_of(residual)
        if atoms.sparse:
            weighted = residual if atoms.root is None else residual * atoms.root
            product = (self.values.T @ weighted - atoms.center[self.places] * weighted.sum()) / size
            near = np.abs(product * atoms._scale[self.places])
        else:
            near = np.abs(_products((residual / size).astype(self.values.dtype)[None], self.values)[0])
        return atoms.nearest(near, residual, self.places)


def _products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Multiply rows with rows in their precision, and add up pieces in double precision: rounding then does not grow with n."""
    if left.shape[1] <= CHUNK:
        return left @ right.T
    total = np.zeros((len(left), len(right)))
    for start in range(0, left.shape[1], CHUNK):
        part = slice(start, start + CHUNK)
        total += left[:, part] @ right[:, part].T
    return total


def pays_to_compress(rows: Rows) -> bool:
    """Say whether a table should be compressed to moments: files and clusters, and all with many more rows than columns."""
    p = rows.n_features
    return p <= LARGEST and (not rows.in_memory or rows.count() > TALL * (p + 1))


def open_atoms(
    rows: Rows, seen: Moments | Summary, center: np.ndarray, target_center: np.ndarray, *, centered: bool, wanted: int
) -> tuple[Atoms, np.ndarray]:
    """Give the atoms of a table, of which so many are wanted, and its targets, as rows of shape (q, n), both centred and weighted.

    Where the moments were seen, few rows with the same products stand for a table that is not small.
    """
    small = rows.in_memory and not rows.is_sparse and rows.count() * rows.n_features <= SMALL
    if isinstance(seen, Moments) and not small:
        X, Y = few_rows(rows, seen, centered=centered)
        return Atoms(X, np.zeros(X.shape[1])), np.ascontiguousarray(Y.T)
    X, Y, weight = present_rows(rows.array(), target=True)
    root = None if weight is None else np.sqrt(weight)
    Y = Y - target_center if root is None else (Y - target_center) * root[:, None]
    plain = None
    if (
        isinstance(seen, Summary)
        and not small
        and wanted <= FEW_TURNS
        and not is_sparse(X)
        and (X.flags.c_contiguous or X.flags.f_contiguous)
    ):
        square = seen.deviation if centered else seen.deviation + seen.weight * seen.mean**2
        plain = PlainColumns(X, root, centered=centered, known=(seen.mean, np.sqrt(square)))
    given = plain if plain is not None and plain.is_near else None
    return Atoms(X.tocsc() if is_sparse(X) else X, center, root, given), np.ascontiguousarray(Y.T)
