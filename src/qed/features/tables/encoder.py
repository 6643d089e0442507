r"""A table of numbers, text, booleans and dates as a matrix of numbers with names.

Each column becomes columns of its own, :math:`x_j \mapsto \phi_j(x_j) \in \mathbb R^{m_j}`: numbers stay numbers, their
holes filled and marked; text becomes one column of zeros and ones for each common level, or, where it is free text, the
weighed counts of its common words; dates become their parts. One
pass over the rows learns all that is needed: a `Summary` of the numbers and a count of the levels, bounded in size
whatever the table. Medians, free text, and dates written as text, take more passes. What was decided is said in plain words, a
line for each column, and every decision can be overruled.
"""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, hstack

from qed.base.attributes import booleans, each, of
from qed.base.attributes import text as sentence
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, InputError
from qed.base.models.parameters import Parameter, array, boolean, choice, integer, number, numeric_type
from qed.base.models.problem import TableProblem
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.features.filling import filled
from qed.features.missing.fills import WAYS
from qed.features.names import input_names, told_apart
from qed.features.stream import first_block, with_columns
from qed.features.tables.columns import (
    Column,
    DateColumn,
    LevelColumn,
    NumberColumn,
    TextColumn,
    sparse_columns,
    writes_as,
)
from qed.features.tables.inspection import Inspection, Reading, amounts, asked_kinds, inspect_table
from qed.features.tables.levels import column_of
from qed.features.tables.orders import ORDERS, ways_of_orders
from qed.features.tables.plan import Decider, Wishes
from qed.features.tables.proof import decision_claim, learned_amounts, level_claim, matrix_claims, only, text_claim
from qed.features.tables.table import TableTransformer

_COLUMNS = Parameter("a list of columns, or None", lambda value: value is None or array().accepts(value), "model")


