"""``qed certify``: recompute what a saved model claims from the data, and say whether these are the data it was fitted on.

The file is streamed, as often as the claims need it; nothing the fit believed is used.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.certificate import Certificate
from qed.base.errors import InputError
from qed.base.models.proof import certify as recompute
from qed.base.saving.models import load
from qed.base.sources.block import Block
from qed.base.sources.open import rows
from qed.base.sources.rows import Rows
from qed.commands.predict import columns_of
from qed.commands.source import find, missing
from qed.stats.parts import Part


@dataclass(frozen=True)
class Checked:
    """What came of checking a model against data."""

    kind: str  # the class of the model
    certificate: Certificate  # the claims, recomputed
    difference: str  # how the data differ from those of the fit, in words; empty when they are the same
    rows: int  # how many rows were looked at
    n_lost: int = 0  # how many were left out because their target is missing

    def to_dict(self) -> dict[str, object]:
        """Give everything as lists, numbers and strings."""
        shown = {**vars(self), "certificate": self.certificate.to_dict()}
        return {"holds": bool(self.certificate), "same_data": not self.difference, **shown}


def certify(model_path: str, data: str, target: str | None = None) -> Checked:
    """Recompute the certificate of a saved model from the data.

    The target is the column that the model predicts, where the model does not know its name.
    """
    model = load(model_path)
    source, n_lost = opened(model, data, target)
    found = recompute(model, source)
    difference = "the model has no fingerprint of its data" if found.difference is None else found.difference
    kind = type(getattr(model, "model_", model)).__name__
    return Checked(kind, found, difference, source.count(), n_lost)


def opened(model: Any, data: str, target: str | None) -> tuple[Rows, int]:
    """Open the columns that the model needs, without the rows that lack a target."""
    path, _ = find(data)
    target = target or getattr(getattr(model, "estimator_", model), "target_name_", None)
    present = [name for name in rows(path).feature_names or () if name != target]
    if model.target is None:
        return _viewed(model, rows(path, columns=columns_of(model, present, data))), 0
    if target is None:
        raise InputError("The model does not say which column it predicts: name it with --target.")
    source = _viewed(model, rows(path, target=target, columns=columns_of(model, present, data)))
    lost = np.concatenate(list(source.each(_without_target)))
    if lost.all():
        raise InputError(f"The target {target!r} is missing in all rows of {data!r}.")
    return (Part(source, ~lost) if lost.any() else source), int(lost.sum())


def _viewed(model: Any, source: Rows) -> Rows:
    inner = getattr(model, "estimator_", model)
    return source.table() if hasattr(inner, "changes_") else source.numbers()


def _without_target(block: Block) -> np.ndarray:
    return missing(block.y)
