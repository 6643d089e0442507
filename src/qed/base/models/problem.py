"""What a model solves, made from its rows once: the noun between rows and steps.

A fit is ``problem = model._problem(rows)``, then the way to its solution (``_solve``, or ``_steps`` one after another), then the proof
``_prove(problem)``. A problem knows the rows, a fingerprint of them, and whether a proof from it goes back to the data or rests on
sums that were collected on the way. A method's own problem (a likelihood, a Gram matrix, columns in memory) inherits from `RowsProblem`
or `Problem`; the problem of a model in closed form is its statistic.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

from qed.base.errors import DegenerateError, InputError
from qed.base.models.checked import no_weight
from qed.base.models.checks import overflowed, refuse_missing
from qed.base.models.fingerprint import Fingerprint, target_sums
from qed.base.sources.rows import Rows
from qed.base.summary import Summary

Source = Literal["data", "statistics"]


class Problem:
    """What a method solves."""

    rows: Rows | None  # the rows; None where only a statistic of them is left
    target_ndim: int  # whether the target is one column (1) or a matrix of them (2)
    source: Source = "data"  # what a proof from this problem rests on: "data", "statistics"

    @property
    def fingerprint(self) -> Fingerprint | None:
        """What tells these data from others; None for tables of mixed columns, which have no means."""
        return None


class TableProblem(Problem):
    """Rows of mixed columns, and what an encoder has learned of them.

    `seen` was learned in one pass, or is learned while solving; `source` says whether a proof may rest on it or has to
    go back to the rows.
    """

    rows: Rows

    def __init__(self, rows: Rows, seen: Any = None, *, source: Source = "data") -> None:
        self.rows, self.seen, self.source, self.target_ndim = rows, seen, source, rows.target_ndim


def refuse_light(model: Any, statistic: Any) -> None:
    """Refuse a statistic of rows that weigh too little for a model, as it says in ``least_weight``."""
    if model.least_weight and not statistic.weight > model.least_weight:
        raise DegenerateError(
            f"{type(model).__name__} needs rows that weigh more than {model.least_weight:g} together, but these weigh "
            f"{statistic.weight:g} (n_samples = {statistic.count}). Give more rows, or larger weights."
        )


def none_left(model: object, known: int, taken: int) -> InputError:
    """Give the error for forgetting as many rows as a model knows, or more."""
    why = "nothing would be left" if taken == known else f"it knows {known}, so there are not that many"
    rows = "all the rows that it learned from" if taken == known else f"{taken} rows"
    return InputError(f"{type(model).__name__} can not forget {rows}: {why}. Make a new model, or forget fewer rows.")


def emptied(rows: Rows) -> Rows:
    """Give rows of which those without weight hold zeros, for what multiplies values by weights."""
    return rows.through(attrgetter("emptied")) if rows.has_weight else rows


class RowsProblem(Problem):
    """Rows that were looked at once: all is there, and it is known how the columns are spread.

    The model that solves it is named where values are missing. Its `summary` has weight, mean, spread and range of
    every column.
    """

    rows: Rows

    def __init__(self, rows: Rows, model: Any, *, source: Source = "data") -> None:
        self.rows, self.target_ndim, self.source = rows, rows.target_ndim, source
        self.summary: Summary = rows.fold(Summary.of)
        self._supervised = model.target is not None
        weighs = not rows.has_weight or bool((self.summary.weight > 0).any())
        if not (weighs and self.summary.is_complete):
            refuse_missing(rows, model)
            raise overflowed(model) if weighs else no_weight()

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return self.summary.fingerprint(self.rows.fold(target_sums) if self._supervised else None)


class StatisticProblem(Problem):
    """A statistic of the rows, from which the model follows in closed form or by steps.

    The model has ``_statistic``, what to make of a block. The rows are None where they are gone, and `target_ndim`
    tells what they would; where the statistic is not known, they are folded when it is first asked for.
    """

    def __init__(
        self,
        model: Any,
        rows: Rows | None,
        statistic: Any = None,
        *,
        source: Source = "statistics",
        target_ndim: int = 1,
    ) -> None:
        self.model, self.rows, self.source = model, rows, source
        self.target_ndim = target_ndim if rows is None else rows.target_ndim
        if statistic is not None:
            self.statistic = statistic

    @cached_property
    def statistic(self) -> Any:
        assert self.rows is not None
        return collect(self.rows, self.model, self.model._statistic)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return self.statistic.fingerprint()


def collect(rows: Rows, model: Any, function: Callable[..., Any], *args: Any) -> Any:
    """Fold a statistic; where something missing or infinite has got into it, say which row and column it was.

    A model that lets missing values through (``missing``) judges its statistic itself.
    """
    statistic = rows.fold(function, *args)
    if not statistic.is_finite and not model.missing:
        refuse_missing(rows, model)
        raise overflowed(model)
    return statistic
