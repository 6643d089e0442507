"""Stacking of regressors: see :mod:`qed.ensembles.stacking.model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from qed.base.models.composed import Member, Named, refuse_other_kinds
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.ensembles.problem import MemberProblem
from qed.ensembles.stacking.model import STACKING_NO_EFFECT, STACKING_PARAMETERS, Stacking
from qed.regression.linear.ridge import Ridge
from qed.selection.splitting.splits import Splitting


@takes(**STACKING_NO_EFFECT)
class StackingRegressor(Regressor, Stacking):
    """Numbers by a regressor that learns from what others say of rows they have not seen.

    Parameters
    ----------
    estimators : list of (str, regressor)
        The members and their names; "drop" in the place of one leaves it out.
    final_estimator : regressor or None, default=None
        What learns from them; a ``Ridge()`` where it is None.
    cv : int, splitter, iterable of (train, test), "prefit" or None, default=None
        The folds whose rows members have not seen; five where it is None. With "prefit" the members are taken as they are, fitted, and
        tell of all rows.
    passthrough : bool, default=False
        Whether the final model sees the columns of the rows as well.

    Attributes
    ----------
    estimators_ : list of regressors
        The members, fitted to all rows.
    named_estimators_ : dict
        The same by their names.
    stack_method_ : list of str
        What each of them tells: ``"predict"``.
    final_estimator_ : regressor
        The model of what they tell.
    certificate_ : Certificate
        The claims of the members and of the final model; ``certify`` works out anew what the final one has seen.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.StackingRegressor([("line", qed.Ridge()), ("near", qed.KNeighborsRegressor(20))]).fit(X, y)
    >>> round(model.score(X, y), 1), bool(model.certificate_)
    (0.5, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = STACKING_PARAMETERS

    def __init__(
        self,
        estimators: Named,
        final_estimator: Member = None,
        *,
        cv: Splitting = None,
        passthrough: bool = False,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.passthrough = passthrough

    def _usual(self) -> Member:
        return Ridge()

    def _problem(self, rows: Rows) -> MemberProblem:
        refuse_other_kinds(self, [self._final], classes=False)
        self._members()
        return MemberProblem(rows, self)

    def _method(self, name: str, one: Member) -> str:
        return "predict"

    def _answers_of(self, one: Member, method: str, X: np.ndarray) -> np.ndarray:
        return np.asarray(one.predict(X), dtype=np.float64).reshape(X.shape[0], -1)

    def _predict(self, block: Block) -> np.ndarray:
        found = np.asarray(self.final_estimator_.predict(self._table(block.X)))
        return found.astype(block.X.dtype, copy=False)
