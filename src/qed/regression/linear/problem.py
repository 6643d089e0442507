"""Linear least squares as a problem: the moments of the rows, and where these are too coarse the R factor of a QR of them."""

from __future__ import annotations

from functools import cached_property

from qed.base.models.problem import StatisticProblem
from qed.regression.linear.precise import SecondLook, second_look


class LinearProblem(StatisticProblem):
    """Moments of the rows, from which a linear model follows.

    Parameters
    ----------
    model, rows, statistic, source, target_ndim
        As in `StatisticProblem`.

    Attributes
    ----------
    statistic : Moments
        Of the rows.
    look : callable or None
        Gives the R factor of the rows; None where they are gone. A search sets it, to collect the factors of all folds together.
    """

    @cached_property
    def look(self) -> SecondLook | None:
        """Say how to get at the R factor."""
        return None if self.rows is None else second_look(self.rows)
