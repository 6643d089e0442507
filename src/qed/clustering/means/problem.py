"""What centres are looked for in: rows that were looked at, and what one pass says of a set of centres.

The pass that labels the rows also gives what a proof needs: the means and costs of the clusters, and the scatter of all rows, whose
spectrum bounds the cost of any clusters from below. It is made once for each set of centres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.checks import overflowed
from qed.base.models.problem import RowsProblem
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows, Rows
from qed.clustering.means.assignment import Assignment
from qed.clustering.means.distances import rounding_of
from qed.clustering.means.nearest import Search, UnitScaling
from qed.stats.moments import Moments


class ClusterProblem(RowsProblem):
    """Rows to find `model.n_clusters` centres in."""

    def __init__(self, rows: Rows, model: Any) -> None:
        super().__init__(_by_rows(rows), model)
        summary, k = self.summary, model.n_clusters
        if summary.count < k:
            raise InputError(
                f"n_samples={summary.count} rows can not make n_clusters={k} clusters: "
                "give more rows (of positive weight) or ask for fewer clusters."
            )
        width = summary.high - summary.low
        with np.errstate(over="ignore", under="ignore"):
            square = float((width**2).sum()) * max(1.0, float(summary.weight.max()))
        if not math.isfinite(square):
            raise overflowed(model)
        if square == 0 and width.any():
            raise InputError("The rows differ so little that squared distances vanish: multiply the columns by 1e150.")
        self._last: Found | None = None
        self.hint: np.ndarray | None = None  # labels from which rows may begin to look for their nearest centre

    @cached_property
    def variance(self) -> float:
        """The mean variance of the columns."""
        return float(self.summary.variance.mean())

    @cached_property
    def scaling(self) -> UnitScaling:
        return UnitScaling.around(self.summary.low, self.summary.high)

    def rounding(self, found: Assignment) -> float:
        """Bound what rounding can do to the difference of two squared distances of a row from centres that have rows."""
        low, high, centers = self.summary.low, self.summary.high, found.centers[0][found.weight[0] > 0]
        if self.rows.is_sparse:
            reach = 2 * (np.maximum(abs(low), abs(high)) ** 2 + (centers**2).max(axis=0, initial=0.0)).sum()
        else:
            reach = (np.maximum(abs(low - centers), abs(high - centers)) ** 2).sum(axis=1).max(initial=0.0)
        return 2 * rounding_of(self.rows.n_features) * float(reach)

    def found(self, centers: np.ndarray, before: np.ndarray | None = None, hint: np.ndarray | None = None) -> Found:
        """Say what the rows have to say of centres, in one pass; the last answer is remembered.

        Rows that have had labels `before` stay with them where another centre is as near. Labels given as a `hint` may be wrong: the
        answer is the same, and sooner there where they are right.
        """
        k, count = len(centers), self.rows.known_count()
        if before is not None and not _are_labels(before, k, count):
            before = None
        hint = self.hint if hint is None else hint
        if (
            self._last is None
            or not np.array_equal(self._last.assignment.centers[0], centers)
            or (before is not None and not np.array_equal(self._last.labels, before))
        ):
            centers = np.asarray(centers, dtype=np.float64)
            search = None
            # A cluster would have to be sent them.
            if before is None and hint is not None and self.rows.in_memory and _are_labels(hint, k, count):
                search, before = Search.among(centers, self.scaling, centers), hint
            labels = np.full(count, -1, np.int32) if self.rows.in_memory and count is not None else None
            self._last = self.rows.fold(Found.of, centers, before, search, labels)
        assert self._last is not None
        return self._last


@dataclass(frozen=True)
class Found:
    """What one pass says of centres: who is nearest to them, and how all rows are scattered, where that is cheap."""

    assignment: Assignment
    scatter: Moments | None
    whole: np.ndarray | None = None  # the labels of all rows, where blocks wrote theirs into one array

    @classmethod
    def of(
        cls,
        block: Block,
        centers: np.ndarray,
        before: np.ndarray | None = None,
        search: Search | None = None,
        whole: np.ndarray | None = None,
    ) -> Found:
        k, p = centers.shape
        # With that many columns, the scatter takes no longer than a few passes of Lloyd's algorithm.
        cheap = k - 1 < p <= max(32, 4 * k)
        own = np.full(len(block), -1, np.int32) if whole is None else whole[block.start : block.start + len(block)]
        if search is not None and before is not None:
            assignment = Assignment.near(block, search, before, own)
        else:
            assignment = Assignment.of(block, centers[None], before, own)
        return cls(assignment, Moments.of_features(block, compiled=False) if cheap else None, whole)

    def __add__(self, other: Found) -> Found:
        both = None if self.scatter is None or other.scatter is None else self.scatter + other.scatter
        return Found(self.assignment + other.assignment, both, self.whole)

    @cached_property
    def labels(self) -> np.ndarray:
        return np.concatenate(self.assignment.labels) if self.whole is None else self.whole

    @property
    def inertia(self) -> float:
        return float(self.assignment.inertia[0])

    @property
    def off(self) -> float:
        """The sum of squared distances of the centres from the means of their rows."""
        return float(((self.assignment.means - self.assignment.centers) ** 2).sum())

    @property
    def noise(self) -> np.ndarray:
        """What rounding can do to the squared distance of each centre from the mean of its rows, for each squared unit of rounding."""
        return np.asarray(self.assignment.spread[0] + (self.assignment.centers[0] ** 2).sum(axis=1))

    @property
    def least(self) -> float | None:
        """A cost below which no clusters can be: the trace of the scatter less its k - 1 largest eigenvalues."""
        if self.scatter is None:
            return None
        value = np.linalg.eigvalsh(np.nan_to_num(self.scatter.xx))  # a column whose squares vanish adds nothing
        least = float(value[: len(value) - (self.assignment.weight.shape[1] - 1)].sum())
        return least if least > 1e-12 * float(value[-1]) else 0.0


def _are_labels(labels: np.ndarray, k: int, count: int | None) -> bool:
    """Say whether there is one of k labels for each row."""
    right = labels.dtype.kind == "i" and labels.shape == (count,)
    return right and (not len(labels) or bool(0 <= labels.min() <= labels.max() < k))


def _by_rows(rows: Rows) -> Rows:
    """Give dense rows in memory in the order in which passes read them: a copy where they are stored by columns, as frames are."""
    if (
        not isinstance(rows, ArrayRows)
        or not isinstance(rows.X, np.ndarray)
        or rows.X.flags.c_contiguous
        or rows.facts.is_mapped
    ):
        return rows
    given = (rows.y, rows.weight, rows.feature_names, rows.size)
    return ArrayRows(np.ascontiguousarray(rows.X), *given, target_names=rows.target_names, first=rows.first)
