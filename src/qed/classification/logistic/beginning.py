r"""Where Newton's method begins: near the end, where some rows or another view of them lead there cheaply.

Of many rows, some say already where the minimum nearly is: the penalised likelihood of a part of them, with the weights of all.
With fewer rows than columns, the minimum lies in the span of the rows, :math:`w = \tilde X^\top a`, because a part of :math:`w` outside of
it changes no score and costs penalty. Then :math:`K = \tilde X \tilde X^\top` says all, and Newton's step for n dual coefficients is

.. math:: (I + c^{1/2} K c^{1/2})\, z = c^{-1/2} \bigl(-g + c\,(K a - \beta)\bigr), \qquad a' = c^{1/2} z, \qquad \sum_i a'_i = 0,

with the slopes :math:`g_i` and curvatures :math:`c_i` of the rows' losses in their scores and a change :math:`\beta` of the constant. One
step takes :math:`n^3/3` operations, however many columns there are. Wherever this ends, the steps over all rows and their proof begin.

Jaakkola and Haussler (1999), Probabilistic kernel regression models.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from qed.base.engine import add_pairwise, one_blas_thread, work
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows, Rows
from qed.base.summary import Summary
from qed.classification.logistic.likelihood import Likelihood
from qed.classification.logistic.sparse_likelihood import SparseLikelihood
from qed.optim.functions.losses import LogisticLoss
from qed.optim.functions.penalties import L1L2
from qed.optim.functions.softmax import SoftmaxLoss
from qed.optim.sparse.columns import columns_of
from qed.optim.sparse.newton_set import NewtonSet
from qed.optim.sparse.path import solve
from qed.optim.sparse.scored import ScoredLoss
from qed.stats.classes.cross_entropy import cross_entropy

# A part has at least so many rows for each parameter, and is at most this share of the rows; smaller tables are not worth it.
ROWS_EACH, LARGEST_SHARE, SMALLEST_SHARE, LEAST_VALUES = 24, 4, 16, 1 << 20
# A dual fit takes about n p + 5 n^2 operations for each row, products with the Hessian this many for each column.
DUAL_STEPS, DUAL_WORTH = 5, 6000
CHUNK_VALUES = 1 << 20
# With fewer values in all, nothing is compiled.
SMALLEST_TABLE = 1 << 16
MOST_UNLIKE = 3.0
ROUNDS, NEAR = 12, 1e-3


def part_of(rows: Rows, summary: Summary, n_parameters: int) -> Rows | None:
    """Give some of the rows, evenly spread, as many as tell the curvature of all; None where that is no gain."""
    if not isinstance(rows, ArrayRows) or rows.is_sparse or rows.facts.is_mapped or not isinstance(rows.X, np.ndarray):
        return None
    n = rows.count()
    size = max(n // SMALLEST_SHARE, ROWS_EACH * n_parameters)
    if n < LARGEST_SHARE * size or n * rows.n_features < LEAST_VALUES:
        return None
    chosen = slice(0, None, n // size)
    weight = None if rows.weight is None else rows.weight[chosen]
    part = ArrayRows(np.ascontiguousarray(rows.X[chosen]), np.ascontiguousarray(rows.y[chosen]), weight)
    return part if _tells(part.fold(Summary.of), summary, n / part.count()) else None


def _tells(some: Summary, whole: Summary, more: float) -> bool:
    """Say whether some rows are spread like all, column by column; rare marks and outliers are not."""
    spread = more * (some.deviation + some.weight * (some.mean - whole.mean) ** 2)
    return bool(((spread <= MOST_UNLIKE * whole.deviation) & (whole.deviation <= MOST_UNLIKE * spread)).all())


def on_a_part(small: Likelihood, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give about the minimum of the likelihood of a part of the rows."""
    point = small.at(coef, intercept)
    for _ in range(ROUNDS):
        direction = small.newton(point).direction
        promised = -float((point.gradient * direction).sum())
        point = small.descend(point, direction)
        if not promised > NEAR * point.objective:
            break
    return point.coef, point.intercept


def suits_dual(rows: Rows, objective: Likelihood) -> bool:
    """Say whether rows are so few that their coordinates are the cheaper ones, with two classes and a penalty, and all in memory."""
    n, p = rows.count(), rows.n_features
    return (
        isinstance(rows, ArrayRows)
        and isinstance(rows.X, np.ndarray)
        and not rows.facts.is_mapped
        and objective.penalised
        and len(objective.loss.coding) == 1
        and not objective.factorised
        and n <= p
        and n * (1 + DUAL_STEPS * n / p) <= DUAL_WORTH
    )


