r"""Kernel ridge regression: ridge regression on the features of a kernel, without making them.

.. math:: \min_f\ \sum_i s_i (y_i - f(x_i))^2 + \alpha \|f\|_k^2, \qquad f(x) = \sum_i c_i\, k(x_i, x), \qquad
   (K + \alpha S^{-1})\, c = y.

With features :math:`\Phi`, :math:`K = \Phi\Phi^\top`, this is ridge regression seen from its rows:
:math:`w = \Phi^\top c = (\Phi^\top S \Phi + \alpha I)^{-1} \Phi^\top S y` (the push-through identity) is a combination of
the rows fitted, and the dual coefficients :math:`c = S (y - f) / \alpha` are scaled residuals. The *dual* form solves for
:math:`n` unknowns, :math:`O(n^2 p + n^3)`; the *primal* form, where the kernel has :math:`d` explicit features, for
:math:`d`, :math:`O(n d^2 + d^3)`. They predict the same, and the smaller one is taken. The course's :math:`\lambda` is this
:math:`\alpha`; there is no intercept.

Saunders, Gammerman and Vovk (1998), Ridge regression learning algorithm in dual variables.
"""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import floats, integers, maybe, one_of, text
from qed.base.certificate import Certificate, Claim
from qed.base.errors import DegenerateWarning, ParameterError, level_of_user
from qed.base.models.parameters import Parameter, choice, number, numbers
from qed.base.models.searching import Answer, Question
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.kernels.inputs import as_double
from qed.kernels.kernel import Kernel
from qed.kernels.names import KERNEL_PARAMETERS, as_kernel
from qed.linalg.definite import Dual, solve_dual
from qed.regression.kernel.evidence import dual_claims, slope_claim
from qed.regression.kernel.left_out import LeftOutKernels, left_out_kernels
from qed.regression.kernel.model import KernelModel, KernelProblem, columns
from qed.regression.kernel.primal import Primal, primal_claims, solve_primal
from qed.regression.kernel.scores import kernel_search

# With so many rows at most, a primal form that lost its digits is done again in the dual form, which does not see single features.
FEW_ROWS = 10_000
TOO_APART = "the features differ too much in size for the primal form"


