"""What a mixture is looked for in: rows, how they are spread, and what one pass says of some mixtures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.checks import overflowed, refuse_missing
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.problem import Problem
from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.quadratic import MOST_COLUMNS, WORTH_COMPILING, Origin, Ready
from qed.clustering.mixtures.shares import Held, Shares, Together

# Sums of numbers are off by no more than so many roundings of their sizes: they are added in pieces, and these pairwise; and by so many
# more where the rows of a piece are added one after another.
ROUNDINGS_OF_SUMS, IN_A_ROW = 64, 1 << 12


class MixtureProblem(Problem):
    """Rows, some of which may lack columns, to find `model.n_components` components in."""

    rows: Rows

    def __init__(self, rows: Rows, model: Any, held: Held) -> None:
        self.rows, self.target_ndim, self.held = rows, rows.target_ndim, held
        self.summary: Summary = rows.fold(Summary.of)
        self._check(model)
        self.holes = bool(self.summary.missing.any())
        self._last: tuple[Mixture, Shares] | None = None

    def _check(self, model: Any) -> None:
        seen, k = self.summary, model.n_components
        if seen.count < k:
            raise InputError(
                f"GaussianMixture: expected n_samples >= n_components, but got n_components = {k}, n_samples = {seen.count}. "
                "Give more rows (of positive weight), or ask for fewer components."
            )
        there = seen.weight > 0
        if not all(np.isfinite(ends[there]).all() for ends in (seen.low, seen.high, seen.mean)):
            refuse_missing(self.rows, model)
            raise overflowed(model)
        if not there.all():
            column = self.rows.name_of(int(there.argmin()))
            raise InputError(f"GaussianMixture: no row has a value in column {column}: leave it out.")
        with np.errstate(over="ignore"):
            square = float(((seen.high - seen.low) ** 2).sum()) * max(1.0, float(seen.weight.max()))
        if not math.isfinite(square):
            raise overflowed(model)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return self.summary.fingerprint()

    @cached_property
    def origin(self) -> Origin | None:
        """Where quadratic features are taken from; None for few rows, where compiling takes longer, and for rows that lack columns."""
        count, p = self.rows.known_count(), self.rows.n_features
        few = count is not None and count * p < WORTH_COMPILING // 8
        if few or self.holes or p > MOST_COLUMNS:
            return None
        return Origin(self.summary.mean)

    def shares(self, mixtures: Sequence[Mixture], held: Held | None = None) -> tuple[Shares, ...]:
        """Share out the rows by some mixtures, in one pass."""
        ready = [(mixture, Ready.to_share(mixture, self.origin)) for mixture in mixtures]
        return tuple(self.rows.fold(Together.of, ready, held or self.held, self.holes))

    def found(self, mixture: Mixture) -> Shares:
        """Say what the rows have to say of a mixture; the last answer is remembered."""
        if self._last is None or not same(self._last[0], mixture):
            self._last = mixture, self.shares([mixture])[0]
        return self._last[1]

    def remember(self, mixture: Mixture, shares: Shares) -> None:
        """Keep what the rows said of a mixture."""
        self._last = mixture, shares

    def rounding(self, mixture: Mixture, found: Shares) -> float:
        """Bound what rounding can do to the mean logarithm of the density of rows, given what they say of the mixture.

        Each square is off by a share of itself that grows with the skew of the whitening, each sum by a few units of what is summed.
        """
        p = mixture.p
        squares = 2 * (p + 3) * mixture.skew * found.reach(mixture)
        # What rows do not belong to is not in it: a component without weight has an infinite logarithm.
        constants = np.abs(mixture.constants[np.isfinite(mixture.constants)]).max(initial=0.0)
        rounding = EPS * (squares + ROUNDINGS_OF_SUMS * found.size / found.total + 4 * (constants + mixture.k))
        if self.origin is not None and self.origin.keeps(mixture):
            rounding += EPS * IN_A_ROW * found.size / found.total
            rounding += self.origin.rounding(mixture, found.squares_about(self.origin.centre, mixture))
        return float(rounding)


def same(one: Mixture, other: Mixture) -> bool:
    """Say whether two mixtures have the same numbers."""
    names = ("weights", "means", "covariances", "roots")
    return one.kind == other.kind and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
