"""The likelihood of the classes of some rows: what is minimised, where that begins, and whether it makes sense to try."""

from __future__ import annotations

import warnings
from typing import Protocol

import numpy as np

from qed.base.errors import InputError, LongFitWarning, level_of_user
from qed.base.models.checks import overflowed
from qed.base.models.labels import class_factors, coded, learn_classes
from qed.base.models.problem import RowsProblem
from qed.base.running.steps import Step
from qed.base.sources.rows import Rows
from qed.classification.logistic.beginning import (
    SparsePath,
    dual_minimum,
    on_a_part,
    part_of,
    suits_columns,
    suits_dual,
)
from qed.classification.logistic.likelihood import Likelihood, is_factorised
from qed.classification.logistic.secants import Secants
from qed.classification.logistic.smooth_likelihood import SmoothLikelihood
from qed.classification.logistic.sparse_likelihood import SparseLikelihood

# With a share of sizes no gap is proven to be smaller than this, relative.
LEAST_GAP = 1e-10
# A fit takes about so many Hessians, or so many passes for gradients and products; with the curvature of some rows, so many.
HESSIANS, PASSES, FEW_PASSES, STEPS = 8, 80, 27, 15
# What a pass does to each score itself, an exponential, a chance and a slope, takes as long as its products with so many columns.
COLUMNS_PER_SCORE = 20
# Operations in a second, and seconds whatever the size; this is said, and this is refused, in seconds.
SPEED, AT_LEAST, LONG_SECONDS, MOST_SECONDS = 1e10, 0.005, 600, 7200

# So many products of numbers make a step of Newton's cheap.
SMALL = 1 << 18


class Settings(Protocol):
    """What is asked of a model."""

    C: float | None
    l1_ratio: float | None
    penalty: str | None
    fit_intercept: bool
    class_weight: object
    tol: float
    max_iter: int


def strength_and_share(C: float | None, l1_ratio: float | None, penalty: str | None) -> tuple[float, float]:
    """Give the weight of the loss, infinite for no penalty, and the share of the penalty that is on sizes.

    Examples
    --------
    >>> strength_and_share(2.0, 0.0, "l1"), strength_and_share(2.0, 0.0, None)
    ((2.0, 1.0), (inf, 0.0))
    """
    share = {"l1": 1.0, "l2": 0.0}.get(str(penalty), 0.0 if l1_ratio is None else float(l1_ratio))
    strength = np.inf if C is None or penalty is None else float(C)
    return strength, share if strength < np.inf else 0.0


def tolerance(model: Settings) -> float:
    """Give the relative distance from the minimum that a fit has to prove: the square of what coefficients may be off."""
    share = strength_and_share(model.C, model.l1_ratio, model.penalty)[1]
    return max(model.tol * model.tol, LEAST_GAP) if share > 0 else model.tol * model.tol


