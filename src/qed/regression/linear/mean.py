r"""The mean of the target: what any other model has to beat.

.. math:: \min_b\ \sum_i s_i (y_i - b)^2, \qquad b = \bar y = \frac{\sum_i s_i y_i}{\sum_i s_i}.

It looks at no column, so its R² on new rows is about zero, and a model that does no better has learned nothing from its columns. One
pass, :math:`O(n)` for the target (and :math:`O(np)` for the fingerprint of the columns).
Reference: any first chapter; the constant is the projection of :math:`y` on the vector of ones.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, of
from qed.base.certificate import Claim
from qed.base.models.estimator import OnePass
from qed.base.models.parameters import Parameter
from qed.base.models.problem import StatisticProblem
from qed.base.models.roles import Regressor
from qed.base.numbers import EPS, ratio
from qed.base.sources.block import Block
from qed.base.summary import Summary
from qed.stats.both import Both
from qed.stats.moments import Moments, roundings_of

# A mean is known when it is off by no more than so much of the spread: ten digits, which thousands of updates leave.
KNOWN = 1e-10


class MeanRegressor(Regressor, OnePass):
    """Predict the mean of the target, whatever the columns say: the baseline of regression.

    Attributes
    ----------
    mean_ : float or ndarray of shape (n_outputs,)
        The (weighted) mean of the target.
    statistic_ : Both
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    See Also
    --------
    MajorityClassifier : The baseline of classification.

    Examples
    --------
    >>> import qed
    >>> model = qed.MeanRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 6.0])
    >>> model.mean_, model.predict([[10.0], [20.0]])
    (3.0, array([3., 3.]))
    """

    sparse = True
    attributes: ClassVar = {"statistic_": of(Both), "mean_": floats("outputs?")}
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    compare_grid: ClassVar[Mapping[str, Any]] = {}
    compare_name: ClassVar[str] = "Mean (baseline)"

    mean_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True
        return tags

    def _disagreement(self) -> str:
        wanted = len(self.statistic_.target.mean)
        return "" if np.size(self.mean_) == wanted else f"mean_ has {np.size(self.mean_)} values for {wanted} outputs"

    def _statistic(self, block: Block) -> Both:
        target = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
        return Both(Summary.of(block), Moments.of_features(Block(target, weight=block.weight)))

    def _solve(self, problem: StatisticProblem) -> None:
        mean = problem.statistic.target.mean
        self.mean_ = float(mean[0]) if problem.target_ndim == 1 else mean.copy()

    def _predicted_shape(self) -> tuple[int, ...]:
        return np.shape(self.mean_)

    def _predict(self, block: Block) -> np.ndarray:
        mean = np.asarray(self.mean_, dtype=block.X.dtype)
        return np.broadcast_to(mean, (len(block), *mean.shape)).copy()

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        target, count = problem.statistic.target, problem.statistic.features.count
        mean = np.asarray(self.mean_, dtype=np.float64).reshape(-1)
        size = np.abs(target.mean) + np.sqrt(target.bulk / target.weight)
        # What rounding may have done to the mean, and more where rows were taken away that were larger than those that are left.
        slip = target.slip + EPS * np.abs(target.mean)
        off = np.abs((target.mean - mean) + target.rest) + slip
        spread = np.abs(target.mean) + np.sqrt(np.diagonal(target.scatter) / target.weight)
        bound = max(4 * EPS * (roundings_of(count) + 4 * np.log2(max(count, 2))), KNOWN)
        found = float(ratio(off, np.where(size > 0, spread, 1.0)).max())
        return [Claim("residuals sum to zero (their mean, relative)", found, bound)]

    def _advice(self) -> str:
        return "Sums from which much larger rows were taken away have lost these digits: call fit with the rows that are left."