class DualLikelihood:
    """The likelihood of two classes in coordinates of the rows.

    Parameters
    ----------
    block : Block
        All rows; the target holds class numbers.
    loss : SoftmaxLoss
        Gives shifts and weights.
    factor : float
        The weight of the loss against the penalty.
    """

    def __init__(self, block: Block, loss: SoftmaxLoss, factor: float) -> None:
        weight = loss.class_weight[np.asarray(block.y)]
        self.weight = factor * (weight if block.weight is None else weight * block.weight)
        self.loss, self.codes = loss, np.asarray(block.y)
        self.X = np.where(self.weight[:, None] > 0, block.X, loss.shift)
        self.K: np.ndarray = add_pairwise(work(partial(self._products, part) for part in self._parts()))

    def _parts(self) -> list[slice]:
        """Cut the columns into chunks; the plan depends on the data alone."""
        n, p = self.X.shape
        size = max(64, CHUNK_VALUES // max(1, n))
        return [slice(start, min(start + size, p)) for start in range(0, p, size)]

    def _products(self, part: slice) -> np.ndarray:
        x = self.X[:, part] - self.loss.shift[part]
        return np.asarray(x @ x.T)

    def _back(self, a: np.ndarray, part: slice) -> np.ndarray:
        return np.asarray(a @ (self.X[:, part] - self.loss.shift[part]))

    def at(self, a: np.ndarray, b: float) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Give the objective, the products with K, and slope and curvature of each row."""
        image = self.K @ a
        scores = np.column_stack([np.zeros(len(a)), image + b])
        loss, chance, residual = cross_entropy(scores, self.codes)
        bend = self.weight * np.maximum(chance.prod(axis=1), 1e-10)
        return float(self.weight @ loss + 0.5 * a @ image), image, self.weight * residual[:, 1], bend

    def minimum(self, b: float) -> tuple[np.ndarray, np.ndarray]:
        """Give coefficients and constant at the minimum, as nearly as floating point goes."""
        a = np.zeros(len(self.codes))
        value, image, slope, bend = self.at(a, b)
        for _ in range(100):
            to, more = self._step(image, slope, bend)
            length = 1.0
            for _ in range(40):
                tried = self.at(a + length * (to - a), b + length * more)
                if tried[0] <= value:
                    break
                length /= 2
            gained = value - tried[0]
            if not gained >= 0:
                break
            a, b = a + length * (to - a), b + length * more
            value, image, slope, bend = tried
            if gained <= 1e-15 * value:
                break
        coef = np.concatenate(list(work(partial(self._back, a, part) for part in self._parts())))
        return coef[None], np.array([b - coef @ self.loss.shift])

    def _step(self, image: np.ndarray, slope: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, float]:
        """Give the dual coefficients that Newton's step leads to, and the change of the constant."""
        some = bend > 0
        root = np.sqrt(bend[some])
        matrix = root[:, None] * self.K[np.ix_(some, some)] * root
        matrix[np.diag_indices_from(matrix)] += 1.0
        right = np.column_stack([root * image[some] - slope[some] / root, root])
        z, one = cho_solve(cho_factor(matrix, lower=True, overwrite_a=True), right).T
        change = float(root @ z / (root @ one)) if self.loss.intercept else 0.0
        found = np.zeros(len(bend))
        found[some] = root * (z - change * one)
        return found, change


def dual_minimum(rows: Rows, objective: Likelihood, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the minimum, found in coordinates of the rows."""
    dual = DualLikelihood(rows.array(), objective.loss, objective.factor)
    return dual.minimum(float(intercept[0]))


def suits_columns(rows: Rows, objective: SparseLikelihood) -> bool:
    """Say whether a sparse problem is solved column by column: two classes, in memory, and large enough to compile for."""
    if not isinstance(rows, ArrayRows) or rows.facts.is_mapped or len(objective.loss.coding) > 1:
        return False
    dense = isinstance(rows.X, np.ndarray)
    return (dense or hasattr(rows.X, "nnz")) and rows.count() * rows.n_features >= SMALLEST_TABLE


class SparsePath:
    """Sparse problems of two classes in memory, one strength of the penalty after another, on working sets of columns.

    Parameters
    ----------
    rows : ArrayRows
        Their target holds class numbers.
    objective : SparseLikelihood
        Gives weights, the penalty and the tolerance; its C is the first that can be asked for.
    many : bool
        Whether many strengths will be asked for, so that laying out the columns is worth its while.
    """

    def __init__(self, rows: ArrayRows, objective: SparseLikelihood, *, many: bool) -> None:
        codes, loss = np.asarray(rows.y), objective.loss
        weight = loss.class_weight[codes] if rows.weight is None else loss.class_weight[codes] * rows.weight
        X, kept, known = rows.X, weight > 0, None
        if not kept.all():
            X, codes, weight = X[kept], codes[kept], weight[kept]
        elif rows.weight is None:
            seen = objective.summary
            known = seen.mean, np.sqrt(seen.deviation + (0 if loss.intercept else seen.weight * seen.mean**2))
        fit = ScoredLoss(LogisticLoss(), 2.0 * codes - 1.0, weight, intercept=loss.intercept)
        self._problem = NewtonSet(columns_of(X, None, centered=loss.intercept, often=many, known=known), fit)
        # What is to be proven afterwards is solved a little further.
        self._share, self._tol = objective.l1_ratio, (1.0 if many else 0.1) * objective.tol

    def minimum(self, C: float) -> tuple[np.ndarray, np.ndarray]:
        """Give coefficients and constant; the next that is asked for begins there."""
        with one_blas_thread:
            solve(self._problem, L1L2(self._share / C, (1 - self._share) / C), self._tol)
        return self._problem.coef[None], np.array([self._problem.intercept])