class ClassProblem(RowsProblem):
    """The likelihood of the classes of some rows.

    The classes that are known already are given, or they are those of the rows; their weights are the `totals`.
    """

    def __init__(self, rows: Rows, model: Settings, classes: np.ndarray | None = None) -> None:
        super().__init__(rows, model)
        if not np.isfinite(self.summary.deviation).all():
            raise overflowed(model)
        found, totals = learn_classes(rows, type(model).__name__)
        # Classes that are not in order are no classes of a fit; the proof says so.
        ordered = classes is None or np.array_equal(np.unique(classes), classes)
        self.classes = found if classes is None or not ordered else classes
        self.others = 0 if ordered else len(found)
        weight = dict(zip(found.tolist(), totals.tolist()))
        self.totals = np.array([weight.get(label, 0.0) for label in self.classes.tolist()])
        factors = class_factors(model.class_weight, self.classes, self.totals)
        numbered = coded(rows, self.classes)
        self.C, self.l1_ratio = strength_and_share(model.C, model.l1_ratio, model.penalty)
        self._refuse_what_has_no_end(model)
        given = (self.summary, factors, self.C, bool(model.fit_intercept), not rows.is_sparse)
        self.objective: Likelihood
        if self.l1_ratio > 0 and np.inf > self.C:
            self.objective = SparseLikelihood(numbered, *given, self.l1_ratio, tolerance(model))
        else:
            self.objective = SmoothLikelihood(numbered, *given, tol=tolerance(model))
        if self.objective.penalised and self.l1_ratio == 0:
            each = len(self.objective.loss.coding) if self.objective.factorised else 1
            self.objective.part = part_of(numbered, self.summary, self.objective.ridge.size * each)
        self._given = given

    @property
    def solver(self) -> str:
        """How the minimum is found."""
        if isinstance(self.objective, SparseLikelihood):
            columns = suits_columns(self.objective.rows, self.objective)
            return "newton, working sets of columns" if columns else "newton, proximal"
        if self.objective.part is not None and self.objective.factorised:
            return "newton, curvature of some rows"
        if suits_dual(self.objective.rows, self.objective):
            return "newton, dual"
        return "newton" if self.objective.factorised else "newton, conjugate gradients"

    @property
    def is_small(self) -> bool:
        """Whether a step of Newton's, with a smooth penalty, takes less than a millisecond or two."""
        numbers = self.objective.rows.count() * self.objective.loss.shape[0] * self.objective.loss.shape[1] ** 2
        return self.l1_ratio == 0 and self.objective.part is None and numbers <= SMALL

    def beginning(self) -> tuple[np.ndarray, np.ndarray]:
        """Begin near the minimum where that is cheap; else with no slope, and with the constants that are best then."""
        coef, intercept = flat = self.flat()
        objective = self.objective
        if isinstance(objective, SparseLikelihood):
            if not suits_columns(objective.rows, objective):
                return flat
            near = SparsePath(objective.rows, objective, many=False).minimum(self.C)  # type: ignore[arg-type]
        elif objective.part is not None:
            more = objective.count / objective.part.count()
            summary, factors, C, intercept_too, centred = self._given
            small = SmoothLikelihood(objective.part, summary, factors, more * C, intercept_too, centred)
            near = on_a_part(small, coef, intercept)
        elif suits_dual(objective.rows, objective):
            near = dual_minimum(objective.rows, objective, intercept)
        else:
            return flat
        weight = self.totals * objective.loss.class_weight
        share = weight / weight.sum() if objective.loss.intercept else np.full(len(weight), 1 / len(weight))
        worst = -objective.factor * float(weight @ np.log(np.maximum(share, 1e-300)))
        return near if objective.at(*near).objective <= worst else flat

    def secants(self, start: Step | None) -> Secants | None:
        """Give what earlier steps tell about the curvature, where that of some rows stands for all; None where it is known."""
        known = {} if start is None or not np.array_equal(start.state.get("C", np.nan), self.C) else start.state
        if isinstance(self.objective, SmoothLikelihood):
            self.objective.recall(known)
        if self.objective.part is None or not self.objective.factorised:
            return None
        return Secants.remembered(known, self.objective.loss.shape)

    def flat(self) -> tuple[np.ndarray, np.ndarray]:
        """Give no slope, and the constants that are best then: the logarithms of the classes' shares."""
        loss = self.objective.loss
        share = np.log(np.maximum(self.totals * loss.class_weight, 1e-300))
        intercept = share[1:] - share[:1] if len(share) == 2 else share - share.mean()
        coef = np.zeros((len(intercept), len(loss.scale)))
        return coef, intercept if loss.intercept else np.zeros(len(intercept))

    def checked(self, start: Step) -> tuple[np.ndarray, np.ndarray]:
        """Give the coefficients of a step, of this fit or of one with another C, or with an intercept that is no longer asked for."""
        coef, intercept = np.asarray(start.coef, dtype=np.float64), np.asarray(start.intercept, dtype=np.float64)
        wanted = (1 if len(self.classes) == 2 else len(self.classes), self.rows.n_features)
        if coef.shape != wanted or intercept.shape != wanted[:1]:
            raise InputError(
                f"The step to begin with has coefficients of shape {coef.shape}, but these data need {wanted}: "
                "give a step of a fit with the same columns and classes."
            )
        return coef, intercept if self.objective.loss.intercept else np.zeros(len(intercept))

    def _refuse_what_has_no_end(self, model: Settings) -> None:
        """Say how long a long fit may take before it begins, and refuse one that would take hours, as with a class for every row."""
        n, p, k = self.summary.count, self.rows.n_features, len(self.classes)
        seconds = 0.0 if self.rows.is_sparse else fit_seconds(n, p, k, model.max_iter)
        size, name = f"{n:,} rows, {p:,} columns and {k:,} classes", type(model).__name__
        advice = "join rare classes or leave out columns, or give a smaller max_iter for a rough fit."
        if seconds > MOST_SECONDS:
            raise InputError(f"{name} would take about {seconds / 3600:.0f} hours on {size}: {advice}")
        if seconds > LONG_SECONDS:
            warnings.warn(
                f"{name} may take about {seconds / 60:.0f} minutes on {size}; to make it shorter, {advice}",
                LongFitWarning,
                stacklevel=level_of_user(),
            )


def fit_seconds(n: int, p: int, n_classes: int, max_iter: int = STEPS) -> float:
    """Give about how many seconds a fit takes, at C of about one, by its operations: a large C may take a few times as many.

    Examples
    --------
    >>> fit_seconds(1_000_000, 100, 701) > 1000 > fit_seconds(1_000_000, 100, 2)
    True
    """
    planes = 1 if n_classes == 2 else n_classes
    passes = 4.0 * n * (p + COLUMNS_PER_SCORE) * planes / SPEED
    if is_factorised(n, 1 if planes == 1 else planes - 1, p + 1):
        hessians = HESSIANS * n * (p + 1) ** 2 * planes * (planes + 1) / 2 / SPEED
        # A step looks at its end, too, and twice on average where that is too far.
        seconds = min(hessians, FEW_PASSES * passes) if planes == 1 else hessians + 2 * HESSIANS * passes
    else:
        seconds = PASSES * passes
    return AT_LEAST + seconds * min(1.0, max_iter / STEPS)
