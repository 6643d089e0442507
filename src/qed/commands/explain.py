"""``qed explain``: what a model file holds, in words and numbers, without the data it was fitted on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from qed.base.certificate import Certificate
from qed.base.saving.models import load
from qed.report.effects import Effect, decisions_of, effects_of, inference_of, inner_model, outputs_of


@dataclass(frozen=True)
class Explanation:
    """What a model is, what it learned, and what proves it.

    Attributes
    ----------
    kind : str
        The class of the model.
    target : str or None
        The column that it predicts.
    parameters : dict
        Its parameters.
    columns : list of str
        The columns of the table it was fitted on.
    decisions : list of dict
        How each of them is encoded: ``column`` and ``how``.
    outputs : list of str
        What the coefficients belong to: the classes, the clusters, or the target.
    effects : list of Effect
        The encoded columns, the largest effect first.
    inference : str
        The table of standard errors and tests, or the reason why there is none; empty where nobody would ask.
    certificate : Certificate or None
        The proof that came with the fit.
    rows : int or None
        How many rows it was fitted on.
    ending : str
        Why an iterative fit ended.
    scaled : bool
        Whether the model sees columns of mean zero and variance one.
    """

    kind: str
    target: str | None
    parameters: dict[str, Any]
    columns: list[str]
    decisions: list[dict[str, str]] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    inference: str = ""
    certificate: Certificate | None = None
    rows: int | None = None
    ending: str = ""
    scaled: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Give everything as lists, numbers and strings."""
        effects = [
            {"name": one.name, "standardised": list(one.standardised), "per_unit": list(one.per_unit)}
            for one in self.effects
        ]
        certificate = None if self.certificate is None else self.certificate.to_dict()
        return {**vars(self), "effects": effects, "certificate": certificate}


def explain(path: str) -> Explanation:
    """Read a model file and say what it holds.

    Parameters
    ----------
    path : str
        The file, as `qed.save` or ``qed compare`` wrote it.
    """
    return explanation_of(load(path))


def explanation_of(model: Any) -> Explanation:
    """Say what a fitted model is.

    Parameters
    ----------
    model : fitted estimator
        A `qed.TableModel`, or any other model of qed.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("stackloss").Xy()
    >>> found = explanation_of(qed.LinearRegression().fit(X, y))
    >>> found.kind, found.rows, found.effects[0].name
    ('LinearRegression', 21, 'x0')
    """
    inner = inner_model(model)
    fingerprint = getattr(model, "fingerprint_", None)
    return Explanation(
        kind=type(inner).__name__,
        target=getattr(model, "target_name_", None),
        parameters=_parameters(model, inner),
        columns=[str(name) for name in getattr(model, "feature_names_in_", ())],
        decisions=decisions_of(model),
        outputs=outputs_of(model),
        effects=effects_of(model),
        inference=inference_of(inner),
        certificate=getattr(model, "certificate_", None),
        rows=None if fingerprint is None else int(fingerprint.count),
        ending=str(getattr(inner, "ending_", "")),
        scaled=bool(getattr(model, "scale", False)),
    )


def _parameters(model: Any, inner: Any) -> dict[str, Any]:
    shown = {name: _plain(value) for name, value in inner.get_params(deep=False).items()}
    degree = getattr(model, "degree", 1)
    return shown if degree == 1 else {**shown, "products of columns up to degree": degree}


def _plain(value: Any) -> Any:
    if isinstance(value, (type(None), bool, int, float, str)):
        return value
    return value.tolist() if hasattr(value, "tolist") else str(value)
