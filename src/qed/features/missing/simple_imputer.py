r"""Holes in columns, filled with one value per column.

.. math:: \tilde x_{ij} = x_{ij} \text{ where it is there, otherwise } s_j:

the mean, the median or the most frequent value of column :math:`j`, or a constant.

Means take one pass, most frequent values one pass and memory for all different values, medians a few passes and little
memory (:mod:`qed.stats.medians`): all exact, for files and clusters too. A filled column varies less than the true
one; `add_indicator` lets a model see where the holes were.
"""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from qed.base.attributes import floats, integers, labels
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.base.models.checks import check_rows, check_table
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, boolean, choice
from qed.base.models.problem import TableProblem
from qed.base.models.roles import Transformer
from qed.base.sources.block import Block, as_dense, is_sparse
from qed.base.sources.layout import kind_of
from qed.base.sources.open import rows
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.missing.by_column import ByColumn, OfFunction, commonest
from qed.features.missing.fills import WAYS
from qed.features.missing.holes import Holes, Matrix, count_holes, fill_numbers, fill_table
from qed.features.names import input_names, told_apart
from qed.features.stream import first_block, with_columns
from qed.features.tables.levels import KINDS, is_missing, strange_kind
from qed.stats.median import weighted_median

# A table with a column of which not even the type is known holds text in others, or it would be one of numbers.
DEFAULTS = {"number": 0, "text": "missing_value", "nothing": "missing_value"}


def _is_single(value: Any) -> bool:
    """Say whether a column could hold a value."""
    try:
        if isinstance(value, np.ndarray):
            return False
        return is_missing(value) or kind_of(pa.scalar(_plain(value)).type) != "other"
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False


_SINGLE = Parameter("a single number, text or missing value", _is_single, "model")


