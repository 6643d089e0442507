r"""AdaBoost: weak members that have a say each, fitted one after another to rows that the ones before got wrong.

With :math:`\varepsilon_t` the share of the weight of rows on which member :math:`G_t` errs, and :math:`K` classes,

.. math:: \alpha_t = \eta\Bigl(\ln\frac{1 - \varepsilon_t}{\varepsilon_t} + \ln(K - 1)\Bigr), \qquad
   w_i \leftarrow w_i\, e^{\alpha_t [G_t(x_i) \ne y_i]}, \qquad \hat y(x) = \arg\max_k \sum_t \alpha_t [G_t(x) = k].

After a round the mistakes of its member weigh :math:`(K - 1)/K` of all, half of it for two classes: it is of no more use than chance. A row
that is told wrongly has been wrong for at least half of all the say, so the weights that are added up bound the training error,

.. math:: \mathrm{error} \le \prod_t Z_t, \qquad Z_t = (1 - \varepsilon_t) e^{-\alpha_t/2} + \varepsilon_t e^{\alpha_t/2}
   \ \bigl(= 2\sqrt{\varepsilon_t (1 - \varepsilon_t)} \text{ for } \eta = 1,\ K = 2\bigr).

Texts that raise weights by :math:`\sqrt{(1-\varepsilon)/\varepsilon}`, lower the others by its inverse and give half of this say do the
same: their weights differ by a factor that all rows share, and their votes by another. A round of stumps costs :math:`O(np)`, see
:mod:`qed.ensembles.adaboost.stumps`.

Freund and Schapire (1997), A decision-theoretic generalization of on-line learning. Zhu, Zou, Rosset and Hastie (2009), Multi-class
AdaBoost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from qed.base.attributes import size
from qed.base.certificate import Certificate, Claim
from qed.base.models.composed import Member, refuse_other_kinds, refuse_weights, takes_weights
from qed.base.models.labels import encode
from qed.base.models.parameters import Parameter, boolean
from qed.base.models.roles import Classifier
from qed.base.numbers import EPS
from qed.base.random import Seed
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.ensembles.adaboost.model import ADABOOST_PARAMETERS, LEAST, AdaBoost, Judged
from qed.ensembles.adaboost.stumps import Stumps, is_stump
from qed.ensembles.problem import MemberClasses
from qed.trees.classifier import DecisionTreeClassifier

# Above this a product of many factors is only said to be large.
LARGE = 1e300


class AdaBoostClassifier(Classifier, AdaBoost):
    """Classes by the weighted vote of members that are fitted one after another.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What is fitted in every round; a stump, ``DecisionTreeClassifier(max_depth=1)``, where it is None.
    n_estimators : int, default=50
        How many rounds at most: they end where a member makes no error, or is no better than chance.
    learning_rate : float, default=1.0
        By what the say of every member is multiplied.
    resample : bool, default=False
        Whether each member is fitted to as many rows as there are, drawn by their weights, in the place of weights.
    random_state : int, Generator, RandomState or None, default=None
        What rows are drawn with, and what members draw with.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_classes_ : int
        How many they are.
    estimators_ : list of classifiers
        The members.
    estimator_weights_ : ndarray of shape (n_members,)
        What say each of them has.
    estimator_errors_ : ndarray of shape (n_members,)
        The share of the weight of rows, when it was fitted, on which it errs.
    feature_importances_ : ndarray of shape (p,)
        The mean importance of each column by the say of the members, where they know it.
    seed_ : int
        What was drawn with.
    certificate_ : Certificate
        The proof: the bound of the training error, the mass on mistakes, errors and say worked out again, and of stumps that no question
        is better on their weights (the first here, all in ``certify``).

    See Also
    --------
    GradientBoostingClassifier : Trees that follow the slope of any loss; with the exponential one its idea is this.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("breast_cancer").Xy()
    >>> model = qed.AdaBoostClassifier(n_estimators=40).fit(X, y)
    >>> round(model.score(X, y), 2), bool(model.certificate_)
    (1.0, True)
    """

    attributes: ClassVar = {"n_classes_": size("classes")}
    parameters: ClassVar[Mapping[str, Parameter]] = {**ADABOOST_PARAMETERS, "resample": boolean()}
    stage_answers: ClassVar[tuple[str, ...]] = ("predict", "predict_proba", "decision_function")
    n_classes_: int

    def __init__(
        self,
        estimator: Member = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        resample: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.resample = resample
        self.random_state = random_state

    def _usual(self) -> Member:
        return DecisionTreeClassifier(max_depth=1)

    @property
    def _draws(self) -> bool:
        return bool(self.resample)

    def _problem(self, rows: Rows) -> MemberClasses:
        refuse_other_kinds(self, [self.estimator_], classes=True)
        if not self.resample and not takes_weights(self.estimator_):
            raise refuse_weights(self.estimator_)
        return MemberClasses(rows, self)

    @property
    def _is_lean(self) -> bool:
        return not self.resample and is_stump(self.estimator_)

    def _learner(self, problem: MemberClasses) -> Stumps | None:
        return Stumps(problem, self.estimator_, self.n_estimators) if self._is_lean else None

    def _said(self, made: Member, problem: MemberClasses) -> np.ndarray:
        return codes_of(made, problem.X, problem.classes)

    def _judge(self, problem: MemberClasses, said: np.ndarray, weight: np.ndarray, says: np.ndarray) -> Judged | None:
        wrong, k = said != problem.target, len(problem.classes)
        error = float(weight @ wrong / weight.sum())
        if error == 0:
            # Whoever makes no error decides alone.
            return Judged(0.0, 1.0 + float(says.sum()), weight)
        # A member that was as good as chance before rounding is of no use.
        if error >= 1 - 1 / k - (len(wrong) + 64) * EPS:
            return None
        say = self.learning_rate * float(np.log((1 - error) / error) + np.log(k - 1))
        lowered = np.where(wrong, weight, weight * np.exp(-say))
        after = np.maximum(lowered * (problem.total / lowered.sum()), LEAST * problem.total)
        return Judged(error, say, after, float(after @ wrong / after.sum()))

    def _reached(self, problem: MemberClasses, errors: np.ndarray, says: np.ndarray) -> float:
        return bound_of(errors, says)

    def _finish(self, problem: MemberClasses, step: Step) -> None:  # type: ignore[override]
        super()._finish(problem, step)
        self.classes_, self.n_classes_ = problem.classes, len(problem.classes)

    def _stages(self, block: Block, numbers: list[int]) -> Iterator[np.ndarray]:
        votes, rows, done = np.zeros((len(block), len(self.classes_))), np.arange(len(block)), 0
        for number in numbers:
            for made, say in zip(self.estimators_[done:number], self.estimator_weights_[done:number]):
                votes[rows, codes_of(made, block.X, self.classes_)] += say
            done = number
            yield votes

    def _stage_answers(self, totals: np.ndarray, block: Block) -> dict[str, np.ndarray]:
        scores = _scores(totals)
        said = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return {
            "predict": self.classes_[said],
            "predict_proba": _chances(scores),
            "decision_function": scores.astype(block.X.dtype, copy=False),
            "classes_": self.classes_,
        }

    def _decide(self, block: Block) -> np.ndarray:
        return _scores(self._totals(block))

    def _choose(self, block: Block) -> np.ndarray:
        return self._stage_answers(self._totals(block), block)["predict"]

    def _probabilities(self, block: Block) -> np.ndarray:
        return _chances(_scores(self._totals(block)))

    def staged_decision_function(self, X: object) -> Iterator[np.ndarray]:
        """Score the classes after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The features.
        """
        yield from self._staged(X, "decision_function")

    def staged_predict_proba(self, X: object) -> Iterator[np.ndarray]:
        """Give the probabilities of the classes after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The features.
        """
        yield from self._staged(X, "predict_proba")

    def _replayed(self, problem: MemberClasses) -> Iterator[tuple[np.ndarray, Judged, Certificate | None]]:
        votes, k = np.zeros((len(problem), len(problem.classes))), len(problem.classes)
        flat, first = votes.reshape(-1), np.arange(len(problem)) * k
        for said, judged, proof in super()._replayed(problem):
            flat[first + said] += judged.say
            yield said, judged, proof
        problem.votes = votes

    def _claimed(self, problem: MemberClasses, judged: list[Judged]) -> list[Claim]:
        weights, k = problem.weights, len(problem.classes)
        scores = _scores(problem.votes)
        said = scores > 0 if k == 2 else scores.argmax(axis=1)
        wrong = float(weights[said != problem.target].sum() / weights.sum())
        bound = bound_of(np.array([one.error for one in judged]), np.array([one.say for one in judged]))
        # What sums over rows, and exponentials of sums of say, round away.
        noise = (len(weights) + 64 + 8 * sum(one.say for one in judged)) * EPS
        off = max(abs(float(one.weight) / problem.total - 1) for one in judged)
        others = float(not np.array_equal(problem.classes, self.classes_) or self.n_classes_ != k)
        claims = [
            Claim("training error, against the product of all Z", wrong, bound * (1 + noise) + noise),
            Claim("weights add up to what they did (most they are off, relative)", off, noise),
            Claim("classes are those of the target, in order (others)", others, 0.0),
        ]
        after = [abs(one.after - (k - 1) / k) for one in judged if one.error > 0]
        if self.learning_rate == 1 and after:
            says = f"mistakes of a member weigh {k - 1} / {k} of all afterwards (most they are off)"
            claims.insert(1, Claim(says, max(after), noise))
        return claims


def codes_of(made: Member, X: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give the number of the class that a member says of each row."""
    if type(made) is DecisionTreeClassifier and len(made.classes_) == len(classes):
        found: np.ndarray = made.tree_.value.argmax(axis=1)[made.tree_.apply(X)]
        return found
    return encode(made.predict(X), classes)


