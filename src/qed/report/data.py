"""What a report is about: a table to learn from, with its target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Data:
    """A table to learn from.

    Attributes
    ----------
    name : str
        What it is called: the name of the file, or of the data set.
    table : pyarrow.Table
        The columns to learn from, without the rows that lack a target.
    target : str or None
        The column to predict.
    y : ndarray or None
        Its values.
    n_lost : int
        How many rows were left out because their target is missing.
    known_target : str or None
        The column that a bundled data set is meant to predict.
    """

    name: str
    table: pa.Table
    target: str | None
    y: np.ndarray | None
    n_lost: int = 0
    known_target: str | None = None
