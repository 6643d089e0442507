r"""The lasso: least squares with a penalty on the sizes of the coefficients, many of which become exactly zero.

.. math:: \min_{w, b}\ \frac1{2n} \sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \|w\|_1, \qquad n = \sum_i s_i .

Making a coefficient smaller always pays the same, :math:`\alpha` per unit, however small it is already; so what does not pay for
itself goes all the way to zero. For orthonormal columns the solution is that of least squares, each coefficient moved towards zero by
:math:`n\alpha` and no further. It is unique where columns are independent; predictions always are. For every :math:`k` the problem
with :math:`\|w\|_1 \le k` in the place of the penalty has the same solution as some :math:`\alpha`
(:func:`qed.constrained_lasso`). It is the `ElasticNet` with ``l1_ratio=1``, where the ways of solving are told. The course's
:math:`\|y - Xw\|^2 + \lambda\|w\|_1` is :math:`\alpha = \lambda / 2n` with ``fit_intercept=False``.

Tibshirani (1996), Regression shrinkage and selection via the lasso.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter
from qed.regression.sparse.elastic_net import ElasticNet


@takes("precompute", "copy_X", "warm_start", "random_state", "selection")
class Lasso(ElasticNet):
    """Linear least squares with a penalty on the sizes of the coefficients.

    Parameters
    ----------
    alpha : float, default=1.0
        The weight of the penalty; larger means fewer coefficients that are not zero. From ``alpha_max_`` on all are zero.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    positive : bool, default=False
        Whether coefficients must not be negative.
    solver : {"auto", "coordinate", "proximal", "subgradient", "irls"}, default="auto"
        How to solve: "auto" ends with Newton steps, which are exact. The others are there to be compared with: plain coordinate
        descent, accelerated proximal gradients, subgradient descent and iteratively reweighted least squares.
    tol : float, default=1e-6
        The fit ends when the objective is proven to be within this, relative, of its minimum.
    max_iter : int, default=1000
        The most iterations.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_outputs, p)
        Coefficients; those that are zero are exactly zero.
    sparse_coef_ : scipy.sparse.csr_array
        The same without the zeros.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant.
    dual_gap_ : float or ndarray of shape (n_outputs,)
        By how much the objective is above its minimum, at most.
    alpha_max_ : float
        The smallest penalty with which all coefficients are zero.
    solver_ : str
        How the solution was found, in words.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Minimises ``1 / (2 n) * ||y - X w - b||^2 + alpha * ||w||_1``, scikit-learn's objective.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X, y = np.eye(2), np.array([3.0, 0.5])
    >>> model = qed.Lasso(alpha=0.5, fit_intercept=False).fit(X, y)
    >>> model.coef_
    array([2., 0.])
    >>> model.alpha_max_, bool(model.certificate_)
    (1.5, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        name: rule for name, rule in ElasticNet.parameters.items() if name != "l1_ratio"
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"alpha": [10.0 ** (j / 4) for j in range(-16, 17)]}
    compare_name: ClassVar[str] = "Lasso"
    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        positive: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
