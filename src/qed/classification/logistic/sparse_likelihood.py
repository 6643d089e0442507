r"""The likelihood with a penalty on sizes: Newton's method, and the duality gap.

.. math:: F(\theta) = C \sum_i w_i\, \ell_i(\theta) + \sum_j \bigl(a_j |\theta_j| + \tfrac12 \lambda_j \theta_j^2\bigr)

Where there are few parameters, the loss is replaced by its quadratic model, that is minimised together with the penalty, and a search goes
along the way there (*proximal Newton*). Where there are many, :math:`F` is smooth while no coefficient changes its sign: Newton's step is
solved, by conjugate gradients, for the coefficients that are not zero and for those at zero that the slope pulls away from it, and a search
along the way stops every coefficient that would change its sign at zero. Once the support is found both are Newton's method. With more
than two classes every class has its own coefficients: sizes, unlike squares, know the difference.

All probabilities :math:`q_i` in the place of the model's :math:`p_i` give a lower bound of the minimum,

.. math:: F(\theta) - \min F \;\le\; C \sum_i w_i \operatorname{KL}(q_i \,\|\, p_i)
          + \sum_j \bigl(g_j(\theta_j) + g_j^*(u_j) - u_j \theta_j\bigr), \qquad u = C \sum_i w_i\, (e_{y_i} - q_i) \otimes \tilde x_i,

if they predict every class as often as it occurs (for the constants) and no :math:`|u_j|` is above :math:`a_j` (where there is no
:math:`\lambda_j`). The model's own :math:`p_i` do so nearly; a little of the shares of the classes, and then of what was seen, is mixed
with them.

Lee, Sun and Saunders (2014), Proximal Newton-type methods for minimizing composite functions; Andrew and Gao (2007), Scalable training
of L1-regularized log-linear models; Boyd and Vandenberghe (2004), Convex Optimization, section 5.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.classification.logistic.gap import magnitudes, summed
from qed.classification.logistic.likelihood import Likelihood, Newton, Point
from qed.classification.logistic.secants import Secants
from qed.linalg.iterative.conjugate import conjugate_gradients
from qed.optim.functions.penalties import L1L2
from qed.optim.functions.softmax import SoftmaxLoss
from qed.optim.sparse.quadratic import SparseQuadratic
from qed.stats.classes.cross_entropy import cross_entropy, divergence

DECREASE, HALVINGS = 1e-4, 30
# Up to so many parameters the quadratic model is minimised with the penalty as it is, to this share of its value.
MOST_MODELLED, INNER = 1024, 1e-13
MOST_PRODUCTS = 200
# With more than this left to gain, relative to the objective, no proof is tried.
NEAR = 1e-3
# A slope that exceeds what sizes can hold by less than this share is taken to be held.
BALANCED = 1e-11


class SparseLikelihood(Likelihood):
    """The objective on some rows, with a share of the penalty on sizes.

    Parameters
    ----------
    rows : Rows
        Their target holds class numbers.
    summary : Summary
        Of these rows, for the range of the columns.
    class_weight : ndarray of shape (K,)
        Factors of the rows' weights, by class.
    C : float
        The weight of the loss, finite.
    intercept : bool
        Whether there is a constant.
    centred : bool
        Whether columns may be shifted, which sparse ones may not.
    tol : float
        A gap that is small enough.
    l1_ratio : float
        The share of the penalty that is on sizes, above 0.
    """

    def __init__(
        self,
        rows: Rows,
        summary: Summary,
        class_weight: np.ndarray,
        C: float,
        intercept: bool,
        centred: bool,
        l1_ratio: float,
        tol: float,
    ) -> None:
        coding = np.eye(len(class_weight)) if len(class_weight) > 2 else None
        super().__init__(rows, summary, class_weight, C, intercept, centred, tol=tol, coding=coding)
        self.l1_ratio, self.factorised = l1_ratio, False
        self._bounded: tuple[Point, tuple[float, float]] | None = None
        self.sizes = l1_ratio * np.sqrt(self.ridge)
        self.ridge = (1 - l1_ratio) * self.ridge

    def penalty(self, theta: np.ndarray) -> float:
        """Give the penalty of inner coordinates."""
        return super().penalty(theta) + float((self.sizes * np.abs(theta)).sum())

    def slope(self, point: Point) -> np.ndarray:
        """Give the slope nearest to zero of all that the objective has in each coordinate."""
        over = np.abs(point.gradient) - self.sizes
        # What is nearly in balance stays at zero: between two middle classes there may be a flat way.
        at_zero = np.where(over > BALANCED * self.sizes, np.sign(point.gradient) * over, 0.0)
        return np.where(point.theta != 0, point.gradient + self.sizes * np.sign(point.theta), at_zero)

    def newton(self, point: Point, secants: Secants | None = None) -> Newton:
        """Find the way on, and the gap that the model's own probabilities prove."""
        if self._proven is None or self._proven[0] is not point:
            slope = self.slope(point)
            # The curvature is nowhere more than a quarter of the squares, so at least this much is left to gain, nearly.
            steepest = np.maximum(self.factor * self.squares / 4 + self.ridge, 1e-300)
            near = float((slope**2 / steepest).sum()) <= NEAR * point.objective
            self._proven = point, Newton(self.gap(point)[0] if near else 1.0, lambda: self._direction(point, slope))
        return self._proven[1]

    def _direction(self, point: Point, slope: np.ndarray) -> np.ndarray:
        if slope.size <= MOST_MODELLED:
            return self._to_minimum_of_model(point)
        diagonal = self.factor * self.sums.diagonal(point.theta) + self.ridge
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        promised = float((slope**2 / diagonal).sum())
        free = (point.theta != 0) | (slope != 0)
        inverse = np.where(free, 1.0 / diagonal, 0.0)
        size = max(point.objective, 1e-300)
        return conjugate_gradients(
            lambda v: np.where(free, self.factor * self.sums.times(point.theta, v) + self.ridge * v, 0.0),
            -slope,
            min(0.1, max(np.sqrt(promised / size), EPS)),
            MOST_PRODUCTS,
            lambda v: v * inverse,
        ).solution

    def _to_minimum_of_model(self, point: Point) -> np.ndarray:
        """Give the way to the minimum of the quadratic model with the penalty as it is; constants follow the coefficients."""
        with one_blas_thread:
            H = self.factor * self.loss.joined(self.sums.curve(point.theta, "full").blocks)
        flat = np.tile(self.sizes > 0, self.loss.shape[0])
        unit, gradient = np.tile(self.loss.scale, self.loss.shape[0]), self.factor * point.curve.gradient.ravel()
        across = H[np.ix_(flat, ~flat)] * unit[:, None]
        inverse = np.linalg.pinv(H[np.ix_(~flat, ~flat)], hermitian=True)
        gram = np.ascontiguousarray(H[np.ix_(flat, flat)] * unit[:, None] * unit - across @ inverse @ across.T)
        pull = across @ (inverse @ gradient[~flat]) - gradient[flat] * unit
        before = point.theta.ravel()[flat] / unit
        model = SparseQuadratic(gram, pull, 0.0)
        model.coef[:] = before
        reach = self.factor * float(
            np.sqrt(point.curve.missed * self.squares[: len(self.loss.scale)]) @ self.loss.scale
        )
        model.model_anew(pull, 2 * self.factor * point.curve.value, reach, gram)
        model.solve(L1L2(self.l1_ratio, 1 - self.l1_ratio), INNER)
        way, move = np.zeros(len(flat)), model.coef - before
        way[flat] = move * unit
        way[~flat] = -inverse @ (gradient[~flat] + across.T @ move)
        return way.reshape(point.theta.shape)

    def descend(self, point: Point, direction: np.ndarray) -> Point:
        """Go along `direction` until the objective has fallen enough; in an orthant, no coefficient further than to zero."""
        slope, noise = self.slope(point), 8 * EPS * abs(point.objective)
        sign = np.where(point.theta != 0, np.sign(point.theta), -np.sign(slope))
        steepest = -slope / np.maximum(self.factor * self.squares + self.ridge, 1e-300)
        # Where Newton's way leads nowhere, that of the steepest descent is tried.
        for way, bound in ((direction, slope.size > MOST_MODELLED), (steepest, True)):
            step = 1.0
            for _ in range(HALVINGS):
                theta = point.theta + step * way
                if bound:
                    theta = np.where((self.sizes > 0) & (theta * sign < 0), 0.0, theta)
                move = theta - point.theta
                longer = self.sizes * (np.abs(theta) - np.abs(point.theta))
                gain = float((slope * move).sum() if bound else (point.gradient * move + longer).sum())
                found = self.at(*self.outside(self._centred(theta)))
                if gain <= noise and found.objective <= point.objective + DECREASE * gain + noise:
                    return found
                step /= 2
        return point

    def _centred(self, theta: np.ndarray) -> np.ndarray:
        """Add the same to the coefficients of all classes, which changes no chance, so that their sizes are least: the middle one is zero.

        Constants sum to zero.
        """
        if len(theta) == 1:
            return theta
        middle = np.sort(theta, axis=0)[(len(theta) - 1) // 2 : len(theta) // 2 + 1]
        nearest = np.where(np.abs(middle[0]) <= np.abs(middle[-1]), middle[0], middle[-1])
        return theta - np.where(self.sizes > 0, nearest if self.l1_ratio == 1 else 0.0, theta.mean(axis=0))

    @cached_property
    def _class_sums(self) -> np.ndarray:
        """The sums of the scaled columns over the rows of each class, times the weight of the loss."""
        return self.factor * self.rows.fold(_class_sums, self.loss)

    def gap(self, point: Point) -> tuple[float, float]:
        """Bound the relative distance of the objective from its minimum, and give how much of that rounding may have made."""
        if self._bounded is None or self._bounded[0] is not point:
            self._bounded = point, self._gap(point)
        return self._bounded[1]

    def _gap(self, point: Point) -> tuple[float, float]:
        p, curve = len(self.loss.scale), point.curve
        unit = 2 * summed(self.loss, self.count, not self.centred)
        pull, noise = -self.factor * curve.gradient, unit * self.factor * np.sqrt(curve.missed * self.squares)
        mixed, share = 0.0, np.full(self.loss.coding.shape[1], 1 / self.loss.coding.shape[1])
        if self.loss.intercept:
            sums = self._class_sums
            total, often = sums.sum(axis=0), sums[:, -1]
            more = -pull[:, -1] if len(pull) > 1 else np.array([pull[0, -1], -pull[0, -1]])
            mixed = min(1.0, 2 * float(((np.maximum(more, 0.0) + noise[-1]) / often).max()))
            share = (mixed * often - (1 - mixed) * more) / (mixed * often.sum()) if mixed > 0 else often / often.sum()
            other = sums - share[:, None] * total
            pull = (1 - mixed) * pull + mixed * (other if len(pull) > 1 else other[1:])
            noise = noise + mixed * 2 * unit * self.factor * np.sqrt(self.total * self.squares)
        pull, theta, sizes, ridge, noise = pull[:, :p], point.theta[:, :p], self.sizes[:p], self.ridge[:p], noise[:p]
        most = np.abs(pull) + noise
        shrunk = 1.0
        if self.l1_ratio == 1:
            shrunk = float(min(1.0, (sizes / np.maximum(most, sizes)).min(initial=1.0)))
        # Columns without a coefficient say nothing about the scores.
        used = np.flatnonzero(point.theta[:, :p].any(axis=0)) if self.centred else np.arange(p)
        theta_used = np.hstack([point.theta[:, used], point.theta[:, p:]])
        loss = replace(self.loss, shift=self.loss.shift[used], scale=self.loss.scale[used])
        apart, moved = self.rows.fold(_divergence, loss, used, theta_used, shrunk, mixed, share)
        lost = float(magnitudes(self.loss, point.coef, point.intercept).sum())
        found = self.factor * apart + float((np.abs(theta) * (sizes - shrunk * np.sign(theta) * pull)).sum())
        found += 0.5 * float((ridge * theta**2).sum())
        if self.l1_ratio < 1:
            found += float((np.maximum(most - sizes, 0.0) ** 2 / np.maximum(ridge, 1e-300)).sum()) / 2
        rounding = float((np.abs(theta) * (noise + 8 * EPS * (sizes + most))).sum())
        rounding += self.factor * (2 * lost * moved + 4 * lost**2 * curve.missed)
        if not (np.isfinite(found) and lost <= 0.1):
            return 1.0, 1.0
        value = max(point.objective, 1e-300)
        return min(1.0, (max(found, 0.0) + rounding) / value), min(1.0, rounding / value)


def _class_sums(block: Block, loss: SoftmaxLoss) -> np.ndarray:
    total = np.zeros((loss.coding.shape[1], loss.shape[1]))
    for x, codes, weight in loss.tiles(block):
        seen = np.zeros((len(codes), len(total)))
        seen[np.arange(len(codes)), codes] = weight
        total += loss.rows_times(x, seen)
    return total


def _divergence(
    block: Block,
    loss: SoftmaxLoss,
    used: np.ndarray,
    theta: np.ndarray,
    shrunk: float,
    mixed: float,
    share: np.ndarray,
) -> np.ndarray:
    """Give how far probabilities, mixed with shares of the classes and with what was seen, are from the model's, and how they moved.

    The loss is that of the columns that are `used`.
    """
    total = np.zeros(2)
    block = replace(block, X=block.X[:, used]) if len(used) < block.X.shape[1] else block
    for x, codes, weight in loss.tiles(block):
        _, chance, residual = cross_entropy(loss.scores(x, theta), codes)
        change = shrunk * mixed * (share - chance) - (1 - shrunk) * residual
        each = divergence(chance, change)
        total += weight @ each.sum(axis=1), weight @ np.abs(change).sum(axis=1)
    return total
