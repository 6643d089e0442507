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

import math
import warnings
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from qed.base.attributes import floats, integers
from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.errors import ManySupportVectorsWarning, NotFittedError, level_of_user
from qed.base.models.labels import class_factors, encode, learn_classes
from qed.base.models.no_effect import no_effect, takes
from qed.base.models.parameters import Parameter, boolean, choice, class_weights
from qed.base.models.proof import restated
from qed.base.models.roles import Classifier
from qed.base.running.steps import Ending, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.classification.svm.probability import LEAST, Sigmoid, agreeing, coupled, sigmoids, unseen_scores
from qed.classification.svm.votes import clear, votes, winners
from qed.optim.svm.dual import DualProblem, State
from qed.optim.svm.problem import MACHINE_NO_EFFECT, MACHINE_PARAMETERS, KernelMachine, MachineProblem, allowed

# Seconds that a pair of classes takes, however few its rows.
PAIR_SECONDS = 5e-4
# From so many rows on, a share of support vectors beyond this is worth a word.
ENOUGH_ROWS, MANY = 50, 0.95
# Machines that score rows they have not seen are solved so much closer than the tolerance: from rows in another form, whose similarities
# are rounded otherwise, the same slope and constant come out again, but for such a share of the largest (or of such a share of one).
CLOSER, AGAIN = 1e-2, 1e-4


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

    @cached_property
    def dual(self) -> DualProblem:
        first = -1.0 if len(self.classes) == 2 else 1.0
        order = np.split(np.argsort(self.codes, kind="stable"), np.cumsum(np.bincount(self.codes))[:-1])
        pairs = [(order[a], order[b]) for a, b in self.pairs]
        sizes = np.array([(len(one), len(two)) for one, two in pairs]).ravel()
        row, p = (
            np.concatenate([one for pair in pairs for one in pair]),
            np.repeat(np.tile([first, -first], len(pairs)), sizes),
        )
        starts = np.append(0, np.cumsum(sizes)[1::2])
        ends = self.bounds[row]
        low, high = np.where(p < 0, -ends, 0.0), np.where(p > 0, ends, 0.0)
        return DualProblem(self.similarity, self.X, starts, row, p, low, high, self.memory)

    @cached_property
    def line(self) -> np.ndarray:
        """In which row of ``dual_coef_`` the multiplier of each variable stands: that of the other class of its pair."""
        first, second = np.array(self.pairs).T
        own, part = self.codes[self.dual.row], self.dual.part_of
        return np.asarray(np.where(own == first[part], second[part] - 1, first[part]))


