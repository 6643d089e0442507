"""A model for tables as they come: columns of numbers, text, dates and holes in; predictions out.

A `TableModel` is an encoder, a scaler (and, where asked for, products of columns) and a model behind them, fitted together and used as
one. A model that takes holes, as trees do, sees the table as it is: numbers with their holes, and levels by their numbers. Since it learns
its encoding from the rows it is given, a cross-validation of it lets nothing leak from the rows held out. Each part changes the rows block
by block as they are read, so files larger than memory and clusters work as they do for the model itself; and it is saved as one file, so
whoever predicts with it needs the raw table only.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import each, integers, model, nothing, of, text
from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError
from qed.base.models.checks import check_table
from qed.base.models.estimator import Estimator
from qed.base.models.fingerprint import Fingerprint, target_sums
from qed.base.models.parameters import Parameter, anything, boolean, choice, integer
from qed.base.models.problem import Problem, TableProblem
from qed.base.models.proof import FOLLOWING, SAME_DATA, difference_from, examine
from qed.base.models.roles import Grouper, Transformer
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.maps.polynomial import PolynomialFeatures
from qed.features.scaling.standard_scaler import StandardScaler
from qed.features.stream import changed
from qed.features.tables.columns import LevelColumn
from qed.features.tables.encoder import ColumnEncoder
from qed.selection.searching.candidates import fresh
from qed.stats.parts import Part


def what_suits(model: Any, degree: int = 1) -> tuple[dict[str, Any], bool]:
    """Say what a model wants of the encoder, and whether it wants its columns scaled.

    >>> import qed
    >>> what_suits(qed.Ridge()), what_suits(qed.DecisionTreeRegressor())
    (({}, True), ({'impute': None, 'coded': True, 'min_frequency': 1, 'max_levels': 254, 'max_terms': 50}, False))
    """
    # Distances between rows need numbers on one scale, also where the model could do with holes.
    if degree > 1 or isinstance(model, Grouper) or not model.__sklearn_tags__().input_tags.allow_nan:
        return {}, True
    # As many levels as there are bins, the rarest of them together: each costs no column.
    most = (getattr(model, "max_bins", None) or 255) - 1
    return {"impute": None, "coded": True, "min_frequency": 1, "max_levels": most, "max_terms": 50}, False


def told_of_levels(model: Any, encoder: Any) -> Any:
    """Tell a model that takes levels which of its columns hold their numbers, unless it was told already."""
    places = getattr(encoder, "categorical_places", [])
    if places and getattr(model, "takes_categories", False) and model.categorical_features is None:
        model.set_params(categorical_features=places)
    return model


class TableModel(Estimator):
    """An encoder and a model as one estimator that learns from, and predicts for, mixed tables.

    Parameters
    ----------
    model : estimator
        A regressor, classifier or clusterer of qed.
    encoder : transformer, optional
        What makes numbers of the columns. When not given, a `qed.ColumnEncoder` of what the model can take: a model that takes holes gets
        them as NaN, and each categorical column as one of whole numbers, of which it is told if it has `categorical_features`.
    degree : int, default=1
        With 2 or more, the model sees all products of encoded columns up to that degree.
    scale : bool, optional
        Whether the model sees columns of mean zero and variance one, so that penalties and distances treat all alike. When not given,
        it does unless it takes holes: such a model only asks what is less and what is more.

    Attributes
    ----------
    changes_ : list of transformers
        The fitted encoder and what comes after it, in their order.
    model_ : estimator
        The fitted model; its ``feature_names_in_`` are the names of the encoded columns.
    fingerprint_ : Fingerprint
        Of the encoded columns, before they are scaled.
    target_name_ : str or None
        The name of the column that is predicted, where the data told it.
    sample_ : ndarray of shape (m,) or None
        Which of the rows the model itself learned from, where a comparison gave it some of them only, and the encoder all.
    certificate_ : Certificate
        The claims of the model, then those of its parts.

    Examples
    --------
    >>> import qed
    >>> table = qed.data.load("penguins").table
    >>> data = qed.rows(table.filter(table["sex"].is_valid()), target="sex")
    >>> model = qed.TableModel(qed.LogisticRegression()).fit(data)
    >>> model.target_name_, bool(model.certificate_), round(model.score(data), 2)
    ('sex', True, 0.92)
    """

    passes: ClassVar[str] = "each iteration"
    attributes: ClassVar = {
        "fingerprint_": of(Fingerprint),
        "changes_": each(model("transform")),
        "model_": model("predict"),
        "target_name_": text() | nothing(),
        "sample_": integers("sample") | nothing(),
    }
    parameters: ClassVar[dict[str, Parameter]] = {
        "model": Parameter(
            "an estimator of qed (a search goes around a TableModel; before another's estimator put qed.ColumnEncoder in a pipeline)",
            lambda value: isinstance(value, Estimator) and not getattr(value, "searches", False),
            "model",
        ),
        "encoder": anything("None or a transformer of qed"),
        "degree": integer(1, kind="model"),
        "scale": boolean() | choice(None, kind="model"),
    }

    def __init__(self, model: Any, *, encoder: Any = None, degree: int = 1, scale: bool | None = None) -> None:
        self.model = model
        self.encoder = encoder
        self.degree = degree
        self.scale = scale

    @property
    def target(self) -> str | None:  # type: ignore[override]
        """What ``y`` has to be, which the model says."""
        return getattr(self.model, "target", None)

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        return check_table(self, X, y, sample_weight, reset=reset, target=target)

    def _problem(self, rows: Rows) -> TableProblem:
        return TableProblem(rows, source="statistics")

    def _evidence(self, rows: Rows) -> TableProblem:
        # Every part of the proof reads the rows, and so does the fingerprint. Rows that can not be encoded are refused here.
        rows, encoder = rows.cached(), self.changes_[0]
        return TableProblem(rows, [examine(encoder, encoder._open(rows, reset=False))])

    def _known(self, rows: Rows, statistic: tuple[list[Transformer], Rows]) -> TableProblem:
        """Make the problem of rows whose encoding is known: the fitted transformers, and what they make of the rows."""
        return TableProblem(rows, statistic, source="statistics")

    def _encode(
        self, rows: Rows, encoder: Transformer | None = None, *, keep: bool = True
    ) -> tuple[list[Transformer], Rows]:
        """Fit all that comes before the model, and give it with what it makes of the rows.

        What is between two parts is kept where wanted, or made twice.
        """
        first, *rest = self._unfitted()
        # What is learned from is read twice, here and by what comes after.
        rows = rows.cached() if encoder is None else rows
        changes = [first.fit(rows) if encoder is None else encoder]
        rows = changed(changes[0], rows)
        for transformer in rest:
            rows = rows.cached() if keep else rows
            changes.append(transformer.fit(rows))
            rows = changed(changes[-1], rows)
        return changes, rows

    def _solve(self, problem: TableProblem) -> None:
        known: tuple[list[Transformer], Rows] = problem.seen or self._encode(problem.rows)
        self.changes_, rows = known
        rows = rows if self.model.passes == "one" else rows.cached()
        self.model_ = told_of_levels(fresh(self.model), self.changes_[0]).fit(rows)
        self.sample_: np.ndarray | None = None
        self.target_name_ = rows.target_names[0] if self.target and len(rows.target_names) == 1 else None
        target = getattr(self.model_.fingerprint_, "target", None)
        # Of products of the target with columns nothing is known in the units of the first ones.
        self.fingerprint_ = replace(
            (*self.changes_, self.model_)[1].fingerprint_, target=None if target is None else target[:2]
        )
        problem.seen = [part.certificate_ for part in (self.model_, *self.changes_)]
        problem.source = "data" if {part.source for part in problem.seen} == {"data"} else "statistics"

    def learned_from(self, rows: Rows, sample: np.ndarray) -> None:
        """Say that the encoder has seen all of some rows, and the model those of a sample, so that all of them are the data of the fit.

        Parameters
        ----------
        rows : Rows
            All rows, with their target.
        sample : ndarray of shape (m,)
            The numbers of those that the model has learned from.
        """
        self.sample_ = sample
        self.fingerprint_ = self.fingerprint_of(rows)

    def _unfitted(self) -> Iterable[Transformer]:
        """Give all that comes before the model."""
        wishes, scale = what_suits(self.model, self.degree)
        yield fresh(self.encoder) if self.encoder is not None else ColumnEncoder(**wishes)
        if self.degree > 1:
            # Products of columns far from zero are nearly collinear, so the columns are scaled before as well.
            yield StandardScaler()
            yield PolynomialFeatures(self.degree, include_bias=False)
        if scale if self.scale is None else self.scale:
            yield StandardScaler()

    def _together(self, certificates: Iterable[Iterable[Claim]]) -> list[Claim]:
        """Put the claims of the model and of its parts together, each with the name of its part."""
        found: list[Claim] = []
        for part, claims in zip((None, *self.changes_), certificates):
            words = "" if part is None else f"{type(part).__name__}: "
            found += [
                Claim(words + claim.says, claim.value, claim.bound)
                for claim in claims
                if claim.says not in (SAME_DATA, FOLLOWING)
            ]
        return found

    def _prove(self, problem: TableProblem) -> list[Claim]:
        certificates, rows = list(problem.seen), problem.rows
        if len(certificates) > 1:
            return self._together(certificates)
        for place, part in enumerate(self.changes_):
            if place > 0:
                certificates.append(examine(part, part._open(rows, reset=False)))
            rows = changed(part, rows).cached()
        if self.sample_ is not None and len(self.sample_) and self.sample_.max() < (count := rows.count()):
            rows = Part(rows, np.isin(np.arange(count), self.sample_)).cached()
        inside = self.model_._open(rows, reset=False, target=self.model_.target)
        certificates.insert(0, examine(self.model_, inside))
        others = sum(bool(one.difference) for one in certificates)
        return [*self._together(certificates), Claim("its parts have seen other data", float(others), 0.0)]

    def _difference(self, problem: Problem) -> str | None:
        found = difference_from(self, self.fingerprint_of(problem.rows))
        return f"{found}, or they are encoded otherwise" if found and "columns" in found else found

    def _predicted_shape(self) -> tuple[int, ...]:
        found: tuple[int, ...] = getattr(self.model_, "_predicted_shape", tuple)()
        return found

    def encoded(self, X: Any) -> Rows:
        """Give the rows as the model sees them, without making them all at once.

        Parameters
        ----------
        X : frame, array-like, path, Dask collection or Rows
            The raw rows; a target that they know stays with them.
        """
        self._check_fitted()
        return self._changed(self._open(X, reset=False), self.changes_)

    def _changed(self, rows: Rows, changes: Iterable[Transformer]) -> Rows:
        for part in changes:
            rows = changed(part, rows)
        return rows

    def fingerprint_of(self, X: Any) -> Fingerprint:
        """Give the fingerprint of other rows, to compare with ``fingerprint_``: are these the rows of the fit?

        Parameters
        ----------
        X : frame, array-like, path, Dask collection or Rows
            The raw rows.
        """
        self._check_fitted()
        # Of the encoded columns in their own units: after scaling, all would look alike.
        rows = self._changed(self._open(X, reset=False), self.changes_[:1])
        known = self.target is not None and rows.has_target
        return rows.fold(Summary.of).fingerprint(rows.fold(target_sums)[:2] if known else None)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target (the cluster, if the model is a clusterer) of every row.

        Parameters
        ----------
        X : frame, array-like, path, Dask collection or Rows
            The raw columns.
        """
        rows = self.encoded(X)
        return self.model_.predict(rows)

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """Give the probability of each class, ``predict_proba(X)``, where the model has it."""
        return self._passed_on("predict_proba")

    @property
    def decision_function(self) -> Callable[[Any], np.ndarray]:
        """Score the classes, ``decision_function(X)``, where the model does."""
        return self._passed_on("decision_function")

    def _column_words(self) -> tuple[dict[str, list[str]], list[str]]:
        """Say what the numbers of each column of levels stand for, and which columns had holes in the fit, by their encoded names."""
        encoder, names = self.changes_[0], iter(self.model_.feature_names_in_)
        levels, holed = {}, []
        for column in getattr(encoder, "columns_", ()):
            own = [next(names) for _ in column.labels("")]
            if isinstance(column, LevelColumn) and column.coded:
                levels[own[0]] = [str(label) for label in column.slots().labels]
            if "stay so" in encoder.decisions_[column.place].rpartition(": ")[2]:
                holed += own
        return levels, holed

    def _passed_on(self, method: str) -> Callable[[Any], np.ndarray]:
        if not hasattr(self.model, method):
            raise NotAvailableError(f"{type(self.model).__name__} has no {method}.")

        def call(X: Any) -> np.ndarray:
            rows = self.encoded(X)
            return getattr(self.model_, method)(rows)

        return call

    @property
    def classes_(self) -> np.ndarray:
        """The classes, in the order of the columns of ``predict_proba``."""
        self._check_fitted()
        return self.model_.classes_

    @property
    def inference_(self) -> Any:
        """Standard errors and tests of the coefficients of encoded columns, where theory gives them."""
        self._check_fitted()
        return self.model_.inference_

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give the model's own score: R² for numbers, accuracy for classes.

        Parameters
        ----------
        X, y, sample_weight
            Raw rows with their true target.
        """
        self._check_fitted()
        rows = self._open(X, y, sample_weight, reset=False, target=self.target)
        return float(self.model_.score(self._changed(rows, self.changes_)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.model.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
