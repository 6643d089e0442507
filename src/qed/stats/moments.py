r"""Weight, mean and scatter of features and targets: what least squares, PCA, discriminants and Gaussians need of the rows.

.. math:: W = \sum_i w_i, \qquad \bar z = \frac1W \sum_i w_i z_i, \qquad
          S = \sum_i w_i\,(z_i - \bar z)(z_i - \bar z)^\top, \qquad z = (x, y).

Two of them are added by the pairwise update (Chan, Golub and LeVeque, 1983)

.. math:: S = S_a + S_b + \frac{W_a W_b}{W_a + W_b}\,(\bar z_a - \bar z_b)(\bar z_a - \bar z_b)^\top,

and so never as :math:`\sum zz^\top - W\bar z\bar z^\top`, which cancels when the means are large. Within a block the
sums are taken about a typical row, and once more about the mean should that row have been a bad choice. That is one
pass of :math:`nm^2` operations for :math:`m` columns; the result has :math:`m^2` numbers whatever :math:`n` is.
Subtraction undoes addition, up to rounding: rows can be forgotten. What rounding may have done is known at any time,

.. math:: |\Delta S_{jk}| \le h_j h_k, \qquad h_j^2 = c\,\epsilon\,b_j, \qquad W|\Delta\bar z_j| \le d_j,

with the number :math:`c` of roundings of an entry within a block and the squares :math:`b_j` of all blocks, those that were taken away,
too: where an outlier is forgotten, the scatter becomes small again and :math:`h` does not. What rounding does in putting two together
counts with the size that the sums have then. Errors of sums add up, those of means do not: so it is that of :math:`W\bar z` which is
kept, and a mean from which rows are taken every day loses no more digits than one that they are added to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.errors import DegenerateError, InputError
from qed.base.models.fingerprint import Fingerprint, largest_loss, mixture
from qed.base.numbers import EPS, TINY, all_finite, any_of, largest_share, smallest
from qed.stats.centred import Centred, exact_sum, weight_doubt
from qed.stats.products import VANISHED, dense, gram, gram_in_chunks, present_rows, typical_row, vanishes

# A block is summed again when the mean takes more than this share of a column's sum of squares: two digits.
CANCELLATION = 100.0
ROUNDING = 64 * EPS
# An entry of a sum or difference of two scatters is off by fewer roundings of the sizes that went into it; a step of the mean by fewer.
UPDATE, STEP = 8, 4
# Sums over rows are taken in pieces, of so many rows at the most, which are then added up.
PIECE = 512


@dataclass(frozen=True, eq=False)
class Moments(Centred):
    """Weight, mean and scatter of the columns of ``(x, y)``.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    count : int
        The number of rows whose weight is not zero.
    mean : ndarray of shape (p + q,)
        The weighted mean of features, then targets.
    scatter : ndarray of shape (p + q, p + q)
        The weighted sums of squares and products about the mean, float64.
    n_features : int
        How many of the columns are features: p.
    rest : ndarray of shape (p + q,)
        What rounding cut off the mean.
    bulk : ndarray of shape (p + q,)
        All squares that went into the diagonal of the scatter, those that were taken away again, too.
    roundings : float
        How many times, at most, an entry of a block's scatter was rounded.
    drift : ndarray of shape (p + q,)
        By how much the weight times the mean is off, at most.
    doubt : float
        By how much the weight is off, at most; by nothing where rows have none of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.sources.open import rows
    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]), np.array([1.0, 2.0, 3.0])
    >>> moments = rows(X, y).fold(Moments.of)
    >>> moments.x_mean, moments.y_mean
    (array([3., 5.]), array([2.]))
    >>> moments.xx
    array([[ 8., 14.],
           [14., 26.]])
    >>> moments.xy
    array([[4.],
           [7.]])
    """

    attributes: ClassVar = {
        "weight": floats(low=0),
        "count": integers(),
        "mean": floats("columns"),
        "scatter": floats("columns", "columns"),
        "n_features": integers(below="columns+1"),
        "rest": floats("columns") | floats(),
        "bulk": floats("columns", low=0),
        "roundings": floats(low=1),
        "drift": floats("columns", low=0),
        "doubt": floats(low=0),
    }
    weight: float
    count: int
    mean: np.ndarray
    scatter: np.ndarray
    n_features: int
    rest: np.ndarray = 0.0  # type: ignore[assignment]
    bulk: np.ndarray = None  # type: ignore[assignment]
    roundings: float = 2.0 * PIECE
    drift: np.ndarray = None  # type: ignore[assignment]
    doubt: float = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        held = vars(self)
        if self.bulk is None:
            held["bulk"] = np.diagonal(self.scatter)
        if self.drift is None:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                held["drift"] = self.roundings * EPS * np.sqrt(self.bulk * self.weight)
        if self.doubt is None:
            held["doubt"] = weight_doubt(self.count, self.weight)
        self._freeze("mean", "scatter", "bulk", "drift")

    @cached_property
    def noise(self) -> np.ndarray:
        """The h for which an entry of the scatter, or the weight times a covariance, is off by no more than ``h[j] * h[k]``."""
        share = self.doubt / max(self.weight, TINY)
        return np.asarray(np.sqrt(self.roundings * EPS * self.bulk + share * self.scatter.diagonal()))

    @property
    def slip(self) -> np.ndarray:
        """How far the mean may be off, beyond its last bits, of shape (p + q,)."""
        return np.asarray(self.drift / max(self.weight, TINY))

    @classmethod
    def of(cls, block: Any) -> Moments:
        """Take the moments of a block's features and targets together."""
        return cls._of(*present_rows(block, target=True))

    @classmethod
    def of_features(cls, block: Any, compiled: bool = True) -> Moments:
        """Take the moments of a block's features alone; by BLAS, somewhat slower, where the kernel is not worth its compilation."""
        X, Y, weight = present_rows(block, target=False)
        return cls._of(X, Y, weight, compiled)

    @classmethod
    def empty(cls, n_features: int, n_targets: int = 0) -> Moments:
        """Make the moments of no rows, which change nothing when added."""
        m = n_features + n_targets
        return cls(0.0, 0, np.zeros(m), np.zeros((m, m)), n_features)

    @classmethod
    def _of(cls, X: Any, Y: np.ndarray, weight: np.ndarray | None, compiled: bool = True) -> Moments:
        count, p = X.shape
        if count == 0:
            return cls.empty(p, Y.shape[1])
        root = None if weight is None else np.sqrt(weight)
        shift = typical_row(X, Y)
        offset, scatter, bulk, lossy = _about(X, Y, root, shift, compiled)
        for _ in range(2):
            # Where the mean is infinite another shift would not help.
            if not any_of(lossy) or not any_of(lossy := lossy & np.isfinite(offset)):
                break
            shift = np.where(lossy, shift + offset, shift)
            offset, scatter, bulk, lossy = _about(X, Y, root, shift, compiled)
        total = float(count) if weight is None else float(weight.sum())
        mean, rest = exact_sum(shift, offset)
        if not smallest(scatter.diagonal()) >= VANISHED:
            for j in np.flatnonzero(scatter.diagonal() < VANISHED):
                column = dense(X[:, [j]])[:, 0] if j < p else Y[:, j - p]
                if column.min() < column.max():
                    scatter[j, j] = np.nan
            scatter = _cleaned(scatter, 0.0)
        doubt = 0.0 if weight is None else None
        return cls(total, count, mean, scatter, p, rest, bulk, roundings_of(count), None, doubt)  # type: ignore[arg-type]

    def moments(self) -> Moments:
        """Give these: rows that were kept give theirs by the same name."""
        return self

    def __add__(self, other: Moments) -> Moments:
        self._check_alike(other)
        other = other.moments()
        if other.count == 0:
            return self
        if self.count == 0:
            return other
        weight, cut = exact_sum(self.weight, other.weight)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            way = self._distance(other)
            step = way * np.sqrt(self.weight * (other.weight / weight))
            scatter = np.multiply.outer(step, step)
            scatter += self.scatter
            scatter += other.scatter
            mean, rest = self._joined(other)
            behind = self._behind(other, scatter, step, (weight, cut), way * (min(self.weight, other.weight) / weight))
        if not smallest(scatter.diagonal(), VANISHED) >= VANISHED:
            scatter.flat[:: len(mean) + 1][vanishes(scatter.diagonal(), np.abs(way))] = np.nan
        return Moments(weight, self.count + other.count, mean, scatter, self.n_features, rest, *behind)

    def __sub__(self, other: Moments) -> Moments:
        self._check_alike(other)
        other = other.moments()
        if other.count == 0:
            return self
        count, (weight, cut) = self.count - other.count, exact_sum(self.weight, -other.weight)
        if count < 0 or weight < -ROUNDING * self.weight or (count > 0 and weight <= 0):
            raise InputError(
                f"Can not subtract {other.count} rows of weight {other.weight:g} from {self.count} rows of weight "
                f"{self.weight:g}: there are not that many. Subtract only rows that were added, each once."
            )
        if count == 0:
            return Moments.empty(self.n_features, self.n_targets)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            way = self._distance(other) * (-other.weight / weight)
            step = way * np.sqrt(weight * (self.weight / other.weight))
            scatter = self.scatter - other.scatter - np.multiply.outer(step, step)
            mean, rest = self._moved(way)
            bulk, roundings, drift, doubt = self._behind(other, self.scatter, step, (weight, cut), way)
        self._check_remains(scatter)
        gone = scatter.diagonal() <= ROUNDING * self.scatter.diagonal()
        # Where nothing but rounding is left of a column, nothing is known of its products with others.
        bulk[gone] *= ROUNDING / (roundings * EPS**2)
        scatter = _cleaned(scatter, ROUNDING * self.scatter.diagonal())
        return Moments(weight, count, mean, scatter, self.n_features, rest, bulk, roundings, drift, doubt)

    def _behind(
        self, other: Moments, whole: np.ndarray, step: np.ndarray, weighs: tuple[float, float], move: np.ndarray
    ) -> tuple[np.ndarray, float, np.ndarray, float]:
        """Give squares, roundings, drift and doubt behind a sum or a difference, which differ in a sign only.

        The `whole` is the largest of the three scatters. What the distance of the means adds is the square of `step`, and the mean
        moves by `move`; what is made weighs so much, from which rounding cut something off.
        """
        (weight, cut), roundings = weighs, max(self.roundings, other.roundings)
        drift, doubt = self.drift + other.drift, self.doubt + other.doubt + abs(cut)
        # Weights are off by such shares: those of both parts, and that of the whole.
        shares = self.doubt / self.weight + other.doubt / other.weight + doubt / weight
        root = math.sqrt(self.weight * (other.weight / weight))
        off = self.drift * (root / self.weight) + other.drift * (root / other.weight)
        bulk = self.bulk + other.bulk
        if self.roundings != other.roundings:
            known = (self.roundings / roundings) * self.bulk + (other.roundings / roundings) * other.bulk
            bulk = np.fmax(known, self.scatter.diagonal() + other.scatter.diagonal())
        square, far = step * step, off * off
        (t, over), unit = _balance(square, far), roundings * EPS
        bulk += (UPDATE / roundings) * whole.diagonal()
        bulk += (1 + (shares + t) / unit) * square + ((1 + over) / unit) * far
        drift += (weight * (STEP * EPS + shares)) * np.abs(move)
        return bulk, roundings, drift, doubt

    def _check_remains(self, scatter: np.ndarray) -> None:
        wrong = scatter.diagonal() < -1e-8 * self.scatter.diagonal()
        if wrong.any():
            raise InputError(
                f"Subtracting leaves a negative variance in column {int(wrong.argmax())} of (X, y): the rows taken away are "
                "not among those that were added. Subtract only rows that were added, each once."
            )

    def apart(self, other: Moments) -> float:
        """Give the largest difference from other moments, in units of what rounding can do; infinite where they are not of the same rows.

        Entries of the scatter differ by no more than ``h[j] h[k]`` of one, and of the other.
        """
        behind = np.isfinite(self.roundings) and self.roundings >= 1 and 0 <= self.doubt < np.inf
        behind = behind and ((self.drift >= 0) & (self.drift < np.inf)).all()
        if not (
            self._is_of(other, self.loss) and behind and (self.bulk >= np.diagonal(other.scatter) * (1 - 1e-9)).all()
        ):
            return np.inf
        blur = np.multiply.outer(self.noise, self.noise) + np.multiply.outer(other.noise, other.noise)
        means = self._means_apart(other, self.slip + other.slip)
        return max(largest_share(self.scatter, other.scatter, blur), means)

    @property
    def xx(self) -> np.ndarray:
        """The scatter of the features, of shape (p, p)."""
        return self.scatter[: self.n_features, : self.n_features]

    @property
    def xy(self) -> np.ndarray:
        """The scatter of features with targets, of shape (p, q)."""
        return self.scatter[: self.n_features, self.n_features :]

    @property
    def yy(self) -> np.ndarray:
        """The scatter of the targets, of shape (q, q)."""
        return self.scatter[self.n_features :, self.n_features :]

    @property
    def is_finite(self) -> bool:
        """Whether all sums are finite; if not, some value was missing, infinite, or too large or too small to be squared."""
        return all_finite(self.mean) and all_finite(self.scatter.diagonal())

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others."""
        x_mean, y_mean, spread = self.x_mean, self.y_mean, self.xx.diagonal()
        return Fingerprint.of_sums(self.count, self.weight, x_mean, spread, y_mean, self.xy, self.yy)

    @property
    def loss(self) -> float:
        """By how much the squares that went in exceed those that are left, in the column that lost most."""
        return largest_loss(self.bulk / self.weight, self.scatter.diagonal() / self.weight, self.mean)

    def sums(self) -> np.ndarray:
        """Add up the columns, mixed into one, and all squares: what a fingerprint knows of a target whose moments these are."""
        squares = np.diagonal(self.scatter) + self.weight * self.mean**2
        return np.array([self.weight * self.mean @ mixture(len(self.mean)), squares.sum()])

    def covariance(self, ddof: float = 0) -> np.ndarray:
        """Give the covariance matrix of ``(x, y)``: the scatter divided by the weight less `ddof`.

        Examples
        --------
        >>> Moments(4.0, 4, np.zeros(1), np.array([[12.0]]), 1).covariance(ddof=1)
        array([[4.]])
        """
        if self.weight <= ddof:
            raise DegenerateError(
                f"A covariance with ddof={ddof:g} needs a total weight above {ddof:g}, but the rows weigh "
                f"{self.weight:g}. Give more rows, or a smaller ddof."
            )
        return self.scatter / (self.weight - ddof)

    def uncentered(self) -> np.ndarray:
        """Give the sums of squares and products about zero, for models without an intercept.

        Examples
        --------
        >>> Moments(4.0, 4, np.array([2.0]), np.array([[12.0]]), 1).uncentered()
        array([[28.]])
        """
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            step = self.mean * np.sqrt(self.weight)
            total: np.ndarray = self.scatter + np.multiply.outer(step, step)
        return total

    def bulk_about_zero(self) -> np.ndarray:
        """Give the squares behind the sums about zero: those of the mean, too, and what its error does to its products."""
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            square, far = self.weight * self.mean**2, self.drift**2 / self.weight
            (t, over), unit = _balance(square, far), self.roundings * EPS
            return self.bulk + (1 + (t + self.doubt / self.weight) / unit) * square + ((1 + over) / unit) * far

    def to_dict(self) -> dict[str, Any]:
        """Give numbers and arrays, for saving."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Moments:
        """Make the moments again from what `to_dict` gave."""
        weight, count, p = float(saved["weight"]), int(saved["count"]), int(saved["n_features"])
        bulk, roundings = saved.get("bulk"), float(saved.get("roundings", 2.0 * PIECE))
        bulk = np.diagonal(saved["scatter"]) if bulk is None else bulk
        more: Any = saved.get("drift"), saved.get("doubt")
        return cls(weight, count, saved["mean"], saved["scatter"], p, saved["rest"], bulk, roundings, *more)


