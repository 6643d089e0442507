"""What is true of linear fits, in exact arithmetic or with many digits: least squares and its kin, pursuits, and a scale that is found."""

from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import mpmath
import numpy as np

from tests.proof.least_squares import Problem
from tests.proof.truth import DIGITS, ZERO, digits_for, dot, huber, least, real, relative
from tests.regression.exact import Exact, fractions

FAR_ABOVE = 1e-6
ENOUGH = 1e-4


def weights_of(model, data):
    """Give the weights of the rows, with those that a covariance of the noise stands for."""
    own = None if data.weights is None else np.asarray(data.weights, dtype=float)
    spread = getattr(model, "covariance", None)
    if spread is None:
        return own
    return (1.0 if own is None else own) / np.asarray(spread, dtype=float)


def coefficients(model, data):
    """Least squares: how far coefficients and constant are from the exact ones; the shortest, where columns are dependent."""
    weight = weights_of(model, data)
    problem = Problem(np.asarray(data.table, dtype=float), data.target, weight, bool(model.fit_intercept))
    p = problem.X.shape[1]
    if model.rank_ == p:
        if not problem.is_full:
            return np.inf, ENOUGH  # many solutions, and the model says that there is one
        return problem.error(model.coef_, model.intercept_), ENOUGH
    wanted = shortest(problem, model.rank_)
    size = np.linalg.norm(wanted)
    off = np.linalg.norm(np.asarray(model.coef_) - wanted)
    off = float(off / size) if size > 0 else float(off)
    # Columns that are alike up to rounding are dependent; but not those of which one far row hides that the others tell them apart.
    judge = Exact(data.table, data.target, weight=weight, centered=bool(model.fit_intercept))
    above = (
        relative(judge.objective(model.coef_, model.intercept_) - judge.least(), judge.least())
        if problem.is_full
        else 0.0
    )
    return max(off, above if above > FAR_ABOVE and (_is_hidden(data) or model.rank_ == 0) else 0.0), ENOUGH


def _is_hidden(data):
    """Say whether one row is so far away that beside it rounding hides the others."""
    size = np.sort(np.abs(np.asarray(data.table, dtype=float)).max(axis=1))
    return size[-1] > 1e12 * size[-2]


def shortest(problem, rank):
    """Give the shortest coefficients of columns that have this rank, up to rounding, with many digits.

    Columns get length one, directions beyond the rank are left out, and what is left is the shortest in the units of the columns.
    """
    judge = Exact(problem.X, problem.y, weight=problem.weight, centered=problem.centered)
    with mpmath.workdps(DIGITS):
        table = mpmath.matrix(
            [[real(v) * mpmath.sqrt(real(w)) for v in row] for row, w in zip(judge.rows, judge.weight)]
        )
        target = mpmath.matrix([real(t) * mpmath.sqrt(real(w)) for t, w in zip(judge.target, judge.weight)])
        n, p = table.rows, table.cols
        length = [mpmath.norm(table[:, j]) or mpmath.mpf(1) for j in range(p)]
        gram = mpmath.matrix(p, p)
        for i in range(p):
            for j in range(p):
                gram[i, j] = sum(table[k, i] * table[k, j] for k in range(n)) / (length[i] * length[j])
        values, vectors = mpmath.eigsy(gram)
        right = mpmath.matrix([sum(table[k, j] * target[k] for k in range(n)) / length[j] for j in range(p)])
        inner = mpmath.matrix(p, 1)
        for k in range(p - rank, p):
            share = sum(vectors[j, k] * right[j] for j in range(p)) / values[k]
            for j in range(p):
                inner[j] += share * vectors[j, k]
        coef = mpmath.matrix([inner[j] / length[j] for j in range(p)])
        null = [[vectors[j, k] / length[j] for j in range(p)] for k in range(p - rank)]
        basis = []
        for vector in null:
            for one in basis:
                part = sum(a * b for a, b in zip(vector, one))
                vector = [a - part * b for a, b in zip(vector, one)]
            size = mpmath.sqrt(sum(a * a for a in vector))
            basis.append([a / size for a in vector])
        for one in basis:
            part = sum(a * b for a, b in zip(coef, one))
            coef = mpmath.matrix([a - part * b for a, b in zip(coef, one)])
        return np.array([float(v) for v in coef])


def penalised(model, data):
    """Ridge regression, and the posterior that it is the mode of: what is missing from the minimum."""
    alpha = getattr(model, "alpha", 1.0)
    judge = Exact(data.table, data.target, alpha, data.weights, bool(model.fit_intercept))
    words = ("excess", "objective", "gradient")
    claim = next(claim for word in words for claim in model.certificate_ if word in claim.says)
    if "dependent" in claim.says:
        return 1.0, 1.0  # what is said of columns alike up to rounding is judged with LinearRegression
    if "objective" in claim.says:
        mine, best = judge.objective(model.coef_, model.intercept_), judge.least()
        return relative(mine - best, best), claim.bound * 1.001
    excess, bound = judge.excess(model), max(claim.bound, 1e-9) * 1.001
    same = [claim for claim in model.certificate_ if claim.says.startswith("equals ridge regression")]
    if not same:
        return excess, bound
    # Not the excess is claimed here, but the coefficients themselves.
    exact = least(data, *_centred_or_not(model, data), Fraction(alpha))
    off = [float(abs(Fraction(float(c)) - e)) for c, e in zip(np.ravel(model.coef_), exact)]
    size = max(float(np.linalg.norm(model.coef_)), 1e-300)
    return max(excess, float(np.linalg.norm(off)) / size), max(bound, same[0].bound * 1.001)


