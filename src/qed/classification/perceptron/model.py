r"""The perceptron: a plane that is pulled towards every row on its wrong side.

.. math:: w \leftarrow w + y_i x_i \quad\text{where}\quad y_i\, w^\top x_i \le 0, \qquad x_i \text{ ending in a one for the intercept,}

pass after pass until no row is wrong: stochastic subgradient steps of length one for the loss :math:`\max(0, -y\, w^\top x)`. If some
unit :math:`u` has :math:`y_i u^\top x_i \ge \gamma > 0` for all rows, each of the :math:`M` pulls adds at least :math:`\gamma` to
:math:`u^\top w`, and :math:`\|w\|^2` grows by at most :math:`R^2 = \max \|x_i\|^2`; so
:math:`M\gamma \le \|w\| \le R\sqrt M`, and there are at most :math:`(R/\gamma)^2` pulls, in whatever order rows come.

The same line read backwards proves that nothing separates the classes: with :math:`a_i` pulls of row i, **no plane has a margin above**
:math:`\|\sum a_i y_i x_i\| / \sum a_i = \|w\| / M`. Where no plane separates them, :math:`\|w\|` stays bounded while :math:`M` grows,
so this falls to nothing; weights that come back to where they were give zero at once, Farkas' proof. A pass costs :math:`O(np)` for
each plane.

Rosenblatt (1958); Novikoff (1962), On convergence proofs on perceptrons; Freund and Schapire (1999) for the averaged and the kernel form.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import floats, maybe
from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError
from qed.base.models.estimator import Iterative
from qed.base.models.labels import learn_classes
from qed.base.models.no_effect import no_effect, takes
from qed.base.models.parameters import (
    Parameter,
    boolean,
    check_parameters,
    choice,
    class_weights,
    integer,
    number,
    random_state,
)
from qed.base.models.roles import Classifier
from qed.base.random import seed_of
from qed.base.running.callbacks import calling_back, iteration_callbacks
from qed.base.running.changing import changing
from qed.base.running.drive import drive
from qed.base.running.steps import Halt, Reason, Rule, Step
from qed.base.sources.block import Block, copied
from qed.base.sources.rows import Rows
from qed.classification.perceptron.passes import Planes, Visits, summed
from qed.classification.perceptron.proof import perceptron_claims
from qed.kernels.names import KERNEL_PARAMETERS
from qed.kernels.similarity import Similarity

ENDS = "the passes end where no row is wrong, or where that is proven to be impossible"
LEAST_MARGIN = 1e-9
NO_PENALTY = Parameter("None: the perceptron has no penalty, LogisticRegression has", lambda value: value is None)


@takes(
    "verbose",
    "n_jobs",
    "warm_start",
    penalty=no_effect(NO_PENALTY, None),
    alpha=no_effect(number(0), 0.0001, "there is no penalty for it to weigh"),
    l1_ratio=no_effect(number(0), 0.15, "there is no penalty for it to divide"),
    early_stopping=no_effect(boolean(), False, ENDS),
    validation_fraction=no_effect(number(0), 0.1, ENDS),
    n_iter_no_change=no_effect(integer(1), 5, ENDS),
)
class Perceptron(Classifier, Iterative):
    """A plane between two classes, found by correcting mistakes; for more classes one plane for each against the rest.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether every row ends in a constant one.
    max_iter : int, default=1000
        The most passes over the rows.
    tol : float or None, default=1e-3
        Where rows stay wrong, the passes end as soon as it is proven that no plane has a margin above `tol` times the longest row. None
        stands for 1e-9, the least that can be told from rounding.
    shuffle : bool, default=True
        Whether each pass has an order of its own, which follows from the seed and what is in the rows; else they come as they are.
    eta0 : float, default=1.0
        The length of a correction. Planes begin at zero, so it scales `coef_` and changes no prediction.
    random_state : None, int or NumPy generator, default=0
        The seed of the orders.
    class_weight : None, "balanced" or dict, default=None
        Factors of the rows' weights by class. A row of weight two is visited twice in a row.
    average : bool, default=False
        Whether the plane is the average over all visits in the place of the last one: much steadier where the classes overlap.
    scaled : bool, default=False
        Whether rows are scaled to length one, so that long rows have no more say than short ones.
    strict : bool, default=True
        Whether a row on the plane itself is wrong whatever its class; else it belongs to the first class, as in ``predict``.
    kernel : None, str, Kernel or callable, default=None
        The kernel by which rows are compared: its name, such as "rbf" or "poly", one of `qed.kernels`, or a function of two rows; None
        is the plane itself.
    gamma, degree, coef0
        Parameters of the named kernels: the factor of distances or products, the degree, and what is added to products.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, p) or (n_classes, p)
        The planes: of the second of two classes, or of each of more. Not with a kernel.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    dual_coef_ : ndarray of shape (1, n) or (n_classes, n)
        How far each row has pulled each plane, with the sign of its side: ``coef_ = dual_coef_ @ X``.
    updates_ : ndarray of shape (1,) or (n_classes,)
        How many corrections each plane took.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows, with a kernel only.
    before_ : ndarray of shape (1, p + 1) or (n_classes, p + 1)
        After ``partial_fit`` only: where the planes were before the rows of the last call, with the constants last; `dual_coef_` is what
        these rows have added.
    n_iter_ : int
        Passes made.
    ending_ : Ending
        Why the fit ended: CERTIFIED where all rows are right, DEGENERATE where no plane can have them so.
    certificate_ : Certificate
        The proof of either.

    Notes
    -----
    Which of the separating planes is found depends on the order of the rows; `separating_plane` gives the one of the largest margin.

    Examples
    --------
    >>> import qed
    >>> X, y = [[2.0, 2.0], [2.0, 0.0], [0.0, 0.0], [-1.0, 1.0]], ["yes", "yes", "no", "no"]
    >>> model = qed.Perceptron().fit(X, y)
    >>> model.score(X, y), model.ending_.reason.name
    (1.0, 'CERTIFIED')
    >>> crossed = qed.Perceptron().fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> crossed.ending_.reason.name, bool(crossed.certificate_)
    ('DEGENERATE', True)
    """

    sparse = True
    passes = "stream"
    keeps = "last"
    attributes: ClassVar = {
        "intercept_": floats("planes"),
        "coef_": maybe(floats("planes", "features")),
        "dual_coef_": floats("planes", "rows"),
        "updates_": floats("planes", low=0),
        "X_fit_": maybe(floats("rows", "features", finite=False)),
        "before_": maybe(floats("planes", "features+1")),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "fit_intercept": boolean(),
        "max_iter": integer(1),
        "tol": number(0) | choice(None),
        "shuffle": boolean(),
        "eta0": number(0, above=True),
        "random_state": random_state(),
        "class_weight": class_weights(),
        "average": boolean(),
        "scaled": boolean(),
        "strict": boolean(),
        **KERNEL_PARAMETERS,
        "kernel": choice(None, kind="model") | KERNEL_PARAMETERS["kernel"],
    }
    coef_: np.ndarray
    intercept_: np.ndarray
    dual_coef_: np.ndarray
    updates_: np.ndarray
    X_fit_: np.ndarray
    before_: np.ndarray
    no_inference: ClassVar[str] = "its plane is one of many that do as well"

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        eta0: float = 1.0,
        random_state: Any = 0,
        class_weight: Any = None,
        average: bool = False,
        scaled: bool = False,
        strict: bool = True,
        kernel: Any = None,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol  # type: ignore[assignment]
        self.shuffle = shuffle
        self.eta0 = eta0
        self.random_state = random_state
        self.class_weight = class_weight
        self.average = average
        self.scaled = scaled
        self.strict = strict
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    @property
    def similarity(self) -> Similarity:
        """What rows are compared by, where there is a kernel."""
        if self.kernel is None:
            raise NotAvailableError(
                "A Perceptron without a kernel compares no rows: give it one, such as kernel='rbf'."
            )
        return Similarity.of(self.kernel, self.gamma, self.degree, self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" if isinstance(self.kernel, str) else False
        return tags

    @property
    def least_margin(self) -> float:
        """The margin below which a plane is given up, relative to the longest row."""
        return max(self.tol or 0.0, LEAST_MARGIN)

    def _rule(self) -> Rule:
        # Passes end where no row is wrong; `tol` is for the proof that this can not be.
        return Rule(tol=0.0, max_iter=self.max_iter, keep="last")

    def _problem(self, rows: Rows) -> Visits:
        return Visits(rows.cached(), self)

    def _evidence(self, rows: Rows) -> Visits:
        return Visits(rows, self, self.classes_, getattr(self, "before_", None))

    def _begin(self, *data: Any, reset: bool = True, **named: Any) -> Visits:
        if not reset and hasattr(self, "before_"):
            raise NotAvailableError(
                "Perceptron can not go on after partial_fit: visit rows by partial_fit, or call fit."
            )
        found: Visits = super()._begin(*data, reset=reset, **named)
        return found

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit more rows, once, from where the planes are; rows of earlier calls are not visited again.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        classes : array-like, optional
            All classes there may be, for the first call; by default those of its rows.

        Returns
        -------
        self
            The model. Its certificate is about the rows of this call.
        """
        check_parameters(self, self.parameters)
        if self.kernel is not None or self.average or self.class_weight == "balanced":
            raise NotAvailableError(
                "Perceptron.partial_fit forgets its rows, which a kernel, average=True and class_weight='balanced' need: call fit."
            )
        first = not hasattr(self, "coef_")
        with changing(self, anew=first), calling_back(self, X, y, sample_weight):
            rows = self._open(X, y, sample_weight, reset=first, target=self.target).cached()
            if first:
                self.classes_ = learn_classes(rows, "Perceptron")[0] if classes is None else np.unique(classes)
                planes = 1 if len(self.classes_) == 2 else len(self.classes_)
                before, passes, updates = np.zeros((planes, rows.n_features + 1)), 0, np.zeros(planes)
            else:
                before = np.hstack([self.coef_, self.intercept_[:, None]])
                passes, updates = self.n_iter_, self.updates_
            problem = Visits(rows, self, self.classes_, before)
            rule = Rule(tol=0.0, max_iter=1, keep="last")
            ending = drive(self, partial(self._steps, problem), rule, None, iteration_callbacks(self, problem))
            self._conclude(problem, ending)
            self.n_iter_, self.updates_ = passes + self.n_iter_, updates + self.updates_
        return self

    def _steps(self, problem: Visits, start: Step | None = None) -> Generator[Step, None, Halt]:
        if start is None:
            planes, wrong = problem.beginning(), np.full(problem.planes, np.inf)
            given_up = came_back = np.zeros(problem.planes, bool)
            seed, epoch, saved = seed_of(self.random_state), 0, planes
        else:
            planes = Planes(start.weights, start.row_pulls, start.time)
            wrong, given_up, came_back = start.wrong, start.given_up, start.came_back
            seed, epoch = start.seed, start.epoch
            saved = Planes(start.saved_weights, start.saved_row_pulls, 0.0)
        total = float(problem.weight.sum()) * problem.planes
        while True:
            if start is None:
                share = min(1.0, float(wrong.sum()) / total)
                yield Step(
                    share,
                    share,
                    weights=planes.weights,
                    row_pulls=planes.row_pulls,
                    time=planes.time,
                    wrong=wrong,
                    given_up=given_up,
                    came_back=came_back,
                    seed=seed,
                    epoch=epoch,
                    saved_weights=saved.weights,
                    saved_row_pulls=saved.row_pulls,
                )
            start = None
            active = (wrong > 0) & ~given_up
            if not active.any():
                break
            if epoch & (epoch - 1) == 0:
                saved = planes
            before, epoch = planes, epoch + 1
            planes = problem.passed(before, active, seed, epoch)
            wrong = np.where(active, (planes.row_pulls[0] - before.row_pulls[0]) @ problem.measure, wrong)
            back = active & (wrong > 0) & (planes.weights == saved.weights).all(axis=1)
            if not self.average and problem.before is None:
                planes = _rounds(problem, planes, saved, back, self.least_margin)
            came_back = came_back | back
            given_up = given_up | (active & (wrong > 0) & (problem.possible_margins(planes) <= self.least_margin))
        return Halt(Reason.DEGENERATE, _why(problem, given_up, came_back, self.least_margin), ADVICE)

    def _finish(self, problem: Visits, step: Step) -> None:
        self.classes_ = problem.classes
        planes = Planes(step.weights, step.row_pulls, step.time)
        visits = problem.long_enough(planes, step.wrong == 0) if self.average else np.full(problem.planes, np.inf)
        self.dual_coef_ = self.eta0 * (planes.row_pulls[0] - planes.row_pulls[1] / visits[:, None]) * problem.facts.sign
        self.updates_ = planes.row_pulls[0] @ problem.measure
        self.intercept_ = problem.unit * self.dual_coef_.sum(axis=1)
        if self.kernel is None:
            self.coef_ = summed(problem.held, self.dual_coef_)
            if problem.before is not None:
                self.before_ = problem.before
                self.coef_, self.intercept_ = self.coef_ + self.before_[:, :-1], self.intercept_ + self.before_[:, -1]
        else:
            self.X_fit_ = copied(problem.held.array().X)

    def _decide(self, block: Block) -> np.ndarray:
        if self.kernel is None:
            scores = np.asarray(block.X @ self.coef_.T.astype(block.X.dtype, copy=False))
        else:
            scores = self.similarity.combined(block.X, self.X_fit_, self.dual_coef_.T)
        scores = scores + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def _prove(self, problem: Visits) -> list[Claim]:
        return perceptron_claims(self, problem)

    def _disagreement(self) -> str:
        planes, k = len(self.intercept_), len(self.classes_)
        if not (k >= 2 and planes == (k if k > 2 else 1)):
            return f"intercept_ has {planes} numbers for {k} classes"
        missing = "coef_" if self.kernel is None else "X_fit_"
        return "" if hasattr(self, missing) else f"{missing} is missing with kernel={self.kernel!r}"


