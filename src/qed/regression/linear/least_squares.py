r"""Linear regression by least squares.

.. math:: \min_{w, b}\ \sum_i s_i (y_i - x_i^\top w - b)^2,
   \qquad S_{xx}\, w = S_{xy},\quad b = \bar y - \bar x^\top w.

The residual of the solution is orthogonal to every column: :math:`Xw` is the projection of :math:`y` on their span, and is unique even
where :math:`w` is not; then the shortest :math:`w` is taken (the pseudo-inverse, the limit of ridge as its penalty vanishes). One pass
folds the scatter matrices, :math:`O(np^2)`; where their condition number says that digits would be lost, a second pass folds the R
factor of a QR instead. The same :math:`w` maximises the likelihood under Gaussian noise, and ``inference_`` gives its standard errors.

Björck (1996), Numerical Methods for Least Squares Problems.
"""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers, nothing, of, text
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, NotAvailableError, level_of_user
from qed.base.models.no_effect import takes, with_default
from qed.base.models.parameters import Parameter, boolean
from qed.base.models.proof import whole
from qed.linalg.root import factor_rounding
from qed.optim.least_squares.equations import Equations
from qed.optim.least_squares.evidence import accuracy_claim
from qed.optim.least_squares.nonnegative import nonnegative
from qed.optim.least_squares.problem import LeastSquaresProblem, equations_of
from qed.regression.linear.linear import LeastSquaresModel
from qed.stats.factor import Factor
from qed.stats.inference.coefficients import Inference
from qed.stats.kept import KeptRows
from qed.stats.left_out import MOST_ALIKE, left_out_claim

DIGITS_WANTED = 10.0
# With such a condition number, data that were measured to five digits say nothing about the coefficients.
TOO_ALIKE = 1e5


