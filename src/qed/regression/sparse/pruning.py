r"""Leaving out the columns that a linear model does not use.

.. math:: x^\top w = x_I^\top w_I, \qquad I = \{j : w_j \ne 0\}.

A sparse model needs only :math:`\|w\|_0` columns to predict: the others need not be stored, sent or even measured.
`prune` makes a smaller model with the same predictions, whose cost is that of its non-zero coefficients.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError, NotAvailableError
from qed.base.models.parameters import Parameter
from qed.base.models.problem import TableProblem
from qed.base.saving.known import savable
from qed.base.sources.rows import Rows
from qed.regression.linear.linear import LinearPredictor


@savable
class PrunedModel(LinearPredictor):
    """The part of a linear model that does something, as `prune` gives it.

    Attributes
    ----------
    columns_ : ndarray of int of shape (m,)
        Which columns of the full table it takes, in that order.
    coef_ : ndarray of shape (m,) or (n_outputs, m)
        Their coefficients.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant.
    dropped_ : float
        The largest coefficient, by size, among the columns left out: zero.
    certificate_ : Certificate
        That this is so.
    """

    attributes: ClassVar = {"columns_": integers("features"), "dropped_": floats(low=0)}
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NoReturn:
        """Refuse, with the reason: a pruned model is made of a fitted one."""
        raise NotAvailableError(
            "A pruned model can not be fitted: fit the model that it came from, and call qed.prune."
        )

    def _problem(self, rows: Rows) -> TableProblem:
        return TableProblem(rows)

    def _solve(self, problem: Any) -> NoReturn:
        self.fit(None)

    def _prove(self, problem: Any) -> list[Claim]:
        return [Claim("largest coefficient of the columns left out", self.dropped_, 0.0)]


def prune(model: Any) -> PrunedModel:
    """Make a smaller model, of the columns whose coefficients are not zero.

    Parameters
    ----------
    model : fitted linear model
        Any model of qed that predicts ``X @ coef_ + intercept_``.

    Returns
    -------
    PrunedModel
        Predicts from ``X[:, columns_]`` what the full model predicts from ``X``. Where all coefficients are zero, the first column is
        kept, as a table has to have one.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> small = qed.prune(qed.OrthogonalMatchingPursuit(n_nonzero_coefs=3).fit(X, y))
    >>> small.columns_, small.coef_.shape
    (array([2, 3, 8]), (3,))
    """
    if not isinstance(model, LinearPredictor):
        raise InputError(f"prune takes a linear model of qed, not a {type(model).__name__}.")
    model._check_fitted()
    coef = np.asarray(model.coef_)
    used = coef != 0 if coef.ndim == 1 else (coef != 0).any(axis=0)
    columns = np.flatnonzero(used) if used.any() else np.zeros(1, dtype=np.int64)
    small = PrunedModel()
    small.columns_, small.n_features_in_ = columns, len(columns)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        small.feature_names_in_ = np.asarray(names)[columns]
    small.coef_, small.intercept_ = np.ascontiguousarray(coef[..., columns]), model.intercept_
    small.dropped_ = float(np.abs(np.delete(coef, columns, axis=-1)).max(initial=0.0))
    small.certificate_ = Certificate(small._prove(None))
    return small