ADVICE = (
    "A kernel or more features may separate the classes; a plane for classes that overlap is that of average=True, or of "
    "LogisticRegression. Columns far from zero or of very different size hide a margin: qed.StandardScaler."
)


def _rounds(problem: Visits, planes: Planes, saved: Planes, back: np.ndarray, tol: float) -> Planes:
    """Let planes that came back to where they were go round as often as the proof needs; that moves nothing but the count."""
    if not back.any():
        return planes
    row_pulls = planes.row_pulls.copy()
    for k in np.flatnonzero(back):
        once = row_pulls[0, k] - saved.row_pulls[0, k]
        pulled, each = float(row_pulls[0, k] @ problem.measure), float(once @ problem.measure)
        length = float(problem.lengths(planes)[k])
        row_pulls[0, k] += max(0.0, np.ceil(1.001 * (length / (problem.longest * tol) - pulled) / each)) * once
    return Planes(planes.weights, row_pulls, planes.time)


def _why(problem: Visits, given_up: np.ndarray, back: np.ndarray, tol: float) -> str:
    of = problem.classes[1:] if problem.planes == 1 else problem.classes
    names = ", ".join(repr(label) for label in of[given_up].tolist())
    if (back & given_up).any():
        return f"No plane separates the class {names} from the rest: the weights came back to where they were, and go round."
    return (
        f"No plane separates the class {names} from the rest with a margin above {tol:g} of the longest row, as the corrections that were "
        "made prove."
    )
