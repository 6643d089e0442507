"""The ways in which rows are held out to calibrate by: each in turn, fold by fold, a part, or all where the model is fitted already."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.estimator import Estimator
from qed.base.random import Seed, seed_of
from qed.selection.guarantees.calibration import CalibrationProblem, draw, draw_part

# Up to so many rows each is left out in turn where that is cheap, and else folds are; more are held out once.
MOST_LEFT_OUT, MOST_FOLDED = 5000, 20_000


class HoldingOut(Estimator):
    """A model around another that scores rows by models that have not seen them."""

    model: Any
    method: str
    folds: int
    holdout: float
    class_score: str
    random_state: Seed
    estimator_: Any
    members_: list[Any]
    left_out_: Any
    classes_: np.ndarray

    @property
    def _own(self) -> bool:
        """Say whether the model is one of qed, which reads rows from anywhere."""
        return isinstance(self.model, Estimator)

    def _way(self, problem: CalibrationProblem) -> str:
        """Choose how rows are held out."""
        if self.method != "auto":
            return self.method
        n = len(problem.present)
        closed = getattr(type(self.model), "_without_each", None)
        if closed is not None and n <= MOST_LEFT_OUT and self.target == "number":
            self.estimator_ = problem.fit(self.model)
            self.left_out_ = self.estimator_._without_each(problem.rows)
            if self.left_out_ is not None:
                return "jackknife+"
        return "cv+" if n <= MOST_FOLDED else "split"

    def _take_fitted(self, problem: CalibrationProblem) -> None:
        known = getattr(self.model, "_check_fitted", None)
        if known is not None:
            known()
        self.estimator_ = deepcopy(self.model)
        if self._own and self.estimator_._difference(self.estimator_._evidence(problem.rows)) == "":
            raise InputError(
                "Conformal: method='prefit' calibrates by rows that the model has not seen, and these are those of its fit. Give others, "
                "or take method='cv+', which fits the model again without each fold."
            )
        self.fold_ = np.full(len(problem.y), -1, dtype=np.intp)
        self.fold_[problem.present] = 0
        self.method_, self.how_ = "split", f"fitted before, calibrated by {len(problem.present)} other rows"

    def _split(self, problem: CalibrationProblem) -> None:
        self.seed_ = seed_of(self.random_state)
        self.fold_ = draw_part(problem.present, len(problem.y), self.holdout, self.seed_)
        self.estimator_ = problem.fit(self.model, self.fold_ < 0)
        held = int((self.fold_ == 0).sum())
        self.method_, self.how_ = "split", f"{held} of {len(problem.present)} rows held out"

    def _by_folds(self, problem: CalibrationProblem) -> None:
        self.seed_, folds = seed_of(self.random_state), min(self.folds, len(problem.present))
        self.fold_ = draw(problem.present, len(problem.y), folds, self.seed_)
        self.members_ = problem.fit_folds(self.model, self.fold_)
        self.estimator_ = problem.fit(self.model)
        self.method_, self.how_ = "cv+", f"{folds} folds of {len(problem.present) // folds} rows, a fit without each"

    def _one_by_one(self, problem: CalibrationProblem) -> None:
        n = len(problem.present)
        self.fold_ = np.full(len(problem.y), -1, dtype=np.intp)
        self.fold_[problem.present] = np.arange(n)
        self.method_, self.how_ = "jackknife+", f"each of {n} rows left out in closed form"
        if self.left_out_ is None:
            self.estimator_ = problem.fit(self.model)
            closed = getattr(self.estimator_, "_without_each", None)
            self.left_out_ = None if closed is None or self.target == "label" else closed(problem.rows)
        if self.left_out_ is None:
            self.members_ = problem.fit_folds(self.model, self.fold_)
            self.how_ = f"each of {n} rows left out by a fit of its own"

    def _scored(self, problem: CalibrationProblem) -> np.ndarray:
        """Say how strange each row that calibrates is to the model that has not seen it."""
        if self.left_out_ is not None:
            return np.abs(np.asarray(self.left_out_.errors, dtype=np.float64))
        found = np.empty(len(problem.y))
        for fold, member in enumerate(self.members_ or [self.estimator_]):
            chosen = self.fold_ == fold
            if self.target == "label":
                found[chosen] = problem.strangeness(member, chosen, self.classes_, self.class_score)
            else:
                found[chosen] = problem.errors(member, chosen)
        return found[self.fold_ >= 0]
