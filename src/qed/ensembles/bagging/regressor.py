"""Bagging of regressors: see :mod:`qed.ensembles.bagging.model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, maybe
from qed.base.models.composed import Member, refuse_other_kinds
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter
from qed.base.models.roles import Regressor
from qed.base.random import Seed
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.ensembles.bagging.model import BAGGING_NO_EFFECT, BAGGING_PARAMETERS, Bagging
from qed.ensembles.problem import MemberProblem
from qed.selection.metrics.regression import r2_score
from qed.trees.regressor import DecisionTreeRegressor


@takes(**BAGGING_NO_EFFECT)
class BaggingRegressor(Regressor, Bagging):
    """Numbers by the mean of members fitted to rows drawn by lot.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What is fitted; a full ``DecisionTreeRegressor()`` where it is None.
    n_estimators : int, default=10
        How many members.
    max_samples : int, float or None, default=None
        Rows that each member draws, or their share; as many as there are where it is None.
    max_features : int or float, default=1.0
        Columns that each member draws, or their share.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are.
    oob_score : bool, default=False
        Whether to judge each row by the members that have not seen it.
    random_state : int, Generator, RandomState or None, default=None
        What is drawn with, and what members draw with.

    Attributes
    ----------
    estimators_ : list of regressors
        The members.
    estimators_features_ : ndarray of shape (n_members, n_columns)
        The columns of each.
    seed_ : int
        What was drawn with.
    oob_score_ : float
        R² on rows by the members that have not seen them, where it was asked for.
    oob_prediction_ : ndarray of shape (n,)
        What those members say on average; not a number for rows that all have seen.
    certificate_ : Certificate
        The proof: those of the members, for the rows drawn for them.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.BaggingRegressor(qed.Ridge(), oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.4, bool(model.certificate_)
    (True, True)
    """

    attributes: ClassVar = {"oob_prediction_": maybe(floats("rows", finite=False))}
    parameters: ClassVar[Mapping[str, Parameter]] = BAGGING_PARAMETERS
    oob_prediction_: np.ndarray

    def __init__(
        self,
        estimator: Member = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.random_state = random_state

    def _usual(self) -> Member:
        return DecisionTreeRegressor()

    def _problem(self, rows: Rows) -> MemberProblem:
        refuse_other_kinds(self, [self.estimator_], classes=False)
        return MemberProblem(rows, self)

    def _answers(self, made: Member, X: np.ndarray) -> np.ndarray:
        return np.asarray(made.predict(X), dtype=np.float64).reshape(X.shape[0], -1)

    def _says(self, mean: np.ndarray) -> dict[str, np.ndarray]:
        return {"predict": mean[:, 0]}

    def _judged(self, problem: MemberProblem, mean: np.ndarray, there: np.ndarray) -> float:
        self.oob_prediction_ = mean[:, 0]
        if there.sum() < 2:
            return 0.0
        return float(r2_score(problem.y[there], mean[there, 0], sample_weight=problem.weights[there]))

    def _predict(self, block: Block) -> np.ndarray:
        return self._mean(block.X)[:, 0].astype(block.X.dtype, copy=False)
