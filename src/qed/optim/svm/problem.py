r"""What support vector machines with a kernel share: the rows that count, the kernel, the dual, and the steps to its solution.

A model says what its parts are (one for each pair of classes, or a single one) and what it keeps of the multipliers. The rest is here,
with the claims: multipliers inside their bounds, their sum zero, and a duality gap that was worked out in double precision from the public
multipliers and the data.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import Attributes, floats, integers
from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.errors import DegenerateError, NotAvailableError
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import no_effect
from qed.base.models.parameters import Parameter, choice, infinity, integer, number
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Halt, Reason, Rule, Step
from qed.base.sources.block import is_sparse
from qed.base.sources.rows import Rows
from qed.kernels.gram.compared import WIDTH_PARAMETERS, ComparedRows, WithWidth
from qed.kernels.gram.rows import RIGHT_TO
from qed.kernels.gram.sums import Enough, combined
from qed.kernels.inputs import as_double
from qed.kernels.linear import Linear
from qed.kernels.radial import RBF
from qed.optim.svm.columns import apart, by_columns, is_held, objectives, residues
from qed.optim.svm.dual import DualProblem, State, relative_gaps
from qed.optim.svm.search import path_search, solved

UNLIMITED = 10**9
# Where two classes are nearer to each other than this, relative to the rows, rounding can not tell whether they touch.
TOUCHING = 64 * EPS
# With the linear kernel, the columns themselves are worked with where so many steps have not made the gap this much smaller.
IDLE, LESS = 12, 0.5

MACHINE_PARAMETERS: Mapping[str, Parameter] = {
    "C": number(0, above=True) | infinity(),
    **WIDTH_PARAMETERS,
    "tol": number(0),
    "cache_size": number(0, above=True),
    "max_iter": choice(-1) | integer(1),
}
MACHINE_NO_EFFECT = {
    "shrinking": no_effect(choice(True, False), True, "variables are set aside where that pays, and looked at again"),
}


class MachineProblem(ComparedRows):
    """Rows in memory, and the dual of the machine that compares them.

    With the linear kernel a dense table is moved to its middle, which changes the constant alone and keeps the digits of rows far away.
    """

    def __init__(self, rows: Rows, model: KernelMachine) -> None:
        super().__init__(rows, model)
        self.memory = 1e6 * model.cache_size
        self.middle: np.ndarray | None = None
        if isinstance(self.similarity.kernel, Linear) and not is_sparse(self.X):
            self.middle = self.X.mean(axis=0)
            self.X = self.X - self.middle

    @cached_property
    @abstractmethod
    def dual(self) -> DualProblem:
        """What is to be solved."""

    @cached_property
    def diagonal(self) -> np.ndarray:
        """The similarity of each row to itself."""
        return self.similarity.diagonal(self.X)

    def times(self, ratio: float) -> Self:
        """Give the same problem with all costs times a number."""
        other = copy(self)
        other.__dict__.pop("bound", None)
        other.__dict__["dual"] = self.dual.times(ratio)
        return other

    @cached_property
    def bound(self) -> np.ndarray:
        """The most that each multiplier may be."""
        return np.maximum(self.dual.high, -self.dual.low)

    def f(self, beta: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Give f of all variables, from the slopes where there are any."""
        return residues(self.dual, slopes) if slopes.size else self.dual.p - self.dual.products(beta)

    def objectives(self, beta: np.ndarray, f: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Give constant, dual and primal objective of each part, of shape (parts, 3)."""
        return objectives(self.dual, beta, f, slopes) if slopes.size else self.dual.judged(beta, f)

    def blur(self, beta: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Say how far rounding may have moved f of each variable: by what one product loses, times the products behind it."""
        dual, length = self.dual, np.sqrt(np.maximum(self.diagonal, 0.0))[self.dual.row]
        # Rows that were moved are further away where the public numbers are used.
        away = 0.0 if self.middle is None else float(np.linalg.norm(self.middle))
        if slopes.size:
            each = EPS * (8 + self.X.shape[1]) * np.linalg.norm(slopes, axis=1)[dual.part_of]
            return np.asarray((length + away) * each + 8 * EPS * np.abs(dual.p))
        total = dual.sums(length * np.abs(beta))[dual.part_of]
        each = EPS * (8 + math.sqrt(np.count_nonzero(beta) + self.X.shape[1]))
        if isinstance(self.similarity.kernel, RBF):
            each += RIGHT_TO
        return np.asarray(each * ((length + away) * total + np.abs(dual.p)))

    def lost(self, beta: np.ndarray) -> float:
        """Say how far rounding may have moved the primal objective."""
        return 0.0 if self.dual.hard else float(self.bound @ self.blur(beta, np.empty((0, 0))))

    def constants(self, beta: np.ndarray, slopes: np.ndarray, b: np.ndarray, sign: float) -> np.ndarray:
        """Turn constants of the moved table into those of the table as it was given (`sign` 1), or back (-1)."""
        if self.middle is None:
            return b
        if slopes.size:
            return np.asarray(b - sign * slopes @ self.middle)
        along = (self.X @ self.middle)[self.dual.row]
        return np.asarray(b - sign * self.dual.sums(beta * along))


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
        "slopes_": floats("parts", "features") | floats(0, 0),
    }
    slopes_: np.ndarray
    C: float
    cache_size: float
    support_: np.ndarray
    support_vectors_: Any
    n_support_: np.ndarray
    dual_coef_: np.ndarray
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

    def _search(self, question: Question[Self]) -> Answer | None:
        return None if any(one.similarity_is_given for one in question.models) else path_search(self, question)

    def _along(self, rows: Rows, models: Sequence[Self]) -> Iterator[Self]:
        """Give models that differ in C alone, fitted, from the smallest C on."""
        problem, state = self._problem(rows), None
        for before, model in zip([self, *models], models):
            ratio = model.C / before.C
            problem = problem.times(ratio)
            state = solved(problem.dual, problem.dual.beginning(state, ratio), model.tol, model._rule().max_iter)
            fitted = copy(model)
            fitted._take(problem, state)
            yield fitted

    @abstractmethod
    def _answers(self, rows: Rows) -> dict[str, np.ndarray]:
        """Give what the methods of the model answer for some rows, and what of its attributes scorers ask for."""

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the columns, of shape (n_parts, p): with the linear kernel only."""
        self._check_fitted()
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise NotAvailableError(
                "coef_ is only available when using a linear kernel: other kernels have no coefficients of columns."
            )
        return self.slopes_ if self.slopes_.size else self._slopes(self._by_part())

    @abstractmethod
    def _by_part(self) -> np.ndarray:
        """Give the signed multipliers of the support vectors in each part, of shape (parts, vectors)."""

    @abstractmethod
    def _multipliers(self, problem: Any) -> np.ndarray:
        """Give the signed multipliers of all variables of the dual from the public attributes."""

    @abstractmethod
    def _keep(self, problem: Any, state: State) -> None:
        """Set the attributes that are the model's own."""

    def _steps(self, problem: MachineProblem, start: Step | None = None) -> Generator[Step, None, Halt]:
        dual = problem.dual
        state = dual.beginning() if start is None else State(*(start.state[name] for name in State._fields))
        if start is None:
            yield _step(state)
        columns, gaps = isinstance(problem.similarity.kernel, Linear) and is_held(dual), deque([math.inf], maxlen=IDLE)
        for after in dual.solve(state, self.tol):
            if dual.hard:
                self._refuse_touching(problem, after)
            gap, total = float(after.gaps.max()), float(after.found[:, 1].sum())
            gaps.append(min(gap, gaps[-1]))
            lost = problem.lost(after.beta) > MOST_ROUNDING * total
            if columns and (lost or (gap > self.tol and len(gaps) == IDLE and gap > LESS * gaps[0])):
                yield _step(self._by_columns(problem, after))
                return Halt(Reason.STALLED)
            yield _step(after)
            if lost and gap > self.tol:
                return Halt(
                    Reason.DEGENERATE,
                    f"With C={self.C:g} and rows this long, multipliers would need more digits than there are.",
                    "Scale the columns (qed.StandardScaler), lower C, or take LinearSVC or LinearSVR, which need no multipliers.",
                )
        return Halt(Reason.STALLED)

    def _by_columns(self, problem: MachineProblem, state: State) -> State:
        """Give the state that solving with the columns themselves finds."""
        beta, slopes = by_columns(problem.dual, self.tol)
        f = problem.f(beta, slopes)
        return state._replace(
            beta=beta,
            f=f,
            found=problem.objectives(beta, f, slopes),
            exact=True,
            part=len(problem.dual.starts) - 2,
            slopes=slopes,
        )

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

    def _finish(self, problem: Any, step: Step) -> None:
        self._take(problem, problem.dual.exactly(State(*(step.state[name] for name in State._fields))))

    def _take(self, problem: Any, state: State) -> None:
        """Set the attributes from where the solver has come to."""
        self.gamma_ = problem.gamma
        self.slopes_ = state.slopes
        self.intercept_ = problem.constants(state.beta, state.slopes, state.found[:, 0], 1.0)
        self.dual_objective_, self.primal_objective_ = state.found[:, 1].copy(), state.found[:, 2].copy()
        self._keep(problem, state)

    def _kept_rows(self, problem: MachineProblem, used: np.ndarray) -> Any:
        """Give the support vectors; none where similarities were given, since then they are known by number."""
        if self.similarity_is_given:
            return np.empty((0, 0))
        return problem.given[used]

    def _apply_to(self, X: Any, signed: np.ndarray, enough: Enough | None = None) -> np.ndarray:
        """Give the sums of similarities of rows to the support vectors, times `signed` of shape (vectors, k), and the constants.

        Where `enough` says so, given sums without the constants and a bound of their errors, they may be rough.
        """
        if self.similarity_is_given:
            return np.asarray(X[:, self.support_] @ signed) + self.intercept_
        if isinstance(self.kernel, str) and self.kernel == "linear":
            slopes = self.slopes_ if self.slopes_.size else self._slopes(signed.T)
            return np.asarray(X @ slopes.T) + self.intercept_
        vectors = self.support_vectors_
        if is_sparse(X) and not is_sparse(vectors):
            X = X.toarray()
        elif is_sparse(vectors) and not is_sparse(X):
            vectors = vectors.toarray()
        return combined(self._similarity, X, vectors, signed, enough) + self.intercept_

    def _slopes(self, signed: np.ndarray) -> np.ndarray:
        """Give the coefficients of the columns, of shape (k, p), of a linear kernel; multipliers sum to zero, so rows may be moved."""
        vectors = self.support_vectors_
        if is_sparse(vectors) or not len(vectors):
            return np.asarray(signed @ vectors)
        vectors = np.asarray(vectors, dtype=np.float64)
        return np.asarray(signed @ (vectors - vectors.mean(axis=0)))

    def _restate(self, problem: Any) -> list[Claim]:
        dual, beta, _, blur = self._judged(problem)
        f = problem.f(beta, self.slopes_)
        found, size = problem.objectives(beta, f, self.slopes_), np.abs(beta)
        # Two that work out the same differ by what rounding does to both.
        sums = 2 * dual.sums(size * (blur + EPS * len(beta) * np.abs(dual.p)))
        if self.slopes_.size:
            sums = sums + 2 * apart(dual, beta, self.slopes_)[1]
        wide = 2 * dual.sums((0.0 if dual.hard else problem.bound) * blur) + 4 * dual.largest(blur) * np.abs(
            found[:, 1]
        )
        places = np.searchsorted(problem.present, self.support_)
        known, kept = as_double(self._kept_rows(problem, places)), as_double(self.support_vectors_)
        worst = float(abs(kept - known).max()) if min(known.shape) else 0.0
        return [
            allowed(
                "intercept_",
                self.intercept_,
                problem.constants(beta, self.slopes_, found[:, 0], 1.0),
                2 * dual.largest(blur),
            ),
            allowed("dual_objective_", self.dual_objective_, found[:, 1], sums),
            allowed("primal_objective_", self.primal_objective_, found[:, 2], sums + wide),
            restated("gamma_", self.gamma_, problem.gamma, slack=EPS * (8 + problem.X.size)),
            Claim("support_vectors_ are rows of the table (difference)", worst, 0.0),
        ]

    def _judged(self, problem: MachineProblem) -> tuple[DualProblem, np.ndarray, np.ndarray, np.ndarray]:
        """Give the dual, multipliers, f with the public constant taken off, and how far rounding could have moved that."""
        dual, beta = problem.dual, self._multipliers(problem)
        given = np.asarray(self.intercept_, dtype=np.float64)
        b = problem.constants(beta, self.slopes_, given, -1.0)
        blur = problem.blur(beta, self.slopes_) + (EPS * 8 * (np.abs(b) + np.abs(given)))[dual.part_of]
        return dual, beta, problem.f(beta, self.slopes_) - b[dual.part_of], blur

    def _prove(self, problem: Any) -> list[Claim]:
        dual, beta, over, blur = self._judged(problem)
        outside = np.maximum(np.maximum(beta - dual.high, dual.low - beta), 0.0)
        size, rest = dual.sums(np.abs(beta)), np.abs(dual.sums(beta))
        gap, term, primal = dual.gap(beta, over)
        half, unsure = apart(dual, beta, self.slopes_) if self.slopes_.size else (0.0, 0.0)
        gap = gap + half
        scale = np.where(np.isfinite(primal), np.maximum(primal, TINY), 1.0)
        if dual.hard:
            moved = dual.sums(np.abs(beta) * blur) + 2 * scale * dual.largest(blur)
        else:
            # A variable at a bound, with f on its right side whatever rounding did, adds nothing to the gap.
            side = np.where(dual.high > 0, over, -over)
            safe = ((beta == 0) & (side <= -blur)) | ((np.abs(beta) == problem.bound) & (side >= blur))
            moved = dual.sums(np.where(safe, 0.0, problem.bound + np.abs(beta)) * blur)
        moved = moved + rest * dual.largest(np.abs(over)) + unsure
        gaps, terms, roundings = gap / scale, term / scale, moved / scale
        worst, farthest = int(np.argmax(gaps - roundings)), int(np.argmax(terms - roundings))
        says = "points off the margin have alpha 0 or C (share of the gap)"
        excess = float((outside / np.maximum(problem.bound, TINY)).max(initial=0.0))
        return [
            Claim("multipliers inside [0, C] (excess, relative)", excess, 0.0),
            Claim(
                "sum of alpha_i y_i vanishes (relative)", float((rest / np.maximum(size, TINY)).max()), EPS * len(beta)
            ),
            Claim.within("primal less dual objective, relative", float(gaps[worst]), self.tol, float(roundings[worst])),
            Claim.within(says, float(terms[farthest]), self.tol, float(roundings[farthest])),
        ]


def allowed(name: str, value: np.ndarray, wanted: np.ndarray, difference: np.ndarray) -> Claim:
    """Claim that an attribute is what follows from the data, but for differences that rounding explains."""
    known = np.isfinite(wanted)
    size = max(float(np.abs(wanted[known]).max(initial=0.0)), TINY)
    return restated(name, value, wanted, scale=size, slack=float(np.max(difference[known], initial=0.0)) / size)


def _step(state: State) -> Step:
    return Step(-float(state.found[:, 1].sum()), float(state.gaps.max()), **state._asdict())
