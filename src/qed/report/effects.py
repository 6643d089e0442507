"""What a fitted model says about its columns: how each was encoded, what it does to the prediction, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import NotAvailableError


@dataclass(frozen=True)
class Effect:
    """What one encoded column does.

    Attributes
    ----------
    name : str
        The column.
    standardised : tuple of float
        The change of the prediction (or of each class's score) for one standard deviation of the column.
    per_unit : tuple of float
        The same for one unit of the column; empty where columns are products.
    """

    name: str
    standardised: tuple[float, ...]
    per_unit: tuple[float, ...] = ()

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.standardised))


def inner_model(model: Any) -> Any:
    """Give the model behind the encoder, or the model itself where there is none."""
    return getattr(model, "model_", model)


def decisions_of(model: Any) -> list[dict[str, str]]:
    """Say how each raw column is encoded: one item a column, with its name and what is done with it."""
    changes = getattr(model, "changes_", [])
    said = getattr(changes[0], "decisions_", []) if changes else []
    names = [str(name) for name in getattr(model, "feature_names_in_", range(len(said)))]
    return [{"column": name, "how": line.removeprefix(f"{name!r}: ")} for name, line in zip(names, said)]


def outputs_of(model: Any) -> list[str]:
    """Name what the coefficients belong to."""
    inner = inner_model(model)
    classes = getattr(inner, "classes_", None)
    if classes is not None:
        return [str(label) for label in (classes if len(classes) > 2 else classes[-1:])]
    if hasattr(inner, "cluster_centers_"):
        return [f"cluster {number}" for number in range(len(inner.cluster_centers_))]
    return [getattr(model, "target_name_", None) or "prediction"]


def effects_of(model: Any) -> list[Effect]:
    """Give the effect of every encoded column, the largest first; none for models without coefficients."""
    inner = inner_model(model)
    found = next((getattr(inner, name) for name in ("coef_", "cluster_centers_") if hasattr(inner, name)), None)
    if found is None:
        return []
    values = np.atleast_2d(np.asarray(found, dtype=np.float64))
    names = getattr(inner, "feature_names_in_", [f"x{j}" for j in range(values.shape[1])])
    spread = np.sqrt(inner.fingerprint_.variance)
    standard, unit = values * spread, values
    if getattr(model, "changes_", None) and hasattr(model.changes_[-1], "scale_"):
        scaler = model.changes_[-1]
        unit = values * scaler.scale_ + scaler.mean_ if hasattr(inner, "cluster_centers_") else values / scaler.scale_
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