def _centred_or_not(model, data):
    rows, target = data.centred() if model.fit_intercept else (data.X, data.y)
    return rows, list(range(len(rows[0]))), target


def nonnegative(model, data):
    """Least squares with coefficients that must not be negative: the best support is found among all, as is what the certificate misses."""
    alpha = Fraction(float(getattr(model, "alpha", 0.0)))
    judge = Exact(data.table, data.target, float(alpha), data.weights, bool(model.fit_intercept))
    rows, columns, target = _centred_or_not(model, data)
    coef = np.asarray(model.coef_)
    if (coef < 0).any():
        return np.inf, 0.0
    value, best = judge.objective(model.coef_, model.intercept_), None
    for chosen in (c for k in range(len(columns) + 1) for c in combinations(columns, k)):
        part = least(data, rows, chosen, target, alpha)
        if part is None or min(part, default=0) < 0:
            continue
        left = [t - sum(r[j] * c for j, c in zip(chosen, part)) for r, t in zip(rows, target)]
        found = sum(w * e * e for w, e in zip(data.weight, left)) + alpha * dot(part, part)
        best = found if best is None else min(best, found)
    size = float(sum(w * t * t for w, t in zip(data.weight, target))) ** 0.5
    lengths = [float(sum(w * a * a for w, a in zip(data.weight, column))) ** 0.5 for column in zip(*rows)]
    reach = size + float(np.dot(lengths, coef)) or 1.0
    claims = {claim.says.split()[0]: claim for claim in model.certificate_}
    if "excess" in claims:
        scale = float(value) + 1e-8 * min(reach**2, 1e9 * size**2 or np.inf)
        return float(value - best) / scale, max(claims["excess"].bound, 1e-9) * 1.001
    # Where columns depend on each other, what is claimed is that coefficients times their gradient vanish.
    left = [t - dot(r, fractions(coef)) for r, t in zip(rows, target)]
    slope = [
        sum(w * r[j] * e for w, r, e in zip(data.weight, rows, left)) - alpha * Fraction(float(coef[j]))
        for j in columns
    ]
    slack = sum(abs(g) * Fraction(float(c)) for g, c in zip(slope, coef))
    return float(slack) / reach**2, model.certificate_["coefficients times"].bound * 1.001


def planes(model, data):
    """The ridge classifier: what is missing from the minimum of the worst of its planes, which are ridge regressions on signs."""
    labels, k, worst = np.asarray(data.labels), len(model.classes_), 0.0
    claim = model.certificate_["excess"]
    if "dependent" in claim.says:
        return 1.0, 1.0  # what is said of columns alike up to rounding is judged with LinearRegression
    for label, coef, level in zip(model.classes_[1:] if k == 2 else model.classes_, model.coef_, model.intercept_):
        signs = np.where(labels == label, 1.0, -1.0)
        judge = Exact(data.table, signs, model.alpha, data.weights, bool(model.fit_intercept))
        worst = max(worst, judge.excess(SimpleNamespace(coef_=coef, intercept_=float(level))))
    return worst, max(claim.bound, 1e-9) * 1.001


def perpendicular(model, data):
    """Total least squares: squared distances from the plane above the least possible, relative to what they are differences of."""
    judge = Exact(data.table, data.target, weight=data.weights, centered=bool(model.fit_intercept))
    rows = [[*row, t] for row, t in zip(judge.rows, judge.target)]
    p = len(rows[0]) - 1
    scatter = [[sum(w * r[i] * r[j] for w, r in zip(judge.weight, rows)) for j in range(p + 1)] for i in range(p + 1)]
    coef = fractions(np.asarray(model.coef_).ravel())
    share = 1 + dot(coef, coef)
    vertical = judge.objective(model.coef_, model.intercept_)
    with mpmath.workdps(2 * digits_for(data)):
        values = sorted(mpmath.eigsy(mpmath.matrix([[real(v) for v in row] for row in scatter]), eigvals_only=True))
        least = values[p - model.rank_]
        mine = real(vertical) / real(share)
        reach = sum(abs(real(c)) * mpmath.sqrt(real(scatter[j][j])) for j, c in enumerate(coef))
        reach += mpmath.sqrt(real(scatter[p][p]))
        scale = mine + mpmath.mpf("1e-8") * reach**2 / real(share)
        above = float((mine - least) / scale) if scale > 0 else 0.0
    return above, model.certificate_["perpendicular error above"].bound


def average(model, data):
    """The mean of the target, as a share of its size."""
    total = sum(data.weight)
    mean = dot(data.weight, data.y) / total
    size = abs(mean) + max(abs(t - mean) for t in data.y)
    return float(abs(Fraction(float(model.mean_)) - mean) / size) if size else abs(float(model.mean_)), 1e-12


