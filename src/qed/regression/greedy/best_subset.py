r"""Best subset: least squares with at most k coefficients that are not zero, solved exactly.

.. math:: \min_{w, b}\ \sum_i s_i (y_i - x_i^\top w - b)^2 \quad\text{subject to}\quad \|w\|_0 \le k.

:math:`\|w\|_0`, the number of coefficients that are not zero, is no norm (:math:`\|2w\|_0 = \|w\|_0`) and not convex,
and the problem is NP-hard: there are :math:`\binom pk` subsets of k columns. For few columns that is no obstacle. A
branch-and-bound search finds the best subsets of all sizes up to k and leaves out what provably can not win; so it is
the yardstick for `OrthogonalMatchingPursuit`, `MatchingPursuit` and lasso, which are fast and not always right. One
pass folds the scatter matrices, :math:`O(np^2)`; the search then does not depend on n, and is refused when there are
more than ``max_subsets`` subsets. The course's version has no intercept: ``fit_intercept=False``.

Furnival and Wilson (1974), Regressions by leaps and bounds; Natarajan (1995), Sparse approximate solutions to linear systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import ALIKE, Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.parameters import Parameter, boolean, choice, integer
from qed.base.models.problem import StatisticProblem
from qed.base.models.proof import restated
from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.optim.least_squares.evidence import mean_residual
from qed.regression.greedy.few_rows import CONDITION, few_rows
from qed.regression.greedy.subset_search import best_subsets
from qed.regression.linear.linear import LinearModel
from qed.stats.left_out import MOST_ALIKE, left_out_claim

TOLERANCE = 1e-9
# Where columns are this near to each other, rounding may be all that tells them apart.
FAINT = 1e-13


class BestSubset(LinearModel):
    """The subset of k columns that leaves the smallest squared error, and the best of every smaller size.

    Parameters
    ----------
    n_nonzero_coefs : int, optional
        How many coefficients are not zero. The default is a tenth of the columns, at least one.
    fit_intercept : bool, default=True
        Whether to fit a constant, which does not count as a coefficient.
    max_subsets : int, default=10_000_000
        The fit is refused when there are more subsets of up to `n_nonzero_coefs` columns. Most are never looked at.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients; zero for all columns that are not in the subset.
    intercept_ : float
        The constant; zero without ``fit_intercept``.
    subsets_ : ndarray of shape (k + 1, k)
        Row m holds the best m columns, and -1 beyond them.
    path_ : ndarray of shape (k + 1, p)
        Row m holds the coefficients with the best m columns.
    errors_ : ndarray of shape (k + 1,)
        The squared error with the best 0, 1, ... k columns.
    n_subsets_, n_visited_ : int
        How many subsets there are, and how many sets of columns were looked at.
    certificate_ : Certificate
        The proof of the fit.
    statistic_ : Moments
        What the model remembers of its rows.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.BestSubset(n_nonzero_coefs=3).fit(X, y)
    >>> model.subsets_[1:]
    array([[ 2, -1, -1],
           [ 2,  8, -1],
           [ 2,  3,  8]])
    >>> model.n_subsets_, bool(model.certificate_)
    (175, True)
    """

    attributes: ClassVar = {
        "subsets_": integers("sizes", "most", low=-1, below="features"),
        "n_visited_": integers(),
        "n_subsets_": integers(),
        "path_": floats("sizes", "features"),
        "errors_": floats("sizes", low=0),
    }
    no_inference: ClassVar[str] = (
        "the same data chose the columns. Fit qed.LinearRegression to rows that had no part in the choice"
    )
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_nonzero_coefs": integer(1, kind="model") | choice(None),
        "fit_intercept": boolean(),
        "max_subsets": integer(1),
    }

    def __init__(
        self, *, n_nonzero_coefs: int | None = None, fit_intercept: bool = True, max_subsets: int = 10_000_000
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.fit_intercept = fit_intercept
        self.max_subsets = max_subsets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _advice(self) -> str:
        return (
            "Where one row is far larger than the others, sums of squares know of nothing else: look at it, or leave it out. Where columns "
            "have very different units, scale them, for example with qed.StandardScaler."
        )

    def _most(self) -> int:
        """Say how many columns are wanted, and refuse what would take for ever."""
        p, asked = self.n_features_in_, self.n_nonzero_coefs
        if asked is not None and asked > p:
            raise ParameterError(
                f"BestSubset: n_nonzero_coefs={asked} asks for more columns than there are ({p}): give at most {p}."
            )
        most = max(p // 10, 1) if asked is None else int(asked)
        if self._count(most) > self.max_subsets:
            raise InputError(
                f"BestSubset: there are {self._count(most):.3g} subsets of up to {most} of {p} columns, and max_subsets="
                f"{self.max_subsets} are allowed. Ask for fewer coefficients, leave out columns, raise max_subsets (many are never "
                "looked at), or use qed.OrthogonalMatchingPursuit, which is fast but not exact."
            )
        return most

    def _count(self, most: int) -> int:
        return sum(comb(self.n_features_in_, size) for size in range(1, most + 1))

    def _problem(self, rows: Rows) -> StatisticProblem:
        self._most()
        return super()._problem(rows)

    def _solve(self, problem: StatisticProblem) -> None:
        most, statistic = self._most(), problem.statistic
        A, b = few_rows(problem.rows, statistic, centered=self.fit_intercept)
        _, self.subsets_, self.n_visited_ = best_subsets(A, b[:, 0], most)
        self.path_, self.errors_ = _fitted(A, b, self.subsets_)
        # Columns that only a row far away makes alike are told apart by a second search, which looks for better subsets alone.
        _, others, visited = best_subsets(A, b[:, 0], most, (1 - TOLERANCE) * self.errors_, trace=FAINT)
        path, errors = _fitted(A, b, others, FAINT)
        better = (others.max(axis=1) >= 0) & (errors < self.errors_)
        for mine, other in ((self.subsets_, others), (self.path_, path), (self.errors_, errors)):
            mine[better] = other[better]
        self.n_visited_, self.n_subsets_ = self.n_visited_ + visited, self._count(most)
        self._set_coef(self.path_[-1][:, None], statistic.x_mean, statistic.y_mean, flat=problem.target_ndim == 1)

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        statistic = problem.statistic
        A, b = few_rows(problem.rows, statistic, centered=self.fit_intercept)
        coef, _ = self._columns()
        path = np.vstack([self.path_[:-1], coef.T])
        length = np.linalg.norm(A, axis=0)
        size = float(np.linalg.norm(b))
        reach = size + np.abs(path) @ length
        reach = np.where(reach > 0, reach, 1.0)
        residual = b - A @ path.T
        error = (residual**2).sum(axis=0)
        blur, unknown = self._unknown(problem, path)
        near = (np.abs(A.T @ residual) + np.outer(blur, unknown)) / np.where(length > 0, length, 1.0)[:, None] / reach
        fitted = [near[chosen[chosen >= 0], m].max(initial=0.0) for m, chosen in enumerate(self.subsets_)]
        outside = [np.delete(row, chosen[chosen >= 0]).any() for row, chosen in zip(path, self.subsets_)]
        # Columns that differ by little more than rounding are told apart here, and what is found is looked at without them.
        hidden, whole = _hidden(reach, error, size, len(A)) + unknown**2, size**2 if size > 0 else 1.0
        share, alike = self._alike(problem, A, length)
        hidden += share * whole
        unseen = TOLERANCE * whole + hidden
        least, others, _ = best_subsets(A, b[:, 0], len(path) - 1, error - unseen, trace=FAINT)
        found = np.where(others.max(axis=1, initial=-1) >= 0, _fitted(A, b, others, FAINT)[1], least)
        better = np.maximum(error - found, unseen)[1:] / whole
        claims, constant = self._claims_of_constant(problem, reach[-1]) if self.fit_intercept else ([], 0.0)
        better[-1:] += constant / whole
        rounding = (2 * float(hidden[1:].max()) + constant) / whole
        off = np.abs(error - self.errors_) + unknown**2
        return [
            *claims,
            Claim("residuals are orthogonal to the columns of every subset", float(max(fitted)), TOLERANCE),
            Claim("coefficients outside of the subsets", float(sum(outside)), 0.0),
            Claim("squared errors are as said", float((off / reach**2).max()), TOLERANCE),
            Claim.within(
                f"an exact search finds better subsets, by at most{ALIKE if alike else ''}",
                float(better.max()),
                2 * TOLERANCE,
                rounding,
            ),
            *alike,
        ]

    def _claims_of_constant(self, problem: StatisticProblem, reach: float) -> tuple[list[Claim], float]:
        """Claim that residuals sum to zero; give also what they add to the squared error because of what rounding did to the constant."""
        (coef, intercept), seen = self._columns(), problem.statistic
        offset = float(np.abs(mean_residual(seen, coef, intercept))[0])
        size = float(np.abs(seen.y_mean)[0] + np.abs(seen.x_mean) @ np.abs(coef[:, 0]))
        slip = 0.0 if problem.rows is not None else seen.slip[-1] + seen.slip[:-1] @ np.abs(coef[:, 0])
        lost = offset + float(slip)
        root = float(np.sqrt(seen.weight))
        claim = Claim.within("residuals sum to zero", root * lost / reach, TOLERANCE, 16 * EPS * root * size / reach)
        return [claim], seen.weight * (lost + EPS * size) ** 2

    def _alike(self, problem: StatisticProblem, A: np.ndarray, length: np.ndarray) -> tuple[float, list[Claim]]:
        """Bound by what share of the target's squares any subset may do otherwise than it seems, because columns are alike.

        The trace of a penalty keeps dependent columns from claiming what they do not explain, and takes as much from those that are nearly
        so. Sums that are all that is left of the rows are off by themselves. What is dependent up to rounding is claimed to be so.
        """
        there, h = np.flatnonzero(length > 0), np.zeros(len(length))
        if problem.rows is None:
            h = self._centered(problem.statistic).noise[: len(length)]
        if h[length == 0].any():
            return 1.0, []
        if len(there) == 0:
            return 0.0, []
        _, size, vector = np.linalg.svd(A[:, there] / length[there])
        size = np.append(size, np.zeros(max(len(there) - len(size), 0)))
        clear, claims = size > 16 * len(there) * EPS, []
        if not clear.all():
            if problem.rows is None:
                return 1.0, []
            left_out = np.zeros((len(length), int((~clear).sum())))
            left_out[there] = vector[~clear].T / length[there, None]
            claims = [left_out_claim(problem.rows, left_out, MOST_ALIKE, centered=self.fit_intercept)]
        noise = FAINT**2 + float(((h[there] / length[there]) ** 2).sum())
        return min(1.0, 4 * noise / float(size[clear].min(initial=1.0)) ** 2), claims

    def _unknown(self, problem: StatisticProblem, path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Say how blurred columns are, and residuals, where the rows are gone: sums remember the rounding of all that was taken away."""
        seen, p = self._centered(problem.statistic), path.shape[1]
        blur = seen.noise if problem.rows is None else np.zeros(p + 1)
        return blur[:p], blur[p] + np.abs(path) @ blur[:p]

    def _restate(self, problem: StatisticProblem) -> list[Claim]:
        coef, _ = self._columns()
        sizes = (self.subsets_ >= 0).sum(axis=1)
        return [
            restated("n_subsets_", self.n_subsets_, self._count(self._most())),
            restated("path_", self.path_[-1], coef[:, 0], slack=0.0),
            restated("subsets_", sizes, np.minimum(np.arange(len(sizes)), sizes), slack=0.0),
            Claim("numbers in path_ that are not finite", float(np.count_nonzero(~np.isfinite(self.path_))), 0.0),
            Claim("numbers in subsets_ below -1", float(np.count_nonzero(self.subsets_ < -1)), 0.0),
        ]


