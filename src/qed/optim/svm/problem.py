r"""What support vector machines with a kernel share: the rows that count, the kernel, the dual, and the steps to its solution.

A model says what its parts are (one for each pair of classes, or a single one) and what it keeps of the multipliers. The rest is here,
with the claims: multipliers inside their bounds, their sum zero, and a duality gap that was worked out in double precision from the public
multipliers and the data.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats, integers
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, choice, integer, number
from qed.base.models.proof import restated
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Rule, Step
from qed.base.sources.block import is_sparse
from qed.base.sources.rows import Rows
from qed.kernels.gram.compared import WIDTH_PARAMETERS, ComparedRows, WithWidth
from qed.kernels.gram.rows import combined
from qed.kernels.inputs import as_double
from qed.kernels.linear import Linear
from qed.optim.svm.dual import DualProblem, State, relative_gaps

UNLIMITED = 10**9
# Where two classes are nearer to each other than this, relative to the rows, rounding can not tell whether they touch.
TOUCHING = 64 * EPS

MACHINE_PARAMETERS: Mapping[str, Parameter] = {
    "C": number(0, above=True) | Parameter("infinity", lambda value: value == math.inf),
    **WIDTH_PARAMETERS,
    "tol": number(0),
    "cache_size": number(0, above=True),
    "max_iter": choice(-1) | integer(1),
}


class MachineProblem(ComparedRows):
    """Rows in memory, and the dual of the machine that compares them.

    With the linear kernel a dense table is moved to its middle, which changes the constant alone and keeps the digits of rows far away.
    """

    def __init__(self, rows: Rows, model: KernelMachine) -> None:
        super().__init__(rows, model)
        self.middle: np.ndarray | None = None
        if isinstance(self.similarity.kernel, Linear) and not is_sparse(self.X):
            self.middle = self.X.mean(axis=0)
            self.X = self.X - self.middle

    @cached_property
    def dual(self) -> DualProblem:
        """What is to be solved."""
        raise NotImplementedError

    @cached_property
    def diagonal(self) -> np.ndarray:
        """The similarity of each row to itself."""
        return self.similarity.diagonal(self.X)

    def constants(self, beta: np.ndarray, b: np.ndarray, sign: float) -> np.ndarray:
        """Turn constants of the moved table into those of the table as it was given (`sign` 1), or back (-1)."""
        if self.middle is None:
            return b
        dual = self.dual
        slopes = [beta[part] @ self.X[dual.row[part]] for part in dual.parts()]
        return np.asarray(b - sign * (np.array(slopes) @ self.middle))


class KernelMachine(WithWidth, Iterative):
    """A support vector machine with a kernel."""

    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    no_inference: ClassVar[str] = "its coefficients belong to rows, not to columns"
    attributes: ClassVar[Attributes] = {
        "support_": integers("vectors"),
        "support_vectors_": floats("vectors", "features") | floats(0, 0),
        "intercept_": floats("parts"),
        "primal_objective_": floats("parts", finite=False),
        "dual_objective_": floats("parts"),
    }
    C: float
    cache_size: float
    support_: np.ndarray
    support_vectors_: Any
    intercept_: np.ndarray
    primal_objective_: np.ndarray
    dual_objective_: np.ndarray

    @property
    def gap_(self) -> np.ndarray:
        """Primal less dual objective of each part, relative to the primal one."""
        self._check_fitted()
        return relative_gaps(self.dual_objective_, self.primal_objective_)

    def _rule(self) -> Rule:
        return replace(super()._rule(), max_iter=UNLIMITED if self.max_iter == -1 else self.max_iter)

    def _max_tasks(self) -> int:
        return self._rule().max_iter + 1

    @abstractmethod
    def _multipliers(self, problem: Any) -> np.ndarray:
        """Give the signed multipliers of all variables of the dual from the public attributes."""

    @abstractmethod
    def _keep(self, problem: Any, state: State) -> None:
        """Set the attributes that are the model's own."""

    def _steps(self, problem: MachineProblem, start: Step | None = None) -> Iterator[Step]:
        dual = problem.dual
        state = dual.beginning() if start is None else State(*(start.state[name] for name in State._fields))
        if start is None:
            yield _step(state)
        for after in dual.solve(state, self.tol):
            if dual.hard:
                self._refuse_touching(problem, after)
            yield _step(after)

    def _refuse_touching(self, problem: MachineProblem, state: State) -> None:
        """Raise where multipliers prove that no function separates the classes: hulls that touch."""
        dual = problem.dual
        for part in dual.parts():
            beta = state.beta[part]
            length, total = float(beta @ (dual.p[part] - state.f[part])), float(np.abs(beta).sum())
            reach = float(problem.diagonal[dual.row[part]].max())
            if total > 0 and length <= TOUCHING * reach * total**2:
                raise DegenerateError(
                    f"{type(self).__name__}: with C=inf no row may be on the wrong side of its margin, but no function of this kernel "
                    "separates the classes: their hulls touch, to rounding. Allow slack, e.g. C=1.0, or take a richer kernel."
                )

    def _finish(self, problem: MachineProblem, step: Step) -> None:
        state = State(*(step.state[name] for name in State._fields))
        self.gamma_ = problem.gamma
        self.intercept_ = problem.constants(state.beta, state.found[:, 0], 1.0)
        self.dual_objective_, self.primal_objective_ = state.found[:, 1].copy(), state.found[:, 2].copy()
        self._keep(problem, state)

    def _kept_rows(self, problem: MachineProblem, used: np.ndarray) -> Any:
        """Give the support vectors; none where similarities were given, since then they are known by number."""
        if self.similarity_is_given:
            return np.empty((0, 0))
        return problem.given[used]

    def _apply_to(self, X: Any, signed: np.ndarray) -> np.ndarray:
        """Give the sums of similarities of rows to the support vectors, times `signed` of shape (vectors, k), and the constants."""
        if self.similarity_is_given:
            return np.asarray(X[:, self.support_] @ signed) + self.intercept_
        if isinstance(self.kernel, str) and self.kernel == "linear":
            return np.asarray(X @ self._slopes(signed.T).T) + self.intercept_
        vectors = self.support_vectors_
        if is_sparse(X) and not is_sparse(vectors):
            X = X.toarray()
        elif is_sparse(vectors) and not is_sparse(X):
            vectors = vectors.toarray()
        return combined(self._similarity, X, vectors, signed) + self.intercept_

    def _slopes(self, signed: np.ndarray) -> np.ndarray:
        """Give the coefficients of the columns, of shape (k, p), of a linear kernel; multipliers sum to zero, so rows may be moved."""
        vectors = self.support_vectors_
        if is_sparse(vectors) or not len(vectors):
            return np.asarray(signed @ vectors)
        vectors = np.asarray(vectors, dtype=np.float64)
        return np.asarray(signed @ (vectors - vectors.mean(axis=0)))

    def _following(self, problem: MachineProblem, beta: np.ndarray, found: np.ndarray) -> list[Claim]:
        """Compare what follows from the multipliers and the data with what it should be."""
        places = np.searchsorted(problem.present, self.support_)
        known, kept = as_double(self._kept_rows(problem, places)), as_double(self.support_vectors_)
        worst = float(abs(kept - known).max()) if min(known.shape) else 0.0
        return [
            restated("intercept_", self.intercept_, problem.constants(beta, found[:, 0], 1.0), slack=1e-7),
            restated("dual_objective_", self.dual_objective_, found[:, 1], slack=1e-7),
            restated("primal_objective_", self.primal_objective_, found[:, 2], slack=1e-7),
            restated("gamma_", self.gamma_, problem.gamma),
            Claim("support_vectors_ are rows of the table (difference)", worst, 0.0),
        ]

    def _judged(self, problem: MachineProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give multipliers, f with the public constant taken off, and the sums behind f that rounding could have touched."""
        dual, beta = problem.dual, self._multipliers(problem)
        f = dual.p - dual.products(beta)
        b = problem.constants(beta, np.asarray(self.intercept_, dtype=np.float64), -1.0)
        length = np.sqrt(np.maximum(problem.diagonal, 0.0))[dual.row]
        # Rows that were moved are further away where the public numbers are used.
        away = 0.0 if problem.middle is None else float(np.linalg.norm(problem.middle))
        reach, over = np.empty(len(f)), np.empty(len(f))
        for k, part in enumerate(dual.parts()):
            total = float(length[part] @ np.abs(beta[part]))
            reach[part] = (length[part] + away) * total + abs(b[k]) + abs(self.intercept_[k]) + np.abs(dual.p[part])
            over[part] = f[part] - b[k]
        return beta, over, reach

    def _prove(self, problem: Any) -> list[Claim]:
        dual = problem.dual
        beta, over, reach = self._judged(problem)
        outside = np.maximum(np.maximum(beta - dual.high, dual.low - beta), 0.0)
        bound = np.maximum(np.maximum(dual.high, -dual.low), TINY)
        each = EPS * (8 + math.sqrt(len(self.support_)))
        gaps, sums, roundings, terms = [], [], [], []
        for part in dual.parts():
            own, size = beta[part], float(np.abs(beta[part]).sum())
            sums.append(abs(float(own.sum())) / max(size, TINY))
            blur = each * float(((0.0 if dual.hard else bound[part]) + np.abs(own)) @ reach[part])
            gap, term, primal = _gap(dual, part, own, over[part])
            scale = max(primal, TINY) if math.isfinite(primal) else 1.0
            gaps.append(gap / scale)
            terms.append(term / scale)
            roundings.append((blur + abs(float(own.sum())) * float(np.abs(over[part]).max(initial=0.0))) / scale)
        worst = int(np.argmax(np.array(gaps) - np.array(roundings)))
        farthest = int(np.argmax(np.array(terms) - np.array(roundings)))
        return [
            Claim("multipliers inside [0, C] (excess, relative)", float((outside / bound).max(initial=0.0)), 0.0),
            Claim("sum of alpha_i y_i vanishes (relative)", max(sums), 1e-9),
            Claim.within("primal less dual objective, relative", gaps[worst], self.tol, roundings[worst]),
            Claim.within(
                "points off the margin have alpha 0 or C (share of the gap)",
                terms[farthest],
                self.tol,
                roundings[farthest],
            ),
        ]


def _gap(dual: DualProblem, part: slice, beta: np.ndarray, over: np.ndarray) -> tuple[float, float, float]:
    """Give primal less dual objective, the largest term of it, and the primal objective."""
    p, low, high, inner = dual.p[part], dual.low[part], dual.high[part], beta * over
    value = (float(beta @ p) + float(inner.sum())) / 2
    if dual.hard:
        worst = float(np.maximum(np.where(high > 0, over, 0.0), np.where(low < 0, -over, 0.0)).max(initial=0.0))
        length = float(beta @ p) - float(inner.sum())
        primal = length / (2 * (1 - worst) ** 2) if worst < 1 else math.inf
        return primal - value, worst * primal, primal
    terms = high * np.maximum(over, 0.0) - low * np.maximum(-over, 0.0) - inner
    gap = float(terms.sum())
    return gap, float(terms.max(initial=0.0)), value + gap


def _step(state: State) -> Step:
    return Step(-float(state.found[:, 1].sum()), float(state.gaps.max()), **state._asdict())
