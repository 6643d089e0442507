"""What a fitted model is, what it learned and what proves it, in words and numbers, without the data it was fitted on."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.certificate import Certificate
from qed.base.errors import InputError, NotAvailableError
from qed.base.models.no_effect import without_effect
from qed.base.models.roles import Grouper
from qed.trees.nodes import Nodes
from qed.trees.words.drawing import export_rules, export_text

# Levels of a tree, and leaves, that are written out.
LEVELS, MOST_RULES = 4, 100


@dataclass(frozen=True)
class Effect:
    """What one encoded column does."""

    name: str  # the column
    # The change of the prediction (or of each class's score) for one standard deviation of the column; of trees, its importance.
    standardised: tuple[float, ...]
    per_unit: tuple[float, ...] = ()  # the same for one unit of the column; empty where columns are products

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.standardised))


@dataclass(frozen=True)
class Explanation:
    """What a model is, what it learned, and what proves it."""

    kind: str  # the class of the model
    target: str | None
    parameters: dict[str, object]
    columns: list[str]  # the columns of the table it was fitted on
    decisions: list[dict[str, str]] = field(default_factory=list)  # how each of them is encoded: `column` and `how`
    measure: str = (
        "coefficient"  # what effects are: coefficients, the importance of columns to questions, or centres of clusters
    )
    # What the coefficients belong to: the classes, the clusters, or the target.
    outputs: list[str] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)  # the encoded columns, the largest effect first
    # The questions of a tree, as a drawing of letters and as a sentence for every leaf; empty where the model is none.
    questions: str = ""
    rules: list[str] = field(default_factory=list)
    # The table of standard errors and tests, or the reason why there is none; empty where nobody would ask.
    inference: str = ""
    certificate: Certificate | None = None  # the proof that came with the fit
    rows: int | None = None  # how many rows it was fitted on
    ending: str = ""  # why an iterative fit ended
    scaled: bool = False  # whether the model sees columns of mean zero and variance one

    def to_dict(self) -> dict[str, object]:
        """Give everything as lists, numbers and strings."""
        effects = [
            {"name": one.name, "standardised": list(one.standardised), "per_unit": list(one.per_unit)}
            for one in self.effects
        ]
        certificate = None if self.certificate is None else self.certificate.to_dict()
        return {**vars(self), "effects": effects, "certificate": certificate}


def explanation_of(model: Any) -> Explanation:
    """Say what a fitted model is; of a search its best model, of a pipeline the last step, of `Conformal` the model inside.

    >>> import qed
    >>> X, y = qed.data.load("stackloss").Xy()
    >>> found = explanation_of(qed.LinearRegression().fit(X, y))
    >>> found.kind, found.rows, found.effects[0].name
    ('LinearRegression', 21, 'x0')
    """
    model = _unwrapped(model)
    inner = inner_model(model)
    fingerprint, sample = getattr(model, "fingerprint_", None), getattr(model, "sample_", None)
    return Explanation(
        kind=type(inner).__name__,
        target=getattr(model, "target_name_", None),
        parameters=_parameters(model, inner),
        columns=[str(name) for name in getattr(model, "feature_names_in_", ())],
        decisions=decisions_of(model),
        measure=_measure(inner),
        outputs=outputs_of(model),
        effects=effects_of(model),
        questions=export_text(model, max_depth=LEVELS - 1) if is_tree(model) else "",
        rules=rules_of(model),
        inference=inference_of(inner),
        certificate=getattr(model, "certificate_", None),
        rows=None if fingerprint is None else int(fingerprint.count if sample is None else len(sample)),
        ending=str(getattr(inner, "ending_", "")),
        scaled=_is_scaled(model),
    )


def _unwrapped(model: Any) -> Any:
    """Give the model of qed inside what was built around it, or say that there is none."""
    while not hasattr(model, "_prove") or hasattr(model, "best_estimator_") or hasattr(model, "left_out_"):
        steps = getattr(model, "steps", None)
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(steps, list) and steps:
            model = steps[-1][1]
        elif hasattr(model, "left_out_"):
            model = model.estimator_
        else:
            name = model.__name__ if isinstance(model, type) else type(model).__name__
            raise InputError(
                f"{name} is no model of qed, so there is nothing to explain: give a model, or a pipeline or search of models."
            )
    return model


def inner_model(model: Any) -> Any:
    """Give the model behind the encoder, or the model itself where there is none."""
    return getattr(model, "model_", model)


def has_importances(inner: Any) -> bool:
    """Say whether a model has no coefficients but the shares that columns have in what its questions are worth."""
    return hasattr(inner, "feature_importances_") and not hasattr(inner, "coef_")


def centers_of(inner: Any) -> np.ndarray | None:
    """Give the centres of a clusterer, or the means of a mixture; None for what has neither, or centres elsewhere than among the rows."""
    if not isinstance(inner, Grouper) or hasattr(inner, "embedding_"):
        return None
    return next((getattr(inner, name) for name in ("cluster_centers_", "means_") if hasattr(inner, name)), None)


def _measure(inner: Any) -> str:
    if centers_of(inner) is not None:
        return "centre"
    return "importance" if has_importances(inner) else "coefficient"


def is_tree(model: Any) -> bool:
    """Say whether a model is a single tree."""
    return isinstance(getattr(inner_model(model), "tree_", None), Nodes)


def rules_of(model: Any, most: int = MOST_RULES) -> list[str]:
    """Give the rules of a tree as sentences, those for most rows first; the last one may say how many more there are."""
    return export_rules(model, most=most).split("\n") if is_tree(model) else []


def _is_scaled(model: Any) -> bool:
    return bool(getattr(model, "changes_", ())) and hasattr(model.changes_[-1], "scale_")


def _parameters(model: Any, inner: Any) -> dict[str, object]:
    given = inner.get_params(deep=False).items()
    shown = {name: _plain(value) for name, value in given if name not in without_effect(inner)}
    degree = getattr(model, "degree", 1)
    return shown if degree == 1 else {**shown, "products of columns up to degree": degree}


def _plain(value: object) -> object:
    if isinstance(value, (type(None), bool, int, float, str)):
        return value
    if isinstance(value, type):
        return value.__name__
    return value.tolist() if hasattr(value, "tolist") else str(value)


def decisions_of(model: Any) -> list[dict[str, str]]:
    """Say how each raw column is encoded: one item a column, with its name and what is done with it."""
    changes = getattr(model, "changes_", [])
    said = getattr(changes[0], "decisions_", []) if changes else []
    names = [str(name) for name in getattr(model, "feature_names_in_", range(len(said)))]
    return [{"column": name, "how": line.removeprefix(f"{name!r}: ")} for name, line in zip(names, said)]


def outputs_of(model: Any) -> list[str]:
    """Name what the coefficients belong to."""
    inner = inner_model(model)
    if has_importances(inner):
        return ["share of all"]
    classes = getattr(inner, "classes_", None)
    if classes is not None:
        return [str(label) for label in (classes if len(classes) > 2 else classes[-1:])]
    centers = centers_of(inner)
    if centers is not None:
        return [f"cluster {number}" for number in range(len(centers))]
    return [getattr(model, "target_name_", None) or "prediction"]


def effects_of(model: Any) -> list[Effect]:
    """Give the effect of every encoded column, the largest first: its coefficients or its importance; none for models without either."""
    inner = inner_model(model)
    if has_importances(inner):
        shares = np.asarray(inner.feature_importances_, dtype=np.float64)
        names = getattr(inner, "feature_names_in_", [f"x{j}" for j in range(len(shares))])
        order = np.argsort(-shares, kind="stable")
        return [Effect(str(names[j]), (float(shares[j]),)) for j in order]
    centers = centers_of(inner)
    found = getattr(inner, "coef_", None) if centers is None else centers
    if found is None:
        return []
    values = np.atleast_2d(np.asarray(found, dtype=np.float64))
    names = getattr(inner, "feature_names_in_", [f"x{j}" for j in range(values.shape[1])])
    seen = getattr(inner, "fingerprint_", None)
    if seen is None or len(seen.variance) != values.shape[1]:
        return []  # coefficients of something else than columns
    spread = np.sqrt(seen.variance)
    standard, unit = values * spread, values
    if _is_scaled(model):
        scaler = model.changes_[-1]
        unit = values * scaler.scale_ + scaler.mean_ if centers is not None else values / scaler.scale_
    if getattr(model, "degree", 1) > 1:
        unit = np.empty((0, values.shape[1]))
    effects = [Effect(str(name), tuple(standard[:, j]), tuple(unit[:, j])) for j, name in enumerate(names)]
    return sorted(effects, key=lambda effect: -effect.size)


def inference_of(inner: Any) -> str:
    """Give the table of standard errors and tests, or the reason why there is none."""
    if not hasattr(type(inner), "inference_"):
        return ""
    try:
        return str(inner.inference_)
    except NotAvailableError as error:
        return str(error)
