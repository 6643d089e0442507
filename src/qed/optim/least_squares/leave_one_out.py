r"""Leaving out each row in turn, without fitting once more.

The error of row :math:`i` when a ridge regression is fitted to all the others follows from the one fit to all rows,

.. math:: y_i - \hat y_{-i}(x_i) = \frac{y_i - \hat y(x_i)}{1 - s_i h_i}, \qquad
          h_i = \frac1W + (x_i - \bar x)^\top (S_{xx} + \alpha I)^{-1} (x_i - \bar x),

with the weight :math:`s_i` of the row and :math:`W` of all rows (without an intercept, no means and no :math:`1/W`). In a basis
:math:`B` in which error and penalty are diagonal, the leverages :math:`h` of a block for all penalties are one product of
:math:`(XB)^2` with :math:`1/(e + \alpha c)`, and the residuals another: a pass of :math:`O(np(p + m))` for :math:`m` penalties. As the
:math:`s_i h_i` add up to the degrees of freedom, only a few rows can have one so near to 1 that digits are lost; for those
the model is fitted once more.

Allen (1974), The relationship between variable selection and data augmentation; Golub, Heath and Wahba (1979).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from qed.base.compile import kernel
from qed.base.engine import one_blas_thread, work
from qed.base.errors import DegenerateWarning, InputError
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.least_squares.evidence import about_zero
from qed.optim.least_squares.precise import DIGITS_WANTED, lazy_factor
from qed.optim.least_squares.ridge_basis import coefficients, diagonals, intercepts
from qed.stats.moments import Moments
from qed.stats.parts import Part
from qed.stats.products import dense, present_rows

# What is worked on at a time: half a megabyte, which stays in the cache.
STRIP_VALUES = 1 << 16
TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Mean and spread, over rows, of the loss of each setting on the row left out."""

    count: int  # rows seen
    # (m,): mean over rows, and sum of squared deviations from it.
    mean: np.ndarray
    deviation: np.ndarray
    doubtful: tuple[int, ...] = ()  # rows that were not counted, because too few digits were left
    each: tuple[tuple[np.ndarray, np.ndarray], ...] = ()  # the losses row by row, when they were asked for
    refitted: int = 0  # for how many rows the models were fitted once more

    def __add__(self, other: LeftOut) -> LeftOut:
        count = self.count + other.count
        share = other.count / count if count else 0.0
        gap = other.mean - self.mean
        deviation = self.deviation + other.deviation + gap**2 * (self.count * share)
        mean = self.mean + gap * share
        return LeftOut(count, mean, deviation, self.doubtful + other.doubtful, self.each + other.each)

    def table(self) -> np.ndarray | None:
        """Give the losses row by row, of shape (n, m), or None when they were not kept."""
        if not self.each:
            return None
        order = np.argsort(np.concatenate([rows for rows, _ in self.each]), kind="stable")
        return np.concatenate([losses for _, losses in self.each])[order]


def leave_one_out(
    rows: Rows,
    moments: Moments,
    alphas: np.ndarray,
    *,
    centered: bool,
    absolute: bool = False,
    keep: bool = False,
) -> LeftOut:
    """Judge every setting of the penalty on each row, predicted from all the others.

    For each setting there is one penalty per output. The losses, squared or absolute, of several outputs are averaged.
    Rows of weight zero are not there, so they are not left out either.

    >>> from qed.base.sources.open import rows
    >>> data = rows(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0]))
    >>> found = leave_one_out(data, data.fold(Moments.of), np.array([[0.0]]), centered=True, keep=True)
    >>> found.table().ravel().round(12)
    array([1.  , 0.25, 1.  ])
    """
    if moments.count < 2:
        raise InputError(f"Leaving one out needs at least 2 rows, but there are {moments.count}.")
    with one_blas_thread:
        closed = ClosedForm.of(rows, moments, alphas, centered)
    found: LeftOut = rows.fold(closed.losses, absolute, keep)
    tasks = [partial(_fitted_again, rows, row, alphas, centered) for row in found.doubtful]
    for row, error in zip(found.doubtful, work(tasks)):
        loss = (np.abs(error) if absolute else error**2).mean(axis=1)
        each = ((np.array([row]), loss[None, :]),) if keep else ()
        found = found + LeftOut(1, loss, np.zeros_like(loss), (), each)
    return replace(found, doubtful=(), refitted=len(tasks))


