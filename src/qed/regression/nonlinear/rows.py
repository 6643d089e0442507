r"""A user's curve on blocks of rows: residuals, slopes and bends of :math:`f(x; w)` as additive statistics.

Everything a step of nonlinear least squares needs of the rows is a sum over blocks: the triangular factor of the Jacobian and the
residuals (:class:`qed.optim.functions.tangent.Tangent`), the product of the Jacobian with a second difference, or the gradient at a
few points. So the fit reads files and clusters as it reads arrays.
The user's function sees some of the rows at a time and must treat each by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.checks import overflowed
from qed.base.models.parameters import calling
from qed.base.models.problem import RowsProblem
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.functions.residuals import PROBE, SumOfSquares, second_difference
from qed.optim.functions.slopes import SLOPE_ERRORS, agree, best_method, slopes
from qed.optim.functions.tangent import Tangent
from qed.stats.products import target_summary, vanishes

SAMPLED_ROWS = 64
NEAR = 1e-5

Function = Callable[[np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class Curve:
    """A function of rows and parameters, with the way in which its slopes are found."""

    function: Function  # `function(X, w)`, a prediction for each row of `X`
    # `jacobian(X, w)`, the derivatives for each parameter, or how to find them: "complex", "central", "forward".
    jacobian: Any
    scale: np.ndarray  # (d,): the size of change that matters in a parameter near zero

    def values(self, X: Any, w: np.ndarray) -> np.ndarray:
        """Give the predictions, which may be infinite or NaN for parameters that make no sense."""
        found = self._raw(_numbers(X), w)
        if np.iscomplexobj(found):
            raise InputError(
                f"{_name(self.function)} gives complex predictions for real parameters: it must give real ones."
            )
        return np.asarray(found, dtype=np.float64)

    def _raw(self, X: np.ndarray, w: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            try:
                with calling("function", self.function, "rows and parameters"):
                    given = self.function(X, w.copy())
            except ArithmeticError:
                return np.full(len(X), np.nan)
        found = np.asarray(given)
        if found.dtype.kind not in "biufc" or found.size != len(X) or found.ndim not in (1, 2):
            raise InputError(
                f"{_name(self.function)} must give one number for each of {len(X)} rows, shape ({len(X)},), "
                f"not {f'the shape {found.shape}' if found.dtype.kind in 'biufc' else repr(given)[:80]}."
            )
        return found.reshape(-1)

    def slopes(self, X: Any, w: np.ndarray) -> np.ndarray:
        """Give the derivatives of the predictions, a column for each parameter."""
        if not callable(self.jacobian):
            return slopes(partial(self._raw, _numbers(X)), w, self.jacobian, self.scale)
        with np.errstate(all="ignore"), calling("jacobian", self.jacobian, "rows and parameters"):
            found = np.asarray(self.jacobian(_numbers(X), w.copy()), dtype=np.float64)
        if found.shape != (len(X), len(w)):
            raise InputError(
                f"{_name(self.jacobian)} must give a derivative for each row and parameter, shape {(len(X), len(w))}, "
                f"not {found.shape}."
            )
        return found

    def tangent(self, block: Block, w: np.ndarray) -> Tangent:
        """Give the tangent plane of the residuals of a block."""
        X, y, weight = _present(block)
        if len(X) == 0:
            return Tangent.of(np.empty((0, len(w))), np.empty(0))
        size = float(y @ y if weight is None else y**2 @ weight)
        return Tangent.of(self.slopes(X, w), self.values(X, w) - y, weight, size)

    def cost(self, block: Block, w: np.ndarray) -> float:
        """Give half the weighted sum of squared residuals of a block."""
        X, y, weight = _present(block)
        if len(X) == 0:
            return 0.0
        with np.errstate(all="ignore"):
            square = (self.values(X, w) - y) ** 2
        return 0.5 * float(square.sum() if weight is None else square @ weight)

    def bend(self, block: Block, w: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Give the product of the Jacobian with the second derivative along a direction."""
        X, _, weight = _present(block)
        if len(X) == 0:
            return np.zeros(len(w))
        J = self.slopes(X, w)
        bent = second_difference(self.values(X, w), self.values(X, w + PROBE * direction), J @ direction)
        with np.errstate(all="ignore"):
            return np.asarray(J.T @ (bent if weight is None else bent * weight))

    def gradients(self, block: Block, points: np.ndarray) -> np.ndarray:
        """Give the gradients of the cost at several points, a row each."""
        X, y, weight = _present(block)
        if len(X) == 0:
            return np.zeros(points.shape)
        found = []
        with np.errstate(all="ignore"):
            for w in points:
                residual = self.values(X, w) - y
                found.append(self.slopes(X, w).T @ (residual if weight is None else residual * weight))
        return np.array(found)

    def first_bad(self, block: Block, w: np.ndarray) -> int:
        """Give the number of the first row without a finite prediction, or -1."""
        X, _, _ = _present(block)
        bad = np.flatnonzero(~np.isfinite(self.values(block.X, w))) if len(X) else np.empty(0)
        used = bad if block.weight is None else [row for row in bad if block.weight[row] > 0]
        return block.start + int(used[0]) if len(used) else -1


