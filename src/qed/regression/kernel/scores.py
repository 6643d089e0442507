r"""Searching the penalty of a kernel ridge regression without fitting every candidate to every fold.

Candidates that differ in the penalty alone share everything else: the kernel matrix of all rows is worked out once for them, one
decomposition of its part for the training rows of a fold serves all their penalties, and leaving out each row in turn has a
closed form (:mod:`qed.linalg.shifted`). Kernels with few explicit features are scored through these, as ridge
regression is: :math:`O(nd^2)` for a fold. The scores are those of the plain way.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.models.searching import Answer, Question, Table
from qed.base.sources.block import Block
from qed.kernels.features import feature_rows
from qed.kernels.inputs import as_double
from qed.linalg.shifted import solve_all
from qed.optim.least_squares.leave_one_out import leave_one_out
from qed.optim.least_squares.precise import lazy_factor
from qed.optim.least_squares.ridge_basis import coefficients
from qed.regression.kernel.model import KernelProblem, columns
from qed.stats.moments import Moments

# What a score may be on a row that is left out, for it to follow from the error there.
ERRORS = ("squared error", "absolute error")


def kernel_search(model: Any, question: Question[Any]) -> Answer | None:
    """Score settings of a kernel ridge regression on folds; None where it has to be done the plain way."""
    table = question.table(question.asking(model, "predict"))
    if not table.values:
        return None
    block = model._problem(question.rows).block
    how: dict[str, None] = {}
    for members in question.families("alpha"):
        family = Family(question, table, members, block)
        alone = question.folds.leave_one_out and not question.train_scores
        how[family.leave_one_out() if alone else family.fold()] = None
    return table.answer("; ".join(how))


@dataclass(frozen=True, eq=False)
class Family:
    """Kernel ridge regressions that differ in the penalty alone."""

    question: Question[Any]  # what is asked
    table: Table  # the scores, to be filled in
    members: Sequence[int]  # the places of these models among the candidates
    block: Block  # all rows, in memory

    @property
    def model(self) -> Any:
        """One of the models."""
        return self.question.models[self.members[0]]

    @cached_property
    def alphas(self) -> np.ndarray:
        """The penalties of each of them: of shape (m, q)."""
        q = columns(self.block.y).shape[1]
        return np.array([self.question.models[c]._alphas(q) for c in self.members])

    @cached_property
    def K(self) -> np.ndarray:
        """The kernel matrix of all rows."""
        return np.asarray(self.model._similarity.gram(self.block.X))

    def _per_output(self, Y: np.ndarray, solve: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Solve for each distinct penalty once, and give every model and output its own: of shape (m, n, q)."""
        values, places = np.unique(self.alphas, return_inverse=True)
        found = solve(values)
        return np.asarray(found[places.reshape(self.alphas.shape), :, np.arange(Y.shape[1])].transpose(0, 2, 1))

    def fold(self) -> str:
        """Score on folds, and on their training rows where that is wanted; give how it was done."""
        folds, forms = self.question.folds, dict[str, None]()
        for fold in folds:
            train, test = np.sort(folds.train(fold)), np.sort(folds.test(fold))
            used = train if self.block.weight is None else train[self.block.weight[train] > 0]
            form = self.model._choose(len(used))[0]
            forms[form] = None
            predict = self._by_features(fold) if form == "primal" else self._by_kernel(used)
            self._judge(fold, predict(test))
            if self.question.train_scores:
                self._judge(fold, predict(train), train=True)
        parts = " and ".join("moments" if form == "primal" else "the kernel matrix" for form in forms)
        return f"{folds.words} from parts of {parts}, {len(self.members)} penalties together"

    def _by_kernel(self, train: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Fit to rows, and give a function that predicts others: of shape (m, n, q)."""
        K, Y = np.ascontiguousarray(self.K[np.ix_(train, train)]), columns(self.block.y)[train]
        weight = None if self.block.weight is None else self.block.weight[train]
        dual = self._per_output(Y, lambda values: solve_all(K, Y, weight, values).dual)
        return lambda rows: self.K[np.ix_(rows, train)] @ dual

    def _by_features(self, fold: int) -> Callable[[np.ndarray], np.ndarray]:
        """Do the same with the explicit features of the kernel."""
        kernel = self.model._similarity.kernel
        training = feature_rows(self.question.training(fold), kernel)
        coef = coefficients(training.fold(Moments.of), self.alphas, lazy_factor(training), centered=False)
        return lambda rows: np.asarray(kernel.features(as_double(self.block.X[rows]))) @ coef

    def _judge(self, fold: int, predicted: np.ndarray, *, train: bool = False) -> None:
        """Score predictions of shape (m, n, q); those that overflowed are left to the plain way."""
        shape = (predicted.shape[1], *self.block.y.shape[1:])
        kept = predicted.astype(self.question.rows.dtype, copy=False)
        for c, one in zip(self.members, kept):
            if np.isfinite(one).all():
                self.table.judge(c, fold, train=train, predict=one.reshape(shape))

    def leave_one_out(self) -> str:
        """Score on every row left out, in closed form; give how it was done."""
        scorers = {name: self.question.scorers[name] for name in self.table.values}
        if any(scorer.on_single_rows not in ERRORS for scorer in scorers.values()):
            predicted = self.problem.Y - self.errors
            for fold in self.question.folds:
                self._judge(fold, predicted[:, fold : fold + 1])
        primal = self.model._choose(len(self.problem.Y))[0] == "primal"
        for name, scorer in scorers.items():
            if scorer.on_single_rows in ERRORS:
                absolute = scorer.on_single_rows == "absolute error"
                if primal:
                    loss = self._losses_by_features(absolute=absolute)
                else:
                    loss = (np.abs(self.errors) if absolute else self.errors**2).mean(axis=2)
                self.table.values[name][0, self.members] = scorer.sign * loss
        return f"each of {len(self.problem.Y)} rows left out in closed form, {len(self.members)} penalties together"

    @cached_property
    def problem(self) -> KernelProblem:
        """The rows whose weight is not zero."""
        return self.model._problem(self.question.rows)

    @cached_property
    def errors(self) -> np.ndarray:
        """The error on every row left out: of shape (m, n, q)."""
        K = np.ascontiguousarray(self.problem.chosen(self.problem.chosen(self.K).T))
        Y, weight = self.problem.Y, self.problem.weight
        return self._per_output(Y, lambda values: np.asarray(solve_all(K, Y, weight, values, leave_out=True).left_out))

    def _losses_by_features(self, *, absolute: bool) -> np.ndarray:
        """Give the losses on rows left out through the explicit features of the kernel."""
        features = feature_rows(self.question.rows, self.model._similarity.kernel)
        moments = features.fold(Moments.of)
        found = leave_one_out(features, moments, self.alphas, centered=False, absolute=absolute, keep=True).table()
        assert found is not None
        return found.T
