r"""Kernel regression without a penalty: the curve of a kernel through all points, or as near to them as it can go.

.. math:: \min_f\ \sum_i (y_i - f(x_i))^2, \qquad f(x) = \sum_i a_i\, k(x_i, x), \qquad K^2 a = K y,\quad a = K^{+} y.

The best function lies in the span of the rows' features, because what is orthogonal to all of them changes no prediction on
these rows. Where :math:`K` is invertible, :math:`a = K^{-1} y` meets every target; with the linear kernel and more rows than
columns the predictions are those of least squares. Eigenvalues below :math:`4 n \varepsilon` times the largest, which rounding
can not tell from zero, count as zero. The matrix of a smooth kernel has many of these and a large condition number, and
the curve then follows the noise wildly: `KernelRidge` with a small penalty is the cure. Cost: :math:`O(n^3)`, or
:math:`O(nd^2)` for a kernel with :math:`d` features.

Micchelli (1986), Interpolation of scattered data: distance matrices and conditionally positive definite functions.
"""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, level_of_user
from qed.base.models.parameters import Parameter, choice
from qed.base.models.proof import restated
from qed.base.numbers import EPS
from qed.kernels.names import KERNEL_PARAMETERS
from qed.linalg.definite import Dual
from qed.regression.kernel.model import KernelProblem
from qed.regression.kernel.primal import Primal
from qed.regression.kernel.ridge import KernelRidge

LARGE = 1e10


class KernelInterpolator(KernelRidge):
    """Least squares with a kernel and no penalty, which interpolates where the kernel matrix is invertible.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        A name ("linear", "poly", "rbf", "laplacian", "cosine"), a kernel such as ``RBF(0.5) + 2 * Polynomial(3)``, a
        function of two rows, or "precomputed": `X` then is the kernel matrix, of the rows fitted with themselves in ``fit`` and
        of new rows with those in ``predict``.
    gamma : float, optional
        The factor of "rbf", "laplacian" and "poly"; the default is one over the number of columns.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=1
        The constant of "poly".
    form : {"auto", "primal", "dual"}, default="auto"
        Whether to solve for the coefficients of the kernel's explicit features, for those of the rows, or for the fewer.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_outputs)
        The coefficients of the rows; the shortest where there are many.
    rank_ : int
        The rank of the kernel matrix, as far as rounding can tell.
    condition_ : float
        Its condition number in the directions that count.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows fitted (the kernel matrix, if it was precomputed).
    form_, reason_ : str
        Which system was solved, and why that one.
    coef_ : ndarray of shape (d,) or (n_outputs, d)
        The coefficients of the explicit features, in the primal form.
    certificate_ : Certificate
        The proof of the fit: residuals are orthogonal to the range of the kernel matrix.

    See Also
    --------
    KernelRidge : The same with a penalty.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, -1.0, 2.0])
    >>> model = KernelInterpolator(kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.predict(X).round(12)
    array([ 1., -1.,  2.])
    >>> bool(model.certificate_), model.rank_
    (True, 3)
    """

    attributes: ClassVar = {"condition_": floats(low=0, finite=False)}
    parameters: ClassVar[Mapping[str, Parameter]] = {**KERNEL_PARAMETERS, "form": choice("auto", "primal", "dual")}
    _wants_condition: ClassVar[bool] = True

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        form: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.form = form

    def _alphas(self, n_outputs: int) -> np.ndarray:
        return np.zeros(n_outputs)

    def _keep(self, problem: KernelProblem, found: Dual | Primal) -> None:
        super()._keep(problem, found)
        self.condition_ = float(found.condition or 1.0)
        if found.rank == len(problem.Y) and self.condition_ > LARGE:
            warnings.warn(
                f"KernelInterpolator: the kernel matrix has the condition number {self.condition_:.1e}, so that rounding and noise "
                "are magnified as much. Take a less smooth kernel, or KernelRidge with a small alpha.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )

    def _again(self, problem: KernelProblem, again: Dual | Primal, unsure: int) -> list[Claim]:
        found = float(again.condition or 1.0)
        # The least eigenvalue is known to rounding of the largest; next to the cut it may have been left out elsewhere.
        slack = np.inf if unsure else min(0.5, 1e-9 + len(problem.Y) * EPS * found)
        return [*super()._again(problem, again, unsure), restated("condition_", self.condition_, found, slack=slack)]

    def _words(self, rank: int, n: int) -> str:
        return (
            f"KernelInterpolator: the kernel matrix of {n} rows has rank {rank} but for rounding (rows are equal, or the kernel is too "
            "smooth), so not every target can be met; the shortest of the best solutions was taken. KernelRidge with a small "
            "alpha is steadier."
        )
