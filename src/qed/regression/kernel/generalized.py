r"""Kernel ridge regression when the noise of the rows differs in size or is correlated.

.. math:: y = f(x) + z,\quad z \sim N(0, \Sigma), \qquad
   \min_f\ (y - f)^\top \Sigma^{-1} (y - f) + \|f\|_k^2, \qquad (K + \Sigma)\, c = y,

with predictions :math:`k_z^\top (K + \Sigma)^{-1} y`: the covariance of the noise stands in the place of :math:`\alpha I`. It is the most
probable :math:`f` when :math:`f` is a Gaussian process of covariance :math:`k`; with the kernel :math:`x^\top \Sigma_w x'`
(`QuadraticForm`), the linear model with the prior :math:`w \sim N(0, \Sigma_w)`. Independent coefficients and noise,
:math:`\Sigma_w = \sigma_w^2 I` and :math:`\Sigma = \sigma^2 I`, give ridge regression with :math:`\alpha = \sigma^2/\sigma_w^2`. Cost:
:math:`O(n^3)`.

Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, section 2.2.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.engine import one_blas_thread
from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.base.models.parameters import Parameter, array, choice, number
from qed.kernels.names import KERNEL_PARAMETERS
from qed.linalg.cholesky import factor_in_place, solve_factored
from qed.linalg.definite import multiplied
from qed.regression.kernel.evidence import dual_claims
from qed.regression.kernel.model import KernelModel, KernelProblem, columns
from qed.stats.distributions.covariance import NO_WEIGHTS, Whitening


class GeneralizedKernelRidge(KernelModel):
    """Kernel ridge regression for rows whose noise has a known covariance.

    Parameters
    ----------
    covariance : None, float, or array of shape (n,) or (n, n)
        Covariance of the noise of the rows, in their order: the identity, one variance, one for each row, or a full
        positive definite matrix. It belongs to the rows of one table, so a model with one can not be cross-validated.
    kernel : str, Kernel or callable, default="linear"
        The covariance of the function: a name ("linear", "poly", "rbf", "laplacian", "cosine"), a kernel, a function of two rows,
        or "precomputed". ``QuadraticForm(P)`` is the linear model with the prior N(0, P) of its coefficients.
    gamma : float, optional
        The factor of "rbf", "laplacian" and "poly"; the default is one over the number of columns.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=1
        The constant of "poly".

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_outputs)
        The coefficients c of the rows: predictions are ``k(x, X_fit_) @ dual_coef_``.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows fitted.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Minimises ``(y - f)' inv(covariance) (y - f) + c'Kc``. A `sample_weight` divides the variance of its row.

    Examples
    --------
    >>> from qed.data.synthetic import ar1_covariance
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 2.0])
    >>> model = GeneralizedKernelRidge(ar1_covariance(3, 0.5)).fit(X, y)
    >>> (X.T @ model.dual_coef_).round(6)
    array([0.641379, 0.517241])
    >>> bool(model.certificate_)
    True
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "covariance": choice(None, kind="model") | number(0, above=True, kind="model") | array(),
        **KERNEL_PARAMETERS,
    }

    def __init__(
        self,
        covariance: Any = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
    ) -> None:
        self.covariance = covariance
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _noise(self, problem: KernelProblem) -> np.ndarray:
        """Give the variances (n,) or the covariance matrix of the rows that count."""
        n, shape = len(problem.block), np.shape(self.covariance)
        if shape and shape[0] != n:
            raise ParameterError(
                f"GeneralizedKernelRidge: covariance is for {shape[0]} rows, but {n} rows were given. A covariance belongs to the "
                "rows of one table and can not be split by cross-validation; where the rows are independent, use KernelRidge "
                "with sample_weight = 1 / variance, which can."
            )
        if len(shape) == 2:
            if problem.weight is not None:
                raise InputError(NO_WEIGHTS)
            return np.asarray(self.covariance, dtype=np.float64)
        variance = np.asarray(1.0 if self.covariance is None else self.covariance, dtype=np.float64)
        found = problem.chosen(np.broadcast_to(variance, n))
        return np.asarray(found if problem.weight is None else found / problem.weight)

    def _solve(self, problem: KernelProblem) -> None:
        noise = self._noise(problem)
        whiten = Whitening(noise, len(problem.Y), "covariance")
        K = self._similarity.gram(problem.X)
        diagonal = K.diagonal().copy()
        with one_blas_thread:
            dual, fitted = _solve(K, noise, problem.Y)
        self.dual_coef_ = problem.shaped(dual)
        problem.claims = _claims_about(problem.Y, fitted, dual, noise, diagonal, whiten)

    def _prove(self, problem: KernelProblem) -> list[Claim]:
        if problem.claims is not None:
            return problem.claims
        noise, dual = self._noise(problem), problem.chosen(columns(self.dual_coef_))
        whiten = Whitening(noise, len(dual), "covariance")
        fitted = self._similar(problem.chosen(problem.given), problem.spread(dual))
        return _claims_about(problem.Y, fitted, dual, noise, self._similarity.diagonal(problem.X), whiten)


def _solve(K: np.ndarray, noise: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve ``(K + noise) c = y`` by Cholesky, and give c and Kc; `K` is used up."""
    K += np.diag(noise) if noise.ndim == 1 else noise
    diagonal = K.diagonal().copy()
    if not factor_in_place(K.T):
        raise DegenerateError(
            "The kernel matrix plus the covariance of the noise is not positive definite but for rounding: the noise is too small "
            "against the kernel. Give larger variances."
        )
    dual = solve_factored(K.T, Y)
    np.fill_diagonal(K, diagonal)
    return dual, multiplied(K, dual) - _times(noise, dual)


def _times(noise: np.ndarray, dual: np.ndarray) -> np.ndarray:
    return noise @ dual if noise.ndim == 2 else noise[:, None] * dual


def _claims_about(
    Y: np.ndarray, fitted: np.ndarray, dual: np.ndarray, noise: np.ndarray, diagonal: np.ndarray, whiten: Whitening
) -> list[Claim]:
    equation, gap = dual_claims(Y, fitted, dual, _times(noise, dual), diagonal, whiten, np.ones(Y.shape[1]))
    return [replace(equation, says="dual coefficients are whitened residuals: covariance c = y - Kc"), gap]