@takes(
    "random_state",
    "verbose",
    **MACHINE_NO_EFFECT,
    break_ties=no_effect(choice(True, False), False, "predict is the largest of the decision function's scores"),
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
    probability : bool, default=False
        Whether to have probabilities, for about five times the cost of the fit.
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
    slopes_ : ndarray of shape (n_pairs, p) or (0, 0)
        Where rows are so long that the linear kernel was solved with the columns themselves, their coefficients as they are used:
        multipliers times rows would lose them to rounding. Else empty.
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
    probA_, probB_ : ndarray of shape (n_pairs,)
        With `probability`, the slope and the constant that turn the score of a pair into the probability of its positive class,
        ``1 / (1 + exp(probA_ * score + probB_))``; else empty.
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
        "probA_": floats("parts") | floats(0),
        "probB_": floats("parts") | floats(0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **MACHINE_PARAMETERS,
        "class_weight": class_weights(),
        "probability": boolean() | choice("deprecated"),
        "decision_function_shape": choice("ovr", "ovo"),
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"C": [0.1, 1.0, 10.0, 100.0]}
    compare_name: ClassVar[str] = "Support vector machine"
    compare_most_rows: ClassVar[int] = 5000

    multipliers_: np.ndarray
    slacks_: np.ndarray
    cases_: np.ndarray
    margin_: np.ndarray
    probA_: np.ndarray
    probB_: np.ndarray

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
        probability: bool = False,
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
        self.probability = probability
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

    def _finish(self, problem: PairProblem, step: Step) -> None:
        super()._finish(problem, step)
        found = [one.minimum() for one in self._sigmoids(problem)] if self._has_probabilities else np.empty((0, 2))
        self.probA_, self.probB_ = np.array(found).T.copy()

    def _sigmoids(self, problem: PairProblem) -> list[Sigmoid]:
        scores = unseen_scores(problem.dual, problem.codes, CLOSER * self.tol, self._rule().max_iter)
        return sigmoids(problem.dual, scores, problem.weight)

    def _keep(self, problem: PairProblem, state: State) -> None:
        self.classes_, dual, moved = problem.classes, problem.dual, state.beta != 0
        used = np.unique(dual.row[moved])
        used = used[np.argsort(problem.codes[used], kind="stable")]
        self.support_, self.support_vectors_ = problem.present[used], self._kept_rows(problem, used)
        self.n_support_ = np.bincount(problem.codes[used], minlength=len(self.classes_))
        place = np.zeros(len(problem.codes), dtype=np.intp)
        place[used] = np.arange(len(used))
        self.dual_coef_ = np.zeros((len(self.classes_) - 1, len(used)))
        self.dual_coef_[problem.line[moved], place[dual.row[moved]]] = state.beta[moved]
        for name, value in self._described(problem, state.beta, state.f, state.found[:, 0]).items():
            setattr(self, name, value)

    def _described(self, problem: PairProblem, beta: np.ndarray, f: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
        """Give multipliers, slack and case of each training row, and the margins."""
        dual, shape = problem.dual, (len(problem.pairs), len(problem.block))
        multipliers, slacks, cases = np.zeros(shape), np.zeros(shape), np.full(shape, -1)
        at, size = (dual.part_of, problem.present[dual.row]), np.abs(beta)
        multipliers[at] = size
        slacks[at] = np.maximum(dual.p * (f - b[dual.part_of]), 0.0)
        cases[at] = np.where(size == 0, 0, np.where(size < problem.bound, 1, 2))
        with np.errstate(divide="ignore"):
            margins = 1 / np.sqrt(np.maximum(dual.sums(beta * (dual.p - f)), 0.0))
        return {"multipliers_": multipliers, "slacks_": slacks, "cases_": cases, "margin_": margins}

    def _multipliers(self, problem: PairProblem) -> np.ndarray:
        place = np.zeros(len(problem.block), dtype=np.intp)
        place[problem.present] = np.arange(len(problem.present))
        signed = np.zeros((len(self.dual_coef_), len(problem.codes)))
        signed[:, place[self.support_]] = self.dual_coef_
        return np.asarray(signed[problem.line, problem.dual.row])

    def _prove(self, problem: PairProblem) -> list[Claim]:
        return [
            *super()._prove(problem),
            Claim("classes are those of the target, in order (others)", float(problem.others), 0.0),
        ]

    def _restate(self, problem: PairProblem) -> list[Claim]:
        dual, beta, _, blur = self._judged(problem)
        f = problem.f(beta, self.slopes_)
        wanted = self._described(problem, beta, f, problem.objectives(beta, f, self.slopes_)[:, 0])
        margin, apart = wanted["margin_"], 4 * dual.largest(blur)
        # The squared length behind a margin is a sum of multipliers times f.
        stretched = dual.sums(np.abs(beta) * blur) * margin**3
        places = np.searchsorted(problem.present, self.support_)
        return [
            *(restated(name, getattr(self, name), wanted[name], slack=0.0) for name in ("multipliers_", "cases_")),
            restated("n_support_", self.n_support_, np.bincount(problem.codes[places]), slack=0.0),
            allowed("slacks_", self.slacks_, wanted["slacks_"], np.broadcast_to(apart[:, None], self.slacks_.shape)),
            allowed("margin_", self.margin_, margin, stretched),
            *self._calibrated(problem),
            *super()._restate(problem),
        ]

    def _calibrated(self, problem: PairProblem) -> list[Claim]:
        """Compare how likely the probabilities make rows that were left out with the best that a slope and a constant can do.

        Machines that are solved to the tolerance differ by at most the root of twice that share of their objective, as functions
        of length one; and a likelihood by no more than the slope times what its scores differ by. The slope and the constant
        themselves are compared, too: where the likelihood is flat, it would not tell another constant.
        """
        says = "likelihood of unseen rows below the best one, relative"
        if not self._has_probabilities:
            return [Claim(says.replace("likelihood", "no likelihood"), float(len(self.probA_) + len(self.probB_)), 0.0)]
        worst, bound, length = 0.0, 0.0, np.sqrt(np.maximum(problem.diagonal, 0.0))
        every, anew = self._sigmoids(problem), np.empty((0, 2))
        for k, one in enumerate(every):
            anew = np.vstack([anew, one.minimum()])
            best = one.loss(anew[k])
            apart = math.sqrt(2 * self.tol * max(self.primal_objective_[k], 0.0)) * float(length.max())
            worst = max(worst, (one.loss(np.array([self.probA_[k], self.probB_[k]])) - best) / best)
            bound = max(bound, 2 * abs(self.probA_[k]) * apart * float(one.weight.sum()) / best)
        return [
            Claim(says, worst, min(bound, MOST_ROUNDING)),
            *(
                restated(name, getattr(self, name), value, slack=AGAIN, scale=max(np.abs(value).max(), AGAIN))
                for name, value in zip(("probA_", "probB_"), anew.T)
            ),
        ]

    @property
    def _has_probabilities(self) -> bool:
        return self.probability is True

    def _probabilities(self, block: Block) -> np.ndarray:
        if not len(self.probA_):
            raise NotFittedError("predict_proba is not available when fitted with probability=False: fit again.")
        scores = self._scores(block)
        positive = np.clip(expit(-(self.probA_ * scores + self.probB_)), LEAST, 1 - LEAST)
        if len(self.classes_) == 2:
            found = np.column_stack([1 - positive[:, 0], positive[:, 0]])
        else:
            found = coupled(positive, len(self.classes_))
        grain = 4 * float(np.finfo(block.X.dtype).eps)
        return agreeing(found, winners(scores, len(self.classes_)), grain)

    def _by_part(self) -> np.ndarray:
        numbers = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        found = np.zeros((len(self.intercept_), len(numbers)))
        for k, (a, b) in enumerate(combinations(range(len(self.classes_)), 2)):
            for own, other in ((a, b - 1), (b, a)):
                mine = numbers == own
                found[k, mine] = self.dual_coef_[other, mine]
        return found

    def _scores(self, block: Block) -> np.ndarray:
        """Score every pair of classes, of shape (n, n_pairs)."""
        return self._apply_to(block.X, self._by_part().T)

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 2:
            return scores[:, 0]
        return votes(scores, len(self.classes_)) if self.decision_function_shape == "ovr" else scores

    def _decide(self, block: Block) -> np.ndarray:
        return self._shaped(self._scores(block))

    def _choose(self, block: Block) -> np.ndarray:
        count = len(self.classes_)
        scores = self._apply_to(block.X, self._by_part().T, lambda sums, off: clear(sums + self.intercept_, off, count))
        return self.classes_[winners(scores, count)]

    def _answers(self, rows: Rows) -> dict[str, np.ndarray]:
        scores = np.asarray(rows.map(self._scores))
        chosen = self.classes_[winners(scores, len(self.classes_))]
        return {"predict": chosen, "decision_function": self._shaped(scores), "classes_": self.classes_}

    def _warn(self, ending: Ending) -> None:
        super()._warn(ending)
        used, given = len(self.support_), int((self.cases_ >= 0).any(axis=0).sum())
        if given >= ENOUGH_ROWS and used > MANY * given:
            warnings.warn(
                f"{type(self).__name__}: {used} of {given} rows are support vectors. The kernel may be so narrow that "
                f"rows are learned by heart (try a smaller gamma than {self.gamma_:.3g}), or C={self.C:g} so small that nothing is.",
                ManySupportVectorsWarning,
                stacklevel=level_of_user(),
            )
