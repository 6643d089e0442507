r"""The support vector machine: the widest street between two classes, in the features of a kernel.

.. math:: \min_{w, b, \xi}\ \tfrac12 \|w\|^2 + \sum_i C_i \xi_i, \qquad y_i (w^\top \phi(x_i) + b) \ge 1 - \xi_i,\quad \xi_i \ge 0,

whose dual has a multiplier :math:`0 \le \alpha_i \le C_i` for each row with :math:`\sum_i \alpha_i y_i = 0`, and
:math:`w = \sum_i \alpha_i y_i \phi(x_i)`. Rows beyond the margin have :math:`\alpha_i = 0`, those on it anything between, those within
it :math:`\alpha_i = C_i`; only rows with :math:`\alpha_i > 0`, the support vectors, take part in
:math:`f(x) = \sum_i \alpha_i y_i k(x_i, x) + b`. More than two classes: one machine for each pair, which vote. Where the course writes
:math:`w^\top x - b`, its b is minus ours. Cost: between :math:`O(n^2)` and :math:`O(n^3)`; see :mod:`qed.optim.svm.dual`.

Cortes and Vapnik (1995), Support-vector networks.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.errors import ManySupportVectorsWarning, NotAvailableError, level_of_user
from qed.base.models.labels import class_factors, encode, learn_classes
from qed.base.models.parameters import Parameter, choice
from qed.base.models.proof import restated
from qed.base.models.roles import Classifier
from qed.base.models.ways import takes, way
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.svm.dual import DualProblem, State
from qed.optim.svm.problem import MACHINE_PARAMETERS, KernelMachine, MachineProblem

# Seconds that a pair of classes takes, however few its rows.
PAIR_SECONDS = 5e-4
# From so many rows on, a share of support vectors beyond this is worth a word.
ENOUGH_ROWS, MANY = 50, 0.95


class PairProblem(MachineProblem):
    """One machine for each pair of classes: the second of two classes is the positive one, of more the first of each pair."""

    def __init__(self, rows: Rows, model: SVC, classes: np.ndarray | None = None) -> None:
        super().__init__(rows, model)
        found, totals = learn_classes(self.rows, type(model).__name__)
        self.others = 0 if classes is None else int(not np.array_equal(found, classes))
        self.classes = found
        factors = class_factors(model.class_weight, found, totals)
        self.codes = encode(np.asarray(self.block.y)[self.present], found)
        share = factors[self.codes] * self.weight
        self.bounds = np.where(share > 0, model.C * np.where(share > 0, share, 1.0), 0.0)
        self.pairs = list(combinations(range(len(found)), 2))
        self._memory = 1e6 * model.cache_size

    @cached_property
    def dual(self) -> DualProblem:
        first = -1.0 if len(self.classes) == 2 else 1.0
        rows, targets, starts = [], [], [0]
        for a, b in self.pairs:
            own = np.flatnonzero((self.codes == a) | (self.codes == b))
            rows.append(own)
            targets.append(np.where(self.codes[own] == a, first, -first))
            starts.append(starts[-1] + len(own))
        row, p = np.concatenate(rows), np.concatenate(targets)
        ends = self.bounds[row]
        low, high = np.where(p < 0, -ends, 0.0), np.where(p > 0, ends, 0.0)
        return DualProblem(self.similarity, self.X, np.array(starts), row, p, low, high, self._memory)


@takes(
    "random_state",
    "verbose",
    shrinking=way(choice(True, False), True, "variables to work on are chosen anew in every step"),
    break_ties=way(choice(True, False), False, "predict is the largest of the decision function's scores"),
    probability=way(
        Parameter("False; qed.LogisticRegression has probabilities", lambda value: value in (False, "deprecated")),
        False,
    ),
)
class SVC(Classifier, KernelMachine):
    """Classes by the widest margin, in the features of a kernel.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of slack costs; larger means a narrower margin and fewer rows inside it. Infinity allows no slack at all (hard
        margin), and is refused where no function of the kernel separates the classes.
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
    cache_size : float, default=1000
        Megabytes that rows of a large kernel matrix may take.
    class_weight : None, "balanced" or dict, default=None
        Factors of C by class.
    max_iter : int, default=5000
        The most steps, of some thousand pairs each; -1 for no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        For more than two classes, what ``decision_function`` gives: one score for each class, or one for each pair.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_vectors,)
        The numbers of the support vectors, class by class.
    support_vectors_ : ndarray or sparse array of shape (n_vectors, p)
        The support vectors; none where the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,)
        How many there are of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_vectors)
        Their multipliers, signed; of more than two classes those against each other class, in order.
    intercept_ : ndarray of shape (n_pairs,)
        The constants.
    coef_ : ndarray of shape (n_pairs, p)
        With the linear kernel, the coefficients of the columns.
    multipliers_ : ndarray of shape (n_pairs, n)
        The multiplier of each training row in each pair; zero where it does not take part.
    slacks_ : ndarray of shape (n_pairs, n)
        By how much each training row falls short of its margin.
    cases_ : ndarray of shape (n_pairs, n)
        0 for rows beyond the margin (no multiplier), 1 for rows on it (between the bounds), 2 for rows at or inside it (at the
        bound C), -1 for rows that do not take part.
    margin_ : ndarray of shape (n_pairs,)
        Half the width of the street, ``1 / ||w||``.
    primal_objective_, dual_objective_, gap_ : ndarray of shape (n_pairs,)
        Both objectives, and their difference relative to the first.
    gamma_ : float
        The factor of the kernel.
    n_iter_ : int
        Steps made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    A `sample_weight` is a factor of C for its row. The course's Tikhonov form with lambda is C = 1 / (2 n lambda).

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x = np.array([[-3.0], [-1.0], [0.5], [1.0], [3.0], [-0.2]])
    >>> model = qed.SVC(kernel="linear").fit(x, [-1, -1, -1, 1, 1, 1])
    >>> model.multipliers_.round(3), model.coef_.round(3), model.primal_objective_.round(3)
    (array([[0.  , 0.85, 1.  , 0.85, 0.  , 1.  ]]), array([[1.]]), array([3.2]))
    >>> bool(model.certificate_)
    True
    """

    attributes: ClassVar = {
        "n_support_": integers("classes"),
        "dual_coef_": floats("_", "vectors"),
        "multipliers_": floats("parts", "rows", low=0),
        "slacks_": floats("parts", "rows", low=0),
        "cases_": integers("parts", "rows", low=-1, below=3),
        "margin_": floats("parts", finite=False),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **MACHINE_PARAMETERS,
        "class_weight": choice(None, "balanced") | Parameter("a dict", lambda value: isinstance(value, Mapping)),
        "decision_function_shape": choice("ovr", "ovo"),
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"C": [0.1, 1.0, 10.0, 100.0]}
    compare_name: ClassVar[str] = "Support vector machine"
    compare_most_rows: ClassVar[int] = 5000

    n_support_: np.ndarray
    dual_coef_: np.ndarray
    multipliers_: np.ndarray
    slacks_: np.ndarray
    cases_: np.ndarray
    margin_: np.ndarray

    def __init__(
        self,
        C: float = 1.0,
        kernel: Any = "rbf",
        *,
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-5,
        cache_size: float = 1000,
        class_weight: Any = None,
        max_iter: int = 5000,
        decision_function_shape: str = "ovr",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        # Rows that are too many are left out by their number; here it is pairs of classes, small as each may be.
        return PAIR_SECONDS * n_classes * (n_classes - 1) / 2

    def _problem(self, rows: Rows) -> PairProblem:
        return PairProblem(rows, self)

    def _evidence(self, rows: Rows) -> PairProblem:
        return PairProblem(rows, self, self.classes_)

    def _disagreement(self) -> str:
        k, lines = len(self.classes_), len(self.dual_coef_)
        if lines != k - 1 or len(self.intercept_) != k * (k - 1) // 2:
            return f"dual_coef_ has {lines} rows and intercept_ {len(self.intercept_)} entries for {k} classes"
        return "" if self.n_support_.sum() == len(self.support_) else "n_support_ does not count the support vectors"

    def _keep(self, problem: PairProblem, state: State) -> None:
        self.classes_, n, dual = problem.classes, len(problem.block), problem.dual
        used = np.unique(dual.row[state.beta != 0])
        used = used[np.argsort(problem.codes[used], kind="stable")]
        self.support_, self.support_vectors_ = problem.present[used], self._kept_rows(problem, used)
        self.n_support_ = np.bincount(problem.codes[used], minlength=len(self.classes_))
        self.dual_coef_ = np.zeros((len(self.classes_) - 1, len(used)))
        place = np.zeros(len(problem.codes), dtype=np.intp)
        place[used] = np.arange(len(used))
        for (a, b), part in zip(problem.pairs, dual.parts()):
            beta, rows = state.beta[part], dual.row[part]
            beta, rows = beta[beta != 0], rows[beta != 0]
            self.dual_coef_[np.where(problem.codes[rows] == a, b - 1, a), place[rows]] = beta
        if n >= ENOUGH_ROWS and len(used) > MANY * len(problem.codes):
            warnings.warn(
                f"{type(self).__name__}: {len(used)} of {len(problem.codes)} rows are support vectors. The kernel may be so narrow that "
                f"rows are learned by heart (try a smaller gamma than {self.gamma_:.3g}), or C={self.C:g} so small that nothing is.",
                ManySupportVectorsWarning,
                stacklevel=level_of_user(),
            )
        for name, value in self._described(problem, state.beta, state.f, state.found[:, 0]).items():
            setattr(self, name, value)

    def _described(self, problem: PairProblem, beta: np.ndarray, f: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
        """Give multipliers, slack and case of each training row, and the margins."""
        dual, shape = problem.dual, (len(problem.pairs), len(problem.block))
        multipliers, slacks, cases = np.zeros(shape), np.zeros(shape), np.full(shape, -1)
        lengths = np.zeros(len(problem.pairs))
        for k, part in enumerate(dual.parts()):
            at, own, sign = problem.present[dual.row[part]], beta[part], dual.p[part]
            multipliers[k, at] = np.abs(own)
            slacks[k, at] = np.maximum(sign * (f[part] - b[k]), 0.0)
            bound = np.maximum(dual.high[part], -dual.low[part])
            cases[k, at] = np.where(own == 0, 0, np.where(np.abs(own) < bound, 1, 2))
            lengths[k] = max(float(own @ (sign - f[part])), 0.0)
        with np.errstate(divide="ignore"):
            margins = 1 / np.sqrt(lengths)
        return {"multipliers_": multipliers, "slacks_": slacks, "cases_": cases, "margin_": margins}

    def _signed(self, numbers: np.ndarray) -> np.ndarray:
        """Give the signed multipliers of the support vectors in each pair, of shape (pairs, vectors); `numbers` are their classes."""
        count = len(self.classes_)
        found = np.zeros((len(self.intercept_), len(numbers)))
        for k, (a, b) in enumerate(combinations(range(count), 2)):
            for own, other in ((a, b - 1), (b, a)):
                mine = numbers == own
                found[k, mine] = self.dual_coef_[other, mine]
        return found

    def _multipliers(self, problem: PairProblem) -> np.ndarray:
        dual = problem.dual
        place = np.full(len(problem.block), -1)
        place[problem.present] = np.arange(len(problem.present))
        rows = place[self.support_]
        signed = np.zeros((len(problem.pairs), len(problem.codes)))
        signed[:, rows] = self._signed(problem.codes[rows])
        return np.concatenate([signed[k, dual.row[part]] for k, part in enumerate(dual.parts())])

    def _prove(self, problem: PairProblem) -> list[Claim]:
        return [
            *super()._prove(problem),
            Claim("classes are those of the target, in order (others)", float(problem.others), 0.0),
        ]

    def _restate(self, problem: PairProblem) -> list[Claim]:
        dual, beta = problem.dual, self._multipliers(problem)
        f = dual.p - dual.products(beta)
        found = dual.judged(beta, f)
        wanted = {
            **self._described(problem, beta, f, found[:, 0]),
            "n_support_": np.bincount(problem.codes[np.searchsorted(problem.present, self.support_)]),
        }
        claims = [restated(name, getattr(self, name), value, slack=1e-7) for name, value in wanted.items()]
        return [*claims, *self._following(problem, beta, found)]

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the columns, of shape (n_pairs, p): with the linear kernel only."""
        self._check_fitted()
        if self.kernel != "linear":
            raise NotAvailableError(
                "coef_ is only available when using a linear kernel: other kernels have no coefficients of columns."
            )
        return self._slopes(self._by_class())

    def _by_class(self) -> np.ndarray:
        return self._signed(np.repeat(np.arange(len(self.classes_)), self.n_support_))

    def _scores(self, block: Block) -> np.ndarray:
        """Score every pair of classes, of shape (n, n_pairs)."""
        return self._apply_to(block.X, self._by_class().T)

    def _by_votes(self, scores: np.ndarray) -> np.ndarray:
        """Count for each class the pairs that it wins; how clearly they were won decides between equal counts."""
        count = len(self.classes_)
        votes, sums = np.zeros((len(scores), count)), np.zeros((len(scores), count))
        for k, (a, b) in enumerate(combinations(range(count), 2)):
            won = scores[:, k] > 0
            votes[:, a] += won
            votes[:, b] += ~won
            sums[:, a] += scores[:, k]
            sums[:, b] -= scores[:, k]
        return votes + sums / (3 * (np.abs(sums) + 1))

    def _decide(self, block: Block) -> np.ndarray:
        scores = self._scores(block)
        if len(self.classes_) == 2:
            scores = scores[:, 0]
        elif self.decision_function_shape == "ovr":
            scores = self._by_votes(scores)
        return scores.astype(block.X.dtype, copy=False)

    def _choose(self, block: Block) -> np.ndarray:
        scores = self._scores(block)
        if len(self.classes_) == 2:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        return self.classes_[self._by_votes(scores).argmax(axis=1)]
