"""What a report is about: a table to learn from, with its target."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Data:
    """A table to learn from."""

    name: str  # what it is called: the name of the file, or of the data set
    table: pa.Table  # the columns to learn from, without the rows that lack a target
    target: str | None  # the column to predict
    y: np.ndarray | None  # its values
    n_lost: int = 0  # how many rows were left out because their target is missing
    known_target: str | None = None  # the column that a bundled data set is meant to predict
    says: tuple[str, ...] = ()  # what was noticed about the way in which the file is written
    mapped: bool = False  # whether the table lies on disk, and not in memory
    given: tuple[
        str, ...
    ] = ()  # the files, or the bundled data set, as they were asked for; none where that was a stream
    known: bool = False  # whether it is a bundled data set
    # Whether it takes more than `qed.rows` to read it alike: a target written as text, a column that turned out to be text, a dialect.
    is_reread: bool = False
