r"""Weight, mean and scatter in the metric of a noise covariance: what turns generalised least squares into ordinary.

With noise of covariance :math:`\Sigma = LL^\top` every sum of squares :math:`\sum_i u_i v_i` becomes
:math:`u^\top\Sigma^{-1}v`, an ordinary sum for the *whitened* :math:`L^{-1}u, L^{-1}v`. The weight of all rows is then
:math:`\mathbf 1^\top\Sigma^{-1}\mathbf 1`, the mean of a column :math:`\mathbf 1^\top\Sigma^{-1}u` over that, and a column
minus its mean is whitened to something orthogonal to the whitened constant: intercepts drop out just as with independent
rows, and all that is known about least squares from a `Factor` holds as it stands. Independent rows need weights only,
:math:`1/\sigma_i^2`, and are folded block by block; a full matrix costs :math:`O(n^3 + n^2 p)` in memory.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.checks import overflowed, refuse_missing
from qed.base.models.problem import RowsProblem
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.design import DenseDesign
from qed.linalg.root import factor_rounding
from qed.linalg.wide import WideSystem
from qed.optim.least_squares.evidence import Evidence
from qed.stats.centred import exact_sum
from qed.stats.distributions.covariance import NO_WEIGHTS, Whitening
from qed.stats.factor import Factor
from qed.stats.moments import Moments
from qed.stats.products import dense, vanishes
from qed.stats.residual_sums import residuals

Target = Callable[[Block], np.ndarray]


def metric_factor(rows: Rows, whiten: Whitening, target: Target) -> Factor:
    """Take the factor of features and target in the metric of the noise."""
    if whiten.deviations is not None:
        return _upright(rows.fold(_independent, whiten.deviations, target))
    if rows.has_weight:
        raise InputError(NO_WEIGHTS)
    return _upright(_dependent(rows.array(), whiten, target))


def _independent(block: Block, deviations: np.ndarray, target: Target) -> Factor:
    precision = deviations[block.start : block.start + len(block)] ** -2
    weight = precision if block.weight is None else precision * block.weight
    return Factor.of(Block(block.X, target(block), weight, block.start))


def _dependent(block: Block, whiten: Whitening, target: Target) -> Factor:
    Z = np.hstack([np.asarray(block.X, dtype=np.float64), target(block)])
    constant = whiten(np.ones(len(Z)))
    weight = float(constant @ constant)
    near = Z.mean(axis=0)  # taken off first, so that whitening large columns costs no digits
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        white = whiten(Z - near)
        mean = constant @ white / weight
        R = np.asarray(np.linalg.qr(white - np.outer(constant, mean), mode="r"))
    mean, rest = exact_sum(near, mean)
    return Factor(weight, len(Z), mean, R, block.X.shape[1], rest)


def _upright(factor: Factor) -> Factor:
    """Make the diagonal of R positive, so that it is the same for any way of cutting rows into blocks."""
    sign = np.where(np.diagonal(factor.R) < 0, -1.0, 1.0)
    return replace(factor, R=factor.R * sign[:, None])


def target_of(block: Block) -> np.ndarray:
    """Give the target as columns."""
    return np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)


class MetricProblem(RowsProblem):
    """Least squares in the metric of the noise of the rows.

    Its `factor` is that of features and target, and `statistic` the same multiplied out.
    """

    def __init__(self, model: Any, rows: Rows, whitening: Whitening) -> None:
        super().__init__(rows, model)
        self.whitening = whitening
        self.factor = metric_factor(rows, whitening, target_of)
        self.statistic = moments_of(self.factor)
        vanished = vanishes(self.statistic.scatter.diagonal(), np.abs(self.factor.R).max(axis=0, initial=0.0))
        if not self.statistic.is_finite or vanished.any():
            refuse_missing(rows, model)
            raise overflowed(model)

    def evidence(self, coef: np.ndarray, intercept: np.ndarray, *, centered: bool) -> Evidence:
        """Go back to the rows for what proves a fit; `coef` has shape (p, q). Residuals are computed to twice the digits."""

        def with_residual(block: Block) -> np.ndarray:
            X, y = dense(block.X), target_of(block)
            return np.hstack(
                [y, *(residuals(X, *output).value[:, None] for output in zip(y.T, coef.T, intercept.tolist()))]
            )

        factor, (p, q) = metric_factor(self.rows, self.whitening, with_residual), coef.shape
        R = factor.R if centered else factor.uncentered()
        system = WideSystem(
            DenseDesign(_filled(R[:p, :p], p), None, np.zeros(p), np.zeros(p)),
            _filled(R[:p, p : p + q], p),
            centered=False,
            offset=factor.x_mean * np.sqrt(factor.weight) if centered else None,
            rounded=True,
        )
        square = (R[:, p:] ** 2).sum(axis=0)
        mean = factor.mean * centered
        blur = (factor_rounding(p) + self.whitening.rounding) * np.sqrt(square[q:])
        gradient = R[:, :p].T @ R[:, p + q :]
        slip = centered * (blur + EPS * np.sqrt(factor.weight) * np.abs(mean[p + q :])) / np.sqrt(factor.weight)
        means, noise = (mean[:p], mean[p : p + q], mean[p + q :]), np.outer(system.lengths, blur)
        return Evidence(factor.weight, *means, system, gradient, square[:q], square[q:], noise, slip)


def _filled(R: np.ndarray, count: int) -> np.ndarray:
    """Add rows of zeros where there are fewer than so many."""
    return np.vstack([R, np.zeros((count - len(R), R.shape[1]))])


def moments_of(factor: Factor) -> Moments:
    """Multiply a factor out."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        scatter = factor.R.T @ factor.R
    return Moments(factor.weight, factor.count, factor.mean, scatter, factor.n_features, factor.rest)