@takes("copy")
class SimpleImputer(Transformer):
    """Fill the holes of each column with its mean, median, most frequent value or a constant.

    Parameters
    ----------
    missing_values : value, default=numpy.nan
        What stands for a missing value. NaN, None and pandas' NA are the same.
    strategy : {'mean', 'median', 'most_frequent', 'constant'} or callable, default='mean'
        What to fill with. Columns of text need one of the last two. A function takes the values of a column that are there, as an
        array, and gives a number.
    fill_value : value, optional
        The constant; by default 0 for numbers and ``'missing_value'`` for text.
    add_indicator : bool, default=False
        Append a column of zeros and ones for each column that had holes in ``fit``.
    keep_empty_features : bool, default=False
        Keep columns of which nothing was there, filled with 0 (``'missing_value'`` for text, or with the constant); otherwise
        they are left out, with a warning that names them.

    Attributes
    ----------
    statistics_ : ndarray of shape (p,)
        What each column is filled with; NaN for a column that is left out.
    indicator_features_ : ndarray
        The columns with an indicator.
    indicator_ : ndarray or None
        The same, or None without ``add_indicator``.
    certificate_ : Certificate
        That the filling is what it is said to be; `qed.certify` also fills the data and looks for holes.

    See Also
    --------
    ColumnEncoder : Fills, encodes and names the columns of a mixed table.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> imputer = qed.SimpleImputer(strategy="median").fit([[1.0], [2.0], [9.0], [np.nan]])
    >>> imputer.transform([[np.nan], [5.0]]).ravel().tolist()
    [2.0, 5.0]
    >>> qed.SimpleImputer(strategy="most_frequent").fit_transform([["red"], [None], ["red"]]).ravel().tolist()
    ['red', 'red', 'red']
    """

    sparse: ClassVar[bool] = True
    attributes: ClassVar = {
        "statistics_": floats("features", finite=False) | labels("features", missing=True, mixed=True, dtypes="O"),
        "indicator_features_": integers("marked", below="features"),
    }
    parameters: ClassVar = {
        "missing_values": _SINGLE,
        "strategy": choice("mean", "median", "most_frequent", "constant", kind="model")
        | Parameter("a function of the values of a column", callable, "model"),
        "fill_value": _SINGLE,
        "add_indicator": boolean(),
        "keep_empty_features": boolean(),
    }

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        strategy: str | Callable[[np.ndarray], float] = "mean",
        fill_value: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.strategy = strategy
        self.fill_value = fill_value
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = is_missing(self.missing_values)
        tags.input_tags.string = True
        return tags

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        source = rows(X, y if isinstance(y, str) else None, sample_weight=sample_weight)
        if has_text(source) if reset else self.statistics_.dtype == object:
            return check_table(self, source, reset=reset)
        return check_rows(self, source, reset=reset)

    def _apply(self, function: Callable[..., Any], X: Any, *args: Any) -> Any:
        self._check_fitted()
        return self._open(X, reset=False).map(function, *args)

    def _problem(self, rows: Rows) -> TableProblem:
        return TableProblem(rows, source="statistics")

    def _evidence(self, rows: Rows) -> TableProblem:
        seen = self._with_holes(rows)
        constant = self.strategy == "constant"
        return TableProblem(rows, None if constant else self._way(rows).evidence(seen, self.statistics_))

    def _way(self, rows: Rows) -> Any:
        """Say how columns are filled: with a sum over rows where there is one, else column by column."""
        if callable(self.strategy):
            return ByColumn(OfFunction(self.strategy))
        if rows.is_sparse and self.strategy != "mean":
            return ByColumn(weighted_median if self.strategy == "median" else commonest)
        return WAYS[self.strategy]

    def _solve(self, problem: TableProblem) -> None:
        rows = problem.rows
        seen = self._with_holes(rows)
        values, evidence = self._constants(seen), None
        if values is None:
            values, evidence = self._way(rows).learn(seen)
        if isinstance(evidence, Summary):
            missing, count = evidence.missing, evidence.count
        else:
            *missing, count = seen.fold(count_holes).tolist()
        empty = np.array(missing) == count
        if empty.any():
            values = self._without(values, empty, rows)
        self.statistics_ = values if rows.dtype == object else values.astype(np.float64)
        self.indicator_features_ = np.flatnonzero(missing) if self.add_indicator else np.zeros(0, dtype=np.int64)
        problem.seen = evidence

    def _with_holes(self, rows: Rows) -> Rows:
        """Give the rows with holes in the places of `missing_values`."""
        named = tuple(rows.name_of(j) for j in range(rows.n_features))
        return with_columns(rows, Holes(self.missing_values, named), rows.feature_names, sparse=rows.is_sparse)

    def _makes_sparse(self, rows: Rows) -> bool:
        return rows.is_sparse

    @property
    def indicator_(self) -> np.ndarray | None:
        """The columns with an indicator; None where there are to be none."""
        self._check_fitted()
        return self.indicator_features_ if self.add_indicator else None

    def _constants(self, rows: Rows) -> np.ndarray | None:
        """Give the constant for each column, or None where values have to be learned; refuse what does not go with the column."""
        kinds = _kinds(rows)
        self._check_missing_values(kinds)
        if self.strategy != "constant":
            for j, kind in enumerate(kinds):
                if kind not in ("number", "nothing") and self.strategy != "most_frequent":
                    what = "value of a function" if callable(self.strategy) else self.strategy
                    raise InputError(
                        f"Column {rows.name_of(j)} holds no numbers, so it has no {what}: "
                        "use strategy='most_frequent' or 'constant' for it."
                    )
            return None
        found = np.empty(rows.n_features, dtype=object)
        for j, kind in enumerate(kinds):
            found[j] = DEFAULTS.get(kind) if self.fill_value is None else self.fill_value
            if found[j] is None or kind not in ("nothing", kind_of(pa.scalar(_plain(found[j])).type)):
                raise ParameterError(
                    f"SimpleImputer: fill_value={self.fill_value!r} does not go with column {rows.name_of(j)}, "
                    f"which holds {KINDS.get(kind, kind)}."
                )
        return found

    def _check_missing_values(self, kinds: list[str]) -> None:
        """Refuse to look for a value that no column can hold."""
        if is_missing(self.missing_values):
            return
        wanted = kind_of(pa.scalar(_plain(self.missing_values)).type)
        if wanted not in (*kinds, "nothing"):
            raise ParameterError(
                f"SimpleImputer: missing_values={self.missing_values!r} is {KINDS.get(wanted, wanted)}, but the columns hold "
                f"{' and '.join(sorted({KINDS.get(kind, kind) for kind in kinds}))}: give a value of their kind."
            )

    def _without(self, values: np.ndarray, empty: np.ndarray, rows: Rows) -> np.ndarray:
        """Settle the columns of which nothing is there: keep them with a value, or leave them out and say so."""
        if self.keep_empty_features:
            given = np.array([DEFAULTS.get(kind, 0) for kind in _kinds(rows)], dtype=values.dtype)
            return values if self.strategy == "constant" else np.where(empty, given, values)
        names = ", ".join(rows.name_of(int(j)) for j in np.flatnonzero(empty))
        if empty.all():
            raise InputError(f"All values are missing, in column {names}: nothing can be learned from that.")
        warnings.warn(
            f"SimpleImputer: all values are missing in column {names}, which is left out. "
            "Drop it from the table, or give keep_empty_features=True.",
            DegenerateWarning,
            stacklevel=4,
        )
        return np.where(empty, np.nan, values)

    def _change(self, block: Block) -> Matrix:
        X = Holes(self.missing_values, tuple(self._named(j) for j in range(self.n_features_in_)))(block)
        if not hasattr(X, "num_rows"):
            return fill_numbers(X, self.statistics_, self.indicator_features_)
        for j, value in enumerate(self.statistics_.tolist()):
            given, learned = (
                kind_of(X.column(j).type),
                "number" if is_missing(value) else kind_of(pa.scalar(value).type),
            )
            if X.column(j).null_count < len(block) and given != learned and not is_missing(value):
                raise strange_kind(X.column(j), given, learned, self._named(j), block.start)
        return fill_table(X, self.statistics_, self.indicator_features_)

    def _named(self, place: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"number {place}" if names is None else repr(str(names[place]))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Make the holes again, which needs `add_indicator`; columns that were left out come back as holes.

        Parameters
        ----------
        X : array-like of shape (n, n_columns_out)
            Filled rows with their indicators.
        """
        self._check_fitted()
        if not self.add_indicator:
            raise InputError("SimpleImputer can make the holes again only with add_indicator=True.")
        kept = np.array([not is_missing(value) for value in self.statistics_.tolist()])
        given, width = np.asarray(as_dense(X)), int(kept.sum()) + len(self.indicator_features_)
        if given.ndim != 2 or given.shape[1] != width:
            raise InputError(f"Expected {width} columns, got the shape {given.shape}.")
        found = np.full((len(given), len(kept)), self.missing_values, dtype=given.dtype)
        found[:, kept] = given[:, : int(kept.sum())]
        for place, j in enumerate(self.indicator_features_, int(kept.sum())):
            found[given[:, place].astype(bool), j] = self.missing_values
        return found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns that are kept, and then the indicators.

        Parameters
        ----------
        input_features : list of str, optional
            The names of the columns; the default is those seen in ``fit``.
        """
        names = input_names(self, input_features)
        kept = [name for name, value in zip(names, self.statistics_.tolist()) if not is_missing(value)]
        marks = [f"missingindicator_{names[j]}" for j in self.indicator_features_]
        return np.array(told_apart([*kept, *marks]), dtype=object)

    def _prove(self, problem: TableProblem) -> list[Claim]:
        if problem.source == "statistics":
            return self._fill_claims(problem)
        left = problem.rows.fold(self._holes_left)
        return [Claim("no holes are left", float(left), 0.0), *self._fill_claims(problem)]

    def _holes_left(self, block: Block) -> int:
        filled = self._change(block)
        made = np.asarray(filled.data if is_sparse(filled) else filled)
        return int(np.isnan(made).sum()) if made.dtype != object else sum(is_missing(value) for value in made.flat)

    def _fill_claims(self, problem: TableProblem) -> list[Claim]:
        if self.strategy != "constant":
            return list(self._way(problem.rows).claims(self.statistics_, problem.seen))
        values = [value for value in self.statistics_.tolist() if not is_missing(value)]
        allowed = list(DEFAULTS.values()) if self.fill_value is None else [_plain(self.fill_value)]
        other = sum(value not in allowed for value in values)
        return [Claim("holes are filled with the constant", float(other), 0.0)]


def has_text(source: Rows) -> bool:
    """Say whether some column of a table holds something else than numbers."""
    schema = source.facts.schema
    return schema is not None and any(kind_of(type) != "number" for type in schema.types)


def _kinds(rows: Rows) -> list[str]:
    """Say of what kind each column is; "nothing" where not even its type is known."""
    table = first_block(rows).X
    if not hasattr(table, "num_rows"):
        return ["number"] * rows.n_features
    return ["nothing" if pa.types.is_null(field.type) else kind_of(field.type) for field in table.schema]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
