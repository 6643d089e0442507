"""What the greedy pursuits share: their parameters, their steps, and cross-validation along the path for the price of one fit."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from qed.base.attributes import floats, integers, nothing
from qed.base.certificate import Claim
from qed.base.engine import one_blas_thread
from qed.base.errors import DegenerateWarning, ParameterError, level_of_user
from qed.base.models.checks import overflowed
from qed.base.models.estimator import Iterative
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.parameters import Parameter, boolean, choice, integer, number
from qed.base.models.problem import Problem, RowsProblem, StatisticProblem
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question
from qed.base.running.steps import Halt, Reason, Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.regression.greedy.atoms import Atoms, open_atoms, pays_to_compress, size_of
from qed.regression.greedy.chase import chase
from qed.regression.greedy.claims import (
    TOLERANCE,
    Evidence,
    Path,
    claim_of_coefficients,
    claim_of_constant,
    claim_of_end,
)
from qed.regression.linear.linear import LinearPredictor
from qed.stats.moments import Moments
from qed.stats.products import target_summary


class Trail(Protocol):
    """What a pursuit remembers of the atoms it took."""

    def advance(self, number: int, atom: int, residual: np.ndarray) -> np.ndarray | None:
        """Take an atom at turn `number`, and give the residual that is left; None when the atom says nothing new."""

    def changes(self, picks: np.ndarray) -> np.ndarray:
        """Give what taking `picks` one after another did to the coefficients."""


class Growing:
    """Numbers that are added one by one; a view of those there are stays what it is."""

    def __init__(self, dtype: Any) -> None:
        self._values, self._count = np.empty(16, dtype=dtype), 0

    def append(self, value: Any) -> None:
        """Add a number."""
        if self._count == len(self._values):
            self._values = np.concatenate([self._values, np.empty_like(self._values)])
        self._values[self._count] = value
        self._count += 1

    @property
    def values(self) -> np.ndarray:
        """The numbers so far."""
        return self._values[: self._count]


class Run:
    """The pursuit of one output.

    It ends when the squared residual is no larger than `enough`, when so many different atoms as are wanted are found,
    or after the turn `last`.
    """

    def __init__(
        self, atoms: Atoms, target: np.ndarray, trail: Trail, wanted: int, enough: float, last: int | None
    ) -> None:
        self.atoms, self.trail, self.wanted, self.enough, self.last = atoms, trail, wanted, enough, last
        self.scale = size_of(target)
        self.residual, self.error = target, self.scale**2
        self.picks, self.errors = Growing(np.int64), Growing(np.float64)
        self.errors.append(self.error)
        self.different: set[int] = set()
        self.turns: Iterator[tuple[int, np.ndarray]] | None = None

    def replay(self, picks: Sequence[int]) -> None:
        """Take atoms that are known already: as in the run that chose them, but for the choosing."""
        with one_blas_thread:
            for turn, atom in enumerate(picks):
                self._take(int(atom), self.trail.advance(turn, int(atom), self.residual))

    def forward(self) -> bool:
        """Take one more atom; False when there is no need to, or nothing to gain."""
        if len(self.different) >= self.wanted or self.error <= self.enough:
            return False
        if self.turns is None:
            self.turns = chase(
                self.atoms, self.residual, self.scale, self.trail.advance, len(self.picks.values), self.last
            )
        for atom, residual in self.turns:
            self._take(atom, residual)
            return True
        return False

    def _take(self, atom: int, residual: np.ndarray | None) -> None:
        assert residual is not None
        self.residual = residual
        self.picks.append(atom)
        self.different.add(atom)
        self.error = min(self.error, float(residual @ residual))
        self.errors.append(self.error)


class PursuitProblem(Problem):
    """Rows to be explained by few of their columns.

    Attributes
    ----------
    moments : Moments or None
        Where these stand for the rows.
    summaries : (Summary, Summary) or None
        Of features and target, where there are no moments.
    center, target_center : ndarray
        Where columns and targets are taken from.
    """

    rows: Rows
    summaries: tuple[Summary, Summary] | None = None

    def __init__(self, seen: RowsProblem | StatisticProblem, *, centered: bool) -> None:
        assert seen.rows is not None
        self.seen, self.rows, self.target_ndim, self.source = seen, seen.rows, seen.target_ndim, seen.source
        if isinstance(seen, StatisticProblem):
            self.moments: Moments | None = seen.statistic
            means = seen.statistic.x_mean, seen.statistic.y_mean
        else:
            self.moments = None
            self.summaries = seen.summary, seen.rows.fold(target_summary)
            means = self.summaries[0].mean, self.summaries[1].mean
        self.center, self.target_center = means if centered else tuple(np.zeros_like(mean) for mean in means)

    @property
    def fingerprint(self) -> Fingerprint:
        return self.seen.fingerprint

    def flat(self, values: np.ndarray) -> np.ndarray:
        """Drop the axis of outputs where the target is a vector."""
        return values[0] if self.target_ndim == 1 else values


class Pursuit(LinearPredictor, Iterative):
    """A linear model whose columns are chosen one after another."""

    no_inference: ClassVar[str] = (
        "the same data chose the columns. Fit qed.LinearRegression to rows that had no part in the choice"
    )
    passes: ClassVar[str] = "one"
    attributes: ClassVar = {
        "n_nonzero_coefs_": integers(low=1) | nothing(),
        "errors_": floats("outputs?", "turns+1", low=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_nonzero_coefs": integer(1, kind="model") | choice(None),
        "tol": number(0) | choice(None),
        "fit_intercept": boolean(),
    }
    _picks: ClassVar[str]
    n_nonzero_coefs: int | None
    n_nonzero_coefs_: int | None

    @abstractmethod
    def _trail(self, atoms: Atoms) -> Trail:
        """Make the memory of the method."""

    @abstractmethod
    def _sized(self, size: int) -> np.ndarray:
        """Give the coefficients, of shape (p, q), that the path has at `size` atoms."""

    def _last(self, atoms: Atoms, wanted: int) -> int | None:
        """Say how many turns there can be at most, where that is known."""
        return None

    def _rule(self) -> Rule:
        return Rule(0.0 if self.tol is None else self.tol, self.max_iter, patience=self.max_iter + 1)

    def _wanted(self) -> int:
        """Say how many atoms are wanted: as many as asked for, a tenth of the columns, or (with ``tol``) as many as needed."""
        p, asked = self.n_features_in_, self.n_nonzero_coefs
        if self.tol is not None:
            return p
        if asked is not None and asked > p:
            raise ParameterError(
                f"{type(self).__name__}: n_nonzero_coefs={asked} asks for more atoms than there are columns ({p}): give at most {p}."
            )
        return max(p // 10, 1) if asked is None else int(asked)

    def _problem(self, rows: Rows) -> PursuitProblem:
        self._wanted()
        if pays_to_compress(rows):
            return PursuitProblem(StatisticProblem(self, rows), centered=self.fit_intercept)
        return PursuitProblem(RowsProblem(rows.cached(), self), centered=self.fit_intercept)

    def _evidence(self, rows: Rows) -> RowsProblem:
        return RowsProblem(rows, self)

    def _statistic(self, block: Block) -> Moments:
        return Moments.of(block)

    def _steps(self, problem: PursuitProblem, start: Step | None = None) -> Generator[Step, None, Halt]:
        wanted, enough = self._wanted(), 0.0 if self.tol is None else float(self.tol)
        seen = problem.moments if problem.summaries is None else problem.summaries[0]
        assert seen is not None
        center, level = problem.center, problem.target_center
        atoms, targets = open_atoms(problem.rows, seen, center, level, centered=self.fit_intercept, wanted=wanted)
        last = self._last(atoms, wanted)
        runs = [Run(atoms, target, self._trail(atoms), wanted, enough, last) for target in targets]
        if not all(math.isfinite(run.error) for run in runs):
            raise overflowed(self)
        if start is None:
            yield self._step(runs)
        else:
            for run, picks in zip(runs, start.picks):
                run.replay(picks)
        while sum(run.forward() for run in runs):
            yield self._step(runs)
        left = max(run.error for run in runs)
        self._say_fewer(min(len(run.different) for run in runs))
        if self.tol is not None and left > self.tol:
            return Halt(Reason.STALLED, "No column can explain more.", f"tol={1.01 * left:.3g} would be reached.")
        return Halt(Reason.CERTIFIED, "No column can explain more.")

    def _say_fewer(self, taken: int) -> None:
        """Say that there are fewer atoms than were asked for."""
        if self.tol is None and self.n_nonzero_coefs is not None and taken < self.n_nonzero_coefs:
            warnings.warn(
                f"{type(self).__name__} took {taken} of the {self.n_nonzero_coefs} atoms asked for: the target is met already, or no "
                "column is left that is independent of those taken.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )

    def _step(self, runs: list[Run]) -> Step:
        """Say where all outputs are."""
        errors, picks = [run.errors.values for run in runs], [run.picks.values for run in runs]
        missing = 1 - min(len(run.different) for run in runs) / self._wanted()
        gap = missing if self.tol is None else max(run.error for run in runs)
        changes = [run.trail.changes(chosen) for run, chosen in zip(runs, picks)]
        return Step(sum(run.error for run in runs), gap, picks=picks, changes=changes, errors=errors)

    def _finish(self, problem: PursuitProblem, step: Step) -> None:
        self.n_nonzero_coefs_ = self._wanted() if self.tol is None else None
        self.errors_ = problem.flat(padded(step.errors))
        self._set_path(problem, step)
        self._use(problem, self.n_features_in_)

    def _use(self, problem: PursuitProblem, size: int) -> None:
        """Set the coefficients that the path has at `size` atoms."""
        flat = problem.target_ndim == 1
        self._set_coef(self._sized(size), problem.center, problem.target_center, flat=flat)

    @abstractmethod
    def _set_path(self, problem: PursuitProblem, step: Step) -> None:
        """Set the public attributes that hold the path."""

    def _outputs(self, name: str) -> np.ndarray:
        """Give a public attribute with its axis of outputs."""
        values = np.asarray(getattr(self, name))
        return values if self.errors_.ndim == 2 else values[None]

    @abstractmethod
    def _path_of(self, output: int, seen: Evidence) -> Path:
        """Give the path of one output, as the public attributes tell it."""

    @abstractmethod
    def _claims_about(self, seen: Evidence, coefs: list[np.ndarray], paths: list[Path]) -> list[Claim]:
        """Make the claims of the method."""

    def _prove(self, problem: PursuitProblem | RowsProblem) -> list[Claim]:
        seen, coefs, paths = self._followed(problem)
        claims = [claim_of_constant(seen, coefs)] if self.fit_intercept else []
        with one_blas_thread:
            claims += self._claims_about(seen, coefs, paths)
        end = claim_of_end(seen, paths, self._wanted(), self.tol)
        return [*claims, claim_of_coefficients(seen, coefs, paths), end]

    def _restate(self, problem: PursuitProblem | RowsProblem) -> list[Claim]:
        seen, _, paths = self._followed(problem)
        errors = [np.concatenate([part for _, _, part in seen.turns(t, path.coef)]) for t, path in enumerate(paths)]
        wanted = self._wanted() if self.tol is None else None
        # Squares are differences of what the coefficients reach, and known to the rounding of that.
        blur = padded([seen.rounding * seen.reach(t, path.coef) ** 2 for t, path in enumerate(paths)])
        scale = seen.yy[:, None] + blur / TOLERANCE
        return [
            restated("n_nonzero_coefs_", self.n_nonzero_coefs_, wanted),
            restated("errors_", self._outputs("errors_"), padded(errors), scale=scale, slack=seen.bound),
        ]

    def _followed(self, problem: PursuitProblem | RowsProblem) -> tuple[Evidence, list[np.ndarray], list[Path]]:
        """Give what is seen of the rows, the coefficients of the columns used, and the path, for every output."""
        coef, intercept = self._columns()
        known = (coef, intercept, self._outputs(self._picks))
        if isinstance(problem, PursuitProblem) and problem.moments is not None:
            seen = Evidence.of_moments(problem.moments, *known, centered=self.fit_intercept)
        else:
            assert problem.rows is not None
            taken = problem.summaries if isinstance(problem, PursuitProblem) else None
            seen = Evidence.of(problem.rows, *known, centered=self.fit_intercept, known=taken)
        coefs = list(coef[seen.used].T)
        return seen, coefs, [self._path_of(output, seen) for output in range(len(coefs))]

    def _search(self, question: Question[Self]) -> Answer | None:
        """Score all numbers of atoms from one fit per fold: the path of many atoms begins with that of few."""
        table = question.table(question.asking(self, "predict"))
        if not table.values or any(model.tol is not None for model in question.models):
            return None
        for members in question.families("n_nonzero_coefs"):
            sizes = [question.models[c]._wanted() for c in members]
            for fold in question.folds:
                training, held_out = question.training(fold), question.held_out(fold)
                model = copy(question.models[members[int(np.argmax(sizes))]])
                problem = model._begin(training)
                model._settle(problem)
                for c, size in zip(members, sizes):
                    model._use(problem, size)
                    table.judge(c, fold, predict=held_out.map(model._predict))
                    if question.train_scores:
                        table.judge(c, fold, train=True, predict=training.map(model._predict))
        return table.answer(f"{question.folds.words}, all numbers of atoms from one path each")


def padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Stack arrays of different lengths, the short ones going on with their last value."""
    length = max(len(row) for row in rows)
    return np.array([np.concatenate([row, np.repeat(row[-1:], length - len(row))]) for row in rows])
