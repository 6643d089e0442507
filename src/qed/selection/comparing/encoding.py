"""One table, encoded for every fold by what its training rows tell, at little more than the price of one encoding.

An encoder may learn from training rows only, or something of the rows held out would leak into the score. But what it learns is additive:
one pass inspects every fold, and what the other folds say together is what a training set says. What the encoders of two folds then
make of the table differs in few columns, where holes are filled with another mean or a level has become rare; only these are written
anew.
"""

from functools import partial
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np

from qed.base.models.roles import Transformer
from qed.base.models.searching import fit_known
from qed.base.sources.rows import ArrayRows, Rows
from qed.features.stream import changed
from qed.features.tables.encoder import ColumnEncoder
from qed.features.tables.inspection import Inspection, Reading, inspect_table
from qed.selection.comparing.folding import Folds
from qed.stats.grouped import Grouped
from qed.stats.parts import Part

Known = list[tuple[Reading, Inspection]]


def inspect_folds(table: ArrayRows, folds: Folds | None, encoder: ColumnEncoder) -> Known:
    """Learn all that encoders want to know of each training set, and last of all rows; without folds, of these alone.

    The encoder says what the columns are to be read as; it is not fitted.
    """
    probe = ColumnEncoder(**encoder.get_params())
    rows = probe._open(table, reset=True)
    first = probe._first_reading(rows)
    if folds is None:
        return [inspect_table(rows, first, probe._quoted())]

    def inspected(reading: Reading) -> list[Inspection]:
        inspect = partial(Inspection.of, reading=reading, names=probe._quoted())
        parts: Grouped = rows.fold(Grouped.of, folds.number, folds.count, inspect)
        if folds.forward:
            # What came before each fold; the first block is -1, and what comes last is what all rows say.
            return list(accumulate((parts[fold] for fold in range(-1, folds.count)), add))
        return [*parts.others(), parts.total]

    found = inspected(first)
    # Dates written as text are looked at again; mostly they are the same in all folds.
    readings = [seen.reading(first) for seen in found]
    again = {reading: inspected(reading) for reading in set(readings) - {first}}
    return [(reading, again.get(reading, found)[place]) for place, reading in enumerate(readings)]


class FoldEncoder:
    """Encodes a table for one fold after another.

    The parameters are those of :func:`inspect_folds`, and what it found.

    >>> import qed
    >>> table = qed.rows({"age": [30.0, None, 20.0, 40.0], "pet": ["cat", "dog", "cat", "dog"]}).table()
    >>> folds, usual = Folds(np.array([0, 0, 1, 1])), ColumnEncoder(min_frequency=1)
    >>> encoder = FoldEncoder(table, folds, usual, inspect_folds(table, folds, usual))
    >>> encoder.matrix(encoder.fitted(0))[:2]
    array([[30.,  1.,  0.],
           [30.,  0.,  1.]])
    """

    def __init__(self, table: ArrayRows, folds: Folds, encoder: ColumnEncoder, known: Known) -> None:
        self.table, self.folds, self.encoder, self.known = table, folds, encoder, known
        self._last: ColumnEncoder | None = None
        self._matrix: Any = np.empty((0, 0))

    def fitted(self, fold: int | None) -> ColumnEncoder:
        """Give an encoder that has learned from the training rows of a fold, or with None from all rows."""
        rows = self.table if fold is None else Part(self.table, self.folds.training(fold))
        made = ColumnEncoder(**self.encoder.get_params())
        fit_known(made, rows, self.known[-1 if fold is None else fold])
        return made

    def forget(self) -> None:
        """Let the matrix go; it is made anew when it is asked for."""
        self._last, self._matrix = None, np.empty((0, 0))

    def shown(self, most: int) -> Any:
        """Encode some rows, spread evenly over the table, by what all rows tell."""
        n = self.table.count()
        rows = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
        return self.fitted(None).transform(ArrayRows(self.table.X.take(rows), feature_names=self.table.feature_names))

    def matrix(self, encoder: ColumnEncoder) -> Any:
        """Encode all rows. The matrix, where it is not sparse, is overwritten when the next is asked for."""
        last, self._last = self._last, encoder
        if last is None or not encoder._rewrite(self.table.array(), self._matrix, last):
            self._matrix = encoder.transform(self.table)
        return self._matrix

    def encode(self, encoder: ColumnEncoder, parts: list[Transformer], fold: int) -> Any:
        """Give all rows as a model sees them whose encoder has learned from the training rows of a fold, as `parts` are going to."""
        names = encoder.get_feature_names_out().tolist()
        rows: Rows = ArrayRows(self.matrix(encoder), feature_names=names)
        for part in parts:
            rows = changed(part.fit(Part(rows, self.folds.training(fold))), rows).cached()
        return rows.array().X
