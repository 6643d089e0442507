r"""Kernel ridge regression through the explicit features of its kernel.

.. math:: w = (\Phi^\top S \Phi + \alpha I)^{-1} \Phi^\top S y, \qquad c = S (y - \Phi w) / \alpha,

ridge regression on the features :math:`\Phi`, which are made block by block and never all at once; the dual coefficients then
are scaled residuals, and :math:`w = \Phi^\top c`. Without a penalty the singular values of all features,
:math:`S^{1/2}\Phi = U D V^\top`, give both, :math:`w = V D^{-1} U^\top S^{1/2} y` and
:math:`c = S^{1/2} U D^{-2} U^\top S^{1/2} y`, those that rounding can not tell from zero left out. Cost:
:math:`O(nd^2 + d^3)` for :math:`d` features.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.kernels.features import feature_rows
from qed.kernels.kernel import Kernel
from qed.kernels.tiles import overflowed
from qed.linalg.normal import Standing
from qed.optim.least_squares.evidence import Evidence, least_squares_claims
from qed.regression.kernel.evidence import TOLERANCE, equation_claim, gap_claim, rounding_of, slope_claim
from qed.regression.kernel.model import KernelProblem
from qed.regression.linear.ridge import Ridge
from qed.stats.products import dense

# Rows with features beyond this have squares, and products with each other, that no number holds.
LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Primal:
    """The solution in terms of features."""

    coef: np.ndarray  # (d, q): coefficients of the features
    dual: np.ndarray  # (n, q): coefficients of the rows that say the same
    rank: int  # how many directions of the features count
    # Condition number of the kernel matrix in these directions, where there is no penalty; else 1.
    condition: float = 1.0


def solve_primal(problem: KernelProblem, kernel: Kernel, alphas: np.ndarray) -> tuple[Primal, list[Claim]]:
    """Solve ridge regression on the features of a kernel, and prove it from the statistics of one pass."""
    features, held = feature_rows(problem.rows, kernel), alphas > 0
    d = features.n_features
    found, claims = Primal(np.empty((d, len(alphas))), np.empty_like(problem.Y), d), []
    if held.any():
        ridge = Ridge(np.where(held, alphas, 1.0), fit_intercept=False).fit(features)
        found.coef[:, held] = np.atleast_2d(ridge.coef_)[held].T
        fitted, size = _images(features, problem, found.coef[:, held])
        found.dual[:, held] = problem.counts[:, None] * (problem.Y[:, held] - fitted) / alphas[held]
        claims = [*ridge.certificate_, _residual_claim(problem, fitted, size, found.dual, alphas)]

        def evidence() -> Evidence:
            w = found.coef[:, held]
            return Evidence.from_moments(ridge.statistic_.moments(), w, np.zeros(w.shape[1]), centered=False)

        claims.append(_gap_claim(features, problem, found.coef, fitted, size, found.dual, alphas, evidence))
    if not held.all():
        Z = dense(kernel.features(problem.X))
        if not np.abs(Z).max(initial=0.0) < LARGEST:
            raise overflowed(kernel)
        free = _without_penalty(Z, problem.Y[:, ~held], problem.counts)
        found.coef[:, ~held], found.dual[:, ~held] = free.coef, free.dual
        found = replace(found, rank=free.rank, condition=free.condition)
        claims += _free_claims(problem, Z, free.coef, free.dual, ~held)
    return found, claims


def _images(features: Rows, problem: KernelProblem, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the predictions for all rows that count, and the sums of absolute values behind them."""
    found = problem.chosen(features.map(_image, w))
    return found[:, : w.shape[1]], found[:, w.shape[1] :]


def _image(block: Block, w: np.ndarray) -> np.ndarray:
    return np.hstack([block.X @ w, abs(block.X) @ np.abs(w)])


