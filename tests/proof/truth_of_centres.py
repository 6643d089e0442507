"""What is true of centres that are medians, in fractions, and of centres that share rows between them, with many digits."""

from fractions import Fraction

import mpmath
import numpy as np

from tests.proof.truth import ZERO, digits_for, real
from tests.regression.exact import fractions

EPS = Fraction(2) ** -52


def claimed(model, words):
    """Give what the certificate says of something: the larger of its value and its bound, as a fraction."""
    claim = next(claim for claim in model.certificate_ if words in claim.says)
    return Fraction(max(float(claim.value), float(claim.bound)))


def off_by(said, true, size):
    """Give a difference in units of some size; of nothing, nothing may differ."""
    away = abs(said - true)
    return away / size if size else (ZERO if away == 0 else Fraction(10) ** 9)


def medians(model, data):
    """k-medians: nearest centres, weight on either side of them, and the objective, in units of what is claimed."""
    centres, labels = fractions(model.cluster_centers_), np.asarray(model.labels_)[data.kept].tolist()
    p, k, worst, cost = len(data.X[0]), len(centres), ZERO, ZERO
    for row, label, weight in zip(data.X, labels, data.weight):
        away = [sum(abs(a - b) for a, b in zip(row, centre)) for centre in centres]
        # Each of two sums of p absolute differences is off by p + 1 roundings at most.
        worst = max(worst, off_by(away[label], min(away), 2 * (p + 1) * EPS * away[label]))
        cost += weight * away[label]
    sides, spreads = ZERO, [ZERO] * k
    for c, centre in enumerate(centres):
        mine = [(row, weight) for row, weight, label in zip(data.X, data.weight, labels) if label == c]
        total = sum((weight for _, weight in mine), ZERO)
        if not total:
            continue
        spreads[c] = sum(w * sum(abs(a - b) for a, b in zip(row, centre)) for row, w in mine) / total
        for j in range(p):
            below = sum((weight for row, weight in mine if row[j] < centre[j]), ZERO)
            above = sum((weight for row, weight in mine if row[j] > centre[j]), ZERO)
            sides = max(sides, (abs(below - above) - (total - below - above)) / total)
    said = fractions(model.cluster_spread_)
    spread = max(off_by(a, b, max(spreads)) for a, b in zip(said, spreads)) / claimed(model, "cluster_spread_")
    inertia = off_by(Fraction(float(model.inertia_)), cost, cost) / claimed(model, "inertia_")
    return float(max(worst, sides / claimed(model, "medians of their rows"), inertia, spread)), 1.0


def shares(model, data):
    """Soft k-means: nearest centres, means of shares, their weight and spread, and the free energy, in units of what is claimed."""
    labels = np.asarray(model.labels_)[data.kept].tolist()
    with mpmath.workdps(2 * digits_for(data)):
        rows, weights = [[real(v) for v in row] for row in data.X], [real(w) for w in data.weight]
        centres = [[real(v) for v in centre] for centre in fractions(model.cluster_centers_)]
        beta, k, p = real(Fraction(float(model.beta_))), len(centres), len(rows[0])
        total = mpmath.fsum(weights)
        middle = [mpmath.fsum(w * row[j] for w, row in zip(weights, rows)) / total for j in range(p)]
        variance = (
            mpmath.fsum(w * (row[j] - middle[j]) ** 2 for w, row in zip(weights, rows) for j in range(p)) / total / p
        )
        worst, energy = mpmath.mpf(0), mpmath.mpf(0)
        mass, cost, sums = [mpmath.mpf(0)] * k, [mpmath.mpf(0)] * k, [[mpmath.mpf(0)] * p for _ in range(k)]
        for row, label, weight in zip(rows, labels, weights):
            away = [mpmath.fsum((a - b) ** 2 for a, b in zip(row, centre)) for centre in centres]
            worst = max(worst, away[label] - min(away))
            least = min(away)
            parts = [mpmath.exp(-beta * (d - least)) for d in away]
            whole = mpmath.fsum(parts)
            energy += weight * (least - mpmath.log(whole / k) / beta if beta else mpmath.fsum(away) / k)
            for c in range(k):
                share = weight * parts[c] / whole
                mass[c], cost[c] = mass[c] + share, cost[c] + share * away[c]
                sums[c] = [s + share * (x - m) for s, x, m in zip(sums[c], row, centres[c])]
        if not variance:
            return 0.0, 1.0
        off = mpmath.fsum((s / mass[c]) ** 2 for c in range(k) if mass[c] for s in sums[c])
        spread = [mpmath.sqrt(a / b) if b else a for a, b in zip(cost, mass)]
        said = [
            (worst, variance, "nearest centre"),
            # The root of what is measured and that of its rounding are added: their square is at most twice what is claimed.
            (off / 2, variance, "means of their shares"),
            (abs(mpmath.mpf(model.free_energy_) - energy), energy, "free_energy_"),
            (max(abs(mpmath.mpf(a) - b) for a, b in zip(model.cluster_weight_, mass)), max(mass), "cluster_weight_"),
            (
                max(abs(mpmath.mpf(a) - b) for a, b in zip(model.cluster_spread_, spread)),
                # Beside centres that are rows, spreads are shares too small for a number.
                max(*spread, mpmath.sqrt(variance) * mpmath.mpf(10) ** -150),
                "cluster_spread_",
            ),
        ]
        return float(max(away / size / real(claimed(model, words)) for away, size, words in said if size)), 1.0
