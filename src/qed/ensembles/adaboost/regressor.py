r"""AdaBoost of numbers (R2): members fitted to rows drawn by weight, and the weighted median of what they say.

With the losses :math:`\ell_i = \phi(|f_t(x_i) - y_i| / \max_j |f_t(x_j) - y_j|)` and their mean :math:`\varepsilon_t = \sum_i w_i \ell_i /
\sum_i w_i`,

.. math:: \beta_t = \frac{\varepsilon_t}{1 - \varepsilon_t}, \qquad w_i \leftarrow w_i\, \beta_t^{\eta (1 - \ell_i)}, \qquad
   \alpha_t = \eta \ln \frac{1}{\beta_t}, \qquad \hat f(x) = \operatorname{median}_{\alpha} \{f_t(x)\}.

Rows that are met well lose weight, so the next member sees more of the others. No bound of the training error is known for it; the proof
is of its arithmetic, and that of its members.

Drucker (1997), Improving regressors using boosting techniques.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.composed import Member, refuse_other_kinds
from qed.base.models.parameters import Parameter, choice
from qed.base.models.roles import Regressor
from qed.base.numbers import EPS
from qed.base.random import Seed
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.ensembles.adaboost.model import ADABOOST_PARAMETERS, LEAST, AdaBoost, Judged
from qed.ensembles.problem import MemberProblem
from qed.trees.regressor import DecisionTreeRegressor


class AdaBoostRegressor(Regressor, AdaBoost):
    """Numbers by the weighted median of members that are fitted one after another.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What is fitted in every round; ``DecisionTreeRegressor(max_depth=3)`` where it is None.
    n_estimators : int, default=50
        How many rounds at most: they end where a member makes no error, or its mean loss is one half or more.
    learning_rate : float, default=1.0
        By what the say of every member is multiplied.
    loss : {"linear", "square", "exponential"}, default="linear"
        What an error costs, as a share of the largest.
    random_state : int, Generator, RandomState or None, default=None
        What rows are drawn with, and what members draw with.

    Attributes
    ----------
    estimators_ : list of regressors
        The members.
    estimator_weights_ : ndarray of shape (n_members,)
        What say each of them has.
    estimator_errors_ : ndarray of shape (n_members,)
        The mean loss of each, by the weights of rows when it was fitted.
    feature_importances_ : ndarray of shape (p,)
        The mean importance of each column by the say of the members, where they know it.
    seed_ : int
        What was drawn with.
    certificate_ : Certificate
        The proof: errors, say and weights worked out again, and the proofs of members on the rows that were drawn for them.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.AdaBoostRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.5, bool(model.certificate_)
    (True, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        **ADABOOST_PARAMETERS,
        "loss": choice("linear", "square", "exponential", kind="model"),
    }

    def __init__(
        self,
        estimator: Member = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state

    def _usual(self) -> Member:
        return DecisionTreeRegressor(max_depth=3)

    @property
    def _draws(self) -> bool:
        return True

    def _problem(self, rows: Rows) -> MemberProblem:
        refuse_other_kinds(self, [self.estimator_], classes=False)
        return MemberProblem(rows, self)

    def _said(self, made: Member, problem: MemberProblem) -> np.ndarray:
        # Of rows in single precision members say as much, which would make other weights of the same numbers.
        return np.asarray(made.predict(problem.X.astype(np.float64, copy=False)), dtype=np.float64)

    def _judge(self, problem: MemberProblem, said: np.ndarray, weight: np.ndarray, says: np.ndarray) -> Judged | None:
        off = np.abs(said - problem.y)
        most = float(off.max())
        losses = off / most if most > 0 else off
        losses = {"linear": losses, "square": losses**2, "exponential": 1 - np.exp(-losses)}[self.loss]
        error = float(weight @ losses / weight.sum())
        if error == 0:
            return Judged(0.0, 1.0 + float(says.sum()), weight)
        if error >= 0.5:
            # A first member is all there is.
            return Judged(error, 1.0, weight) if not len(says) else None
        beta = error / (1 - error)
        lowered = weight * beta ** (self.learning_rate * (1 - losses))
        after = np.maximum(lowered * (problem.total / lowered.sum()), LEAST * problem.total)
        return Judged(error, -self.learning_rate * float(np.log(beta)), after)

    def _reached(self, problem: MemberProblem, errors: np.ndarray, says: np.ndarray) -> float:
        return float(errors[-1])

    def _stages(self, block: Block, numbers: list[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        said = np.empty((len(block), numbers[-1]))
        done = 0
        for number in numbers:
            for place in range(done, number):
                said[:, place] = self.estimators_[place].predict(block.X)
            done = number
            yield said[:, :number], self.estimator_weights_[:number]

    def _stage_answers(self, totals: tuple[np.ndarray, np.ndarray], block: Block) -> dict[str, np.ndarray]:
        return {"predict": weighted_median(*totals).astype(block.X.dtype, copy=False)}

    def _predict(self, block: Block) -> np.ndarray:
        return self._stage_answers(self._totals(block), block)["predict"]

    def _claimed(self, problem: MemberProblem, judged: list[Judged]) -> list[Claim]:
        off = max(abs(float(one.weight) / problem.total - 1) for one in judged)
        says = "weights add up to what they did (most they are off, relative)"
        return [Claim(says, off, (len(problem) + 64) * EPS)]


def weighted_median(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Give for each row of values the least one up to which half of the weight lies.

    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 5.0]))
    array([2.])
    """
    order = np.argsort(values, axis=1, kind="stable")
    reached = np.cumsum(weight[order], axis=1)
    first = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
    rows = np.arange(len(values))
    return np.asarray(values[rows, order[rows, first]])
