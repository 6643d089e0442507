r"""Matching pursuit: the residual is followed from column to column.

.. math:: i_t = \arg\max_j \frac{|x_j^\top r^{t-1}|}{\|x_j\|}, \qquad \nu_t = \frac{x_{i_t}^\top r^{t-1}}{\|x_{i_t}\|^2}, \qquad
   w^t = w^{t-1} + \nu_t e_{i_t}, \qquad r^t = r^{t-1} - \nu_t x_{i_t}.

Each turn takes the column with which the residual can be made smallest, and only its coefficient is changed. The new
residual is orthogonal to that column, so Pythagoras says what was gained: :math:`\|r^t\|^2 = \|r^{t-1}\|^2 - \nu_t^2
\|x_{i_t}\|^2`. It is not orthogonal to the columns taken before: they can come again, and the number of turns has no
bound other than ``max_iter``; when the residual is zero there is nothing left to follow. `OrthogonalMatchingPursuit`
fits all chosen columns anew at each turn. For n rows and p columns :math:`O(np)` per turn. The course's version has
no intercept: ``fit_intercept=False``.

Mallat and Zhang (1993), Matching pursuits with time-frequency dictionaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.models.parameters import Parameter, integer
from qed.base.running.steps import Step
from qed.regression.greedy.atoms import Atoms
from qed.regression.greedy.claims import Evidence, Path, claims_of_path
from qed.regression.greedy.pursuit import Pursuit, PursuitProblem


class MatchingPursuit(Pursuit):
    """Follow the residual: at each turn change the one coefficient that explains most of it.

    Parameters
    ----------
    n_nonzero_coefs : int, optional
        The fit ends when so many coefficients are not zero. The default is a tenth of the columns, at least one. Not used with
        ``tol``.
    tol : float, optional
        Go on until the squared length of the residual is at most this.
    max_iter : int, default=1000
        The most turns; columns may come more than once.
    fit_intercept : bool, default=True
        Whether to fit a constant, by centring columns and target.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_outputs, p)
        Coefficients; zero for all columns that were never chosen.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant; zero without ``fit_intercept``.
    picks_ : ndarray of shape (n_iter,) or (n_outputs, n_iter)
        The column of each turn; -1 where an output needed fewer turns.
    moves_ : ndarray of shape (n_iter,) or (n_outputs, n_iter)
        What was added to its coefficient.
    errors_ : ndarray of shape (n_iter + 1,) or (n_outputs, n_iter + 1)
        The squared length of the residual before the first turn, and after each.
    n_nonzero_coefs_ : int or None
        How many coefficients were wanted; None with ``tol``.
    n_iter_ : int
        The number of turns (of the output that needed most).
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[1.0, 2**-0.5], [0.0, 2**-0.5]])
    >>> model = qed.MatchingPursuit(n_nonzero_coefs=2, fit_intercept=False).fit(X, [1.0, 2.0])
    >>> model.picks_, model.coef_.round(6)
    (array([1, 0]), array([-0.5    ,  2.12132]))
    >>> model.errors_.round(12)
    array([5.  , 0.5 , 0.25])
    """

    attributes: ClassVar = {
        "picks_": integers("outputs?", "turns", low=-1, below="features"),
        "moves_": floats("outputs?", "turns"),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {**Pursuit.parameters, "max_iter": integer(1)}
    _picks: ClassVar[str] = "picks_"

    def __init__(
        self,
        *,
        n_nonzero_coefs: int | None = None,
        tol: float | None = None,
        max_iter: int = 1000,
        fit_intercept: bool = True,
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol  # type: ignore[assignment]
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept

    def _trail(self, atoms: Atoms) -> Moves:
        return Moves(atoms)

    def _set_path(self, problem: PursuitProblem, step: Step) -> None:
        turns = max(len(picks) for picks in step.picks)
        picks, moves = np.full((len(step.picks), turns), -1), np.zeros((len(step.picks), turns))
        for output, (taken, changes) in enumerate(zip(step.picks, step.changes)):
            picks[output, : len(taken)], moves[output, : len(taken)] = taken, changes
        self.picks_, self.moves_ = problem.flat(picks), problem.flat(moves)

    def _sized(self, size: int) -> np.ndarray:
        picks, moves = self._outputs("picks_"), self._outputs("moves_")
        coef = np.zeros((self.n_features_in_, len(picks)))
        for output, taken in enumerate(picks):
            _, first = np.unique(taken[taken >= 0], return_index=True)
            stop = (
                int(np.sort(first)[size - 1]) + 1 if size <= len(first) and size < self.n_features_in_ else len(taken)
            )
            np.add.at(coef[:, output], taken[:stop], moves[output, :stop])
        return coef

    def _path_of(self, output: int, seen: Evidence) -> Path:
        picks, moves = self._outputs("picks_")[output], self._outputs("moves_")[output]
        turns = int((picks >= 0).sum())
        steps = np.zeros((turns + 1, len(seen.used)))
        steps[np.arange(1, turns + 1), np.searchsorted(seen.used, picks[:turns])] = moves[:turns]
        return Path(picks[:turns], np.cumsum(steps, axis=0))

    def _claims_about(self, seen: Evidence, coefs: list[np.ndarray], paths: list[Path]) -> list[Claim]:
        claims = claims_of_path(seen, paths, lambda picks, turn: picks[max(turn - 1, 0) : turn])
        return [
            *claims,
            Claim("gain of every turn is that of Pythagoras", self._off_pythagoras(seen, paths), seen.bound),
        ]

    def _off_pythagoras(self, seen: Evidence, paths: list[Path]) -> float:
        """Compare what each turn takes off the squared residual with the square of its move."""
        value = 0.0
        for output, path in enumerate(paths):
            errors = np.concatenate([error for _, _, error in seen.turns(output, path.coef)])
            moves = self._outputs("moves_")[output, : len(path.picks)]
            gain = (moves * seen.length[path.picks]) ** 2
            reach = seen.reach(output, path.coef[1:])
            value = max(value, float((np.abs(errors[:-1] - gain - errors[1:]) / reach**2).max(initial=0.0)))
        return value


class Moves:
    """What was added to a coefficient at every turn."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self.gains = np.empty(16)

    def advance(self, number: int, atom: int, residual: np.ndarray) -> np.ndarray:
        if number == len(self.gains):
            self.gains = np.concatenate([self.gains, np.empty_like(self.gains)])
        unit = self.atoms.units([atom])[0]
        self.gains[number] = unit @ residual
        return residual - self.gains[number] * unit

    def changes(self, picks: np.ndarray) -> np.ndarray:
        return self.gains[: len(picks)] / self.atoms.length[picks]
