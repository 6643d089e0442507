r"""Searching the penalty of a kernel ridge regression without fitting every candidate to every fold.

Candidates that differ in the penalty alone share everything else: the kernel matrix of all rows is worked out once for them, one
decomposition of its part for the training rows of a fold serves all their penalties, and leaving out each row in turn has a
closed form (:mod:`qed.linalg.shifted`). Kernels with few explicit features are scored through these, as ridge
regression is: :math:`O(nd^2)` for a fold. The scores are those of the plain way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows, Rows
from qed.kernels.features import feature_rows
from qed.kernels.inputs import as_double
from qed.linalg.shifted import solve_all
from qed.regression.kernel.model import columns
from qed.regression.linear.leave_one_out import leave_one_out
from qed.regression.linear.ridge_basis import coefficients
from qed.stats.moments import Moments

ABSOLUTE = ("neg_mean_absolute_error", "neg_root_mean_squared_error")


def kernel_scores(model: Any, rows: Rows, candidates: Sequence[Mapping[str, Any]], folds: Any, scorer: Any) -> Any:
    """Score settings of a kernel ridge regression on folds; None where it has to be done the plain way.

    Parameters
    ----------
    model : KernelRidge
        Unfitted, with the parameters that all candidates share, opened on `rows`.
    rows : Rows
        All rows.
    candidates : sequence of dict
        Settings of parameters.
    folds, scorer
        The splits, and what is wanted; see :mod:`qed.selection.searching.cheap`.
    """
    if folds.leave_one_out and getattr(scorer, "name", "") == "r2":
        raise ParameterError(
            "R² is not defined on a single row, so not when leaving one out: use scoring='neg_mean_squared_error'."
        )
    block = model._problem(rows).block
    splits = [] if folds.leave_one_out else [*map(folds.train, folds), *map(folds.test, folds)]
    if any(len(np.unique(part)) < len(part) for part in splits):
        return None
    scores = np.full((2, len(candidates), folds.n_splits), np.nan)
    how: dict[str, None] = {}
    for _, places in folds.families(candidates, "alpha"):
        family = Family.of(model, [candidates[c] for c in places], rows, block, folds, scorer)
        if folds.leave_one_out and not folds.train_scores:
            found, words = family.left_out()
            scores[0, places] = found
        else:
            scores[:, places], words = family.folded()
        how[words] = None
    if not np.isfinite(scores[0]).all():
        return None
    return folds.answer(scores[0], "; ".join(how), train=scores[1] if folds.train_scores else None)


@dataclass(frozen=True, eq=False)
class Family:
    """Kernel ridge regressions that differ in the penalty alone.

    Attributes
    ----------
    model : KernelRidge
        One of them.
    alphas : ndarray of shape (m, q)
        The penalties of each of them.
    rows, block : Rows and Block
        All rows, and the same in memory.
    folds, scorer
        The splits, and what is wanted.
    """

    model: Any
    alphas: np.ndarray
    rows: Rows
    block: Block
    folds: Any
    scorer: Any

    @classmethod
    def of(cls, model: Any, candidates: Sequence[Mapping[str, Any]], *rest: Any) -> Family:
        """Make the models of candidates."""
        shared = model.get_params(deep=False)
        made = [type(model)(**{**shared, **candidate}) for candidate in candidates]
        made[0].n_features_in_ = model.n_features_in_
        q = columns(rest[1].y).shape[1]
        return cls(made[0], np.array([one._alphas(q) for one in made]), *rest)

    @cached_property
    def K(self) -> np.ndarray:
        """The kernel matrix of all rows."""
        return np.asarray(self.model._similarity.gram(self.block.X))

    def _per_output(self, Y: np.ndarray, solve: Any) -> np.ndarray:
        """Solve for each distinct penalty once, and give every model and output its own: of shape (m, n, q)."""
        values, places = np.unique(self.alphas, return_inverse=True)
        found = solve(values)
        return np.asarray(found[places.reshape(self.alphas.shape), :, np.arange(Y.shape[1])].transpose(0, 2, 1))

    def folded(self) -> tuple[np.ndarray, str]:
        """Score on folds, and on their training rows where that is wanted: of shape (2, m, k)."""
        found = np.full((2, len(self.alphas), self.folds.n_splits), np.nan)
        forms: dict[str, None] = {}
        for fold in self.folds:
            train, test = np.sort(self.folds.train(fold)), np.sort(self.folds.test(fold))
            used = train if self.block.weight is None else train[self.block.weight[train] > 0]
            form = self.model._choose(len(used))[0]
            forms[form] = None
            predict = self._by_features(fold) if form == "primal" else self._by_kernel(used)
            found[0, :, fold] = self._judged(test, predict(test))
            if self.folds.train_scores:
                found[1, :, fold] = self._judged(train, predict(train))
        parts = " and ".join("moments" if form == "primal" else "the kernel matrix" for form in forms)
        return found, f"{self.folds.n_splits} folds from parts of {parts}, {len(self.alphas)} penalties together"

    def _by_kernel(self, train: np.ndarray) -> Any:
        """Fit to rows, and give a function that predicts others: of shape (m, n, q)."""
        K, Y = np.ascontiguousarray(self.K[np.ix_(train, train)]), columns(self.block.y)[train]
        weight = None if self.block.weight is None else self.block.weight[train]
        dual = self._per_output(Y, lambda values: solve_all(K, Y, weight, values).dual)
        return lambda rows: self.K[np.ix_(rows, train)] @ dual

    def _by_features(self, fold: int) -> Any:
        """Do the same with the explicit features of the kernel."""
        kernel = self.model._similarity.kernel
        training = feature_rows(self.folds.training(self.rows, fold), kernel)
        coef = coefficients(training.fold(Moments.of), self.alphas, training, centered=False)
        return lambda rows: np.asarray(kernel.features(as_double(self.block.X[rows]))) @ coef

    def _judged(self, chosen: np.ndarray, predicted: np.ndarray) -> list[float]:
        """Score predictions of shape (m, n, q) for some rows."""
        part = self.block.take(chosen)
        held, shape = ArrayRows(part.X, part.y, part.weight), part.y.shape
        kept = predicted.astype(self.rows.dtype, copy=False)
        return [self.folds.judge(self.scorer, held, predict=one.reshape(shape)) for one in kept]

    def left_out(self) -> tuple[np.ndarray, str]:
        """Score on every row left out, in closed form: of shape (m, n); not a number where it has none."""
        problem = self.model._problem(self.rows)
        name, n = getattr(self.scorer, "name", ""), len(problem.Y)
        words = f"each of {n} rows left out in closed form, {len(self.alphas)} penalties together"
        if self.model._choose(n)[0] == "primal" and name in ("neg_mean_squared_error", *ABSOLUTE):
            return -self._losses_by_features(absolute=name in ABSOLUTE), words
        K = np.ascontiguousarray(problem.chosen(problem.chosen(self.K).T))
        error = self._per_output(
            problem.Y, lambda values: solve_all(K, problem.Y, problem.weight, values, leave_out=True).left_out
        )
        if name in ABSOLUTE:
            return -np.abs(error).mean(axis=2), words
        if name == "neg_mean_squared_error":
            return -(error**2).mean(axis=2), words
        predicted = problem.Y - error
        numbers = np.arange(n) if problem.present is None else np.flatnonzero(problem.present)
        each = [self._judged(numbers[i : i + 1], predicted[:, i : i + 1]) for i in range(n)]
        return np.array(each).T, words

    def _losses_by_features(self, *, absolute: bool) -> np.ndarray:
        """Give the losses on rows left out through the explicit features of the kernel."""
        features = feature_rows(self.rows, self.model._similarity.kernel)
        moments = features.fold(Moments.of)
        found = leave_one_out(features, moments, self.alphas, centered=False, absolute=absolute, keep=True).table()
        assert found is not None
        return found.T