class CurveProblem(RowsProblem):
    """A curve of the user's on rows, and where to begin."""

    def __init__(self, rows: Rows, model: Any, names: tuple[str, ...], starts: np.ndarray, curve: Curve) -> None:
        super().__init__(rows, model)
        target = rows.fold(target_summary)
        square = target.deviation + target.weight * target.mean**2
        if vanishes(square, np.maximum(np.abs(target.low), np.abs(target.high))).any():
            raise overflowed(model)
        self.names, self.starts, self.curve = names, starts, curve

    @property
    def residuals(self) -> RowResiduals:
        """The sum of squares to be minimised."""
        return RowResiduals(self.rows, self.curve)


class RowResiduals(SumOfSquares):
    """The sum of squares of a curve on rows.

    Where the slopes of the curve are differences, the most precise ones take over near the end, and where differences
    can not see the tangent plane clearly.
    """

    def __init__(self, rows: Rows, curve: Curve) -> None:
        self.rows, self.curve = rows, curve
        self._best: Curve | None = None
        super().__init__(curve.scale)

    def _tangent(self, point: np.ndarray) -> Tangent:
        found: Tangent = self.rows.fold(self.curve.tangent, point)
        blurred = 10 * self.slope_error >= NEAR * found.spread if found.is_finite else False
        if self.slope_error == 0 or not (blurred or found.gap(point) <= NEAR):
            return found
        best = self._best or best_curve(self.curve, some_rows(self.rows), point)
        if best.jacobian == self.curve.jacobian:
            return found
        self._best = best
        return self.rows.fold(best.tangent, point)

    @property
    def slope_error(self) -> float:
        return SLOPE_ERRORS.get(self.curve.jacobian, 0.0)

    def bend(self, point: np.ndarray, direction: np.ndarray) -> np.ndarray:
        return np.asarray(self.rows.fold(self.curve.bend, point, direction))

    def gradients(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(self.rows.fold(self.curve.gradients, points))


def best_curve(curve: Curve, X: np.ndarray, w: np.ndarray) -> Curve:
    """Give the curve with the most precise slopes: those of the user's function if they are right, else what `best_method` finds."""
    if callable(curve.jacobian) and _slopes_agree(curve, X, w):
        return curve
    return replace(curve, jacobian=best_method(partial(curve._raw, X), w, curve.scale))


def check_slopes(curve: Curve, X: np.ndarray, w: np.ndarray) -> None:
    """Refuse slopes that contradict differences of the function."""
    if not _slopes_agree(curve, X, w):
        raise InputError(
            f"{_name(curve.jacobian)} contradicts {_name(curve.function).lower()}: its derivatives at {w} are not those that differences "
            'give. Correct it, or let qed differentiate (jacobian="auto").'
        )


def _slopes_agree(curve: Curve, X: np.ndarray, w: np.ndarray) -> bool:
    return agree(curve.slopes(X, w), partial(curve._raw, X), w, curve.scale)


def some_rows(rows: Rows) -> np.ndarray:
    """Give the features of a few rows of the first block that has any."""
    for block in rows.blocks():
        if len(block):
            return _numbers(block.X[:: max(1, len(block) // SAMPLED_ROWS)])
    raise InputError("There are no rows to fit.")


def check_company(curve: Curve, X: np.ndarray, w: np.ndarray) -> None:
    """Refuse a function whose prediction of a row depends on the rows around it: blocks, and new rows, would be treated otherwise."""
    together = curve.values(X, w)
    alone = np.concatenate([curve.values(X[i : i + 1], w) for i in range(len(X))])
    size = np.abs(together[np.isfinite(together)]).max(initial=0.0)
    apart = np.flatnonzero(np.abs(together - alone) > 1e-9 * size)
    if len(apart):
        raise InputError(
            f"{_name(curve.function)} predicts {together[apart[0]]:.6g} for a row among others and {alone[apart[0]]:.6g} for the "
            "same row alone: let it use one row at a time."
        )


def _present(block: Block) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Give features, target and weights of the rows whose weight is not zero."""
    if block.weight is not None and not block.weight.all():
        block = block.take(block.weight != 0)
    y = np.asarray(block.y, dtype=np.float64)
    return block.X, y if y.ndim == 1 else y[:, 0], block.weight


def _numbers(X: Any) -> np.ndarray:
    """Give rows as float64 that the user's function can not change."""
    found = np.asarray(X, dtype=np.float64).view()
    found.flags.writeable = False
    return found


def _name(function: Any) -> str:
    """Name a function for messages."""
    return f"The function {getattr(function, '__name__', repr(function))}"