@takes("copy_X", "n_jobs", tol=with_default("tol", 1e-6))
class LinearRegression(LeastSquaresModel):
    """Ordinary (and, with ``sample_weight``, weighted) least squares.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit a constant.
    positive : bool, default=False
        Whether coefficients must not be negative (:mod:`qed.optim.least_squares.nonnegative`).

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_outputs, p)
        Coefficients; the shortest solution where columns are dependent, or one of them where coefficients must be ``positive``.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant; zero without ``fit_intercept``.
    rank_ : int
        How many columns are independent.
    condition_ : float
        Condition number of the columns, scaled to equal length (and centred when there is an intercept), as estimated on the way.
    inference_ : Inference
        Standard errors, t and p values and intervals, where theory gives them.
    certificate_ : Certificate
        The proof of the fit.
    solver_ : str
        The way that was taken, in words: it is chosen by the shape of the table.
    statistic_ : Moments or KeptRows
        What the model remembers of its rows, or the rows themselves where these take less room.
    factor_ : Factor or None
        The R factor of the rows, where the columns are so nearly dependent that moments were too coarse.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> model = qed.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0])
    >>> model.coef_.round(12), round(model.intercept_, 12)
    (array([0.5]), 1.166666666667)
    >>> print(model.certificate_)
    claim                                                      value     bound  holds
    residuals sum to zero...
    ∎
    """

    attributes: ClassVar = {
        "factor_": of(Factor, n_features="features", n_targets="outputs") | nothing(),
        "solver_": text(),
        "rank_": integers(below="features+1"),
        "condition_": floats(low=0, finite=False),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {"fit_intercept": boolean(), "positive": boolean()}
    compare_grid: ClassVar[Mapping[str, Any]] = {}
    compare_encoder: ClassVar[Mapping[str, Any]] = {"full_rank": True}

    def __init__(self, *, fit_intercept: bool = True, positive: bool = False) -> None:
        self.fit_intercept = fit_intercept
        self.positive = positive

    _is_penalised = False

    def _penalties(self, n_outputs: int) -> np.ndarray | None:
        return None if self.positive else np.zeros(n_outputs)

    def _settle(self, problem: Any) -> None:
        super()._settle(problem)
        if problem.rows is None and self.certificate_:
            self._warn_of_collinear(problem)

    def _solve(self, problem: LeastSquaresProblem) -> None:
        seen, equations = problem.statistic, problem.equations
        solution = equations.solve(0.0, DIGITS_WANTED)
        self.factor_, self.solver_ = equations.factor, equations.way
        self.rank_, self.condition_ = solution.rank, solution.condition
        if problem.rows is not None:
            self._warn_of_collinear(problem)
        if self.positive:
            self.solver_ = f"active sets: {equations.way}"
            coef = nonnegative(equations, np.zeros(seen.n_targets), DIGITS_WANTED)
            return self._set_coef(coef, seen.x_mean, seen.y_mean, flat=problem.target_ndim == 1)
        if equations.factor is not None and problem.rows is not None and self.rank_ == self.n_features_in_:
            self._set_plane(*problem.refined(solution.coef), flat=problem.target_ndim == 1)
        else:
            self._set_coef(solution.coef, seen.x_mean, seen.y_mean, flat=problem.target_ndim == 1)

    def _warn_of_collinear(self, problem: LeastSquaresProblem) -> None:
        p, most = self.n_features_in_, int(problem.statistic.count) - self.fit_intercept
        if self.rank_ >= min(p, most) and not self.condition_ > TOO_ALIKE:
            return
        taken = "may fit equally well and some of them" if self.positive else "fit equally well and the shortest"
        remedy = f"many coefficients {taken} were taken."
        if self.rank_ < most < p:
            words = f"only {self.rank_} of {most} rows are independent, for {p} columns: {remedy} Give more rows, or use qed.Ridge,"
        elif most < p:
            return
        else:
            names = ", ".join(self._dependent_columns(problem.equations))
            words = f"{p - self.rank_} of {p} columns follow from the others ({names}): {remedy} Drop columns, or use qed.Ridge,"
            if self.rank_ == p:
                words = (
                    f"columns are nearly dependent ({names}): with a condition number of {self.condition_:.1e}, a change of the data in "
                    f"digit {np.log10(self.condition_):.0f} changes the coefficients altogether. Drop columns, or use qed.Ridge,"
                )
        said = f"LinearRegression: {words} to make the coefficients meaningful."
        warnings.warn(said, DegenerateWarning, stacklevel=level_of_user())

    def _advice(self) -> str:
        return "Drop columns that nearly follow from others, use qed.Ridge, or, after partial_fit and forget, call fit with all rows."

    def _dependent_columns(self, equations: Equations) -> list[str]:
        """Name the columns that are constant, or else take part in the strongest dependency."""
        lengths = equations.metric.lengths
        involved = np.flatnonzero(lengths == 0)
        if len(involved) == 0:
            share = np.abs(equations.left_out(min(self.rank_, len(lengths) - 1))[:, 0]) * lengths
            share = share if share.any() else np.abs(equations.by_columns.normal.spectrum().vector[:, 0])
            involved = np.flatnonzero(share > 0.3 * share.max())
        names = getattr(self, "feature_names_in_", None)
        shown = [repr(names[j]) if names is not None else f"number {j}" for j in involved[:4]]
        return [*shown, "..."] if len(involved) > 4 else shown

    def _prove(self, problem: LeastSquaresProblem) -> list[Claim]:
        coef, intercept = self._columns()
        if problem.source == "data" and (damage := whole(len(coef), self.rank_, coef, intercept, self.condition_)):
            return damage
        claims, seen = problem.prove(coef, intercept, np.zeros(coef.shape[1]), None if self.positive else self.rank_)
        if not self.positive:
            error = problem.largest_error(seen, coef, intercept, self.rank_)
            claims.append(accuracy_claim(error, is_unique=self.rank_ == len(coef)))
            claims += self._prove_alike(problem)
        return claims if problem.source == "statistics" else [*claims, *self._prove_remembered(problem)]

    def _prove_alike(self, problem: LeastSquaresProblem) -> list[Claim]:
        """Claim of columns that were taken for dependent, though there are rows enough, that the rows bear it out, if at hand."""
        rows = problem.rows
        if rows is None or not self.rank_ < self.n_features_in_ < self.statistic_.count:
            return []
        left_out = problem.equations.left_out(self.rank_)
        if left_out.size == 0:
            return []
        return [left_out_claim(rows, left_out, MOST_ALIKE, centered=self.fit_intercept)]

    def _prove_remembered(self, problem: LeastSquaresProblem) -> list[Claim]:
        """Go back to the rows for what else the model says of them, and what its inference rests on."""
        found = problem.equations.solve(0.0, DIGITS_WANTED)
        if self.positive and self.factor_ is None and not isinstance(self.statistic_, KeptRows):
            # The answer does not depend on them, and sums know them to fewer digits than rows do: these are compared by themselves.
            found = equations_of(self.statistic_, None, centered=self.fit_intercept).solve(0.0, DIGITS_WANTED)
        off = abs(self.condition_ / found.condition - 1)
        blur = 1e-6 + factor_rounding(self.n_features_in_) * self.n_features_in_ * found.condition
        if off > blur:
            # A condition number is estimated, by iterations or from a Cholesky factor, or known from singular values.
            other = problem.equations.by_columns.normal.condition(found.rank) or found.condition
            off = min(off, abs(self.condition_ / other - 1))
        if off > blur and isinstance(self.statistic_, KeptRows) and self.statistic_.is_sparse:
            # Iterations over sparse rows end below it: they are gone through once more, though the rows at hand may be dense.
            other = equations_of(self.statistic_, None, centered=self.fit_intercept).solve(0.0, DIGITS_WANTED).condition
            off = min(off, abs(self.condition_ / other - 1))
        claims = [
            Claim("rank is that of the columns", float(abs(self.rank_ - found.rank)), 0.0),
            Claim("condition number is that of the columns (relative)", float(off), blur),
        ]
        if self.factor_ is not None:
            apart = self.factor_.apart(problem.statistic.moments())
            claims.append(Claim("QR factor is that of the rows (in units of rounding)", apart, 1.0))
        return claims

    def coefficient_errors(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Bound the relative error of every coefficient, from the data: how far it is from that of exact arithmetic, at most.

        Parameters
        ----------
        X, y, sample_weight
            The data the model was fitted on.

        Returns
        -------
        ndarray of shape (p,) or (n_outputs, p)
            The bounds. Where columns are dependent, that of the shortest coefficients together.

        Examples
        --------
        >>> import qed
        >>> X, y = qed.data.load("stackloss").Xy()
        >>> model = qed.LinearRegression().fit(X, y)
        >>> bool((model.coefficient_errors(X, y) < 1e-10).all())
        True
        """
        self._check_fitted()
        self._refuse_constraint("Bounds on the errors of coefficients are")
        problem = self._evidence(self._open(X, y, sample_weight, reset=False, target=self.target))
        coef, intercept = self._columns()
        found = problem.coefficient_errors(problem.evidence(coef, intercept), coef, intercept, self.rank_)[:-1]
        return found[:, 0] if self.coef_.ndim == 1 else found.T

    def _refuse_constraint(self, what: str) -> None:
        if self.positive:
            raise NotAvailableError(
                f"{what} not defined with positive=True: which coefficients are zero was chosen by the same data. Use positive=False."
            )

    @property
    def inference_(self) -> Any:
        """Standard errors, t and p values and intervals of the coefficients."""
        self._check_fitted()
        self._refuse_constraint("Standard errors and p-values are")
        p, spare = self.n_features_in_, self.statistic_.weight - self.rank_ - self.fit_intercept
        if self.rank_ < p:
            raise NotAvailableError(
                f"Standard errors are not defined: only {self.rank_} of {p} columns are independent, so the "
                "coefficients are not determined by the data. Drop the columns that follow from others."
            )
        if spare <= 0:
            raise NotAvailableError(
                f"Standard errors are not defined: {self.statistic_.weight:g} rows leave nothing over after fitting "
                f"{p + self.fit_intercept} coefficients. More rows or fewer columns are needed."
            )
        coef, intercept = self._columns()
        return Inference.of_least_squares(
            self.statistic_ if self.factor_ is None else self.factor_,
            coef,
            intercept,
            fit_intercept=self.fit_intercept,
            names=getattr(self, "feature_names_in_", None),
        )
