r"""Conformal prediction: intervals and sets of classes that hold the truth as often as they say, whatever the model.

Score how strange the target of each row is to a model that has not seen it, :math:`R_i = |y_i - \hat f_{-i}(x_i)|`. Then

.. math:: \Big[\ \underset{i}{q^-}\{\hat f_{-i}(x) - R_i\},\quad \underset{i}{q^+}\{\hat f_{-i}(x) + R_i\}\ \Big]

with the :math:`\lceil \ell(n + 1) \rceil`-th smallest of the upper ends (and so below) holds the target of a new row with a probability
that is proven for every n, every model and every distribution, provided that rows are drawn alike: at least :math:`\ell` where rows are
held out once (split), :math:`2\ell - 1` and mostly near :math:`\ell` where each row is left out in turn (jackknife+), a little less with k
folds (CV+). Least squares, ridge, kernel ridge and nearest neighbours tell what they would predict without each row from the one fit, so
that the jackknife+ costs no more; other models are fitted k times, or once to a part of many rows.

Barber, Candès, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+; Romano, Sesia and Candès (2020).
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import each, floats, having, integers, labels, maybe, model, nothing, one_of, text
from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import check_rows, complete, finite
from qed.base.models.composed import is_model, takes_missing, takes_sparse
from qed.base.models.estimator import Estimator
from qed.base.models.parameters import Parameter, choice, integer, number, random_state
from qed.base.models.problem import Problem
from qed.base.models.roles import available_if
from qed.base.random import Seed
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.selection.guarantees.calibration import CalibrationProblem, strips, unfitted
from qed.selection.guarantees.claims import conformal_claims, inner_claims, restated_claims, warn_of_level
from qed.selection.guarantees.coverage import Coverage, outward
from qed.selection.guarantees.holding_out import HoldingOut
from qed.selection.guarantees.ranks import below, guaranteed, rank_of, upper
from qed.selection.guarantees.scores import aligned, class_scores
from qed.selection.scoring import role_of

SHARE = Parameter("a number above 0 and below 1", lambda value: number(0, above=True).accepts(value) and value < 1)


def _is(role: str) -> Any:
    return available_if(lambda self: role_of(self.model) == role)


class Conformal(HoldingOut):
    """Intervals, or sets of classes, with guaranteed coverage around any model.

    Parameters
    ----------
    model : estimator
        A regressor, or a classifier with ``predict_proba``, of qed or of anybody's.
    level : float, default=0.9
        How often intervals or sets are to hold the truth; each prediction may ask for another level.
    method : {"auto", "jackknife+", "cv+", "split", "prefit"}, default="auto"
        How rows are held out. "jackknife+" leaves out each row in turn, from one fit where the model has a closed form and by n fits
        where not; "cv+" leaves out one of `folds` at a time; "split" holds out a part once; "prefit" takes the model as it was fitted,
        and all rows, which it must not have seen, to calibrate by. "auto" is the first of the others that is cheap.
    folds : int, default=5
        The number of folds of "cv+"; they are of equal size, and rows that are left over always train.
    holdout : float, default=0.25
        The share of rows that "split" calibrates by.
    class_score : {"likelihood", "cumulative"}, default="likelihood"
        How strange a class is: one minus its probability, or the probability of all classes that are at least as probable.
    random_state : None, int or numpy generator, default=0
        The seed of the folds.

    Attributes
    ----------
    estimator_ : estimator
        The model that ``predict`` asks: fitted to all rows, with "split" to those that do not calibrate.
    members_ : list of estimators
        The models without each fold (or row).
    left_out_ : object or None
        The models without each row, where they follow from the one.
    fold_ : ndarray of shape (n,)
        The fold of each row that calibrates; -1 for the others.
    scores_ : ndarray of shape (n_calibrating,)
        How strange each of those rows is to a model that has not seen it.
    weight_ : ndarray of shape (n_calibrating,) or None
        Their weights, where there are some.
    classes_ : ndarray of shape (n_classes,)
        The classes, for classifiers.
    method_, how_ : str
        What was done, and in words.
    rank_ : float
        The rank among ``scores_`` that `level` asks for; intervals are infinite where it exceeds their number.
    guarantee_ : float
        The coverage that theory guarantees at `level`; zero with weights that differ, for which there is no proof.
    seed_ : int
        The seed of the folds, where there are some.
    certificate_ : Certificate
        The claims of the model, and the ranks counted again.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.Conformal(qed.Ridge(), level=0.9).fit(X[:300], y[:300])
    >>> model.how_
    'each of 300 rows left out in closed form'
    >>> model.predict_interval(X[300:302]).round(1)
    array([[130.4, 318.2],
           [ 29.3, 215.9]])
    >>> print(model.coverage(X[300:], y[300:]))
    at level 0.9 the interval holds the truth in 129 of 142 rows (0.908, between 0.849 and 0.950 with 95 %), mean size 187; guaranteed 0.801
    """

    attributes: ClassVar = {
        "estimator_": model("predict"),
        "members_": each(model("predict")),
        "left_out_": having("errors", "predictions") | nothing(),
        "fold_": integers("rows", low=-1),
        "scores_": floats("calibrating", low=0),
        "weight_": floats("calibrating", above=0) | nothing(),
        "classes_": maybe(labels("classes")),
        "method_": one_of("jackknife+", "cv+", "split"),
        "how_": text(),
        "rank_": floats(above=0),
        "guarantee_": floats(low=0, high=1),
        "seed_": maybe(integers()),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "model": Parameter("a model (an object, not its class) with fit and get_params", is_model, "model"),
        "level": SHARE,
        "method": choice("auto", "jackknife+", "cv+", "split", "prefit"),
        "folds": integer(2),
        "holdout": SHARE,
        "class_score": choice("likelihood", "cumulative"),
        "random_state": random_state(),
    }
    passes: ClassVar[str] = "each iteration"
    no_inference: ClassVar[str] = "its intervals are for predictions, not for coefficients"

    def __init__(
        self,
        model: Any,
        *,
        level: float = 0.9,
        method: str = "auto",
        folds: int = 5,
        holdout: float = 0.25,
        class_score: str = "likelihood",
        random_state: Seed = 0,
    ) -> None:
        self.model = model
        self.level = level
        self.method = method
        self.folds = folds
        self.holdout = holdout
        self.class_score = class_score
        self.random_state = random_state

    @property
    def target(self) -> str | None:  # type: ignore[override]
        """What ``y`` has to be: a number, or a label."""
        return "label" if role_of(self.model) == "classifier" else "number"

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        opener = unfitted(self.model)
        if opener is None or type(opener)._open is Estimator._open:
            return check_rows(self, X, y, sample_weight, reset=reset, target=target)
        if not reset:
            found: Rows = self.estimator_._open(X, y, sample_weight, reset=False, target=target)
            return found
        found = opener._open(X, y, sample_weight, reset=True, target=target)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(opener, name):
                setattr(self, name, getattr(opener, name))
        return found

    def _problem(self, rows: Rows) -> CalibrationProblem:
        self._check_model()
        # A hole is named by its row among all, before rows are held out.
        rows = complete(rows, self)
        return CalibrationProblem(rows if self.method in ("split", "prefit") else rows.cached(), self._own)

    def _check_model(self) -> None:
        role, name = role_of(self.model), type(self.model).__name__
        if role not in ("regressor", "classifier"):
            raise ParameterError(
                f"Conformal: {name} predicts neither numbers nor classes: give a regressor or a classifier."
            )
        if role == "classifier" and not hasattr(self.model, "predict_proba"):
            raise ParameterError(
                f"Conformal: {name} has no predict_proba, so there is nothing to rank classes by: take a model with probabilities."
            )
        tags = self.model.__sklearn_tags__()
        if tags.input_tags.pairwise:
            raise ParameterError(
                f"Conformal: {name} learns from pairs of rows, which can not be held out: give it the rows."
            )

    def _solve(self, problem: CalibrationProblem) -> None:
        n = len(problem.present)
        if n < 2:
            raise InputError(f"Conformal needs at least 2 rows to hold any out, but there are {n} (n_samples={n}).")
        self.members_, self.left_out_ = [], None
        if self.target == "label":
            self.classes_ = np.unique(problem.y[problem.present])
        fit = {"prefit": self._take_fitted, "split": self._split, "cv+": self._by_folds, "jackknife+": self._one_by_one}
        fit[self._way(problem)](problem)
        calibrates = self.fold_ >= 0
        self.scores_ = self._scored(problem)
        self.weight_ = None if problem.weight is None else problem.weight[calibrates]
        self.rank_, self.guarantee_ = float(rank_of(self.level, self._total)), self._guaranteed(self.level)
        warn_of_level(self, self.level)
        problem.solved = True

    @property
    def _total(self) -> float:
        return float(len(self.scores_) if self.weight_ is None else self.weight_.sum())

    def _guaranteed(self, level: float) -> float:
        equal = self.weight_ is None or bool((self.weight_ == 1).all())
        return guaranteed(self.method_, level, self._total, int(self.fold_.max()) + 1, equal)

    def _asked(self, level: float | None) -> float:
        """Give the level that is asked for, and say where it can not be had."""
        self._check_fitted()
        chosen = float(SHARE.checked("level", self.level if level is None else level))
        warn_of_level(self, chosen)
        return chosen

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target, by the model.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        self._check_fitted()
        return np.asarray(self.estimator_.predict(self._given(X)))

    def _given(self, X: Any) -> Any:
        return X if self._own else finite(self._open(X, reset=False), self).array().X

    @_is("classifier")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Give the probability of each class, by the model.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        self._check_fitted()
        return aligned(self.estimator_, self._given(X), self.classes_)

    @_is("regressor")
    def predict_interval(self, X: Any, level: float | None = None) -> np.ndarray:
        """Give for every row an interval that holds its target with a guaranteed probability.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        level : float, optional
            How often it is to hold the target; the default is the model's.

        Returns
        -------
        ndarray of shape (n, 2)
            The lower and the upper end; infinite where there are too few rows for the level.
        """
        chosen = self._asked(level)
        if self.left_out_ is not None:
            found: np.ndarray = self.estimator_._apply(self._closed, X, chosen)
            return found
        given = self._given(X)
        said = [np.asarray(one.predict(given)).reshape(-1) for one in self.members_ or [self.estimator_]]
        table, own = np.column_stack(said), self.fold_[self.fold_ >= 0]
        step = max(1, (1 << 22) // len(own))
        parts = [self._between(table[k : k + step, own], chosen, table.dtype) for k in range(0, len(table), step)]
        return np.vstack(parts) if parts else np.empty((0, 2))

    def _closed(self, block: Block, level: float) -> np.ndarray:
        assert self.left_out_ is not None
        width = len(self.scores_)
        tables = (self.left_out_.predictions(self.estimator_, part) for part in strips(block, width))
        return np.vstack([self._between(table, level, block.X.dtype) for table in tables])

    def _between(self, table: np.ndarray, level: float, dtype: np.dtype) -> np.ndarray:
        """Give the interval of each line, of predictions by the model that each row that calibrates goes with."""
        high = upper(table + self.scores_, self.weight_, level)
        low = -upper(self.scores_ - table, self.weight_, level)
        return outward(low, high, dtype)

    @_is("classifier")
    def predict_set(self, X: Any, level: float | None = None) -> np.ndarray:
        """Give for every row a set of classes that holds its own with a guaranteed probability.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        level : float, optional
            How often it is to hold the class; the default is the model's.

        Returns
        -------
        ndarray of bool of shape (n, n_classes)
            Which classes are in the set, in the order of ``classes_``; the most probable one always is.
        """
        chosen = self._asked(level)
        given, own = self._given(X), self.fold_[self.fold_ >= 0]
        less: Any = 0.0
        for fold, member in enumerate(self.members_ or [self.estimator_]):
            mine = own == fold
            weight = None if self.weight_ is None else self.weight_[mine]
            found = class_scores(aligned(member, given, self.classes_), self.class_score)
            less = less + below(self.scores_[mine], weight, found)
        inside = less < float(rank_of(chosen, self._total)) * (1 - 1e-12)
        best = aligned(self.estimator_, given, self.classes_).argmax(axis=1)
        inside[np.arange(len(inside)), best] = True
        return np.asarray(inside)

    def coverage(self, X: Any, y: Any = None, level: float | None = None) -> Coverage:
        """Count how often intervals or sets hold the truth, on rows that were not learned from.

        Parameters
        ----------
        X, y
            Rows with their true target.
        level : float, optional
            The level; the default is the model's.
        """
        chosen = self._asked(level)
        problem = CalibrationProblem(self._open(X, y, reset=False, target=self.target), self._own)
        y = problem.y
        table = problem.rows if self._own else problem.rows.array().X
        if self.target == "label":
            sets = self.predict_set(table, chosen)
            place = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
            held, sizes = sets[np.arange(len(y)), place] & (self.classes_[place] == y), sets.sum(axis=1)
        else:
            ends = self.predict_interval(table, chosen)
            held, sizes = (ends[:, 0] <= y) & (y <= ends[:, 1]), ends[:, 1] - ends[:, 0]
        kind = "set" if self.target == "label" else "interval"
        return Coverage(chosen, int(held.sum()), len(y), float(sizes.mean()), kind, self._guaranteed(chosen))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give the model's own score: R² for numbers, accuracy for classes.

        Parameters
        ----------
        X, y, sample_weight
            Rows with their true target.
        """
        self._check_fitted()
        if self._own:
            return float(self.estimator_.score(X, y, sample_weight))
        return float(self.estimator_.score(self._given(X), y, sample_weight=sample_weight))

    def _prove(self, problem: CalibrationProblem) -> list[Claim]:
        return [*inner_claims(self, problem), *conformal_claims(self)]

    def _restate(self, problem: CalibrationProblem) -> list[Claim]:
        return restated_claims(self, problem)

    def _difference(self, problem: Problem) -> str | None:
        if not self._own or self.method == "prefit":
            return None
        rows = problem.part(self.fold_ < 0) if self.method_ == "split" else problem.rows  # type: ignore[attr-defined]
        found: str | None = self.estimator_._difference(self.estimator_._evidence(rows))
        return found

    def _predicted_shape(self) -> tuple[int, ...]:
        return ()

    def _disagreement(self) -> str:
        """Say whether rows that calibrate are not as many as their scores, or folds not as many as models."""
        if int((self.fold_ >= 0).sum()) != len(self.scores_):
            return "fold_ names another number of rows than have scores_"
        models = len(self.scores_) if self.left_out_ is not None else max(1, len(self.members_))
        return (
            ""
            if int(self.fold_.max(initial=-1)) + 1 == models
            else "fold_ has another number of folds than there are models"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.model.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = deepcopy(inner.classifier_tags), deepcopy(inner.regressor_tags)
        tags.input_tags = deepcopy(inner.input_tags)
        tags.target_tags = deepcopy(inner.target_tags)
        tags.target_tags.multi_output = tags.target_tags.two_d_labels = False
        tags.input_tags.sparse, tags.input_tags.allow_nan = takes_sparse(self.model), takes_missing(self.model)
        return tags
