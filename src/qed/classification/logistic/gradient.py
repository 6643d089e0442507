r"""Logistic regression by first-order methods: gradient descent, L-BFGS, and stochastic gradients, also of reduced variance.

The gradient is a sum over rows, :math:`\nabla F(w) = C \sum_i s_i (p_i - e_{y_i}) \otimes x_i + w`, so a few rows B give an estimate
:math:`g_B(w)` of it whose mean it is. One step is an epoch, with one pass over all rows for the objective and the gap:

.. math:: w \leftarrow w - \eta\, \nabla F(w), \qquad w \leftarrow w - \eta_t\, g_B(w), \qquad
          w \leftarrow w - \eta \bigl( g_B(w) - g_B(\bar w) + \nabla F(\bar w) \bigr).

Steps are taken in the metric of the columns: each is divided by a bound of its own curvature, and all by one of their common curvature, so
that no step is too long and units do not matter. The first (``"gradient"``) goes at that constant step and never rises. The second
(``"sgd"``) is quick at first; its steps fall like the root of the epochs, and the mean of its places, later epochs counting more, comes
near the minimum and never quite there, which the certificate says. The third (``"svrg"``) compares with the gradient at the place where the
epoch began, so that what is random vanishes at the minimum, and gets there at a constant step. Steps of batches are those that the mean
curvature of a batch allows, which its longest row has a part in. A fourth (``"lbfgs"``) corrects the metric by how the gradient changed
along the last eight moves (:mod:`qed.classification.logistic.secants`), and searches along where that leads. An epoch is :math:`O(npK)`.

Robbins and Monro (1951), A stochastic approximation method; Johnson and Zhang (2013), Accelerating stochastic gradient descent using
predictive variance reduction; Liu and Nocedal (1989), On the limited memory BFGS method for large scale optimization.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from qed.base.models.parameters import Parameter, choice, integer, random_state
from qed.base.models.searching import Answer, Question
from qed.base.numbers import EPS, TINY
from qed.base.random import seed_of
from qed.base.running.steps import Halt, Reason, Rule, Step
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.classification.logistic.likelihood import Point
from qed.classification.logistic.preconditioner import NARROW
from qed.classification.logistic.problem import ClassProblem
from qed.classification.logistic.regression import LogisticRegression, separation
from qed.classification.logistic.secants import Secants
from qed.classification.logistic.smooth_likelihood import SmoothLikelihood
from qed.optim.solvers.epoch_kernel import batch_rows, batches

NAMES = {
    "gradient": "gradient descent",
    "lbfgs": "L-BFGS",
    "sgd": "stochastic gradients",
    "svrg": "stochastic gradients of reduced variance",
}
# Steps of stochastic gradients fall with this power of the epochs, and later epochs count more for their mean by this one.
SLOWING, RECENT = 0.5, 2.0
# So many epochs without a smaller gradient are the end of what floating point can do.
PATIENCE = 50
# Batches that are read together, and batches gone through before a pass is compiled.
TOGETHER, COMPILED_FROM = 64, 20_000
POWERS = 30


class GradientLogisticRegression(LogisticRegression):
    """Logistic regression by gradient descent, by L-BFGS, or by the gradients of a few rows at a time.

    The minimum is that of `LogisticRegression`, which gets there in far fewer passes; here the way is what is looked at.

    Parameters
    ----------
    C : float or None, default=1.0
        The weight of the data against the squared penalty; None means no penalty.
    solver : {"gradient", "lbfgs", "sgd", "svrg"}, default="gradient"
        Descent along the gradient of all rows; along it as corrected by what the last steps told of the curvature, which needs the
        fewest passes; along those of batches, at steps that become shorter, with a mean of all places as the
        answer; or along those of batches, less what they are off by where the epoch began, at a constant step.
    batch : int, default=8
        Rows in a batch. More of them make an epoch cheaper and lead less far.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    class_weight : None, "balanced" or dict, default=None
        Factors of the rows' weights by class.
    tol : float, default=1e-5
        The fit ends when the objective is proven to be within the square of this, relative, of its minimum.
    max_iter : int, default=1000
        The most iterations, or epochs.
    random_state : None, int or NumPy generator, default=0
        The seed of the orders in which batches are taken.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, p) or (n_classes, p)
        Coefficients: of the second of two classes, or of each of more.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    covariance_ : ndarray or None
        Without a penalty, the covariance of constants and coefficients, class by class; else None.
    inference_ : Inference
        Without a penalty, standard errors, z and p values and intervals.
    solver_ : str
        How the minimum was looked for.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit; where a stochastic fit did not reach its tolerance, by how much it failed.

    See Also
    --------
    LogisticRegression : The same minimum by Newton's method.

    Notes
    -----
    Orders depend on the seed and the epoch alone, so that a fit which was broken off and resumed is the unbroken one to the last bit.
    From ``random_state=None`` a seed is drawn once and noted.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x, y = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]), [0, 0, 1, 0, 1]
    >>> model = qed.GradientLogisticRegression(solver="svrg", batch=1).fit(x, y)
    >>> exact = qed.LogisticRegression().fit(x, y)
    >>> bool(np.abs(model.coef_ - exact.coef_).max() < 1e-4), bool(model.certificate_)
    (True, True)
    """

    passes: ClassVar[str] = "stream"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **{name: LogisticRegression.parameters[name] for name in ("C", "fit_intercept", "class_weight", "tol")},
        "solver": choice(*NAMES),
        "batch": integer(1),
        "max_iter": integer(1),
        "random_state": random_state(),
    }
    l1_ratio: ClassVar[float] = 0.0  # type: ignore[misc]
    penalty: ClassVar[str] = "l2"  # type: ignore[misc]

    def __init__(
        self,
        C: float | None = 1.0,
        solver: str = "gradient",
        *,
        batch: int = 8,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-5,
        max_iter: int = 1000,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.solver = solver
        self.batch = batch
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _rule(self) -> Rule:
        # Objectives of epochs are noisy; whether slopes still become smaller is looked at in the steps.
        return replace(super()._rule(), keep="last")

    def _problem(self, rows: Rows) -> ClassProblem:
        problem = super()._problem(rows)
        problem.objective.first_order = True
        return problem

    def _steps(self, problem: ClassProblem, start: Step | None = None) -> Generator[Step, None, Halt]:
        objective = problem.objective
        assert isinstance(objective, SmoothLikelihood)
        walk = Walk(objective, self.batch, self.solver)
        known = {} if start is None else dict(start.state)
        coef, intercept = problem.flat() if start is None else problem.checked(start)
        point = objective.at(coef, intercept)
        epoch, seed = int(known.get("epoch", 0)), int(known.get("seed", seed_of(self.random_state)))
        shrunk, least, since = (
            known.get(name, value) for name, value in (("shrunk", 1.0), ("least", np.inf), ("since", 0))
        )
        place = np.asarray(known.get("place", walk.out(point.theta)))
        secants = Secants.remembered(known, objective.loss.shape)
        while True:
            if start is None:
                noted: dict[str, Any] = {"epoch": epoch, "seed": seed, "shrunk": shrunk, "least": least, "since": since}
                noted |= {"moves": secants.moves, "changes": secants.changes} if self.solver == "lbfgs" else {}
                yield Step(
                    point.objective,
                    _gap(objective, point, epoch),
                    coef=point.coef,
                    intercept=point.intercept,
                    place=place,
                    **noted,
                )
            if point.separated is not None:
                return separation(problem.classes, point.separated)
            if since >= PATIENCE and self.solver != "sgd":
                return Halt(Reason.STALLED)
            start, epoch, before = None, epoch + 1, point
            if self.solver == "lbfgs":
                point = objective.descend(before, walk.corrected(before, secants))
                stuck, change = point is before, point.gradient - before.gradient
                # What led nowhere is forgotten.
                secants = Secants.none(change.shape) if stuck else secants.with_pair(point.theta - before.theta, change)
            else:
                theta, place = walk.epoch(point, place, seed, epoch, shrunk)
                point = objective.at(*objective.outside(theta), theta - before.theta)
            if self.solver == "svrg" and not point.objective <= before.objective + 64 * EPS * abs(before.objective):
                shrunk, point = 0.5 * shrunk, before
            steep = float(np.linalg.norm(point.gradient))
            least, since = (steep, 0) if steep < least else (least, since + 1)

    def _finish(self, problem: ClassProblem, step: Step) -> None:
        super()._finish(problem, step)
        self.solver_ = NAMES[self.solver]

    def _search(self, question: Question[Any]) -> Answer | None:
        return None


def _gap(objective: SmoothLikelihood, point: Point, epoch: int) -> float:
    """Bound the relative gap: by the penalty, which costs nothing, and now and then by the curvature."""
    gap = objective.plain_gap(point)
    due = epoch >= 16 and epoch % (1 << (epoch.bit_length() - 4)) == 0
    return min(gap, objective.newton(point).gap) if due and gap > objective.tol else gap


class Walk:
    """What an epoch does, by one of the solvers, in the coordinates of each class's scores: shape (planes, q).

    Parameters
    ----------
    objective : SmoothLikelihood
        What is minimised.
    batch : int
        Rows in a batch.
    solver : {"gradient", "lbfgs", "sgd", "svrg"}
        The method.
    """

    def __init__(self, objective: SmoothLikelihood, batch: int, solver: str) -> None:
        self.objective, self.loss, self.solver = objective, objective.loss, solver
        self.n = objective.rows.count()
        self.batch = min(batch, self.n)
        self.two = len(self.loss.coding) == 1
        self.bend = objective.factor / (4.0 if self.two else 2.0)
        curved = self.bend * objective.squares + objective.ridge
        self.metric = np.where(curved > 0, 1.0 / np.maximum(curved, TINY), 0.0)
        self.step = self.metric / self._steepest()

    def out(self, theta: np.ndarray) -> np.ndarray:
        """Give the parameters of the scores."""
        return np.array(theta) if self.two else self.loss.coding.T @ theta

    def corrected(self, point: Point, secants: Secants) -> np.ndarray:
        """Give the direction of L-BFGS: the metric, as long as the last pair says, stands in for the inverse Hessian."""
        length = self.step
        if len(secants.moves):
            move, change = secants.moves[-1], secants.changes[-1]
            length = self.metric * float((move * change).sum() / (change * self.metric * change).sum())
        return secants.direction(lambda gradient: length * gradient, point.gradient)

    def epoch(
        self, point: Point, place: np.ndarray, seed: int, epoch: int, shrunk: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Go through all rows once; give where that leads, and the place to go on from."""
        if self.solver == "gradient":
            theta = point.theta - self.step * point.gradient
            return theta, theta
        W, reduced = np.array(place), self.solver == "svrg"
        none, length = np.zeros_like(W), shrunk * self.step / (1.0 if reduced else epoch**SLOWING)
        slope, anchor, mean = none, none[:0], np.zeros_like(W)
        if reduced:
            W, anchor = self.out(point.theta), self.out(point.theta)
            slope = self.out(point.gradient) - self.objective.ridge * anchor
        more = self.objective.factor * self.n / self.batch
        for block in self.objective.rows.stream(seed, epoch, self.batch * TOGETHER):
            Z, codes, weight = self._read(block)
            compiled = isinstance(Z, np.ndarray) and epoch * self.n >= COMPILED_FROM * self.batch
            go = batch_rows if compiled else batches
            go(Z, codes, weight, self.batch, W, anchor, more, length, self.objective.ridge, slope, mean)
        found = W
        if not reduced:
            # The mean of all epochs, of which the t-th counts as the RECENT-th power of t.
            found = self.out(point.theta) + (1.0 + RECENT) / (epoch + RECENT) * (mean / self.n - self.out(point.theta))
        return found if self.two else self.loss.coding @ found, W

    def _read(self, block: Block) -> tuple[Any, np.ndarray, np.ndarray]:
        """Give the inner columns of some rows, with class numbers and weights."""
        codes, p = np.asarray(block.y), len(self.loss.scale)
        weight = self.loss.class_weight[codes] * block.weights
        if is_sparse(block.X):
            Z = block.X @ sparse.diags_array(1.0 / self.loss.scale)
            return (
                sparse.csr_array(sparse.hstack([Z, sparse.csr_array(np.ones((len(codes), int(self.loss.intercept))))])),
                codes,
                weight,
            )
        table = np.ones((len(codes), self.loss.shape[1]))
        table[:, :p] = (block.X - self.loss.shift) / self.loss.scale
        return table, codes, weight

    def _steepest(self) -> float:
        """Bound the largest curvature that the gradient of all rows, or that of a batch, can meet, in the metric.

        That of batches is the mean over batches of b of n rows, by Gower and others (2019), SGD: general analysis and improved rates.
        """
        objective, n, b = self.objective, self.n, self.batch
        ridge = float((self.metric * objective.ridge).max(initial=0.0))
        whole = max(self.bend * self._largest() + ridge, EPS)
        if self.solver in ("gradient", "lbfgs"):
            return whole
        alone = n * self.bend * objective.rows.fold(self._longest).value + ridge
        return 2.0 * max((n * (b - 1) * whole + (n - b) * alone) / (b * max(n - 1, 1)), whole / n)

    def _largest(self) -> float:
        """Bound the largest eigenvalue of the products of columns; of many columns it is found nearly, by the power method."""
        objective, root = self.objective, np.sqrt(self.metric)
        trace = float((self.metric * objective.squares).sum())
        if len(root) <= NARROW:
            products = objective.rows.fold(self.loss.products) * np.outer(root, root)
            return min(trace, 1.01 * float(np.linalg.eigvalsh(products)[-1]))
        zero, length = np.zeros(self.loss.shape), 0.0
        vector = np.random.default_rng(0).standard_normal(self.loss.shape)
        for _ in range(POWERS):
            vector /= max(float(np.linalg.norm(vector)), TINY)
            vector = root * objective.sums.times(zero, root * vector)
            length = float(np.linalg.norm(vector))
        return min(trace, 1.5 * length * (4.0 if self.two else self.loss.coding.shape[1]))

    def _longest(self, block: Block) -> Largest:
        Z, _, weight = self._read(block)
        square = np.asarray((Z.multiply(Z) if is_sparse(Z) else Z**2) @ self.metric)
        return Largest(float((weight * square).max(initial=0.0)))


@dataclass(frozen=True)
class Largest:
    """The largest of some values."""

    value: float

    def __add__(self, other: Largest) -> Largest:
        return Largest(max(self.value, other.value))
