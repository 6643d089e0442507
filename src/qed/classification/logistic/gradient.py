r"""Logistic regression by first-order methods: gradient descent, stochastic gradients, and stochastic gradients of reduced variance.

The gradient is a sum over rows, :math:`\nabla F(w) = C \sum_i s_i (p_i - e_{y_i}) \otimes x_i + w`, so a few rows B give an estimate
:math:`g_B(w)` of it whose mean it is. One step is an epoch, with one pass over all rows for the objective and the gap:

.. math:: w \leftarrow w - \eta\, \nabla F(w), \qquad w \leftarrow w - \eta_t\, g_B(w), \qquad
          w \leftarrow w - \eta \bigl( g_B(w) - g_B(\bar w) + \nabla F(\bar w) \bigr).

The first goes down a line as far as it pays (``"gradient"``). The second (``"sgd"``) is quick at first; with steps that fall like the root
of the epochs its mean comes near the minimum and never quite there, which the certificate says. The third (``"svrg"``) compares with the
gradient at the place where the epoch began, so that what is random vanishes at the minimum, and gets there at a constant step.

Robbins and Monro (1951), A stochastic approximation method; Johnson and Zhang (2013), Accelerating stochastic gradient descent using
predictive variance reduction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.models.parameters import Parameter, choice, integer, random_state
from qed.base.models.searching import Answer, Question
from qed.base.random import seed_of
from qed.base.running.steps import Rule, Step
from qed.base.sources.rows import Rows
from qed.classification.logistic.likelihood import Point
from qed.classification.logistic.problem import ClassProblem
from qed.classification.logistic.regression import LogisticRegression
from qed.classification.logistic.smooth_likelihood import SmoothLikelihood

# A step that was long enough may be so many times longer next time.
LONGER = 4.0
POWERS = 4


class GradientLogisticRegression(LogisticRegression):
    """Logistic regression by gradient descent, or by the gradients of a few rows at a time.

    The minimum is that of `LogisticRegression`, which gets there in far fewer passes; here the way is what is looked at.

    Parameters
    ----------
    C : float or None, default=1.0
        The weight of the data against the squared penalty; None means no penalty.
    solver : {"gradient", "sgd", "svrg"}, default="gradient"
        Descent along the gradient of all rows; along those of batches, at steps that become shorter, with the mean of an epoch's places as
        its end; or along those of batches, less what they are off by where the epoch began, at a constant step.
    batch : int, default=32
        Rows in a batch.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    class_weight : None, "balanced" or dict, default=None
        Factors of the rows' weights by class.
    tol : float, default=1e-7
        As in `LogisticRegression`: the fit ends when the objective is proven to be within the square of this, relative, of its minimum.
    max_iter : int, default=10000
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

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x, y = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]), [0, 0, 1, 0, 1]
    >>> model = qed.GradientLogisticRegression(solver="svrg", batch=1).fit(x, y)
    >>> exact = qed.LogisticRegression().fit(x, y)
    >>> bool(np.abs(model.coef_ - exact.coef_).max() < 1e-6), bool(model.certificate_)
    (True, True)
    """

    passes: ClassVar[str] = "stream"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **{name: LogisticRegression.parameters[name] for name in ("C", "fit_intercept", "class_weight", "tol")},
        "solver": choice("gradient", "sgd", "svrg"),
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
        batch: int = 32,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-7,
        max_iter: int = 10_000,
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
        return replace(super()._rule(), keep="last" if self.solver == "sgd" else "best", patience=20)

    def _problem(self, rows: Rows) -> ClassProblem:
        problem = super()._problem(rows)
        problem.objective.first_order = True
        return problem

    def _steps(self, problem: ClassProblem, start: Step | None = None) -> Iterator[Step]:  # type: ignore[override]
        objective = problem.objective
        assert isinstance(objective, SmoothLikelihood)
        if start is None:
            coef, intercept = problem.flat()
            epoch, seed, length = 0, seed_of(self.random_state), _careful(objective)
            if self.solver != "gradient":
                length = _batch_length(objective, self.batch)
        else:
            coef, intercept = problem.checked(start)
            epoch, seed, length = int(start.epoch), int(start.seed), float(start.length)
        point = objective.at(coef, intercept)
        while True:
            if start is None:
                # The bound that the penalty is costs nothing; a better one is worked out now and then.
                gap = objective.plain_gap(point)
                if gap > objective.tol and epoch & (epoch - 1) == 0:
                    gap = min(gap, objective.final_gap(point))
                noted: dict[str, Any] = {"epoch": epoch, "seed": seed, "length": length}
                yield Step(point.objective, gap, coef=point.coef, intercept=point.intercept, **noted)
            start, epoch = None, epoch + 1
            if self.solver == "gradient":
                before, way = point, -LONGER * length * point.gradient
                point = objective.descend(point, way)
                moved = float(np.linalg.norm(point.theta - before.theta)) / max(float(np.linalg.norm(way)), 1e-300)
                length = LONGER * length * moved if moved > 0 else length / LONGER
            else:
                theta = self._epoch(objective, point, seed, epoch, length)
                point = objective.at(*objective.outside(theta))

    def _epoch(self, objective: SmoothLikelihood, point: Point, seed: int, epoch: int, longest: float) -> np.ndarray:
        """Go through all rows once, batch by batch, and give where that leads."""
        loss, theta, n = objective.loss, point.theta, objective.rows.count()
        reduced, mean, seen = self.solver == "svrg", np.zeros_like(point.theta), 0
        length = longest / (1.0 if reduced else np.sqrt(epoch))
        for block in objective.rows.stream(seed, epoch, self.batch):
            more = objective.factor * n / len(block)
            slope = more * loss.of(block, theta).gradient + objective.ridge * theta
            if reduced:
                there = more * loss.of(block, point.theta).gradient + objective.ridge * point.theta
                slope = slope - there + point.gradient
            theta = theta - length * slope
            mean += len(block) * theta
            seen += len(block)
        return theta if reduced else mean / seen

    def _finish(self, problem: ClassProblem, step: Step) -> None:
        super()._finish(problem, step)
        self.solver_ = {"gradient": "gradient descent", "sgd": "stochastic gradients"}.get(
            self.solver, "stochastic gradients of reduced variance"
        )

    def _search(self, question: Question[Any]) -> Answer | None:
        return None


def _careful(objective: SmoothLikelihood) -> float:
    """Give a step that is never too long: one over a bound of the largest curvature."""
    steepest = objective.factor * float(objective.squares.sum()) / (4 if len(objective.loss.coding) == 1 else 2)
    return 1.0 / max(steepest + float(objective.ridge.max(initial=0.0)), 1e-300)


def _batch_length(objective: SmoothLikelihood, batch: int) -> float:
    """Give a step for batches: half of what the curvature of so many rows allows, if they are about as long as others."""
    vector = np.ones(objective.loss.shape)
    for _ in range(POWERS):
        vector = objective.sums.times(
            np.zeros(objective.loss.shape), vector / max(float(np.linalg.norm(vector)), 1e-300)
        )
    together = max(1.0, float(objective.squares.sum()) / 4 / max(float(np.linalg.norm(vector)), 1e-300))
    return 0.5 * _careful(objective) * min(batch, together)