def steps(model, data):
    """Matching pursuit: at every turn the nearest column was taken, by the share of the target it could have gained more; and the end."""
    rows, target = data.centred()
    size = sum(w * t * t for w, t in zip(data.weight, target))
    if size == 0:
        return 0.0, 1.0
    columns = list(zip(*rows))
    lengths = [sum(w * v * v for w, v in zip(data.weight, column)) for column in columns]
    # A column that varies by nothing but the rounding of its values counts as constant.
    large = [max(abs(v) for v in column) ** 2 * sum(data.weight) for column in zip(*data.X)]
    lengths = [v if v > Fraction(2**-94) * size else ZERO for v, size in zip(lengths, large)]
    coef, worst = [ZERO] * len(columns), 0.0
    for pick, move in zip(np.asarray(model.picks_), fractions(model.moves_)):
        if pick < 0:
            break
        left = [t - dot(r, coef) for r, t in zip(rows, target)]
        gains = [
            sum(w * v * e for w, v, e in zip(data.weight, column, left)) ** 2 / length if length else ZERO
            for column, length in zip(columns, lengths)
        ]
        near = [float(real(gain / size)) ** 0.5 for gain in gains]
        worst = max(worst, max(near) - near[pick])
        coef[pick] += move
    off = [abs(a - b) for a, b in zip(fractions(model.coef_), coef)]
    reach = [float(real(o * o * length / size)) ** 0.5 for o, length in zip(off, lengths)]
    size = [float(real(c * c * length / size)) ** 0.5 for c, length in zip(coef, lengths)]
    claim = model.certificate_["every column was the nearest"]
    return max(worst, sum(reach) / (1 + sum(size))), claim.bound + 1e-12


def huber_with_scale(model, data):
    """Huber's regression with the scale that it finds: Newton's method with many digits from where the fit ended, in plane and scale."""
    if model.scale_ <= 2e-9 * np.std([float(t) for t in data.y]):
        return huber(
            model, data
        )  # rows on a plane: no scale above zero is best, and the least that is looked at is taken
    with mpmath.workdps(digits_for(data)):
        fit = _Concomitant(model, data)
        point = [mpmath.mpf(float(v)) for v in [*model.coef_, model.intercept_, model.scale_]]
        mine = best = fit.objective(point)
        for _ in range(60):
            slope, curve = fit.derivatives(point)
            if mpmath.norm(slope) == 0:
                break
            way, step = -mpmath.lu_solve(curve, slope), mpmath.mpf(1)
            while step > mpmath.mpf(2) ** -60:
                moved = [v + step * d for v, d in zip(point, way)]
                if moved[-1] > 0 and fit.objective(moved) < best:
                    break
                step /= 2
            else:
                break
            gained = best - fit.objective(moved)
            point, best = moved, fit.objective(moved)
            if gained < mpmath.mpf(10) ** -30 * best:
                break
        return float((mine - best) / mine) if mine > 0 else 0.0, model.certificate_["objective above"].bound


class _Concomitant:
    """The objective of plane and scale together, with its derivatives."""

    def __init__(self, model, data):
        self.epsilon, self.alpha = mpmath.mpf(float(model.epsilon)), mpmath.mpf(float(model.alpha))
        self.rows = [[*(real(v) for v in row), mpmath.mpf(1)] for row in data.X]
        self.y, self.weight = [real(t) for t in data.y], [real(w) for w in data.weight]

    def _seen(self, point):
        *plane, sigma = point
        off = [t - sum(a * b for a, b in zip(r, plane)) for r, t in zip(self.rows, self.y)]
        return plane, sigma, off

    def objective(self, point):
        plane, sigma, off = self._seen(point)
        cut, total = self.epsilon * sigma, mpmath.mpf(0)
        for w, r in zip(self.weight, off):
            loss = r * r / sigma if abs(r) <= cut else 2 * self.epsilon * abs(r) - self.epsilon * cut
            total += w * (sigma + loss)
        return total + self.alpha * sum(c * c for c in plane[:-1])

    def derivatives(self, point):
        plane, sigma, off = self._seen(point)
        size, cut = len(point), self.epsilon * sigma
        slope, curve = mpmath.matrix(size, 1), mpmath.matrix(size, size)
        for w, r, row in zip(self.weight, off, self.rows):
            inside = abs(r) <= cut
            pull = r / sigma if inside else self.epsilon * mpmath.sign(r)
            along = [*row, pull] if inside else [*row, mpmath.mpf(0)]
            faint = w if inside else w * mpmath.mpf("1e-12")
            for i in range(size - 1):
                slope[i] -= 2 * w * pull * row[i]
            slope[size - 1] += w * (1 - pull * pull)
            for i in range(size):
                for j in range(size):
                    curve[i, j] += 2 * faint * along[i] * along[j] / sigma
        for i in range(size - 2):
            slope[i] += 2 * self.alpha * plane[i]
            curve[i, i] += 2 * self.alpha
        curve[size - 1, size - 1] += mpmath.mpf("1e-12") * sum(self.weight) / sigma
        return slope, curve
