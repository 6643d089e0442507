r"""Ridge regression: least squares with a penalty on the length of the coefficients.

.. math:: \min_{w, b}\ \sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \|w\|_2^2,
   \qquad (S_{xx} + \alpha I)\, w = S_{xy},

with the scatter matrices :math:`S` about the (weighted) means, so the intercept :math:`b = \bar y - \bar x^\top w` is not penalised. For
:math:`\alpha > 0` the problem is strongly convex: the solution is unique whatever the rank of :math:`X`. One pass over the rows folds
:math:`S`, :math:`O(np^2)`; the solve costs :math:`O(p^3)`. The course's :math:`\lambda` (unscaled sums, no intercept) is this
:math:`\alpha` with ``fit_intercept=False``; a text that divides the error by :math:`2n` and not the penalty has :math:`\alpha = 2n\lambda`.

Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from qed.base.attributes import text
from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError
from qed.base.models.no_effect import RIDGE, takes
from qed.base.models.parameters import Parameter, boolean, number, numbers
from qed.optim.least_squares.problem import LeastSquaresProblem
from qed.optim.least_squares.ridge import SquaredPenalty
from qed.regression.linear.linear import LeastSquaresModel


@takes("copy_X", "max_iter", "tol", "random_state", **RIDGE)
class Ridge(SquaredPenalty, LeastSquaresModel):
    """Linear least squares with a squared penalty.

    Parameters
    ----------
    alpha : float or array of shape (n_outputs,), default=1.0
        The weight of the penalty; larger means shorter coefficients, zero means ordinary least squares.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    positive : bool, default=False
        Whether coefficients must not be negative (:mod:`qed.optim.least_squares.nonnegative`).

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_outputs, p)
        Coefficients.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant; zero without ``fit_intercept``.
    certificate_ : Certificate
        The proof of the fit.
    n_iter_ : int
        One: the equations are solved, not approached. Whoever gives ``max_iter`` may ask for it.
    solver_ : str
        The way that was taken, in words: it is chosen by the shape of the table.
    statistic_ : Moments or KeptRows
        What the model remembers of its rows, or the rows themselves where these take less room; ``partial_fit`` adds to it, ``forget``
        takes away from it.

    Notes
    -----
    Minimises ``sum_i weight_i (y_i - x_i w - b)^2 + alpha ||w||^2``, scikit-learn's objective.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 2.0])
    >>> model = qed.Ridge(alpha=1.0, fit_intercept=False).fit(X, y)
    >>> model.coef_.round(12)
    array([0.8, 0.6])
    >>> bool(model.certificate_)
    True
    """

    attributes: ClassVar = {"solver_": text()}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": number(0) | numbers(),
        "fit_intercept": boolean(),
        "positive": boolean(),
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"alpha": [10.0 ** (j / 4) for j in range(-12, 25)]}
    compare_degrees: ClassVar[tuple[int, ...]] = (1, 2)

    def __init__(self, alpha: Any = 1.0, *, fit_intercept: bool = True, positive: bool = False) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.positive = positive

    def _solve(self, problem: LeastSquaresProblem) -> None:
        seen = problem.statistic
        self._set_coef(self._minimum(problem), seen.x_mean, seen.y_mean, flat=problem.target_ndim == 1)

    @property
    def n_iter_(self) -> int:
        """How many steps were made: one, as the equations are solved, not approached."""
        self._check_fitted()
        return 1

    def _prove(self, problem: LeastSquaresProblem) -> list[Claim]:
        return self._least(problem, *self._columns())

    @property
    def inference_(self) -> Any:
        """Refuse, with the reason: a penalty makes the estimates biased."""
        raise NotAvailableError(
            "Standard errors and p-values are not defined for Ridge: the penalty biases the coefficients towards zero. "
            "Use qed.LinearRegression for inference, or qed.GaussianMAP for the posterior that ridge is the mode of."
        )
