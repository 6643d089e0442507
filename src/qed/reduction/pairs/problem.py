"""What canonical correlation analysis solves: the moments of both tables, their pairs, and the units of their columns."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from qed.base.models.problem import StatisticProblem
from qed.reduction.pairs.canonical import Canonical


class CanonicalProblem(StatisticProblem):
    """Moments of both tables, and their canonical pairs."""

    @cached_property
    def canonical(self) -> Canonical:
        """The pairs."""
        return Canonical(self.statistic, self.model.alpha)

    @cached_property
    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """What features and targets are divided by."""
        seen, found = self.statistic, self.canonical
        each = np.where(found.varies, found.length / np.sqrt(seen.weight - 1), 1.0)
        each = each if self.model.scale else np.ones(len(each))
        return each[: seen.n_features], each[seen.n_features :]

    @cached_property
    def _turns(self) -> tuple[np.ndarray, np.ndarray]:
        """By what directions for columns of length one are multiplied to be those for columns as they are scaled."""
        seen, length = self.statistic, self.canonical.length
        each = np.concatenate(self.scales) * np.sqrt(seen.weight - 1) / length
        return each[: seen.n_features, None], each[seen.n_features :, None]

    def in_units(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give directions for columns as they are scaled."""
        x, y = self._turns
        return U * x, V * y

    def from_units(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give directions for columns of length one."""
        x, y = self._turns
        return U / x, V / y

    @cached_property
    def covariances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The covariances of scaled columns: of features, of features with targets, of targets."""
        seen = self.statistic
        scale = np.concatenate(self.scales)
        found = seen.scatter / (seen.weight - 1) / scale / scale[:, None]
        p = seen.n_features
        return found[:p, :p], found[:p, p:], found[p:, p:]
