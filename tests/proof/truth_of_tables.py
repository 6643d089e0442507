"""What is true of scalers, encoders, imputers and feature maps, in exact arithmetic: the judges of what they claim."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath
import numpy as np

from qed.features.tables.columns import NumberColumn
from tests.proof.truth import DIGITS, dot, real, similar


def there(data, column):
    """Give the values of a column that are there, with their weights."""
    values = data.table[data.kept, column]
    return [(Fraction(float(v)), w) for v, w in zip(values, data.weight) if not np.isnan(v)]


def root(value):
    """Give the root of a fraction, however large or small."""
    return Fraction(mpmath.nstr(mpmath.sqrt(real(value)), DIGITS)) if value > 0 else Fraction(0)


def filled(model, data):
    """Imputing by the mean: how far it is off, as a share of mean and spread."""
    return _means_off(data, model.statistics_), 1e-13


def middle(model, data):
    """Imputing by the median: how much more than half of the weight is on one side."""
    worst = 0.0
    for j, value in enumerate(model.statistics_):
        pairs, found = there(data, j), Fraction(float(value))
        total = sum(w for _, w in pairs)
        below, above = sum(w for v, w in pairs if v < found), sum(w for v, w in pairs if v > found)
        worst = max(worst, float(max(below, above) / total - Fraction(1, 2)))
        low, high = max(v for v, _ in pairs if v <= found), min(v for v, _ in pairs if v >= found)
        worst = max(worst, float(abs(found - (low + high) / 2) / max(abs(found), Fraction(1, 10**320))))
    return worst, 1e-13


def commonest(model, data):
    """Imputing by the most frequent value: none weighs more."""
    worst = 0.0
    for j, value in enumerate(model.statistics_):
        weight = Counter()
        for v, w in there(data, j):
            weight[v] += w
        worst = max(worst, float(max(weight.values()) - weight[Fraction(float(value))]))
    return worst, 0.0


def encoded(model, data):
    """Columns of numbers: holes get the mean, and levels are the values that occur."""
    fills = [column.fill if isinstance(column, NumberColumn) else np.nan for column in model.columns_]
    places = [column.place for column in model.columns_]
    return _means_off(data, fills, places), 1e-13


def listed(model, data):
    """One column for each value: the values listed are those that occur."""
    wrong = 0
    for j, levels in enumerate(model.categories_):
        wrong += len({Fraction(float(v)) for v in levels} ^ {v for v, _ in there(data, j)})
    return float(wrong), 0.0


def _means_off(data, values, places=None):
    worst = 0.0
    for j, value in zip(range(len(values)) if places is None else places, values):
        pairs = there(data, j)
        if np.isnan(value) or not pairs:
            continue
        total = sum(w for _, w in pairs)
        mean = sum(v * w for v, w in pairs) / total
        spread = abs(mean) + root(sum(w * (v - mean) ** 2 for v, w in pairs) / total)
        worst = max(worst, float(abs(Fraction(float(value)) - mean) / spread) if spread else abs(float(value)))
    return worst


def waves(model, data):
    """Random waves: the features, as they are, reproduce the kernel as well as chance allows."""
    Z = model.transform(data.table)[data.kept]
    gamma, worst = mpmath.mpf(float(model.gamma_)), 0.0
    with mpmath.workdps(DIGITS):
        rows = [[Fraction(float(v)) for v in row] for row in Z]
        for i, first in enumerate(rows):
            worst = max(
                worst, abs(float(dot(first, first)) - 1) * 1e9
            )  # to nine digits, much more than single precision would give
            for k in range(i):
                kernel = similar("rbf", data.X[i], data.X[k], gamma)
                worst = max(worst, abs(float(real(dot(first, rows[k])) - kernel)))
    # Hoeffding's bound for all pairs, with a chance of one in a million to be broken.
    pairs = max(1, len(rows) * (len(rows) - 1) // 2)
    return worst, math.sqrt(2 / model.random_weights_.shape[1] * math.log(2 * pairs / 1e-6))


def monomials(model, data):
    """Polynomials: every column is a product of powers, but for rounding of each factor."""
    Z = np.asarray(model.transform(data.table), dtype=np.float64)[data.kept]
    p, worst = len(data.X[0]), 0.0
    sets = [c for k in range(model.degree + 1) for c in combinations_with_replacement(range(p), k)]
    if Z.shape[1] != len(sets):
        return np.inf, 0.0
    for row, made in zip(data.X, Z):
        for chosen, value in zip(sets, made):
            exact = math.prod((row[j] for j in chosen), start=Fraction(1))
            size = max(abs(exact), Fraction(1, 10**290))
            worst = max(worst, float(abs(Fraction(float(value)) - exact) / size))
    single = np.asarray(data.table).dtype == np.float32
    return worst, 4 * model.degree * (2.0**-23 if single else 2.0**-52)


def shares(model, data):
    """The share of every class."""
    total = sum(data.weight)
    labels = np.asarray(data.labels)[data.kept]
    off = [
        abs(float(sum(w for w, t in zip(data.weight, labels) if t == kind) / total - Fraction(float(share))))
        for kind, share in zip(model.classes_, model.class_prior_)
    ]
    return max(off), 1e-13


def standard(model, data):
    """Standardising: mean zero and variance one, of exact values under the float mean and scale."""
    total, off = sum(data.weight), 0.0
    for column, mean, scale in zip(zip(*data.X), model.mean_, model.scale_):
        # A column that is constant but for its last digits is not stretched, which is claimed.
        if max(column) - min(column) <= 64 * Fraction(2) ** -52 * abs(min(column)) and scale in (0.0, 1.0):
            continue
        level = dot(data.weight, column) / total
        variance = sum(w * (v - level) ** 2 for w, v in zip(data.weight, column)) / total
        size = Fraction(float(scale))
        off = max(off, abs(float((level - Fraction(float(mean))) / size)) / (1 + abs(float(level / size))))
        off = max(off, abs(float(variance / size**2 - 1)))
    return off, 1e-9


def extremes(model, data):
    """Scaling to a range: the extremes are those of the data."""
    off = sum(abs(min(c) - Fraction(float(v))) for c, v in zip(zip(*data.X), model.data_min_))
    return float(off + sum(abs(max(c) - Fraction(float(v))) for c, v in zip(zip(*data.X), model.data_max_))), 0.0