def _fitted_again(rows: Rows, row: int, alphas: np.ndarray, centered: bool) -> np.ndarray:
    """Fit all settings to all rows but one, and give their errors on that one: shape (m, q)."""
    chosen = np.arange(rows.count()) == row
    others, one = Part(rows, ~chosen), Part(rows, chosen).array()
    moments = others.fold(Moments.of)
    coef = coefficients(moments, alphas, lazy_factor(others), centered=centered)
    predicted = dense(one.X)[0] @ coef + intercepts(moments, coef, centered=centered)
    return np.asarray(np.asarray(one.y, dtype=np.float64).ravel() - predicted)


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """All that a block needs to tell the leave-one-out losses of its rows."""

    # (p, b * p + m * q): one or two bases, then the coefficients: what the rows are multiplied with.
    product: np.ndarray
    # For each basis `1 / (error + alpha penalty)` in it, and the places of those penalties.
    weights: list[tuple[np.ndarray, np.ndarray]]
    settings: np.ndarray  # (m, q): the place of the penalty of each setting and output
    # (p,) or (q,): means; zero without an intercept.
    x_mean: np.ndarray
    y_mean: np.ndarray
    share: float  # one over the total weight; zero without an intercept
    noise: np.ndarray  # (n_penalties,): the error of a leverage of 1, in units of what is tolerated

    @classmethod
    def of(cls, rows: Rows, moments: Moments, alphas: np.ndarray, centered: bool) -> ClosedForm:
        """Prepare it from the moments of all rows."""
        seen = moments if centered else about_zero(moments)
        values, settings = np.unique(alphas, return_inverse=True)
        factors, weights, noise = [], [], np.empty(len(values))
        for basis, places, digits in diagonals(seen.xx, values):
            factors.append(basis.basis)
            weights.append((basis.weights(values[places]), places))
            noise[places] = np.where(digits < DIGITS_WANTED, np.inf, 10.0**-digits / TOLERANCE)
        if not np.isfinite(noise).all():
            warnings.warn(
                f"Leaving one out has no precise closed form for alpha={values[~np.isfinite(noise)].max():g}: columns depend "
                f"on each other, or differ too much in scale, so {moments.count} fits are needed. Scale the columns, "
                "take larger alphas, or hold out larger folds.",
                DegenerateWarning,
                stacklevel=4,
            )
        coef = coefficients(moments, alphas, lazy_factor(rows), centered=centered)
        product = np.hstack([*factors, coef.transpose(1, 0, 2).reshape(coef.shape[1], -1)])
        share = 1 / moments.weight if centered else 0.0
        return cls(product, weights, settings.reshape(alphas.shape), seen.x_mean, seen.y_mean, share, noise)

    def losses(self, block: Block, absolute: bool, keep: bool) -> LeftOut:
        """Judge the settings on the rows of a block."""
        X, Y, weight = present_rows(block, target=True)
        numbers = np.arange(block.start, block.start + len(block))
        if len(Y) < len(numbers):
            numbers = numbers[block.weight != 0]
        m, p = len(self.settings), len(self.x_mean)
        weight = np.ones(len(Y)) if weight is None else weight
        mean, deviation = np.zeros((2, m))
        safe, each = np.empty(len(Y), dtype=bool), np.empty((len(Y) if keep else 0, m))
        widths = (p, self.product.shape[1], len(self.noise))
        rows = max(64, STRIP_VALUES // sum(widths))
        centred, image, leverage = (np.empty((min(rows, len(Y)), width)) for width in widths)
        seen = 0
        for start in range(0, len(Y), rows):
            part = slice(start, start + rows)
            n = len(Y[part])
            np.subtract(X[part].toarray() if hasattr(X, "toarray") else X[part], self.x_mean, out=centred[:n])
            np.matmul(centred[:n], self.product, out=image[:n])
            self._leverages(image[:n], leverage[:n])
            fitted = image[:n, -self.settings.size :]
            rest = (self.share, self.noise, self.settings, absolute, seen, mean, deviation)
            seen = _judge(Y[part] - self.y_mean, fitted, leverage[:n], weight[part], *rest, safe[part], each[part])
        kept = ((numbers[safe], each[safe]),) if keep else ()
        return LeftOut(seen, mean, deviation, tuple(numbers[~safe].tolist()), kept)

    def _leverages(self, image: np.ndarray, leverage: np.ndarray) -> None:
        """Work out the quadratic forms of all rows and penalties; overwrites the rows' coordinates."""
        p = len(self.x_mean)
        for j, (weights, places) in enumerate(self.weights):
            square = image[:, j * p : (j + 1) * p]
            np.multiply(square, square, out=square)
            if len(places) == leverage.shape[1]:
                np.matmul(square, weights, out=leverage)
            else:
                leverage[:, places] = square @ weights


@kernel
def _judge(y, fitted, leverage, weight, share, noise, settings, absolute, seen, mean, deviation, safe, each):  # type: ignore[no-untyped-def]
    """Add the losses of left-out rows to their running mean and deviation; give how many rows were seen.

    Rows whose residual lost too many digits are left to others, and marked in `safe`. `leverage` becomes ``1 / (1 - s h)``.
    """
    m, q = settings.shape
    in_order = q == 1 and (settings[:, 0] == np.arange(m)).all()
    loss = np.empty(m)
    for i in range(len(y)):
        factor, predicted = leverage[i], fitted[i]
        worst = 0.0
        for u in range(len(factor)):
            h = weight[i] * (factor[u] + share)
            worst = max(worst, h * noise[u] - (1.0 - h))
            factor[u] = 1.0 / (1.0 - h)
        safe[i] = worst <= 0.0
        if not safe[i]:
            continue
        if in_order:
            for c in range(m):
                error = (y[i, 0] - predicted[c]) * factor[c]
                loss[c] = abs(error) if absolute else error * error
        else:
            for c in range(m):
                loss[c] = 0.0
                for j in range(q):
                    error = (y[i, j] - predicted[c * q + j]) * factor[settings[c, j]]
                    loss[c] += (abs(error) if absolute else error * error) / q
        seen += 1
        part = 1.0 / seen
        for c in range(m):
            apart = loss[c] - mean[c]
            mean[c] += apart * part
            deviation[c] += apart * (loss[c] - mean[c])
        if len(each) > 0:
            each[i] = loss
    return seen
