"""``qed calibrate``: give a saved model intervals, or sets of classes, with guaranteed coverage.

With the data of its fit the model is fitted again without each fold (CV+). With other data, which it has not seen, it stays what it is, and
these are what it is calibrated by; so do the rows of its fit that a model of a sample has not seen.
"""

from dataclasses import dataclass

import numpy as np

from qed.base.models.proof import certify as recompute
from qed.base.saving.models import load, save
from qed.commands.certify import opened
from qed.commands.files import check_not_read
from qed.selection.guarantees.conformal import Conformal
from qed.stats.parts import Part


@dataclass(frozen=True)
class Calibrated:
    """What came of calibrating a model."""

    kind: str  # the class of the model
    output: str  # where it was written
    method: str  # "cv+", "jackknife+" or "split"
    how: str  # what was done, in words
    level: float  # the level that it answers by default
    guarantee: float  # the coverage that theory guarantees there
    rows: int  # how many rows calibrate

    def to_dict(self) -> dict[str, object]:
        """Give everything as numbers and strings."""
        return vars(self)


def calibrate(
    model_path: str, data: str, output: str, *, target: str | None = None, level: float = 0.9, method: str = "auto"
) -> Calibrated:
    """Calibrate a saved model by the rows of a file, and save it with what it has learned of its errors."""
    check_not_read(output, data)
    model = load(model_path)
    model = model.estimator_ if isinstance(model, Conformal) else model
    rows, _ = opened(model, data, target)
    chosen = method
    if method == "auto":
        chosen = "auto" if recompute(model, rows).difference == "" else "prefit"
        sample = getattr(model, "sample_", None)
        if chosen == "auto" and sample is not None:
            # The rows that it has not learned from are there already.
            chosen, rows = "prefit", Part(rows, ~np.isin(np.arange(rows.count()), sample))
    made = Conformal(model, level=level, method=chosen).fit(rows)
    save(made, output)
    kind = type(getattr(model, "model_", model)).__name__
    return Calibrated(kind, output, made.method_, made.how_, level, made.guarantee_, len(made.scores_))
