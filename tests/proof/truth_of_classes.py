"""What is true of classifiers, in exact arithmetic or sixty digits: logistic regression, discriminants, Gaussian naive Bayes."""

from fractions import Fraction

import mpmath as mp
import numpy as np

from tests.proof.truth import real
from tests.regression.exact import fractions, solve

DIGITS = 60


class Exact:
    """The objective in sixty digits, and as low as Newton's method gets from where the model stands."""

    def __init__(self, X, codes, classes, weight, C):
        self.X = [[mp.mpf(float(value)) for value in row] + [mp.mpf(1)] for row in X]
        self.codes, self.classes, self.weight = codes, classes, [mp.mpf(float(w)) for w in weight]
        self.factor, self.penalty = (mp.mpf(1), mp.mpf(0)) if C is None else (mp.mpf(float(C)), mp.mpf(1))

    def scores(self, theta, row):
        found = [mp.fdot(part, row) for part in theta]
        return [mp.mpf(0), *found] if self.classes == 2 else found

    def chances(self, theta, row):
        scores = self.scores(theta, row)
        top = max(scores)
        parts = [mp.exp(score - top) for score in scores]
        total = mp.fsum(parts)
        return [part / total for part in parts], scores, top + mp.log(total)

    def value(self, theta):
        loss = mp.mpf(0)
        for row, code, weight in zip(self.X, self.codes, self.weight):
            _, scores, level = self.chances(theta, row)
            loss += weight * (level - scores[code])
        return self.factor * loss + self.penalty / 2 * mp.fsum(value**2 for part in theta for value in part[:-1])

    def derivatives(self, theta):
        """Give the gradient and the Hessian, as one long vector and a matrix."""
        first = 1 if self.classes == 2 else 0
        m, q = len(theta), len(self.X[0])
        gradient, H = mp.matrix(m * q, 1), mp.matrix(m * q, m * q)
        for row, code, weight in zip(self.X, self.codes, self.weight):
            chance, _, _ = self.chances(theta, row)
            w = self.factor * weight
            for a in range(m):
                r = w * (chance[a + first] - (code == a + first))
                for b in range(m):
                    D = w * chance[a + first] * ((a == b) - chance[b + first])
                    for i in range(q):
                        for j in range(q):
                            H[a * q + i, b * q + j] += D * row[i] * row[j]
                for i in range(q):
                    gradient[a * q + i] += r * row[i]
        for a in range(m):
            for i in range(q):
                if i < q - 1:
                    gradient[a * q + i] += self.penalty * theta[a][i]
                    H[a * q + i, a * q + i] += self.penalty
        return gradient, H

    def newton(self, theta, damping):
        """Give a damped Newton step; the damping also settles directions that change nothing."""
        m, q = len(theta), len(self.X[0])
        gradient, H = self.derivatives(theta)
        for place in range(m * q):
            H[place, place] += damping * (1 + H[place, place])
        step = mp.lu_solve(H, -gradient)
        return [[step[a * q + i] for i in range(q)] for a in range(m)]

    def lowest(self, theta, rounds):
        best = self.value(theta)
        for _ in range(rounds):
            step, length = self.newton(theta, mp.mpf(10) ** (-DIGITS // 2)), mp.mpf(1)
            for _ in range(60):
                tried = [[t + length * s for t, s in zip(*parts)] for parts in zip(theta, step)]
                value = self.value(tried)
                if value < best:
                    break
                length /= 2
            else:
                return best
            theta, gained, best = tried, best - value, value
            if gained <= best * mp.mpf(10) ** -40:
                return best
        return best


def excess(model, X, y, C, weight=None, rounds=60):
    """By how much the public coefficients are above the minimum, relative, in sixty digits."""
    with mp.workdps(DIGITS):
        codes = np.searchsorted(model.classes_, y).tolist()
        exact = Exact(X, codes, len(model.classes_), np.ones(len(y)) if weight is None else weight, C)
        theta = [
            [mp.mpf(float(value)) for value in [*part, constant]]
            for part, constant in zip(model.coef_, model.intercept_)
        ]
        here = exact.value(theta)
        return float((here - exact.lowest(theta, rounds)) / here)


def exact_moments(X, weight):
    """Give weight, mean and scatter of rows as fractions."""
    rows, weights = fractions(X), fractions(weight)
    total, p = sum(weights), len(rows[0])
    mean = [sum(w * row[j] for w, row in zip(weights, rows)) / total for j in range(p)]
    away = [[a - m for a, m in zip(row, mean)] for row in rows]
    scatter = [[sum(w * r[j] * r[k] for w, r in zip(weights, away)) for k in range(p)] for j in range(p)]
    return total, mean, scatter


def linear_error(model, X, y, weight):
    """Give the error of the coefficients in the units of the claim; None where no plane is determined."""
    (n0, m0, s0), (n1, m1, s1) = (exact_moments(X[y == k], weight[y == k]) for k in (0, 1))
    pooled = [[(a + b) / (n0 + n1) for a, b in zip(one, two)] for one, two in zip(s0, s1)]
    told = [j for j in range(len(pooled)) if pooled[j][j] > 0]
    if not told:
        return None
    try:
        exact = solve([[pooled[j][k] for k in told] for j in told], [m1[j] - m0[j] for j in told])
    except AssertionError:
        return None
    units = [float(pooled[j][j]) ** 0.5 for j in told]
    off = [abs(float(Fraction(float(model.coef_[0, j])) - w)) * u for j, w, u in zip(told, exact, units)]
    # What tells classes apart by less than a hundred-thousandth of a standard deviation is compared with that.
    size = max(abs(float(w)) * u for w, u in zip(exact, units))
    return max(off) / max(size, 1e-5)


def distance_error(model, X, y, weight):
    """Give the largest relative error of the squared distance of the first row from a class; infinite where a class has none."""
    worst = 0.0
    for k, label in enumerate(model.classes_):
        total, mean, scatter = exact_moments(X[y == label], weight[y == label])
        away = [Fraction(float(a)) - m for a, m in zip(X[0], mean)]
        try:
            exact = sum(a * b for a, b in zip(away, solve([[v / total for v in row] for row in scatter], away)))
        except AssertionError:
            return np.inf
        z = np.array([float(a) for a in away]) @ model.whitening_[k]
        worst = max(worst, float(abs(Fraction(float(z @ z)) - exact) / exact)) if exact else worst
    return worst


def _counted(model, data):
    """Give rows, labels and weights as arrays, without those that do not count."""
    X, y = np.asarray(data.table, dtype=np.float64)[data.kept], np.asarray(data.labels)[data.kept]
    return X, y, np.ones(len(X)) if data.weights is None else np.asarray(data.weights, dtype=float)[data.kept]


def logistic(model, data):
    """Logistic regression with a squared penalty: what is missing from the minimum."""
    X, y, weight = _counted(model, data)
    try:
        return excess(model, X, y, model.C, weight), model.certificate_["objective above its minimum"].bound
    except ZeroDivisionError:
        return 1.0, 1.0  # too far apart for sixty digits: not judged


def linear_discriminant(model, data):
    """Linear discriminants: the error of the coefficients; columns alike up to rounding, and said to be, have many."""
    claim, found = model.certificate_["relative error of coefficients"], linear_error(model, *_counted(model, data))
    return (1.0, 1.0) if found is None or "dependent" in claim.says else (found, claim.bound * 1.001)


def quadratic_discriminant(model, data):
    """Quadratic discriminants: the error of squared distances; classes that were strengthened have others."""
    found = np.inf if model.strengthened_.any() else distance_error(model, *_counted(model, data))
    return (found, model.certificate_["relative error of squared"].bound) if np.isfinite(found) else (1.0, 1.0)


def gaussian_bayes(model, data):
    """Gaussian naive Bayes: the error of means and variances, relative to the spread that is used, smoothing included."""
    (X, y, weight), worst = _counted(model, data), 0.0
    for k, label in enumerate(model.classes_):
        total, mean, scatter = exact_moments(X[y == label], weight[y == label])
        for j, level in enumerate(mean):
            variance = scatter[j][j] / total + Fraction(float(model.epsilon_))
            # Spreads below the rounding of the values are compared with that.
            square = max(variance, (Fraction(1e-8) * level) ** 2)
            away = (Fraction(float(model.theta_[k, j])) - level) ** 2 / square if square else Fraction(0)
            off = abs(Fraction(float(model.var_[k, j])) - variance) / square if square else Fraction(0)
            worst = max(worst, float(mp.sqrt(real(away))), float(off))
    return worst, model.certificate_["error of means and variances"].bound
