"""The units in which a network learns a target: its own, or those of mean zero and variance one, in which no step is too long or short."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from qed.base.errors import InputError
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.neural.engine.node import Array


@dataclass(frozen=True)
class TargetUnits:
    """Where zero lies and how long one is, for each number that is predicted.

    >>> units = TargetUnits(np.array([10.0]), np.array([2.0]))
    >>> units.back(np.array([[-1.0], [0.5]])).ravel()
    array([ 8., 11.])
    """

    mean: Array
    scale: Array

    @classmethod
    def of(cls, rows: Rows) -> TargetUnits:
        """Take the mean and the spread of a target; what does not vary keeps its unit."""
        seen = rows.fold(_summary)
        with np.errstate(all="ignore"):
            spread = np.sqrt(seen.variance)
        if not (np.isfinite(seen.mean).all() and np.isfinite(spread).all()):
            raise InputError("The target is too large to be scaled: its squares overflow. Give it in larger units.")
        return cls(seen.mean, np.where(spread > 1e-12 * np.abs(seen.mean), spread, 1.0))

    def change(self, rows: Rows, dtype: type[np.floating]) -> Rows:
        """Give rows with the target in these units."""
        return rows.through(_with_units, self, target_only=True, target_dtype=np.dtype(dtype)).cached()

    def back(self, out: Array) -> Array:
        """Give what comes out of a network, rows by numbers, in the units of the target."""
        dtype = out.dtype
        return np.asarray(out * self.scale.astype(dtype, copy=False) + self.mean.astype(dtype, copy=False))

    def inside(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Give a last layer, in double precision, that gives the target in its own units."""
        return coef.astype(np.float64) * self.scale, intercept.astype(np.float64) * self.scale + self.mean


def _summary(block: Block) -> Summary:
    y = np.asarray(block.y, dtype=np.float64)
    return Summary.of(Block(y.reshape(len(y), -1), None, block.weight))


def _with_units(block: Block, units: TargetUnits) -> Block:
    y = np.asarray(block.y, dtype=np.float64)
    scaled = (y.reshape(len(y), -1) - units.mean) / units.scale
    return replace(block, y=scaled.reshape(y.shape))
