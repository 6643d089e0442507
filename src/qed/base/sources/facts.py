"""What is known of rows before the first of them is read: stated by every source and every view, never guessed from what they hold.

A model that treats sparse rows in another way, or labels in another way than numbers, asks for it here. A view states what its source
states, but for what it changes: ``replace(source.facts, n_features=10)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of rows.

    Attributes
    ----------
    n_features : int
        How many columns the features have.
    dtype : numpy.dtype
        What the blocks hold: float32 or float64; object for a table of mixed columns.
    feature_names : tuple of str or None
        The names of the columns, where the source has names.
    is_sparse : bool
        Whether the features of the blocks are sparse matrices.
    schema : pyarrow.Schema or None
        The types of the columns, where the source is a table that knows them.
    target_names : tuple of str
        The names of the target's columns; empty where there is no target or it has no name.
    target_dtype : numpy.dtype or None
        What the target holds; None where there is none. Where values are missing, whole numbers come as floats.
    target_shape : tuple of int
        The shape of the target of one row: empty where the target is a vector, ``(q,)`` where it is a matrix of q columns.
    has_weight : bool
        Whether the blocks have weights.
    in_memory : bool
        Whether the rows are arrays, so that reading them again costs nothing.
    is_mapped : bool
        Whether these arrays are mapped from the disk, and may be larger than memory.

    Examples
    --------
    >>> facts = Facts(3, target_dtype=np.dtype("int64"))
    >>> facts.has_target, facts.target_is_number
    (True, True)
    """

    n_features: int
    dtype: np.dtype[Any] = FLOATS[0]
    feature_names: tuple[str, ...] | None = None
    is_sparse: bool = False
    schema: pa.Schema | None = None
    target_names: tuple[str, ...] = ()
    target_dtype: np.dtype[Any] | None = None
    target_shape: tuple[int, ...] = ()
    has_weight: bool = False
    in_memory: bool = False
    is_mapped: bool = False

    @property
    def has_target(self) -> bool:
        """Whether the blocks have a ``y``."""
        return self.target_dtype is not None

    @property
    def target_ndim(self) -> int:
        """Whether the target is one column (1) or a matrix of them (2)."""
        return 1 + len(self.target_shape)

    @property
    def n_targets(self) -> int:
        """How many columns the target has."""
        return self.target_shape[0] if self.target_shape else 1

    @property
    def target_is_number(self) -> bool:
        """Whether the target, if there is one, is made of numbers."""
        return self.target_dtype is None or self.target_dtype.kind in "biuf"

    @property
    def is_table(self) -> bool:
        """Whether the blocks hold tables of mixed columns instead of numbers."""
        return self.dtype.kind == "O"


class Stated:
    """Something with `Facts`, each of which is an attribute of its own."""

    facts: Facts

    @property
    def n_features(self) -> int:
        return self.facts.n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.facts.dtype

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.facts.feature_names

    @property
    def is_sparse(self) -> bool:
        return self.facts.is_sparse

    @property
    def is_table(self) -> bool:
        return self.facts.is_table

    @property
    def target_names(self) -> tuple[str, ...]:
        return self.facts.target_names

    @property
    def target_dtype(self) -> np.dtype[Any] | None:
        return self.facts.target_dtype

    @property
    def target_ndim(self) -> int:
        return self.facts.target_ndim

    @property
    def target_shape(self) -> tuple[int, ...]:
        return self.facts.target_shape

    @property
    def n_targets(self) -> int:
        return self.facts.n_targets

    @property
    def target_is_number(self) -> bool:
        return self.facts.target_is_number

    @property
    def has_target(self) -> bool:
        return self.facts.has_target

    @property
    def has_weight(self) -> bool:
        return self.facts.has_weight

    @property
    def in_memory(self) -> bool:
        return self.facts.in_memory
