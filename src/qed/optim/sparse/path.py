r"""Sparse linear models with any smooth convex loss, for one penalty or a whole path of them.

.. math:: \min_{w, b}\ \sum_i \omega_i\, f(x_i^\top w + b, y_i) + \lambda\, g(w), \qquad
          g(w) = \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2 .

Loss, penalty and solver are chosen one by one: squares, Huber's, logistic and Poisson losses with the penalty of the lasso or of the
elastic net go through the same code. All coefficients are zero from :math:`\lambda_{\max} = \|X^\top\theta_0\|_\infty / \lambda_1`
on, with :math:`\theta_0` minus the gradient in the scores of the best constant. From there penalties are taken in falling order, each from
the solution of the one before, on a working set of columns (:mod:`qed.optim.sparse.working_set`). In the end the duality gap of
every solution is worked out afresh, from the data. The price of a path is that of a few fits, each about :math:`O(n|S|^2)` for a
support :math:`S`.

Friedman, Hastie and Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from qed.base.certificate import Certificate, Claim
from qed.base.engine import one_blas_thread
from qed.base.errors import InputError, ParameterError
from qed.base.sources.block import is_sparse
from qed.optim.functions.losses import Loss, SquaredLoss
from qed.optim.functions.penalties import L1, L1L2
from qed.optim.sparse.columns import columns_of
from qed.optim.sparse.grid import strengths
from qed.optim.sparse.newton_set import NewtonSet
from qed.optim.sparse.proof import prove
from qed.optim.sparse.scored import ScoredLoss
from qed.optim.sparse.working_set import WorkingSet


@dataclass(frozen=True, eq=False)
class SparsePath:
    """Sparse linear models along a path of penalties.

    Attributes
    ----------
    lambdas : ndarray of shape (m,)
        By what the penalty was multiplied.
    coefs : ndarray of shape (m, p)
        The coefficients.
    intercepts : ndarray of shape (m,)
        The constants.
    objectives : ndarray of shape (m,)
        Loss and penalty.
    gaps : ndarray of shape (m,)
        By how much each objective is above its minimum, at most, relative to what it is above the least loss for any predictions.
    iterations : ndarray of int of shape (m,)
        How many quadratic models each solution took.
    lambda_max : float
        The smallest multiple of the penalty with which all coefficients are zero.
    certificate : Certificate
        The proof of all solutions together.
    """

    lambdas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    iterations: np.ndarray
    lambda_max: float
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class SparseMinimum:
    """A sparse linear model: one point of a `SparsePath`.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        The coefficients.
    intercept : float
        The constant.
    objective, gap : float
        Loss and penalty; and by how much that is above its minimum, at most, relative.
    iterations : int
        How many quadratic models it took.
    certificate : Certificate
        The proof.
    """

    coef: np.ndarray
    intercept: float
    objective: float
    gap: float
    iterations: int
    certificate: Certificate


def minimize_sparse(
    X: Any,
    y: Any,
    loss: Loss,
    penalty: L1 | L1L2,
    *,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    start: Any = None,
) -> SparseMinimum:
    """Minimise the sum of losses and a penalty that makes coefficients zero.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, p)
        The features. Columns are laid out one after another in double precision; sparse ones stay sparse.
    y : array-like of shape (n,)
        The target; labels are -1 and 1.
    loss : Loss
        A smooth loss: `SquaredLoss`, `HuberLoss`, `LogisticLoss`, `PoissonLoss` or another one.
    penalty : L1 or L1L2
        The penalty, with a positive weight of the sizes.
    sample_weight : array-like of shape (n,), optional
        The weights of the rows, none of them negative.
    fit_intercept : bool, default=True
        Whether there is a constant, which is not penalised.
    tol : float, default=1e-8
        Each objective is proven to be within this, relative, of its minimum.
    start : array-like of shape (p,), optional
        Coefficients to begin with.

    Examples
    --------
    >>> from qed.optim import L1, LogisticLoss
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> found = minimize_sparse(X, [-1.0, 1.0, -1.0, 1.0], LogisticLoss(), L1(0.1))
    >>> found.coef.round(2), bool(found.certificate)
    (array([ 0.  , -5.89]), True)
    """
    path = sparse_path(
        X, y, loss, penalty, [1.0], sample_weight=sample_weight, fit_intercept=fit_intercept, tol=tol, start=start
    )
    return SparseMinimum(
        path.coefs[0],
        float(path.intercepts[0]),
        float(path.objectives[0]),
        float(path.gaps[0]),
        int(path.iterations[0]),
        path.certificate,
    )


def sparse_path(
    X: Any,
    y: Any,
    loss: Loss,
    penalty: L1 | L1L2,
    lambdas: Any = 100,
    *,
    eps: float = 1e-3,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    start: Any = None,
) -> SparsePath:
    """Minimise the sum of losses and a multiple of a penalty that makes coefficients zero, for many multiples.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, p)
        The features. Columns are laid out one after another in double precision; sparse ones stay sparse.
    y : array-like of shape (n,)
        The target; labels are -1 and 1.
    loss : Loss
        A smooth loss: `SquaredLoss`, `HuberLoss`, `LogisticLoss`, `PoissonLoss` or another one.
    penalty : L1 or L1L2
        The penalty, with a positive weight of the sizes.
    lambdas : int or array-like of shape (m,), default=100
        By what the penalty is multiplied, or how many multiples: so many are evenly spaced in their logarithm from the smallest one with
        which all coefficients are zero down to `eps` times it.
    eps : float, default=1e-3
        The smallest multiple, as a share of the smallest one with which all coefficients are zero. Multiples that are given do not
        need it.
    sample_weight : array-like of shape (n,), optional
        The weights of the rows, none of them negative.
    fit_intercept : bool, default=True
        Whether there is a constant, which is not penalised.
    tol : float, default=1e-8
        Each objective is proven to be within this, relative, of its minimum.
    start : array-like of shape (p,), optional
        Coefficients to begin with.

    Returns
    -------
    SparsePath
        Coefficients, objective and duality gap for every multiple.

    Examples
    --------
    >>> from qed.optim import L1, SquaredLoss
    >>> path = sparse_path(np.eye(2), [3.0, 0.5], SquaredLoss(), L1(1.0), [3.0, 1.0, 0.2], fit_intercept=False)
    >>> path.coefs.round(12), path.lambda_max
    (array([[0. , 0. ],
           [2. , 0. ],
           [2.8, 0.3]]), 3.0)
    >>> bool(path.certificate)
    True
    """
    if not (isinstance(penalty, L1 | L1L2) and penalty.l1 > 0):
        raise ParameterError(f"penalty must be L1 or L1L2 with a positive weight of the sizes, not {penalty!r}.")
    table, fit = _read(X, y, loss, sample_weight, fit_intercept)
    with one_blas_thread:
        problem = _problem(table, fit)
        top = max(float((problem.right if penalty.positive else np.abs(problem.right)).max()), 0.0) / penalty.l1
        values = strengths(lambdas, eps, top, name="lambdas", zero=False)
        penalties = [L1L2(value * penalty.l1, value * penalty.l2, penalty.positive) for value in values]
        if start is not None:
            problem.begin_at(_beginning(start, table.shape[1], penalty.positive))
        coefs, intercepts = np.empty((len(values), table.shape[1])), np.empty(len(values))
        iterations = np.zeros(len(values), dtype=np.int64)
        for k in np.argsort(-values, kind="stable"):
            before = problem.iterations
            solve(problem, penalties[k], tol)
            coefs[k], intercepts[k], iterations[k] = problem.coef, problem.intercept, problem.iterations - before
        excess, gaps, slips = prove(fit, table, problem.columns, penalties, coefs, intercepts)
    worst = int(np.argmax(gaps - slips))
    claim = Claim("duality gap, relative to the objective", float(gaps[worst]), tol + float(slips[worst]))
    return SparsePath(values, coefs, intercepts, excess + fit.least, gaps, iterations, top, Certificate([claim]))


def judge_sparse(
    X: Any,
    y: Any,
    loss: Loss,
    penalty: L1 | L1L2,
    coef: np.ndarray,
    intercept: float,
    *,
    sample_weight: Any = None,
    fit_intercept: bool = True,
) -> tuple[float, float, float]:
    """Give the objective of coefficients that somebody found, how far it is above its minimum at most, and what rounding does to that.

    The last two are relative to the objective; the parameters are those of `minimize_sparse`.
    """
    table, fit = _read(X, y, loss, sample_weight, fit_intercept)
    with one_blas_thread:
        columns = _problem(table, fit).columns
        given = (np.asarray(coef, dtype=np.float64)[None], np.array([float(intercept)]))
        excess, gaps, slips = prove(fit, table, columns, [L1L2(penalty.l1, penalty.l2, penalty.positive)], *given)
    return float(excess[0]) + fit.least, float(gaps[0]), float(slips[0])


def solve(problem: WorkingSet, penalty: L1L2, tol: float) -> None:
    """Solve for a penalty, until the gap is proven to be within `tol` or gets no smaller."""
    for objective, gap in problem.rounds(penalty, tol):
        if gap <= tol * objective:
            return


def _read(X: Any, y: Any, loss: Loss, sample_weight: Any, intercept: bool) -> tuple[Any, ScoredLoss]:
    """Check what was given; leave out rows of no weight."""
    if loss.has_kinks:
        raise ParameterError(f"{loss!r} has kinks: give a smooth loss, or use qed.optim.AbsoluteSum.")
    table: Any = sparse.csc_array(X) if is_sparse(X) else np.asarray(X)
    if table.ndim != 2 or min(table.shape) == 0:
        raise InputError(f"X must be a table with rows and columns, not of shape {table.shape}.")
    if table.dtype.char not in "fd":
        table = table.astype(np.float64)
    y = np.asarray(y, dtype=np.float64)
    weight = np.ones(y.shape) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if y.shape != (table.shape[0],) or weight.shape != y.shape or not ((weight >= 0) & np.isfinite(weight)).all():
        raise InputError(
            f"X has {table.shape[0]} rows, y has shape {y.shape} and the weights have {weight.shape}: give one number of each for "
            "every row, and no negative weight."
        )
    kept = weight > 0
    if not kept.any():
        raise InputError("All weights are zero: there is nothing to fit.")
    if not kept.all():
        table, y, weight = table[kept], y[kept], weight[kept]
    loss.check(y)
    return table, ScoredLoss(loss, y, weight, intercept=intercept)


def _problem(table: Any, fit: ScoredLoss) -> WorkingSet:
    """Lay out the columns: for squares with the weights, so that one quadratic is enough."""
    squares = isinstance(fit.loss, SquaredLoss)
    columns = columns_of(table, fit.weight if squares else None, centered=fit.intercept)
    if not np.isfinite(columns.length).all():
        place = int(np.argmin(np.isfinite(columns.length)))
        raise InputError(f"Column {place} of X holds NaN, infinity, or numbers too large to be squared.")
    if not squares:
        return NewtonSet(columns, fit)
    constant = fit.beginning().constant
    return WorkingSet(columns, (fit.y - constant) * columns.root, constant)


def _beginning(start: Any, p: int, positive: bool) -> np.ndarray:
    coef = np.asarray(start, dtype=np.float64)
    if coef.shape != (p,) or not np.isfinite(coef).all():
        raise InputError(f"start must be {p} finite numbers, one for each column, not of shape {coef.shape}.")
    return np.maximum(coef, 0.0) if positive else coef
