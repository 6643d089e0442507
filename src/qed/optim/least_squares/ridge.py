"""What ridge regression and the ridge classifier share: a squared penalty for each output, and the minimum that goes with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qed.base.certificate import Claim
from qed.base.errors import ParameterError
from qed.base.models.proof import whole
from qed.optim.least_squares.nonnegative import nonnegative
from qed.optim.least_squares.precise import DIGITS_WANTED
from qed.optim.least_squares.problem import LeastSquaresProblem


class SquaredPenalty:
    """A linear model, of numbers or of classes, that is least squares with the penalty ``alpha ||w||^2`` on each output."""

    alpha: float | ArrayLike
    fit_intercept: bool
    positive: bool
    solver_: str

    def _alphas(self, n_outputs: int) -> np.ndarray:
        """Give one penalty per output."""
        alphas = np.array(self.alpha, dtype=np.float64, ndmin=1)
        if alphas.ndim != 1 or len(alphas) not in (1, n_outputs) or not min(alphas.tolist()) >= 0:
            raise ParameterError(
                f"{type(self).__name__}: alpha must be a number >= 0 or one for each of the {n_outputs} outputs, not {self.alpha!r}."
            )
        return alphas if len(alphas) == n_outputs else alphas.repeat(n_outputs)

    def _penalties(self, n_outputs: int) -> np.ndarray | None:
        return None if self.positive else self._alphas(n_outputs)

    @property
    def _is_penalised(self) -> bool:
        return bool((self.alpha if isinstance(self.alpha, float | int) else np.min(self.alpha)) > 0)

    def _minimum(self, problem: LeastSquaresProblem) -> np.ndarray:
        """Give the coefficients of the least error and penalty, of shape (p, q), and set ``solver_``."""
        seen, equations = problem.statistic, problem.equations
        alphas = self._alphas(seen.n_targets)
        if self.positive:
            self.solver_ = f"active sets: {equations.way}"
            return nonnegative(equations, alphas, DIGITS_WANTED)
        least, *others = sorted(set(alphas.tolist()))
        coef = equations.solve(least, DIGITS_WANTED).coef
        for alpha in others:
            coef = np.where(alphas == alpha, equations.solve(alpha, DIGITS_WANTED).coef, coef)
        self.solver_ = equations.way
        return coef

    def _least(self, problem: LeastSquaresProblem, coef: np.ndarray, intercept: np.ndarray) -> list[Claim]:
        """Claim that coefficients of shape (p, q), with their intercepts, are those of the minimum."""
        if problem.source == "data" and (damage := whole(len(coef), 0, coef, intercept)):
            return damage
        alphas, rank = self._alphas(coef.shape[1]), None
        if not alphas.any() and not self.positive:
            # Without any penalty, rounding may leave columns out, and what is the least error is then said of the others.
            rank = problem.equations.solve(0.0, DIGITS_WANTED).rank
        return problem.prove(coef, intercept, alphas, rank)[0]
