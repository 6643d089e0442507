"""Means of nearest rows without each row in turn.

To leave out a row changes the prediction only where it is among the k nearest; then the next one takes its place. So one search for
k + 1 neighbours tells what all n models say, and nothing has to be kept beside the rows of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.numbers import EPS, largest_share
from qed.base.saving.known import savable
from qed.base.sources.block import Block


@savable
@dataclass(frozen=True, eq=False)
class LeftOutNeighbors:
    """The error of the model without each row, at that row."""

    attributes: ClassVar = {"errors": floats("_")}
    errors: np.ndarray  # (n,): target less prediction

    def predictions(self, model: Any, block: Block) -> np.ndarray:
        """Predict the rows of a block by every model: of shape (m, n)."""
        k, n = model.n_neighbors, len(self.errors)
        found = model._nearest(block.X, k + 1)

        def said(places: np.ndarray) -> np.ndarray:
            chosen = type(found)(found.size[:, places], found.number[:, places])
            return np.asarray(model._answers(model._counted(chosen, np.ones((1, k))))["predict"], dtype=np.float64)

        answers = np.repeat(said(np.arange(k))[:, None], n, axis=1)
        lines = np.arange(len(answers))
        for place in range(k):
            answers[lines, found.number[:, place]] = said(np.delete(np.arange(k + 1), place))
        return answers

    def apart(self, other: LeftOutNeighbors) -> float:
        """Say how far other errors are from these, relative to the largest."""
        if np.shape(self.errors) != np.shape(other.errors):
            return np.inf
        return largest_share(self.errors, other.errors, np.abs(other.errors).max(initial=EPS))


def left_out_neighbors(model: Any) -> LeftOutNeighbors | None:
    """Give what models without each row say; None for rows with weights, more outputs, or fewer rows than neighbours."""
    n = model.n_samples_fit_
    refused = hasattr(model, "weight_fit_") or model.metric == "precomputed" or model.y_fit_.ndim > 1
    if refused or model.algorithm == "hashing" or model.n_neighbors + 1 >= n:
        return None
    answers = model._answers(model._heard(model.X_fit_, np.arange(n)))["predict"]
    return LeftOutNeighbors(model.y_fit_ - answers)