def _without_penalty(Z: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> Primal:
    """Solve least squares by singular values; squared they are the eigenvalues of the kernel matrix, and cut off as these are."""
    root = np.sqrt(weight)[:, None]
    U, value, V = np.linalg.svd(root * Z, full_matrices=False)
    kept = value**2 > 4 * len(Z) * EPS * value[0] ** 2
    U, value, V = U[:, kept], value[kept, None], V[kept]
    inner = U.T @ (root * Y)
    condition = float(value[0, 0] / value[-1, 0]) ** 2 if len(value) else 1.0
    return Primal(V.T @ (inner / value), root * (U @ (inner / value**2)), len(value), condition)


def primal_claims(
    problem: KernelProblem, kernel: Kernel, w: np.ndarray, dual: np.ndarray, alphas: np.ndarray
) -> list[Claim]:
    """Go back to the rows for what proves the coefficients `w` of features, and `dual` of rows."""
    claims, features, held = [], feature_rows(problem.rows, kernel), alphas > 0
    if held.any():
        seen = Evidence.from_rows(features, w, np.zeros(w.shape[1]), centered=False)
        part = replace(seen, y_mean=seen.y_mean[held], r_mean=seen.r_mean[held], xr=seen.xr[:, held])
        part = replace(part, yy=seen.yy[held], rr=seen.rr[held], noise=seen.noise[:, held], slip=seen.slip[held])
        claims = least_squares_claims(part, w[:, held], alpha=alphas[held], centered=False)
        fitted, size = _images(features, problem, w[:, held])
        claims.append(_residual_claim(problem, fitted, size, dual, alphas))
        claims.append(_gap_claim(features, problem, w, fitted, size, dual, alphas, lambda: part))
    if not held.all():
        claims += _free_claims(problem, dense(kernel.features(problem.X)), w[:, ~held], dual[:, ~held], ~held)
    return claims


def _residual_claim(
    problem: KernelProblem, fitted: np.ndarray, size: np.ndarray, dual: np.ndarray, alphas: np.ndarray
) -> Claim:
    """Claim that dual coefficients are scaled residuals, for the outputs with a penalty."""
    held = alphas > 0
    Y, noise = problem.Y[:, held], (alphas * dual)[:, held] / problem.counts[:, None]
    return equation_claim(Y - fitted - noise, np.abs(Y) + np.abs(noise) + size)


def _gap_claim(
    features: Rows,
    problem: KernelProblem,
    w: np.ndarray,
    fitted: np.ndarray,
    size: np.ndarray,
    dual: np.ndarray,
    alphas: np.ndarray,
    evidence: Callable[[], Evidence],
) -> Claim:
    r"""Claim that the objective is minimal, by its distance from that of the dual coefficients.

    It is a sum of squares, :math:`\|S^{1/2}(y - \Phi w - \alpha S^{-1} c)\|^2 + \alpha \|w - \Phi^\top c\|^2`. Where the penalty is
    nothing beside the features, rounding leaves nothing of :math:`\Phi^\top c`, and the gradient says more, as it is `evidence` then.
    """
    held, root = alphas > 0, np.sqrt(problem.counts)[:, None]
    alpha, dual, Y, w = alphas[held], dual[:, held], problem.Y[:, held], w[:, held]
    noise = alpha * dual / problem.counts[:, None]
    back = features.fold(_backward, problem.spread(dual))
    q, each = back.shape[1] // 2, rounding_of(len(Y) + len(w))
    with np.errstate(over="ignore"):
        gap = ((root * (Y - fitted - noise)) ** 2).sum(axis=0) + alpha * ((w - back[:, :q]) ** 2).sum(axis=0)
        blur = each**2 * ((root * (np.abs(Y) + size + np.abs(noise))) ** 2).sum(axis=0)
        blur += alpha * ((each * (np.abs(w) + back[:, q:])) ** 2).sum(axis=0)
    value = ((root * (Y - fitted)) ** 2).sum(axis=0) + alpha * (w**2).sum(axis=0)
    claim = gap_claim(gap, value, blur)
    return claim if claim.holds else gap_claim(_missing(evidence(), w, alpha), value, np.zeros(len(value)))


def _missing(seen: Evidence, w: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Bound what is missing from the minimum, for each output, by the gradient of the penalised error and its curvature."""
    nothing = np.zeros(len(alphas))
    return seen.metric.excess(Standing(w, seen.xr - alphas * w, seen.noise, alphas, nothing, nothing))


def _backward(block: Block, dual: np.ndarray) -> np.ndarray:
    """Give the sums of the features, each times the dual coefficients of its row, and of the sizes of these products."""
    own = dual[block.start : block.start + len(block)]
    if block.weight is not None and not block.weight.all():
        own, block = own[block.weight > 0], block.take(block.weight > 0)
    return np.hstack([block.X.T @ own, abs(block.X).T @ np.abs(own)])


def _free_claims(
    problem: KernelProblem, Z: np.ndarray, w: np.ndarray, dual: np.ndarray, free: np.ndarray
) -> list[Claim]:
    """Claim, for outputs without a penalty, that residuals are orthogonal to the features, and that rows and features say the same."""
    Y, weight, diagonal = problem.Y[:, free], problem.counts, (Z**2).sum(axis=1)
    slope = Z @ (Z.T @ (weight[:, None] * (Y - Z @ w)))
    off = np.linalg.norm(Z.T @ dual - w)
    scale = np.linalg.norm(w) + np.sqrt(diagonal.sum()) * np.linalg.norm(dual)
    says = "coefficients are combinations of the rows: w = features' c"
    return [slope_claim(slope, Y, dual, diagonal, weight), Claim(says, float(off / max(scale, 1e-300)), TOLERANCE)]
