r"""How predictions depend on one column: the mean prediction when all rows are given the same value of it.

.. math:: \bar h_j(v) = \frac1n \sum_i h(x_{i1}, \dots, x_{i,j-1}, v, x_{i,j+1}, \dots, x_{ip})

Numbers and dates are tried at quantiles of the column, so that nothing is asked where there are no rows; of categories the most frequent
are. The single rows are kept as well: where their lines are not parallel, the column works differently in different rows. What the curve
shows is the model, not a cause; and where columns go together, some of the rows it asks about do not exist.

Friedman (2001), Greedy function approximation; Goldstein et al. (2015), Peeking inside the black box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.models.parameters import integer
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.layout import kind_of
from qed.base.visible import Lines, Shown
from qed.features.tables.values import dates_of, is_date, numbers_of
from qed.features.tables.writing import DATES, how_written, way_of
from qed.plots import curves as drawn
from qed.selection.diagnosis.columns import column_at, names_of, opened, places_of, reordered, with_column
from qed.selection.inputs import count_rows
from qed.selection.splitting.holdout import take_rows


@dataclass(frozen=True, eq=False, repr=False)
class PartialDependence(Shown):
    """What a model predicts, on average, for values of one column.

    Attributes
    ----------
    name : str
        The column.
    values : list
        The values that were tried, as they stand in the table.
    places : ndarray of shape (n_values,) or None
        Where they lie on a line: numbers themselves, dates in days since 1970; None for categories.
    each : ndarray of shape (n_rows, n_values, n_outputs)
        What is predicted for each row with each value.
    outputs : tuple of str
        What is predicted: the target, or the probability (or score) of each of these classes.
    is_date : bool
        Whether `places` are days since 1970.
    """

    name: str
    values: list[Any]
    places: np.ndarray | None
    each: np.ndarray
    outputs: tuple[str, ...]
    is_date: bool = False

    @property
    def average(self) -> np.ndarray:
        """The mean over the rows, of shape (n_values, n_outputs)."""
        return np.asarray(self.each.mean(axis=0))

    def _table(self) -> Lines:
        lines = [[str(value), *(f"{one:.4g}" for one in line)] for value, line in zip(self.values, self.average)]
        return [self.name, *self.outputs], lines

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean, and of a single output the range of most rows."""
        return drawn.dependence(self, ax)


def partial_dependence(
    model: Any,
    X: Any,
    column: str | int,
    *,
    n_values: int = 20,
    max_samples: int = 500,
    random_state: Seed = 0,
) -> PartialDependence:
    """Ask a fitted model what it predicts for all rows when one column has the same value in each.

    Parameters
    ----------
    model : estimator
        A fitted model of qed or of anybody's.
    X : array-like, frame, Arrow table or Rows
        The rows to average over.
    column : str or int
        The column, by its name or number.
    n_values : int, default=20
        How many values to try: quantiles of numbers and dates, the most frequent of categories.
    max_samples : int, default=500
        Over how many rows to average; of more, so many are drawn at random.
    random_state : None, int or numpy generator, default=0
        The seed of that draw.

    Returns
    -------
    PartialDependence
        The predictions; its ``average`` is the curve.

    Examples
    --------
    >>> import qed
    >>> rows = qed.rows(qed.data.load("diabetes").table, target="progression")
    >>> model = qed.TableModel(qed.Ridge()).fit(rows)
    >>> found = qed.partial_dependence(model, rows, "bmi", n_values=5)
    >>> bool((np.diff(found.average[:, 0]) > 0).all())
    True
    """
    X, _ = opened(X)
    n, seed = count_rows(X), seed_of(random_state)
    most, count = integer(1).checked("max_samples", max_samples), integer(1).checked("n_values", n_values)
    place = places_of(X, [column])[0]
    chosen, places, dated = _values(column_at(X, place), count)
    if n > most:
        X = take_rows(X, np.sort(generator(seed, "rows of a dependence").permutation(n)[:most]))
    rows, own = count_rows(X), column_at(X, place)
    # All values at once: the table below itself, once for each value.
    table = take_rows(X, np.tile(np.arange(rows), len(chosen)))
    asked = with_column(table, place, _repeated(chosen, rows, own))
    said, outputs = _predicted(model, asked)
    each = np.moveaxis(said.reshape(len(chosen), rows, -1), 0, 1)
    values = chosen.to_pylist() if isinstance(chosen, pa.Array) else list(chosen)
    return PartialDependence(names_of(X)[place], values, places, each, outputs, dated)


def _repeated(chosen: Any, rows: int, own: Any) -> Any:
    found = reordered(chosen, np.repeat(np.arange(len(chosen)), rows))
    return found.cast(own.type) if isinstance(found, pa.Array) and found.type != own.type else found


def _values(column: Any, count: int) -> tuple[Any, np.ndarray | None, bool]:
    """Choose the values to try, with their places on a line, and whether these are days; holes are not tried."""
    arrow = column if isinstance(column, pa.Array) else pa.array(np.asarray(column) if _is_array(column) else column)
    arrow = arrow.dictionary_decode() if pa.types.is_dictionary(arrow.type) else arrow
    line, dated = _on_a_line(arrow)
    if line is not None:
        there = np.flatnonzero(np.isfinite(line))
        order = there[np.argsort(line[there], kind="stable")]
        wanted = (
            order[np.unique(np.linspace(0, max(len(order) - 1, 0), count).round().astype(int))] if len(order) else order
        )
        wanted = wanted[np.unique(line[wanted], return_index=True)[1]]
        return reordered(column, wanted), line[wanted], dated
    codes = arrow.dictionary_encode()
    numbers = np.asarray(codes.indices.drop_null())
    counts = np.bincount(numbers, minlength=len(codes.dictionary))
    first = [int(np.flatnonzero(numbers == k)[0]) for k in np.argsort(-counts, kind="stable")[:count]]
    there = np.flatnonzero(np.asarray(arrow.is_valid()))
    return reordered(column, there[first]), None, False


def _is_array(column: Any) -> bool:
    return not hasattr(column, "iloc") and not hasattr(column, "to_arrow")


def _on_a_line(column: pa.Array) -> tuple[np.ndarray | None, bool]:
    """Give numbers and dates as numbers, also where they are written as text; None for categories."""
    way = way_of(how_written(column)) if kind_of(column.type) == "text" else ""
    if way in DATES or is_date(column.type):
        return dates_of(column, "it", 0, written=way)[:, -1], True
    if pa.types.is_boolean(column.type) or not (way or kind_of(column.type) == "number"):
        return None, False
    return numbers_of(column, "it", 0, written=way), False


def _predicted(model: Any, X: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Give what a model says of every row, a column for each output: probabilities, else scores, of classes; of two, the second."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        said = np.asarray(model.predict(X), dtype=np.float64).reshape(count_rows(X), -1)
        goal = getattr(model, "target_name_", None) or "prediction"
        return said, (goal,) if said.shape[1] == 1 else tuple(f"{goal} {k}" for k in range(said.shape[1]))
    inner = getattr(model, "model_", model)
    method = "predict_proba" if hasattr(inner, "predict_proba") else "decision_function"
    said = np.asarray(getattr(model, method)(X), dtype=np.float64)
    said = said.reshape(len(said), -1)
    if len(classes) == 2:
        return said[:, -1:], (str(classes[1]),)
    return said, tuple(str(one) for one in classes)
