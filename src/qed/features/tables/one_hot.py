r"""One column of zeros and ones for each level of each categorical column.

.. math:: x = k \;\mapsto\; e_k \in \{0, 1\}^K, \qquad \|e_k - e_l\| = \sqrt 2 \text{ for all } k \ne l:

no order and no distance between levels is made up. One pass counts the levels; ``transform`` looks them up in a hash
table. Cost :math:`O(n)` for each column, and one number stored for each value when the output is sparse.
"""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import each, integers, labels, nothing
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, InputError, KindError, ParameterError, level_of_user
from qed.base.models.parameters import Parameter, array, boolean, choice, integer, number, numeric_type
from qed.base.models.problem import TableProblem
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.features.names import input_names, told_apart
from qed.features.tables.levels import Levels, array_of, column_of, is_missing
from qed.features.tables.slots import Slots, keys, place_ones, read_ones
from qed.features.tables.table import TableTransformer

MOST_LEVELS = 1 << 20
INFREQUENT = "infrequent"


def _is_drop(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value in ("first", "if_binary")) or array().accepts(value)


class OneHotEncoder(TableTransformer):
    """Turn every level of every column into a column of its own.

    Text, whole numbers, booleans and dates can be levels. Missing values (None and NaN alike) are a level too.

    Parameters
    ----------
    categories : 'auto' or list of lists, default='auto'
        The levels of each column: those found in ``fit``, in order, or the ones given.
    drop : {None, 'first', 'if_binary'} or list, default=None
        Leave out the first level of each column (or of those with two levels, or the one given for each column), which
        the others determine: for linear models without a penalty.
    sparse_output : bool, default=True
        Give a SciPy CSR array, which stores the ones only.
    dtype : type, default=numpy.float64
        What the output holds.
    handle_unknown : {'error', 'ignore', 'infrequent_if_exist', 'warn'}, default='error'
        What to do about levels not seen in ``fit``: refuse them, give zeros, or count them among the infrequent ones,
        where there are; 'warn' does the last and says so. Zeros that also stand for the level left out by `drop` are said.
    min_frequency : int or float, optional
        Levels with fewer rows, or with a smaller share of the rows, have one column together.
    max_categories : int, optional
        The most columns for one column: the levels with the fewest rows have one together where there are more.
    feature_name_combiner : "concat" or callable, default="concat"
        How new columns are called: the name, an underscore and the level, or what ``feature_name_combiner(name, level)`` gives.

    Attributes
    ----------
    categories_ : list of ndarray
        The levels of each column; a missing value is NaN among numbers and None otherwise, and comes last.
    drop_idx_ : ndarray or None
        Which level of each column is left out.
    infrequent_categories_ : list of (ndarray or None)
        The levels of each column that share one column of the output.
    certificate_ : Certificate
        That the levels are those of the data; `qed.certify` also encodes the data, counts the ones and reads the table
        back.

    See Also
    --------
    ColumnEncoder : Encodes a whole table of mixed columns.

    Examples
    --------
    >>> import qed
    >>> encoder = qed.OneHotEncoder(sparse_output=False).fit([["apple"], ["banana"], ["cherry"]])
    >>> encoder.transform([["banana"]])
    array([[0., 1., 0.]])
    >>> encoder.inverse_transform([[0, 1, 0]])
    array([['banana']], dtype=object)
    """

    attributes: ClassVar = {
        "categories_": each(labels("_", missing=True, dtypes="biufUO"), "features"),
        "infrequent_categories_": each(labels("_", missing=True, dtypes="biufUO") | nothing(), "features"),
        "drop_idx_": each(integers() | nothing(), "features") | nothing(),
    }
    parameters: ClassVar = {
        "categories": choice("auto", kind="model") | array(),
        "drop": Parameter("None, 'first', 'if_binary' or a list with a level for each column", _is_drop, "model"),
        "sparse_output": boolean(),
        "dtype": numeric_type(),
        "handle_unknown": choice("error", "ignore", "infrequent_if_exist", "warn", kind="model"),
        "min_frequency": choice(None, kind="model") | integer(1) | number(0, 1, above=True),
        "max_categories": choice(None, kind="model") | integer(1),
        "feature_name_combiner": choice("concat") | Parameter("a function", callable),
    }

    def __init__(
        self,
        *,
        categories: Any = "auto",
        drop: Any = None,
        sparse_output: bool = True,
        dtype: Any = np.float64,
        handle_unknown: str = "error",
        min_frequency: float | None = None,
        max_categories: int | None = None,
        feature_name_combiner: str | Callable[[str, object], str] = "concat",
    ) -> None:
        self.categories = categories
        self.drop = drop
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Learn the levels.

        Parameters
        ----------
        X : array-like, frame, path, Dask frame or Rows
            The categorical columns.
        y : None
            Not used.
        """
        return super().fit(X, y)

    def _problem(self, rows: Rows) -> TableProblem:
        return TableProblem(rows, rows.fold(Levels.of, range(rows.n_features), MOST_LEVELS), source="statistics")

    def _evidence(self, rows: Rows) -> TableProblem:
        return TableProblem(rows, rows.fold(Levels.of, range(rows.n_features), MOST_LEVELS))

    def _solve(self, problem: TableProblem) -> None:
        rows, levels = problem.rows, problem.seen
        for j in sorted(levels.full):
            raise InputError(
                f"Column {self._named(j)} has more than {MOST_LEVELS} different values: it looks like an identifier or a "
                "measurement, which has no levels. Leave it out."
            )
        self.categories_ = self._listed(levels)
        self.infrequent_categories_ = [self._infrequent(levels, j) for j in range(rows.n_features)]
        self.drop_idx_ = self._dropped()

    def _listed(self, levels: Levels) -> list[np.ndarray]:
        """Give the levels of each column: those of the data, or those that the user gave, who is told of others in the data."""
        if isinstance(self.categories, str):
            return [array_of(levels.values(j)) for j in range(self.n_features_in_)]
        if len(self.categories) != self.n_features_in_:
            raise ParameterError(
                f"OneHotEncoder: categories has lists for {len(self.categories)} columns, but X has {self.n_features_in_}."
            )
        found = []
        for j, given in enumerate(self.categories):
            if np.ndim(given) != 1:
                raise ParameterError(
                    f"OneHotEncoder: categories of column {self._named(j)} must be a list of levels, not {given!r}."
                )
            known = array_of(keys(value.item() if isinstance(value, np.generic) else value for value in given))
            if not len(known) or len(set(keys(known))) < len(known):
                raise ParameterError(f"OneHotEncoder: categories of column {self._named(j)} must be different levels.")
            strange = sorted(set(levels.values(j)) - set(keys(known)), key=repr)
            if strange and self.handle_unknown == "error":
                raise InputError(
                    f"Found unknown categories {strange[:5]} in column {self._named(j)} during fit: name them in categories, "
                    "or give handle_unknown='ignore'."
                )
            found.append(known)
        return found

    def _infrequent(self, levels: Levels, j: int) -> np.ndarray | None:
        """Give the levels that have one column together: those with few rows, and the rarest where there would be too many columns."""
        if self.min_frequency is None and self.max_categories is None:
            return None
        known = dict(zip(levels.values(j), levels.weights(j).tolist()))
        weights = np.array([known.get(level, 0.0) for level in keys(self.categories_[j])])
        least = 0.0 if self.min_frequency is None else float(self.min_frequency)
        if isinstance(self.min_frequency, (float, np.floating)):
            least *= sum(known.values())
        rare = weights < least
        if self.max_categories is not None and (~rare).sum() + rare.any() > self.max_categories:
            rare[np.argsort(weights, kind="stable")[: len(rare) - self.max_categories + 1]] = True
        return self.categories_[j][rare] if rare.any() else None

    def _dropped(self) -> np.ndarray | None:
        """Say which level of each column is left out."""
        if self.drop is None:
            return None
        if isinstance(self.drop, str):
            slots = [Slots.of(*pair) for pair in zip(self.categories_, self._rare())]
            every = self.drop == "first"
            return np.array(
                [int(one.places.argmin()) if every or len(one) == 2 else None for one in slots], dtype=object
            )
        if np.ndim(self.drop) != 1 or len(self.drop) != self.n_features_in_:
            raise ParameterError(
                f"OneHotEncoder: drop names {len(self.drop)} levels, but X has {self.n_features_in_} columns: give one for each."
            )
        places = []
        for j, level in enumerate(self.drop):
            known, wanted = keys(self.categories_[j]), None if is_missing(level) else level
            if wanted not in known:
                raise ParameterError(
                    f"OneHotEncoder: drop names {level!r}, a level that column {self._named(j)} does not have."
                )
            if wanted in keys(self._rare()[j]):
                raise ParameterError(
                    f"OneHotEncoder: drop names {level!r}, which has too few rows in column {self._named(j)} for a column of its own: "
                    "name a frequent level."
                )
            places.append(known.index(wanted))
        return np.array(places, dtype=object)

    def _disagreement(self) -> str:
        drop = [None] * len(self.categories_) if self.drop_idx_ is None else self.drop_idx_
        far = [j for j, gone in enumerate(drop) if gone is not None and gone >= len(self.categories_[j])]
        return f"drop_idx_ names a level that column {self._named(far[0])} does not have" if far else ""

    def _rare(self) -> list[Any]:
        return [() if rare is None else rare for rare in self.infrequent_categories_]

    def _slots(self) -> list[Slots]:
        drop = [None] * self.n_features_in_ if self.drop_idx_ is None else self.drop_idx_
        join = self.handle_unknown in ("infrequent_if_exist", "warn")
        columns = zip(self.categories_, self._rare(), drop)
        return [Slots.of(levels, rare, INFREQUENT, gone, unknown_is_rare=join) for levels, rare, gone in columns]

    def _encoded(self, block: Block) -> list[np.ndarray]:
        """Give the slot of each row in each column; an unknown level is refused unless that was said otherwise."""
        found = []
        for j, slots in enumerate(self._slots()):
            column = column_of(block.X, j)
            slot, unknown = slots.encode(column, self._named(j), block.start)
            if self.handle_unknown == "error" and unknown.any():
                row = int(unknown.argmax())
                raise InputError(
                    f"Found unknown categories in column {self._named(j)}: {column[row].as_py()!r} in row {block.start + row} "
                    "(counted from 0) was not seen in fit. Correct it, or give handle_unknown='ignore'."
                )
            if unknown.any() and (self.handle_unknown == "warn" or (slots.left_out is not None and slots.unknown < 0)):
                self._say_unknown(j, column[int(unknown.argmax())].as_py(), slots)
            found.append(slot)
        return found

    def _say_unknown(self, j: int, level: object, slots: Slots) -> None:
        """Say what becomes of a level that was not seen in fit."""
        becomes = "those of the infrequent levels" if slots.unknown >= 0 else "zeros"
        same = f", as are those of {slots.left_out!r}, the level left out" if slots.left_out is not None else ""
        warnings.warn(
            f"Found unknown categories in column {self._named(j)} during transform, such as {level!r}: "
            f"their columns are {becomes}{same if slots.unknown < 0 else ''}.",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )

    def _makes_sparse(self, rows: Rows) -> bool:
        return bool(self.sparse_output)

    def _change(self, block: Block) -> Any:
        return place_ones(self._encoded(block), self._starts(), self.dtype, sparse=self.sparse_output)

    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *(len(slots) for slots in self._slots())])

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Read the levels off the ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_columns_out)
            Zeros and ones.

        Returns
        -------
        ndarray of shape (n, p)
            The levels; None for a row of zeros, and the word 'infrequent' for levels that share a column.
        """
        self._check_fitted()
        matrix, starts = X if is_sparse(X) else np.asarray(X), self._starts()
        if matrix.ndim != 2 or matrix.shape[1] != starts[-1]:
            raise InputError(f"Expected {starts[-1]} columns of zeros and ones, got the shape {matrix.shape}.")
        slot, _ = read_ones(matrix, starts)
        columns = []
        for j, slots in enumerate(self._slots()):
            empty = (slot[:, j] < 0) & (self.drop_idx_ is None or self.drop_idx_[j] is None)
            if self.handle_unknown == "error" and empty.any():
                raise InputError(
                    f"Row {int(empty.argmax())} has no 1 for column {self._named(j)}: it can not be read back."
                )
            column = slots.decode(slot[:, j])
            plain = self.infrequent_categories_[j] is None and not empty.any()
            columns.append(column.astype(self.categories_[j].dtype) if plain else column)
        same = len({column.dtype for column in columns}) == 1
        return np.column_stack([column if same else column.astype(object) for column in columns])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the new columns: the column and the level, such as ``species_Adelie``.

        Parameters
        ----------
        input_features : list of str, optional
            The names of the columns; the default is those seen in ``fit``.
        """
        names = []
        for name, slots in zip(input_names(self, input_features), self._slots()):
            none = np.nan if slots.levels.dtype.kind == "f" else None
            names += [self._combined(name, none if label is None else label) for label in slots.labels]
        return np.array(told_apart(names), dtype=object)

    def _combined(self, name: str, level: object) -> str:
        if not callable(self.feature_name_combiner):
            return f"{name}_{level}"
        try:
            made = self.feature_name_combiner(name, level)
        except TypeError as error:
            raise KindError(
                f"OneHotEncoder: feature_name_combiner can not take {name!r} and {level!r}: {error}."
            ) from error
        if not isinstance(made, str):
            raise KindError(f"OneHotEncoder: feature_name_combiner must give a str, not {made!r}.")
        return made

    def _prove(self, problem: TableProblem) -> list[Claim]:
        claims = self._level_claims(problem.seen)
        if problem.source == "statistics":
            return claims
        wrong, unread = problem.rows.fold(self._mistakes)
        return [
            Claim("every row has at most a single 1 for each column", float(wrong), 0.0),
            Claim("decoding gives the table back", float(unread), 0.0),
            *claims,
        ]

    def _mistakes(self, block: Block) -> np.ndarray:
        """Count wrong ones, and values that are not read back as what they are (or, where they share a column, as that)."""
        block = block.present
        slot, wrong = read_ones(self._change(block), self._starts())
        unread = 0
        for j, slots in enumerate(self._slots()):
            seen = slots.decode(slot[:, j])
            rare = set(keys(self._rare()[j]))
            values = column_of(block.X, j).to_pylist()
            known, otherwise = set(keys(self.categories_[j])), slots.decode(np.array([slots.unknown]))[0]
            wanted = [INFREQUENT if value in rare else value if value in known else otherwise for value in values]
            unread += sum(a != b for a, b in zip(seen.tolist(), wanted))
        return np.array([wrong, unread])

    def _level_claims(self, levels: Levels) -> list[Claim]:
        """Compare `categories_` with the levels of the data."""
        strange = idle = twice = 0
        for j, learned in enumerate(self.categories_):
            known, values = set(keys(learned)), set(levels.values(j))
            strange, idle, twice = (
                strange + len(values - known),
                idle + len(known - values),
                twice + len(learned) - len(known),
            )
        claims = [Claim("no level is listed twice", float(twice), 0.0)]
        if self.handle_unknown == "error":
            claims.append(Claim("every level of the data is listed", float(strange), 0.0))
        if isinstance(self.categories, str):
            claims.append(Claim("every level listed is in the data", float(idle), 0.0))
        if not strange or self.handle_unknown != "error":
            pairs = zip(self.categories_, self._listed(levels))
            moved = sum(list(keys(mine)) != list(keys(theirs)) for mine, theirs in pairs)
            claims.append(Claim("levels stand in their order", float(moved), 0.0))
        return claims
