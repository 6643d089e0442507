r"""The elastic net: least squares with a penalty on the sizes and on the squared sizes of the coefficients.

.. math:: \min_{w, b}\ \frac1{2n} \sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \rho \|w\|_1 + \tfrac12 \alpha (1 - \rho) \|w\|_2^2,
          \qquad n = \sum_i s_i,

with :math:`\rho` the ``l1_ratio``; the lasso is :math:`\rho = 1`. The 1-norm has corners where coefficients are zero, and the minimum is
often at one; the square keeps columns that are alike together. With few columns, one pass over the rows gives a Gram matrix and the
rows are not needed again; with many, a working set of columns is solved that grows until none is missing
(:mod:`qed.regression.sparse.problem`). Either way coordinate descent finds the support, Newton steps on it find the exact minimum, and
the duality gap proves it. The course's :math:`\|y - Xw\|^2 + \lambda\|w\|_1` is :math:`\alpha = \lambda / 2n` with
``l1_ratio=1, fit_intercept=False``.

Zou and Hastie (2005), Regularization and variable selection via the elastic net.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from qed.base.attributes import floats, text
from qed.base.certificate import Claim
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, boolean, choice, integer, number
from qed.base.models.problem import Problem, RowsProblem
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question
from qed.base.numbers import TINY, largest, largest_share, ratio
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.functions.penalties import L1L2
from qed.optim.least_squares.precise import lazy_factor
from qed.regression.linear.linear import LinearPredictor
from qed.regression.sparse.evidence import SparseEvidence, sparse_claims
from qed.regression.sparse.problem import FEW_COLUMNS, GramProblem, SparseProblem, problem_for
from qed.regression.sparse.search import sparse_search
from qed.regression.sparse.solvers import method_rounds
from qed.stats.moments import Moments
from qed.stats.products import target_summary

WORDS = {
    "auto": "coordinate descent, then Newton steps on the support",
    "coordinate": "coordinate descent",
    "proximal": "accelerated proximal gradients",
    "subgradient": "subgradient descent",
    "irls": "iteratively reweighted least squares",
}


@takes("precompute", "copy_X", "warm_start", "random_state", "selection")
class ElasticNet(LinearPredictor, Iterative):
    """Linear least squares with a penalty on the sizes and on the squared sizes of the coefficients.

    Parameters
    ----------
    alpha : float, default=1.0
        The weight of the penalty; larger means fewer coefficients that are not zero. Zero means least squares, which
        `LinearRegression` does better.
    l1_ratio : float, default=0.5
        The share of the 1-norm in the penalty: 1 is the lasso, 0 is ridge regression.
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
    Minimises ``1 / (2 n) * ||y - X w - b||^2 + alpha * l1_ratio * ||w||_1 + alpha * (1 - l1_ratio) / 2 * ||w||^2``,
    scikit-learn's objective; with weights, n is their sum and a weight of two means the row twice.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.ElasticNet(alpha=2.0, l1_ratio=0.9).fit(X, y)
    >>> int((model.coef_ != 0).sum()), bool(model.certificate_)
    (9, True)
    """

    passes = "one"
    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    attributes: ClassVar = {
        "dual_gap_": floats("outputs?"),
        "alpha_max_": floats(low=0, finite=False),
        "solver_": text(),
    }
    no_inference: ClassVar[str] = (
        "the penalty shrinks the coefficients, and the same data chose which are zero. Fit qed.LinearRegression to rows that had "
        "no part in the choice"
    )
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": number(0),
        "l1_ratio": number(0, 1),
        "fit_intercept": boolean(),
        "positive": boolean(),
        "solver": choice(*WORDS),
        "tol": number(0),
        "max_iter": integer(1),
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        positive: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _penalty(self, weight: float, alpha: float | None = None) -> L1L2:
        """Give the penalty for sums, not means, over rows of this total weight; along a path with another `alpha`."""
        alpha, share = self.alpha if alpha is None else alpha, float(self.l1_ratio)
        return L1L2(weight * alpha * share, weight * alpha * (1 - share), bool(self.positive))

    def _statistic(self, block: Block) -> Moments:
        return Moments.of(block)

    def _problem(self, rows: Rows) -> SparseProblem:
        return problem_for(rows, self)

    def _known(self, rows: Rows | None, statistic: Moments, target_ndim: int = 1) -> SparseProblem:
        return GramProblem(statistic, rows, centered=bool(self.fit_intercept))

    def _evidence(self, rows: Rows) -> RowsProblem:
        return RowsProblem(rows, self)

    def _steps(self, problem: SparseProblem, start: Step | None = None) -> Iterator[Step]:
        penalty = self._penalty(problem.weight)
        if penalty.l1 == 0 and not penalty.positive:
            yield self._ridge_step(problem, penalty)
            return
        if self.solver not in ("auto", "coordinate"):
            before = None if start is None else start.inner
            for objective, gap, coef, inner in method_rounds(problem.outputs, penalty, self.solver, before):
                yield _step(problem, objective, gap, coef, inner=inner)
            return
        if start is not None:
            problem.begin_at(start.coef)
        for objective, gap in problem.rounds(penalty, self.tol, newton=self.solver == "auto"):
            yield _step(problem, objective, gap, problem.coef)

    def _ridge_step(self, problem: SparseProblem, penalty: L1L2) -> Step:
        """Solve without a penalty on sizes, which is linear algebra."""
        rows = problem.rows
        assert rows is not None
        coef = problem.ridge(penalty.l2, lazy_factor(rows))
        intercept = problem.y_mean - problem.x_mean @ coef
        centered = bool(self.fit_intercept)
        seen = SparseEvidence.from_rows(rows, coef, intercept, centered=centered, lengths=True)
        objective = 0.5 * seen.rr + 0.5 * penalty.l2 * (coef**2).sum(axis=0)
        claim = sparse_claims(seen, coef, penalty, self.tol, centered=centered, exact=True)[0]
        gap = claim.value if claim.value > claim.bound else 0.0
        return Step(objective.sum() / problem.weight, gap, coef=coef, gaps=claim.value * objective / problem.weight)

    def _finish(self, problem: SparseProblem, step: Step) -> None:
        penalty, flat = self._penalty(problem.weight), problem.target_ndim == 1
        self._set_coef(np.array(step.coef), problem.x_mean, problem.y_mean, flat=flat)
        self.dual_gap_ = float(step.gaps[0]) if flat else np.asarray(step.gaps)
        share = problem.weight * float(self.l1_ratio)
        self.alpha_max_ = problem.largest(penalty.positive) / share if share > 0 else np.inf
        self.solver_ = self._words(problem, penalty)

    def _words(self, problem: SparseProblem, penalty: L1L2) -> str:
        if penalty.l1 == 0 and not penalty.positive:
            other = "Ridge" if penalty.l2 > 0 else "LinearRegression"
            return f"normal equations: without a penalty on sizes, qed.{other} does the same and tells more"
        if self.alpha >= self.alpha_max_:
            return f"alpha is not below alpha_max_ = {self.alpha_max_:.6g}: all coefficients are zero"
        return f"{problem.way}: {WORDS[self.solver]}"

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix of shape (1, p) or (n_outputs, p)."""
        self._check_fitted()
        return sparse.csr_array(np.atleast_2d(self.coef_))

    def _prove(self, problem: Problem) -> list[Claim]:
        """Prove the fit from the moments, where it has them, or from the rows."""
        coef, intercept = self._columns()
        if isinstance(problem, GramProblem):
            return self._claims_about(problem.evidence(coef, intercept))
        rows = problem.rows
        assert rows is not None
        # What rounding can do is asked only where it matters, as it takes another look at every value.
        for lengths in (False, True):
            seen = SparseEvidence.from_rows(rows, coef, intercept, centered=bool(self.fit_intercept), lengths=lengths)
            claims = self._claims_about(seen)
            if self.alpha * self.l1_ratio > 0 and all(claim.holds for claim in claims):
                return claims
        if self.alpha == 0 or claims[0].holds or rows.n_features > FEW_COLUMNS:
            return claims
        return self._claims_about(seen.with_products(rows, centered=bool(self.fit_intercept)))

    def _restate(self, problem: Problem) -> list[Claim]:
        coef, _ = self._columns()
        rows, centered, share = problem.rows, bool(self.fit_intercept), float(self.l1_ratio)
        assert rows is not None
        zero = np.zeros_like(coef)
        level = rows.fold(target_summary).mean if centered else np.zeros(coef.shape[1])
        nothing = SparseEvidence.from_rows(rows, zero, level, centered=centered, lengths=True)
        largest = max(float((nothing.xr if self.positive else np.abs(nothing.xr)).max(initial=0.0)), 0.0)
        gap = np.atleast_1d(np.asarray(self.dual_gap_, dtype=np.float64)) * nothing.weight
        # A gap is proven to tol of the objective, and that of no coefficients is at least as large.
        return [
            restated("alpha_max_", self.alpha_max_, largest / (nothing.weight * share) if share > 0 else np.inf),
            Claim(
                "dual_gap_ is no larger than claimed (relative)",
                largest_share(gap, np.zeros(coef.shape[1]), np.maximum(0.5 * nothing.yy, TINY)),
                self.tol,
            ),
        ]

    def _claims_about(self, seen: SparseEvidence) -> list[Claim]:
        coef, _ = self._columns()
        penalty = self._penalty(seen.weight)
        return sparse_claims(
            seen, coef, penalty, self.tol, centered=bool(self.fit_intercept), exact=self.solver == "auto"
        )

    def _search(self, question: Question[Self]) -> Answer | None:
        return sparse_search(self, question)


def _step(problem: SparseProblem, objective: np.ndarray, gap: np.ndarray, coef: np.ndarray, **state: Any) -> Step:
    relative = largest(ratio(np.maximum(gap, 0.0), objective))
    return Step(objective.sum() / problem.weight, relative, coef=coef, gaps=gap / problem.weight, **state)