class KernelRidge(KernelModel):
    """Ridge regression with a kernel.

    Parameters
    ----------
    alpha : float or array of shape (n_outputs,), default=1.0
        The weight of the penalty; with zero the rows are interpolated where they can be.
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
        The coefficients c of the rows: predictions are ``k(x, X_fit_) @ dual_coef_``. Zero for rows of weight zero.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows fitted (the kernel matrix, if it was precomputed).
    form_, reason_ : str
        Which system was solved, and why that one.
    coef_ : ndarray of shape (d,) or (n_outputs, d)
        The coefficients of the explicit features, in the primal form.
    rank_ : int
        How many directions of the system counted: all n (or d), but for a penalty too small to keep equal rows apart.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Minimises ``sum_i weight_i (y_i - f(x_i))^2 + alpha c'Kc``, scikit-learn's objective.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0]]), np.array([1.0, 2.0])
    >>> model = KernelRidge(alpha=1.0).fit(X, y)
    >>> (model.dual_coef_ * 6).round(12), (model.coef_ * 6).round(12)
    (array([1., 2.]), array([5.]))
    >>> model.form_, model.reason_
    ('primal', '1 features are not more than 2 rows')
    >>> bool(model.certificate_)
    True
    """

    attributes: ClassVar = {
        "form_": one_of("primal", "dual"),
        "reason_": text(),
        "coef_": maybe(floats("outputs?", "map_features")),
        "rank_": integers(),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": number(0) | numbers(),
        **KERNEL_PARAMETERS,
        "form": choice("auto", "primal", "dual"),
    }
    _wants_condition: ClassVar[bool] = False

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        form: str = "auto",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.form = form

    def _alphas(self, n_outputs: int) -> np.ndarray:
        """Give one penalty per output."""
        alphas = np.array(self.alpha, dtype=np.float64, ndmin=1)
        if alphas.ndim != 1 or len(alphas) not in (1, n_outputs) or not all(0 <= a < np.inf for a in alphas.tolist()):
            raise ParameterError(
                f"{type(self).__name__}: alpha must be a number >= 0 or one for each of the {n_outputs} outputs, not "
                f"{self.alpha!r}."
            )
        return alphas if len(alphas) == n_outputs else alphas.repeat(n_outputs)

    def _kernel(self) -> Kernel:
        """Give the kernel whose explicit features the primal form is about."""
        return as_kernel(self.kernel, self.gamma, self.degree, self.coef0)

    def _choose(self, n: int) -> tuple[str, str]:
        """Choose a form for `n` rows, and say why."""
        kernel = self._similarity.kernel
        d = None if kernel is None else kernel.n_features(self.n_features_in_)
        if self.form == "primal" and d is None:
            what = "a precomputed kernel" if kernel is None else repr(kernel)
            raise ParameterError(
                f"form='primal' needs explicit features, and {what} has none: use form='dual' or 'auto'."
            )
        if self.form != "auto":
            return self.form, "it was asked for"
        if d is None:
            return "dual", "the kernel has no finite feature map"
        if d <= n:
            return "primal", f"{d} features are not more than {n} rows"
        return "dual", f"{n} rows are fewer than {d} features"

    def _solve(self, problem: KernelProblem) -> None:
        alphas = self._alphas(problem.Y.shape[1])
        self.form_, self.reason_ = self._choose(len(problem.Y))
        if self.form_ != "primal":
            problem.claims = self._solve_dual(problem, alphas)
            self._warn(len(problem.Y))
            return
        claims = self._solve_primal(problem, alphas)
        if not (Certificate(claims) or self.form == "primal" or len(problem.Y) > FEW_ROWS):
            primal = {name: self.__dict__.pop(name) for name in ("coef_", "dual_coef_", "rank_")}
            problem.claims = self._solve_dual(problem, alphas)
            if Certificate(problem.claims):
                self.form_, self.reason_ = "dual", TOO_APART
                self._warn(len(problem.Y))
                return
            # Squares of similarities cost the dual form more digits than products of features do the primal one.
            self.__dict__.update(primal)
        problem.claims, problem.source = claims, "statistics"

    def _solve_primal(self, problem: KernelProblem, alphas: np.ndarray) -> list[Claim]:
        found, claims = solve_primal(problem, self._kernel(), alphas)
        self.coef_ = np.ascontiguousarray(found.coef[:, 0] if problem.target_ndim == 1 else found.coef.T)
        self._keep(problem, found)
        return claims

    def _solve_dual(self, problem: KernelProblem, alphas: np.ndarray) -> list[Claim]:
        K = self._similarity.gram(problem.X)
        diagonal = K.diagonal().copy()
        found = solve_dual(K, problem.Y, alphas, problem.weight, condition=self._wants_condition)
        self._keep(problem, found)
        return self._claims_about(problem, found, diagonal, alphas)

    def _keep(self, problem: KernelProblem, found: Dual | Primal) -> None:
        self.dual_coef_ = problem.shaped(found.dual)
        self.rank_ = found.rank

    def _warn(self, n: int) -> None:
        if self.rank_ < n:
            warnings.warn(self._words(self.rank_, n), DegenerateWarning, stacklevel=level_of_user())

    def _words(self, rank: int, n: int) -> str:
        """Say what it means that directions were left out."""
        return (
            f"KernelRidge: with alpha={self.alpha} only {rank} of {n} directions of the kernel matrix can be told from rounding "
            "(rows are equal, or the kernel is too smooth for the penalty), and the others were left out. Take a larger alpha."
        )

    def _search(self, question: Question[Self]) -> Answer | None:
        return kernel_search(self, question)

    def _without_each(self, rows: Rows) -> LeftOutKernels | None:
        problem = self._problem(rows)
        return left_out_kernels(self._similarity, problem, float(self._alphas(problem.Y.shape[1])[0]))

    def _disagreement(self) -> str:
        if self.form_ == "dual":
            return ""
        wanted, found = self._kernel().n_features(self.n_features_in_), np.shape(getattr(self, "coef_", 0.0))
        return "" if found and found[-1] == wanted else f"coef_ has the shape {found} for {wanted} features"

    def _predict(self, block: Block) -> np.ndarray:
        if self.form_ == "dual":
            return super()._predict(block)
        found = np.asarray(self._kernel().features(as_double(block.X)) @ self.coef_.T)
        return found.astype(block.X.dtype, copy=False)

    def _prove(self, problem: KernelProblem) -> list[Claim]:
        if problem.claims is not None:
            return problem.claims
        alphas, dual = self._alphas(problem.Y.shape[1]), problem.chosen(columns(self.dual_coef_))
        if self.form_ == "primal":
            w = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64)).T
            return primal_claims(problem, self._kernel(), w, dual, alphas)
        X = problem.chosen(problem.given)
        fitted, slope = self._similar(X, problem.spread(dual)), None
        if self.rank_ < len(dual):
            slope = self._similar(X, problem.spread(problem.counts[:, None] * (problem.Y - fitted) - alphas * dual))
        found = Dual(dual, fitted, self.rank_, None, slope)
        return self._claims_about(problem, found, self._similarity.diagonal(problem.X), alphas)

    def _claims_about(
        self, problem: KernelProblem, found: Dual, diagonal: np.ndarray, alphas: np.ndarray
    ) -> list[Claim]:
        root, noise = np.sqrt(problem.counts)[:, None], alphas * found.dual / problem.counts[:, None]
        claims = dual_claims(
            problem.Y, found.fitted, found.dual, noise, diagonal, lambda v: root * v, alphas, found.slope
        )
        if found.slope is not None:
            claims.insert(0, slope_claim(found.slope, problem.Y, found.dual, diagonal, problem.counts))
        return claims

    def _restate(self, problem: KernelProblem) -> list[Claim]:
        alphas = self._alphas(problem.Y.shape[1])
        if self.form_ == "primal":
            primal, _ = solve_primal(problem, self._kernel(), alphas)
            return [*super()._restate(problem), *self._again(problem, primal, 0), self._claim_of_reason(problem)]
        K = self._similarity.gram(problem.X)
        spectrum = np.linalg.eigvalsh(np.sqrt(problem.counts)[:, None] * K * np.sqrt(problem.counts)) + alphas.min()
        cut = 4 * len(K) * EPS * spectrum[-1]
        unsure = int(np.count_nonzero((spectrum > cut / 4) & (spectrum < 4 * cut)))
        again = solve_dual(K, problem.Y, alphas, problem.weight, condition=self._wants_condition)
        return [*super()._restate(problem), *self._again(problem, again, unsure), self._claim_of_reason(problem)]

    def _claim_of_reason(self, problem: KernelProblem) -> Claim:
        """Claim that the form is the one to choose for so many rows and features, and the reason that of the choice."""
        said, chosen = (self.form_, self.reason_), self._choose(len(problem.Y))
        may_turn = chosen[0] == "primal" != self.form and len(problem.Y) <= FEW_ROWS
        known = said == chosen or (may_turn and said == ("dual", TOO_APART))
        return Claim("form_ and reason_ follow from rows and features (others)", float(not known), 0.0)

    def _again(self, problem: KernelProblem, again: Dual | Primal, unsure: int) -> list[Claim]:
        """Compare what was said of the kernel matrix; so many directions are `unsure`, that rounding may count or not."""
        return [Claim("directions that rank_ counts otherwise", float(abs(self.rank_ - again.rank)), float(unsure))]