def _hidden(reach: np.ndarray, error: np.ndarray, size: float, n_rows: int) -> np.ndarray:
    """Bound what rounding, and the trace of a penalty, hide of squared errors.

    Residuals are differences of numbers as large as `reach`. A Cholesky factor hides a share of the squares of these, but is only taken
    where the columns are far enough from being dependent.
    """
    loose = 16 * n_rows * EPS * reach
    squares = np.minimum(reach**2, size**2 / CONDITION)
    return np.asarray(loose * (2 * np.sqrt(error) + loose) + (FAINT * reach) ** 2 + 16 * EPS * squares)


def _fitted(
    A: np.ndarray, b: np.ndarray, subsets: np.ndarray, cut: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Give the coefficients of every subset, and the squared errors that they leave."""
    path = np.array([_least_squares(A, b[:, 0], chosen[chosen >= 0], cut) for chosen in subsets])
    return path, ((b - A @ path.T) ** 2).sum(axis=0)


def _least_squares(A: np.ndarray, b: np.ndarray, chosen: np.ndarray, cut: float | None = None) -> np.ndarray:
    """Fit some columns; the others get zero."""
    coef = np.zeros(A.shape[1])
    length = np.linalg.norm(A[:, chosen], axis=0)
    length = np.where(length > 0, length, 1.0)
    coef[chosen] = np.linalg.lstsq(A[:, chosen] / length, b, rcond=cut)[0] / length
    return coef
