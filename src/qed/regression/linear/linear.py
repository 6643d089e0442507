"""What linear models share: a statistic (`Moments`), predictions, and the proof of least squares."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import Attributes, floats, of
from qed.base.models.checks import refuse_missing
from qed.base.models.estimator import OnePass
from qed.base.models.problem import StatisticProblem
from qed.base.models.roles import Regressor
from qed.base.models.searching import Answer, Question
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.affine import affine
from qed.optim.least_squares.evidence import Evidence, about_zero
from qed.optim.least_squares.left_out_planes import LeftOutPlanes, left_out_planes
from qed.optim.least_squares.problem import LeastSquaresProblem, LinearProblem
from qed.optim.least_squares.search import linear_search
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments


class LinearPredictor(Regressor):
    """A model that predicts ``X @ coef_ + intercept_``, for one output or several."""

    sparse = True
    attributes: ClassVar[Attributes] = {"coef_": floats("outputs?", "features"), "intercept_": floats("outputs?")}
    coef_: np.ndarray
    intercept_: Any
    fit_intercept: bool
    multi_output: ClassVar[bool] = True  # whether it takes several outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.multi_output
        return tags

    def _set_coef(self, coef: np.ndarray, x_mean: np.ndarray, y_mean: np.ndarray, *, flat: bool) -> None:
        """Set ``coef_`` and ``intercept_`` from coefficients of shape (p, q) and the point that the plane goes through.

        With `flat`, for a target that is a vector, the axis of outputs is dropped.
        """
        self._set_plane(coef, y_mean - x_mean @ coef if self.fit_intercept else np.zeros(coef.shape[1]), flat=flat)

    def _set_plane(self, coef: np.ndarray, intercept: np.ndarray, *, flat: bool) -> None:
        """Set ``coef_`` and ``intercept_`` from coefficients of shape (p, q) and as many intercepts."""
        self.coef_ = np.ascontiguousarray(coef[:, 0] if flat else coef.T)
        self.intercept_ = float(intercept[0]) if flat else intercept

    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the coefficients as columns, one per output, and the intercepts."""
        coef, intercept = (
            np.array(self.coef_, dtype=np.float64, ndmin=2),
            np.array(self.intercept_, dtype=np.float64, ndmin=1),
        )
        return coef.T, intercept

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            The predictions.
        """
        self._check_fitted()
        rows = self._open(X, reset=False)
        with np.errstate(invalid="ignore", over="ignore"):
            # Blocks of a sparse matrix would be copies, and copying takes longer than the product.
            together = rows.in_memory and rows.is_sparse
            found: np.ndarray = self._predict(rows.array()) if together else rows.map(self._predict)
            # What is missing or infinite in a row shows in its prediction, so only those are looked at.
            complete = np.isfinite(found.sum(dtype=np.float64)) or np.isfinite(found).all()
        if not complete:
            refuse_missing(rows, self)
        return found

    def _predict(self, block: Block) -> np.ndarray:
        return affine(block.X, self.coef_.T, self.intercept_)


class LinearModel(LinearPredictor, OnePass):
    """A linear predictor that is learned from moments."""

    problem_kind: ClassVar[type[StatisticProblem]] = LinearProblem
    positive: bool = False  # whether coefficients must not be negative
    statistic_parameters = ()
    attributes: ClassVar[Attributes] = {"statistic_": of(Moments, KeptRows, n_features="features", n_targets="outputs")}

    def _statistic(self, block: Block) -> Moments:
        return Moments.of(block)

    def _penalties(self, n_outputs: int) -> np.ndarray | None:
        """Give one squared penalty for each output, with which the model is least squares; None where it is something else."""
        return None

    def _search(self, question: Question[Self]) -> Answer | None:
        return linear_search(self, question)

    def _without_each(self, rows: Rows) -> LeftOutPlanes | None:
        penalties = self._penalties(rows.n_targets)
        if penalties is None or np.ndim(self.coef_) > 1:
            return None
        coef, intercept = self._columns()
        given = float(intercept[0]), float(penalties[0])
        return left_out_planes(rows, coef[:, 0], *given, centered=bool(self.fit_intercept))

    def _centered(self, moments: Moments) -> Moments:
        """Give the moments about the means, or about zero when there is no intercept."""
        return moments if self.fit_intercept else about_zero(moments)

    def _evidence_of(self, problem: StatisticProblem) -> Evidence:
        """Give what proves the coefficients: from the data themselves, or from the moments that a fit has folded."""
        coef, intercept = self._columns()
        if problem.source == "data" and problem.rows is not None:
            return Evidence.from_rows(problem.rows, coef, intercept, centered=self.fit_intercept)
        return Evidence.from_moments(problem.statistic, coef, intercept, centered=self.fit_intercept)


class LeastSquaresModel(LinearModel):
    """A linear predictor whose way to the least squares is chosen by the shape of the table."""

    problem_kind = LeastSquaresProblem

    def _known(self, rows: Rows | None, statistic: Any, target_ndim: int = 1) -> LeastSquaresProblem:
        problem = LeastSquaresProblem(self, rows, target_ndim=target_ndim)
        if problem.kept is None:
            problem.statistic = statistic
        return problem

    @property
    @abstractmethod
    def _is_penalised(self) -> bool:
        """Say whether every output has a penalty."""