class ColumnEncoder(TableTransformer):
    """Turn a mixed table into numbers.

    What becomes of a column depends on what it holds:

    - numbers stay as they are; holes are filled with the mean, and marked in a column of their own if ``fit`` saw some,
      unless `impute` is None;
    - booleans become 0 and 1;
    - text and categories become one column of zeros and ones for each level. Levels rarer than `min_frequency`, and
      those beyond the `max_levels` most frequent, share the column ``other``. Missing values are a level. A column in
      which more than half of the values differ (and there are more than ten) is taken for an identifier and left out,
      as is one without a single common level; but where such values have three words or more on average, it is free
      text: the words in at least `min_frequency` of the rows, at most `max_terms`, become columns of tf-idf;
    - dates, also if written as text like ``2024-02-29``, become year, month, day of the week (Monday is 0), day of the
      year, and days since the first date; durations become days, times of the day hours;
    - whole numbers are numbers, however few of them differ: name those that are codes in `categorical`;
    - what never varies is left out.

    Parameters
    ----------
    numeric, categorical, dates, text, drop : list of str or int, optional
        Columns (by name or number) to be read as numbers, levels, dates or free text, or to be left out, whatever they look
        like.
    ordered : dict of str or int to list of str, optional
        Columns of text whose categories have an order, with their values from the least to the greatest: they become the numbers 0, 1, 2
        and so on. Pairs of a column and its values will do as well. Other values are missing ones.
    impute : {'mean', 'median', None}, default='mean'
        What holes in numbers are filled with. Medians take some passes more. With None they stay holes, NaN, and so do missing
        values and unknown levels where `coded`: for models that take them, such as trees.
    indicator : bool, default=True
        Mark holes in numbers and dates.
    scale : bool, default=False
        Scale numbers and parts of dates to mean zero and variance one.
    min_frequency : float or int, default=0.01
        The share of rows, or the number of rows, that a level needs for a column of its own.
    max_levels : int, default=50
        The largest number of levels of a column that get a column of their own.
    max_terms : int, default=200
        The largest number of words of a column of free text that get a column of their own.
    unknown : {'other', 'zeros', 'error'}, default='other'
        Where levels go that ``fit`` has not seen: to ``other`` where there is such a column and to zeros where not; to
        zeros; or nowhere.
    full_rank : bool, default=False
        Leave out the first level of each column, which the others determine: for linear models without a penalty.
    sparse_threshold : float, default=0.0
        Where a table has free text, and less than this share of the matrix would not be zero, give a sparse matrix, with columns
        for all words in two rows or more, at most the 20 000 most frequent (or `max_terms`, if that is more).
    coded : bool, default=False
        Number the levels of each column in one column, 0, 1, 2 and so on, instead: for models that take levels, such as `CategoricalNB`.
    dtype : type, default=numpy.float64
        What the matrix holds.

    Attributes
    ----------
    decisions_ : list of str
        One line for each column of the table: what became of it, and why.
    columns_ : list
        The parts that encode the columns that are kept: `NumberColumn`, `LevelColumn`, `DateColumn` or `TextColumn`.
    sparse_output_ : bool
        Whether the matrix is sparse.
    certificate_ : Certificate
        That the fillings and levels are those of the data; `qed.certify` also encodes the data and checks the matrix.

    See Also
    --------
    OneHotEncoder, SimpleImputer, StandardScaler : The single steps.

    Examples
    --------
    >>> import pandas
    >>> import qed
    >>> table = pandas.DataFrame(
    ...     {"age": [30, 41, None], "pet": ["cat", "dog", "cat"], "born": ["2001-05-01", "1998-02-03", "2001-07-01"]}
    ... )
    >>> encoder = qed.ColumnEncoder().fit(table)
    >>> print("\\n".join(encoder.decisions_))
    'age': a number; 1 missing, filled with the mean 35.5 and marked in a column of its own
    'pet': 2 levels, one column each
    'born': a date, as year, month, weekday, yearday, days since 1998-02-03
    >>> encoder.transform(table)[:, :4]
    array([[30. ,  0. ,  1. ,  0. ],
           [41. ,  0. ,  0. ,  1. ],
           [35.5,  1. ,  1. ,  0. ]])
    >>> encoder.get_feature_names_out()[:4].tolist()
    ['age', 'age_missing', 'pet_cat', 'pet_dog']
    """

    attributes: ClassVar = {
        "reading_": of(Reading),
        "decisions_": each(sentence(), "features"),
        "columns_": each(of(NumberColumn, DateColumn, LevelColumn, TextColumn)),
        "sparse_output_": booleans(),
    }
    parameters: ClassVar = {
        "numeric": _COLUMNS,
        "categorical": _COLUMNS,
        "dates": _COLUMNS,
        "text": _COLUMNS,
        "drop": _COLUMNS,
        "ordered": ORDERS,
        "impute": choice("mean", "median", None, kind="model"),
        "indicator": boolean(),
        "scale": boolean(),
        "min_frequency": Parameter(
            "a share from 0 to 1 or a whole number >= 1",
            lambda value: integer(1).accepts(value) or (isinstance(value, float) and number(0, 1).accepts(value)),
            "model",
        ),
        "max_levels": integer(1, kind="model"),
        "max_terms": integer(1, kind="model"),
        "unknown": choice("other", "zeros", "error", kind="model"),
        "full_rank": boolean(),
        "sparse_threshold": number(0, 1),
        "coded": boolean(),
        "dtype": numeric_type(),
    }

    def __init__(
        self,
        *,
        numeric: Any = None,
        categorical: Any = None,
        dates: Any = None,
        text: Any = None,
        drop: Any = None,
        ordered: Any = None,
        impute: str | None = "mean",
        indicator: bool = True,
        scale: bool = False,
        min_frequency: float = 0.01,
        max_levels: int = 50,
        max_terms: int = 200,
        unknown: str = "other",
        full_rank: bool = False,
        sparse_threshold: float = 0.0,
        coded: bool = False,
        dtype: Any = np.float64,
    ) -> None:
        self.numeric = numeric
        self.categorical = categorical
        self.dates = dates
        self.text = text
        self.drop = drop
        self.ordered = ordered
        self.impute = impute
        self.indicator = indicator
        self.scale = scale
        self.min_frequency = min_frequency
        self.max_levels = max_levels
        self.max_terms = max_terms
        self.unknown = unknown
        self.full_rank = full_rank
        self.sparse_threshold = sparse_threshold
        self.coded = coded
        self.dtype = dtype

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        try:
            return super()._open(X, y, sample_weight, reset=reset, target=target)
        except ValueError as error:
            given = getattr(X, "columns", getattr(X, "feature_names", None))
            if reset or given is None or not hasattr(self, "feature_names_in_"):
                raise
            lost = [name for name in self.feature_names_in_ if name not in list(given)]
            if not lost:
                raise
            raise InputError(
                f"Column {lost[0]!r} is missing: the table that the encoder learned from had it. {error}"
            ) from None

    def _problem(self, rows: Rows) -> TableProblem:
        return TableProblem(rows, source="statistics")

    def _evidence(self, rows: Rows) -> TableProblem:
        inspection = rows.fold(Inspection.of, self.reading_, self._quoted())
        evidence: Any = inspection.amounts
        if self.impute not in ("mean", None) and len(inspection.amounts.mean):
            places, values = learned_amounts(self.columns_, self.reading_)
            fill = np.full(len(inspection.amounts.mean), np.nan)
            fill[places] = values
            evidence = WAYS[self.impute].evidence(self._amounts(rows, inspection), fill)
        return TableProblem(rows, (inspection, evidence))

    def _known(self, rows: Rows, statistic: tuple[Reading, Inspection]) -> TableProblem:
        return TableProblem(rows, statistic, source="statistics")

    def _first_reading(self, rows: Rows) -> Reading:
        """Say what the columns are read as, by their types and by what was asked for."""
        schema = rows.facts.schema or first_block(rows).X.schema
        names = [str(name) for name in getattr(self, "feature_names_in_", schema.names)]
        lists = {"number": self.numeric, "levels": self.categorical, "date": self.dates, "text": self.text}
        columns, orders = ways_of_orders(self.ordered, names, rows.n_features)
        lists["number"] = [*(() if self.numeric is None else self.numeric), *columns]
        return Reading.of(schema, asked_kinds(names, rows.n_features, **lists, drop=self.drop), orders)

    def _solve(self, problem: TableProblem) -> None:
        rows = problem.rows
        known: tuple[Reading, Inspection] | None = problem.seen
        self.reading_, inspection = known or inspect_table(rows, self._first_reading(rows), self._quoted())
        fill, evidence = self._fills(rows, inspection)
        self.sparse_output_, decided = self._decided(inspection, fill)
        self.decisions_ = [says for _, says in decided]
        self.columns_ = [column for column, _ in decided if column is not None]
        if not self.columns_:
            seen = "only 1 sample (row)" if inspection.count == 1 else f"{inspection.count} rows"
            raise DegenerateError(f"No column is left to learn from in {seen}. " + "; ".join(self.decisions_) + ".")
        problem.seen = inspection, evidence

    def _decided(self, inspection: Inspection, fill: np.ndarray) -> tuple[bool, list[tuple[Column | None, str]]]:
        """Say whether the matrix is sparse, and what becomes of each column."""
        for sparse in (True, False) if self.sparse_threshold > 0 and self.reading_.places("text") else (False,):
            decider = Decider(self.reading_, inspection, fill, self._wishes(sparse))
            decided = [decider.decide(j, name) for j, name in enumerate(self._quoted())]
            full = decider.fullness([column for column, _ in decided if column is not None])
            if not sparse or full < self.sparse_threshold:
                break
        return sparse, decided

    def _disagreement(self) -> str:
        kinds = {
            NumberColumn: ("number", "flag"),
            DateColumn: ("date",),
            LevelColumn: ("levels",),
            TextColumn: ("text",),
        }
        wrong = [one.place for one in self.columns_ if one.place not in self.reading_.places(*kinds[type(one)])]
        right = len(self.reading_.kinds) == self.n_features_in_ and not wrong
        return "" if right else "columns_ are not those of reading_"

    def _wishes(self, sparse: bool) -> Wishes:
        given = {field.name: getattr(self, field.name) for field in fields(Wishes) if field.name != "sparse"}
        return Wishes(**given, sparse=sparse)

    def _quoted(self) -> tuple[str, ...]:
        return tuple(self._named(j) for j in range(self.n_features_in_))

    def _fills(self, rows: Rows, inspection: Inspection) -> tuple[np.ndarray, Any]:
        """Give what holes are filled with, and the evidence for it."""
        if self.impute in ("mean", None) or not len(inspection.amounts.mean):
            return inspection.amounts.mean, inspection.amounts
        fill, evidence = WAYS[self.impute].learn(self._amounts(rows, inspection))
        return fill, evidence

    def _amounts(self, rows: Rows, inspection: Inspection) -> Rows:
        change = partial(amounts, reading=self.reading_, names=self._quoted())
        return with_columns(rows, change, count=len(inspection.amounts.mean), dtype=np.float64)

    def transform(self, X: Any) -> Any:
        """Turn the table into numbers.

        Parameters
        ----------
        X : frame, array-like, path, Dask frame or Rows
            A table with the columns that ``fit`` saw.

        Returns
        -------
        ndarray or sparse array of shape (n, n_columns_out)
            The matrix; :meth:`get_feature_names_out` names its columns.
        """
        self._check_fitted()
        rows = self._open(X, reset=False)
        if self.sparse_output_ or not rows.in_memory:
            return rows.map(self._change)
        return filled(rows, self._width(), self.dtype, self._write)

    @property
    def categorical_places(self) -> list[int]:
        """The columns of the matrix that hold the numbers of levels; none unless `coded`."""
        starts = np.cumsum([0, *(len(column.labels("")) for column in self.columns_)]).tolist()
        return [
            start for column, start in zip(self.columns_, starts) if isinstance(column, LevelColumn) and column.coded
        ]

    def _width(self) -> int:
        return sum(len(column.labels("")) for column in self.columns_)

    def _write(self, block: Block, out: np.ndarray) -> None:
        start = 0
        for column in self.columns_:
            stop = start + len(column.labels(""))
            column.write(column_of(block.X, column.place), out[:, start:stop], self._named(column.place), block.start)
            start = stop

    def _rewrite(self, table: Block, out: np.ndarray, other: ColumnEncoder) -> bool:
        """Make the matrix of another encoder that of this one, column by column where they differ; False where widths do.

        The other one was fitted to other rows of the same table, and `out` is what it made of all rows.
        """
        widths, start = [len(column.labels("")) for column in self.columns_], 0
        if self.sparse_output_ or other.sparse_output_ or widths != [len(one.labels("")) for one in other.columns_]:
            return False
        for column, before, width in zip(self.columns_, other.columns_, widths):
            values = column_of(table.X, column.place)
            if not writes_as(column, before, values):
                part = out[:, start : start + width]
                part[:] = 0.0
                column.write(values, part, self._named(column.place), 0)
            start += width
        return True

    def _makes_sparse(self, rows: Rows) -> bool:
        return self.sparse_output_

    def _change(self, block: Block) -> Any:
        if self.sparse_output_:
            places = ((column, column.place) for column in self.columns_)
            values = ((column, column_of(block.X, place), self._named(place)) for column, place in places)
            made = [sparse_columns(column, part, name, block.start, self.dtype) for column, part, name in values]
            return csr_array(hstack(made, format="csr"))
        out = np.zeros((len(block), self._width()), self.dtype)
        self._write(block, out)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of the matrix, such as ``age``, ``age_missing``, ``pet_cat`` and ``born_year``.

        Parameters
        ----------
        input_features : list of str, optional
            The names of the table's columns; the default is those seen in ``fit``.
        """
        names = input_names(self, input_features)
        found = [label for column in self.columns_ for label in column.labels(str(names[column.place]))]
        return np.array(told_apart(found), dtype=object)

    def _restate(self, problem: TableProblem) -> list[Claim]:
        inspection, _ = problem.seen
        places, values = learned_amounts(self.columns_, self.reading_)
        fill = np.full(len(inspection.amounts.mean), np.nan)
        fill[places] = values
        sparse, decided = self._decided(inspection, fill)
        return [
            decision_claim(self.columns_, [column for column, _ in decided if column is not None]),
            Claim("sparse_output_ is what the data ask for (other)", float(sparse != self.sparse_output_), 0.0),
        ]

    def _prove(self, problem: TableProblem) -> list[Claim]:
        inspection, evidence = problem.seen
        places, fill = learned_amounts(self.columns_, self.reading_)
        claims = matrix_claims(self, problem.rows) if problem.source == "data" else []
        decider = Decider(self.reading_, inspection, inspection.amounts.mean, self._wishes(self.sparse_output_))
        claims += [level_claim(self.columns_, decider), *text_claim(self.columns_, decider)]
        if self.impute is not None and len(places):
            claims += WAYS[self.impute].claims(fill, only(evidence, places))
        return claims
