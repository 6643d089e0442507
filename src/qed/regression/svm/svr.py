r"""Regression with support vectors, in the features of a kernel: a tube of half-width :math:`\varepsilon` around as many rows as it can.

.. math:: \min_{w, b}\ \tfrac12 \|w\|^2 + C \sum_i s_i \max(0,\ |y_i - w^\top \phi(x_i) - b| - \varepsilon).

Each row has two multipliers, one for each side of the tube, of which one at least is zero; rows inside the tube have none and take no part
in :math:`f(x) = \sum_i \beta_i k(x_i, x) + b`, with :math:`|\beta_i| \le C s_i` and :math:`\sum_i \beta_i = 0`. The dual is that of
:mod:`qed.optim.svm.smo` with :math:`p = y - \varepsilon` and :math:`y + \varepsilon`.

Drucker, Burges, Kaufman, Smola and Vapnik (1997), Support vector regression machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.models.checks import is_finite, overflowed, refuse_missing
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, number
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.svm.dual import DualProblem, State
from qed.optim.svm.problem import MACHINE_NO_EFFECT, MACHINE_PARAMETERS, KernelMachine, MachineProblem


class TubeProblem(MachineProblem):
    """Two variables for each row, one for each side of the tube."""

    def __init__(self, rows: Rows, model: SVR) -> None:
        super().__init__(rows, model)
        if not is_finite(np.asarray(self.block.y)):
            refuse_missing(rows, model)
            raise overflowed(model)
        self.y = np.asarray(self.block.y, dtype=np.float64)[self.present]
        self._epsilon, self._cost = float(model.epsilon), float(model.C)

    @cached_property
    def dual(self) -> DualProblem:
        n, bound = len(self.y), self._cost * self.weight
        row, nothing = np.tile(np.arange(n), 2), np.zeros(n)
        p = np.concatenate([self.y - self._epsilon, self.y + self._epsilon])
        low, high = np.concatenate([nothing, -bound]), np.concatenate([bound, nothing])
        return DualProblem(self.similarity, self.X, np.array([0, 2 * n]), row, p, low, high, self.memory)


@takes("verbose", **MACHINE_NO_EFFECT)
class SVR(Regressor, KernelMachine):
    """A regression in the features of a kernel that does not look at small errors.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "cosine", a kernel, a function of two rows, or "precomputed".
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        The factor of "rbf", "laplacian" and "poly": one over the columns ("auto"), and over the variance of the table ("scale").
    coef0 : float, default=0.0
        The constant of "poly".
    tol : float, default=1e-5
        The fit ends when the objective is proven to be within this, relative, of its minimum.
    C : float, default=1.0
        What a unit of error beyond the tube costs.
    epsilon : float, default=0.1
        The half-width of the tube.
    cache_size : float, default=1000
        Megabytes that rows of a large kernel matrix may take.
    max_iter : int, default=5000
        The most steps, of some thousand pairs each; -1 for no limit.

    Attributes
    ----------
    support_ : ndarray of shape (n_vectors,)
        The numbers of the support vectors.
    support_vectors_ : ndarray or sparse array of shape (n_vectors, p)
        The support vectors; none where the kernel is precomputed.
    n_support_ : ndarray of shape (1,)
        How many there are.
    dual_coef_ : ndarray of shape (1, n_vectors)
        Their multipliers, signed.
    intercept_ : ndarray of shape (1,)
        The constant.
    coef_ : ndarray of shape (1, p)
        With the linear kernel, the coefficients of the columns.
    slopes_ : ndarray of shape (1, p) or (0, 0)
        Where rows are so long that the linear kernel was solved with the columns themselves, their coefficients as they are used:
        multipliers times rows would lose them to rounding. Else empty.
    primal_objective_, dual_objective_, gap_ : ndarray of shape (1,)
        Both objectives, and their difference relative to the first.
    gamma_ : float
        The factor of the kernel.
    n_iter_ : int
        Steps made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> model = qed.SVR(C=10.0, epsilon=0.05).fit(x, np.sin(x[:, 0]))
    >>> bool(abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.1), bool(model.certificate_)
    (True, True)
    """

    attributes: ClassVar = {"n_support_": integers(1), "dual_coef_": floats(1, "vectors")}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **MACHINE_PARAMETERS,
        "C": number(0, above=True),
        "epsilon": number(0),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-5,
        C: float = 1.0,
        epsilon: float = 0.1,
        cache_size: float = 1000,
        max_iter: int = 5000,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.cache_size = cache_size
        self.max_iter = max_iter

    def _problem(self, rows: Rows) -> TubeProblem:
        return TubeProblem(rows, self)

    def _keep(self, problem: TubeProblem, state: State) -> None:
        signed = state.beta.reshape(2, -1).sum(axis=0)
        used = np.flatnonzero(signed)
        self.support_, self.support_vectors_ = problem.present[used], self._kept_rows(problem, used)
        self.n_support_, self.dual_coef_ = np.array([len(used)]), signed[None, used]

    def _disagreement(self) -> str:
        return "" if self.n_support_[0] == len(self.support_) else "n_support_ does not count the support vectors"

    def _multipliers(self, problem: TubeProblem) -> np.ndarray:
        signed = np.zeros(len(problem.y))
        signed[np.searchsorted(problem.present, self.support_)] = self.dual_coef_[0]
        return np.concatenate([np.maximum(signed, 0.0), np.minimum(signed, 0.0)])

    def _by_part(self) -> np.ndarray:
        return self.dual_coef_

    def _answers(self, rows: Rows) -> dict[str, np.ndarray]:
        return {"predict": np.asarray(rows.map(self._predict))}

    def _predicted_shape(self) -> tuple[int, ...]:
        return ()

    def _predict(self, block: Block) -> np.ndarray:
        return self._apply_to(block.X, self.dual_coef_.T)[:, 0].astype(block.X.dtype, copy=False)
