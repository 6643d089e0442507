r"""Orthogonal matching pursuit: least squares on columns that are chosen one by one.

.. math:: i_t = \arg\max_j \frac{|x_j^\top r^{t-1}|}{\|x_j\|}, \qquad I^t = I^{t-1} \cup \{i_t\}, \qquad
   w^t = \arg\min_{\mathrm{supp}\, w \subseteq I^t} \|y - Xw\|^2, \qquad r^t = y - Xw^t,

a greedy way to :math:`\min \|y - Xw\|^2` with at most k coefficients that are not zero, a problem that is hard to
solve exactly (see `BestSubset`). After each turn the residual is orthogonal to all chosen columns, so none is chosen
twice, and for orthonormal columns the result is the best there is. The chosen columns are orthogonalised as they
come, :math:`X_I = QR`; then :math:`r^t = r^{t-1} - q_t q_t^\top r^{t-1}`, and :math:`w^t = w^{t-1} + R^{-1} e_t\,
q_t^\top y` gives the whole path. For n rows, p columns and k atoms :math:`O(npk + nk^2)`, with all columns looked at
once per dozen turns. The course's version has no intercept: ``fit_intercept=False``.

Pati, Rezaiifar and Krishnaprasad (1993), Orthogonal matching pursuit.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.models.no_effect import takes, with_default
from qed.base.running.steps import Step
from qed.regression.greedy.atoms import Atoms, size_of
from qed.regression.greedy.claims import Evidence, Path, claim_of_excess, claims_of_path
from qed.regression.greedy.pursuit import Pursuit, PursuitProblem

DEPENDENT = 1e-10
ENOUGH = 0.7


@takes(precompute=with_default("precompute", "auto"))
class OrthogonalMatchingPursuit(Pursuit):
    """Choose columns one by one, each the nearest to what is left, and fit them all by least squares.

    Parameters
    ----------
    n_nonzero_coefs : int, optional
        How many coefficients are not zero. The default is a tenth of the columns, at least one. Not used with ``tol``.
    tol : float, optional
        Go on until the squared length of the residual is at most this.
    fit_intercept : bool, default=True
        Whether to fit a constant, by centring columns and target.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_outputs, p)
        Coefficients; zero for all columns that were not chosen.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant; zero without ``fit_intercept``.
    active_ : ndarray of shape (k,) or (n_outputs, k)
        The chosen columns, in the order in which they were chosen; -1 where an output needed fewer.
    path_ : ndarray of shape (k + 1, k) or (n_outputs, k + 1, k)
        Row t holds the coefficients of the columns in ``active_`` at the time when t of them were chosen.
    errors_ : ndarray of shape (k + 1,) or (n_outputs, k + 1)
        The squared length of the residual after 0, 1, ... k atoms.
    n_nonzero_coefs_ : int or None
        How many atoms were wanted; None with ``tol``.
    n_iter_ : int
        How many atoms were taken (by the output that took most).
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Columns are compared by their correlation with the residual, so their units do not matter. scikit-learn's estimator of this
    name compares inner products, which is the same where all columns have one length. Columns that are equally near (to
    1.5e-11) are taken in their order.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[1.0, 2**-0.5], [0.0, 2**-0.5]])
    >>> model = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=2, fit_intercept=False).fit(X, [1.0, 2.0])
    >>> model.active_, model.coef_.round(6)
    (array([1, 0]), array([-1.      ,  2.828427]))
    >>> model.errors_.round(12)
    array([5. , 0.5, 0. ])
    >>> bool(model.certificate_)
    True
    """

    _picks: ClassVar[str] = "active_"

    attributes: ClassVar = {
        "active_": integers("outputs?", "turns", low=-1, below="features"),
        "path_": floats("outputs?", "turns+1", "turns"),
    }

    def __init__(
        self, *, n_nonzero_coefs: int | None = None, tol: float | None = None, fit_intercept: bool = True
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol  # type: ignore[assignment]
        self.fit_intercept = fit_intercept

    def _max_tasks(self) -> Any:
        return None if self.n_nonzero_coefs is None else self.n_nonzero_coefs + 1

    @property
    def max_iter(self) -> int:  # type: ignore[override]
        """One turn more than there are atoms to take: the method itself knows when it is done."""
        return self._wanted() + 1

    def _last(self, atoms: Atoms, wanted: int) -> int:
        return min(wanted, atoms.count)

    def _trail(self, atoms: Atoms) -> Orthogonal:
        return Orthogonal(atoms)

    def _set_path(self, problem: PursuitProblem, step: Step) -> None:
        k = max(len(picks) for picks in step.picks)
        active, path = np.full((len(step.picks), k), -1), np.zeros((len(step.picks), k + 1, k))
        for output, (picks, changes) in enumerate(zip(step.picks, step.changes)):
            t = len(picks)
            active[output, :t] = picks
            path[output, 1 : t + 1, :t] = changes.cumsum(axis=1).T
            path[output, t + 1 :] = path[output, t]
        self.active_, self.path_ = problem.flat(active), problem.flat(path)

    def _sized(self, size: int) -> np.ndarray:
        active, path = self._outputs("active_"), self._outputs("path_")
        coef = np.zeros((self.n_features_in_, len(active)))
        for output, chosen in enumerate(active):
            there = chosen >= 0
            coef[chosen[there], output] = path[output, min(size, path.shape[1] - 1), there]
        return coef

    def _path_of(self, output: int, seen: Evidence) -> Path:
        active, path = self._outputs("active_")[output], self._outputs("path_")[output]
        t = int(np.count_nonzero(active >= 0))
        return Path(active[:t], seen.placed(active[:t], path[: t + 1, :t]))

    def _claims_about(self, seen: Evidence, coefs: list[np.ndarray], paths: list[Path]) -> list[Claim]:
        path = claims_of_path(seen, paths, lambda picks, turn: picks[:turn])
        return [*path, claim_of_excess(seen, coefs, centered=self.fit_intercept)]


class Orthogonal:
    """An orthonormal basis of the chosen atoms, and what each of them changed.

    Notes
    -----
    Each row of ``basis`` is the part of an atom that is orthogonal to those before it. The columns of ``inverse`` write the
    basis in terms of the atoms: Q = Z inverse. Rows and columns beyond the turn in question are not used, and may be written again.
    """

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self.basis = np.empty((16, atoms.count))
        self.inverse = np.zeros((16, 16))
        self.gains = np.empty(16)
        self.blur = DEPENDENT

    def advance(self, number: int, atom: int, residual: np.ndarray) -> np.ndarray | None:
        if number == len(self.gains):
            self._grow()
        fresh, basis = self.atoms.unit(atom), self.basis[:number]
        if number:
            share = basis @ fresh
            fresh = fresh - share @ basis
        length = size_of(fresh)
        if number and length < ENOUGH:
            again = basis @ fresh
            fresh -= again @ basis
            share += again
            length = size_of(fresh)
        # What is left of a column far from zero may be the rounding of its values, or of those of the columns before it.
        blur = max(self.blur, self.atoms.blur(atom))
        if length < blur:
            return None
        self.blur = blur
        fresh = np.divide(fresh, length, out=self.basis[number])
        if number:
            self.inverse[:number, number] = self.inverse[:number, :number] @ share / -length
        self.inverse[number, number] = 1 / length
        gain = self.gains[number] = float(fresh @ residual)
        return residual - gain * fresh

    def _grow(self) -> None:
        """Make room for as many atoms again."""
        size = 2 * len(self.gains)
        basis, inverse, gains = np.empty((size, self.atoms.count)), np.zeros((size, size)), np.empty(size)
        half = size // 2
        basis[:half], inverse[:half, :half], gains[:half] = self.basis, self.inverse, self.gains
        self.basis, self.inverse, self.gains = basis, inverse, gains

    def changes(self, picks: np.ndarray) -> np.ndarray:
        number = len(picks)
        return self.inverse[:number, :number] * self.gains[:number] / self.atoms.length[picks][:, None]