def bound_of(errors: np.ndarray, says: np.ndarray) -> float:
    """Give the product of all Z, which the training error does not exceed.

    >>> round(bound_of(np.array([0.25]), np.log([3.0])), 9), round(2 * (0.25 * 0.75) ** 0.5, 9)
    (0.866025404, 0.866025404)
    """
    half = np.minimum(says / 2, 690.0)
    with np.errstate(over="ignore"):
        found = float(np.prod((1 - errors) * np.exp(-half) + errors * np.exp(half)))
    return min(found, LARGE)


def _scores(votes: np.ndarray) -> np.ndarray:
    """Give the say for a class less the mean say for others, as a share of all; for two classes twice that of the second one."""
    total, k = votes.sum(axis=1, keepdims=True), votes.shape[1]
    scores = (votes - (total - votes) / (k - 1)) / np.where(total > 0, total, 1.0)
    # As scikit-learn has it: for the second class, and against the first.
    return 2 * scores[:, 1] if k == 2 else scores


def _chances(scores: np.ndarray) -> np.ndarray:
    """Give probabilities from scores: those for which the exponential loss is least on average."""
    if scores.ndim == 1:
        return np.asarray(softmax(np.column_stack([-scores, scores]) / 2, axis=1))
    return np.asarray(softmax(scores / (scores.shape[1] - 1), axis=1))