def _about(
    X: Any, Y: np.ndarray, root: np.ndarray | None, shift: np.ndarray, compiled: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give the mean relative to `shift`, the scatter, the squares about `shift`, and in which columns these were too far off."""
    total = (gram if compiled or not isinstance(X, np.ndarray) else gram_in_chunks)(X, Y, root, shift)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        offset = total[-1, :-1] / total[-1, -1]
        scatter = np.multiply.outer(offset, offset)
        scatter *= -total[-1, -1]
        scatter += total[:-1, :-1]
        bulk = total.diagonal()[:-1]
        return offset, scatter, bulk, bulk > CANCELLATION * scatter.diagonal()


def roundings_of(count: int) -> float:
    """Say how many roundings a sum over so many rows has, at most, as it is taken in pieces."""
    return float(min(count, PIECE + count / (PIECE / 2))) + 8


def _balance(square: np.ndarray, far: np.ndarray) -> tuple[float, float]:
    """Give a number t for which ``t square + (1 + 1 / t) far`` is small, and 1 / t; both zero where one of the two is.

    The root h of that bounds by ``h[j] h[k]`` how far products ``a[j] a[k]`` are off, whatever t is, where squares of a are `square`,
    and those of what a may be off by `far`.
    """
    length, width = float(square.sum()), float(far.sum())
    if not (length > 0 and width > 0):
        return 0.0, 0.0
    t = math.sqrt(width / length) if width < np.inf and length < np.inf else 1.0
    return (t, 1 / t) if t > 0 else (0.0, 0.0)


def _cleaned(scatter: np.ndarray, noise: Any) -> np.ndarray:
    """Set columns to zero whose sum of squares is nothing but rounding."""
    constant = scatter.diagonal() <= noise
    if constant.any():
        scatter[constant, :] = 0.0
        scatter[:, constant] = 0.0
    return scatter
