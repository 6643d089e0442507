r"""Stacking: a model that learns from what others say of rows that they have not seen.

.. math:: z_i = \bigl(f_1^{(-i)}(x_i), \dots, f_M^{(-i)}(x_i)\bigr), \qquad \hat y(x) = g\bigl(f_1(x), \dots, f_M(x)\bigr),

where :math:`f_m^{(-i)}` was fitted to all rows but those of the fold that holds out row :math:`i`, and :math:`g` to the :math:`z_i`. Had it
seen what members say of their own training rows, it would trust most whoever remembers them best. Folds are of distinct rows: a copy of a
row stays where the row is, so none is told by a member that has seen it, and a weight of two is the row twice. The price is that of one
more fit of each member for every fold.

Wolpert (1992), Stacked generalization.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from qed.base.attributes import Attributes, each, model, text
from qed.base.certificate import Claim
from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.models.composed import Member, composed, member
from qed.base.models.no_effect import with_default
from qed.base.models.parameters import Parameter, anything, boolean
from qed.base.models.roles import Transformer
from qed.base.sources.block import Block, is_sparse
from qed.ensembles.members import fitted, proof_of, seeded
from qed.ensembles.problem import MemberProblem
from qed.ensembles.voting import Together
from qed.selection.searching.candidates import fresh
from qed.selection.splitting.splits import Splitting, check_cv, fold_numbers

STACKING_PARAMETERS: Mapping[str, Parameter] = {
    "estimators": composed(),
    "final_estimator": member("model", "the usual one"),
    "cv": anything("a number of folds, a splitter, splits, or 'prefit'"),
    "passthrough": boolean(),
}
STACKING_NO_EFFECT = {"n_jobs": with_default("n_jobs", None), "verbose": with_default("verbose", 0)}


class Stacking(Together, Transformer):
    """Named members, and a model of what they say."""

    no_inference: ClassVar[str] = "its final model may have some, of what members say"
    attributes: ClassVar[Attributes] = {"final_estimator_": model("predict"), "stack_method_": each(text(), "members")}
    final_estimator: Member
    cv: Splitting
    passthrough: bool
    final_estimator_: Member
    stack_method_: list[str]

    @abstractmethod
    def _usual(self) -> Member:
        """Give the final model that is taken where none is given."""

    @abstractmethod
    def _method(self, name: str, one: Member) -> str:
        """Say which method of a member tells what it thinks."""

    @abstractmethod
    def _answers_of(self, one: Member, method: str, X: np.ndarray) -> np.ndarray:
        """Give the columns that a member tells of rows."""

    @property
    def _final(self) -> Member:
        return self._usual() if self.final_estimator is None else self.final_estimator

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _solve(self, problem: MemberProblem) -> None:
        if self._is_prefit:
            self.estimators_ = [one for _, one in self._members()]
        else:
            self._fit_members(problem)
        self.stack_method_ = [self._method(name, one) for name, one in zip(self._names(), self.estimators_)]
        final = seeded(self._final, 0, "final", anew=False)
        self.final_estimator_ = fitted(final, self._inner(problem), problem.target, problem.weight)

    def _inner(self, problem: MemberProblem) -> np.ndarray:
        """Give the table that the final model learns from: what members say of rows that they have not seen."""
        if self._is_prefit:
            return self._table(problem.X)
        folds = self._folds(problem)
        jobs = [(which, fold) for which in range(len(self.estimators_)) for fold in np.unique(folds)]
        parts = list(work(partial(self._held_out, problem, which, folds == fold) for which, fold in jobs))
        columns = []
        for which in range(len(self.estimators_)):
            own = [part for (place, _), part in zip(jobs, parts) if place == which]
            answers = np.empty((len(problem), own[0].shape[1]))
            for (_, fold), part in zip(jobs, own):
                answers[folds == fold] = part
            columns.append(answers)
        return self._beside(problem.X, columns)

    def _held_out(self, problem: MemberProblem, which: int, out: np.ndarray) -> np.ndarray:
        """Fit a member to all rows but some, and give what it tells of these."""
        train = np.flatnonzero(~out)
        weight = None if problem.weight is None else problem.weight[train]
        made = fitted(fresh(self.estimators_[which]), problem.X[train], problem.target[train], weight)
        return self._answers_of(made, self.stack_method_[which], problem.X[np.flatnonzero(out)])

    def _folds(self, problem: MemberProblem) -> np.ndarray:
        """Give the fold that holds out each row."""
        classifier = self.target == "label"
        if self.cv is None or isinstance(self.cv, (int, np.integer)):
            number, first = problem.distinct()
            wanted = 5 if self.cv is None else int(self.cv)
            if len(first) < wanted:
                raise InputError(
                    f"{type(self).__name__}: n_samples={len(first)} different rows can not fill cv={wanted} folds: give more rows, or a "
                    "smaller cv."
                )
            target = problem.target[first]
            found = fold_numbers(check_cv(wanted, target, classifier), range(len(first)), target)
            return np.asarray(found)[number]
        # Splits that were given speak of all rows, also of those without weight.
        block = problem.rows.array()
        found = fold_numbers(check_cv(self.cv, block.y, classifier), block.X, block.y)
        if found is None or (found < 0).any():
            raise InputError(
                f"{type(self).__name__}: cv must hold out every row once, so that members tell of all of them."
            )
        return np.asarray(found)[block.weights > 0]

    def _columns(self, X: np.ndarray) -> Iterator[np.ndarray]:
        for one, method in zip(self.estimators_, self.stack_method_):
            yield self._answers_of(one, method, X)

    def _table(self, X: np.ndarray) -> np.ndarray:
        return self._beside(X, list(self._columns(X)))

    def _beside(self, X: Any, columns: list[np.ndarray]) -> np.ndarray:
        """Put columns side by side, with those of the rows where they are passed on."""
        if not self.passthrough:
            return np.hstack(columns)
        return sp.hstack([*map(sp.csr_array, columns), X]).tocsr() if is_sparse(X) else np.hstack([*columns, X])

    def _change(self, block: Block) -> np.ndarray:
        return self._table(block.X)

    def fit_transform(self, X: object, y: object = None, sample_weight: object = None) -> np.ndarray:
        """Fit, and give the table that the final model sees.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        """
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Name the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of the rows, where they are passed on.
        """
        self._check_fitted()
        start, found = type(self).__name__.lower(), []
        for name, width in zip(self._names(), self._widths()):
            found += [f"{start}_{name}{'' if width == 1 else i}" for i in range(width)]
        if self.passthrough:
            usual = [f"x{j}" for j in range(self.n_features_in_)]
            found += list(getattr(self, "feature_names_in_", usual) if input_features is None else input_features)
        return np.array(found, dtype=object)

    def _widths(self) -> list[int]:
        """Say how many columns each member tells."""
        return [1] * len(self.estimators_)

    def _prove(self, problem: Any) -> list[Claim]:
        again, inner = problem.again, self._inner(problem) if problem.again else problem.X
        final = proof_of(self.final_estimator_, inner, problem.target, problem.weight, again=again)
        methods = [self._method(name, one) for name, one in zip(self._names(), self.estimators_)]
        other = float(methods != list(self.stack_method_))
        claims = super()._prove(problem)
        claims += [
            Claim(f"final model: {claim.says}", claim.value, claim.bound) for claim in (() if final is None else final)
        ]
        return [*claims, Claim("stack_method_ follows from the members (differs)", other, 0.0)]

    def _proofs(self, problem: MemberProblem) -> Any:
        # Members that were fitted before have seen rows of their own.
        return [] if self._is_prefit else super()._proofs(problem)
