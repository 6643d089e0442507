"""What is true of a fit, in exact or extended arithmetic: the judge of what certificates claim.

Every float is a fraction, so objectives are compared without rounding; logarithms and exponentials are taken to fifty digits. Each judge
gives by how much the fit misses what its certificate claims, as that claim measures it, and the bound that is claimed.
"""

from fractions import Fraction
from itertools import combinations, product

import mpmath
import numpy as np

from tests.regression.exact import fractions

ZERO = Fraction(0)
DIGITS = 60


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), ZERO)


def solved(matrix, right):
    """Solve equations exactly; None where they are singular."""
    table, size = [[*row, value] for row, value in zip(matrix, right)], len(matrix)
    for step in range(size):
        best = max(range(step, size), key=lambda row: abs(table[row][step]))
        if table[best][step] == 0:
            return None
        table[step], table[best] = table[best], table[step]
        for row in range(size):
            if row != step and table[row][step] != 0:
                factor = table[row][step] / table[step][step]
                table[row] = [a - factor * b for a, b in zip(table[row], table[step])]
    return [row[-1] / row[i] for i, row in enumerate(table)]


class Data:
    """Rows that count, as fractions; a column of ones is added for the intercept where there is one."""

    def __init__(self, X, y, weight):
        kept = np.flatnonzero(np.ones(len(X)) if weight is None else weight)
        X = np.asarray(X, dtype=np.float64)
        self.weight = fractions(np.ones(len(X)) if weight is None else weight)
        self.weight = [self.weight[i] for i in kept]
        self.X = [row for i, row in enumerate(fractions(np.nan_to_num(X))) if i in kept]
        self.y = None if y is None else [value for i, value in enumerate(fractions(y)) if i in kept]
        self.kept, self.weights = kept, weight
        self.table, self.target = X, y
        self.labels = None if y is None else (np.asarray(y) > np.median(y)).astype(int)

    def residuals(self, coef, intercept=ZERO):
        return [t - dot(x, coef) - intercept for x, t in zip(self.X, self.y)]

    def centred(self):
        """Give columns and target about their weighted means."""
        total = sum(self.weight)
        means = [dot(self.weight, column) / total for column in zip(*self.X)]
        level = dot(self.weight, self.y) / total
        return [[v - m for v, m in zip(row, means)] for row in self.X], [t - level for t in self.y]


def relative(above, size):
    """Give by how much something is above its minimum, as a share of itself."""
    return float(above / size) if size > 0 else (0.0 if above == 0 else np.inf)


def least(data, rows, columns, target, alpha=ZERO):
    """Give the coefficients of some columns that leave the least squares, exactly; None where they are not determined."""
    gram = [
        [sum(w * r[i] * r[j] for w, r in zip(data.weight, rows)) + (alpha if i == j else 0) for j in columns]
        for i in columns
    ]
    right = [sum(w * r[i] * t for w, r, t in zip(data.weight, rows, target)) for i in columns]
    return solved(gram, right)


def sparse(model, data):
    """Lasso and elastic net: the best of all choices of signs is the minimum."""
    total, p = sum(data.weight), len(data.X[0])
    share = Fraction(float(model.l1_ratio)) if hasattr(model, "l1_ratio") else Fraction(1)
    alpha = Fraction(float(model.alpha))
    l1, l2 = total * alpha * share, total * alpha * (1 - share)
    rows, target = data.centred() if model.fit_intercept else (data.X, data.y)

    def objective(coef, residuals):
        square = sum(w * r * r for w, r in zip(data.weight, residuals)) / 2
        return square + l1 * sum(map(abs, coef)) + l2 * dot(coef, coef) / 2

    found = []
    for signs in product((-1, 0, 1), repeat=p):
        chosen = [j for j in range(p) if signs[j]]
        gram = [
            [sum(w * r[i] * r[j] for w, r in zip(data.weight, rows)) + (l2 if i == j else 0) for j in chosen]
            for i in chosen
        ]
        right = [sum(w * r[i] * t for w, r, t in zip(data.weight, rows, target)) - l1 * signs[i] for i in chosen]
        part = solved(gram, right)
        if part is not None:
            coef = [ZERO] * p
            for j, value in zip(chosen, part):
                coef[j] = value
            found.append(objective(coef, [t - dot(r, coef) for r, t in zip(rows, target)]))
    coef = fractions(model.coef_)
    mine = objective(coef, data.residuals(coef, Fraction(float(model.intercept_))))
    claim = model.certificate_["duality gap"]
    return relative(mine - min(found), mine), claim.bound


def absolute(model, data):
    """Least absolute deviations: the best plane goes through as many rows as it has coefficients."""
    rows = [[*row, Fraction(1)] for row in data.X]
    size = len(rows[0])

    def objective(plane):
        return sum(w * abs(t - dot(r, plane)) for w, r, t in zip(data.weight, rows, data.y))

    mine = objective([*fractions(model.coef_), Fraction(float(model.intercept_))])
    best = mine
    for columns in (c for k in range(1, size + 1) for c in combinations(range(size), k)):
        for chosen in combinations(range(len(rows)), len(columns)):
            part = solved([[rows[i][j] for j in columns] for i in chosen], [data.y[i] for i in chosen])
            if part is not None:
                plane = [ZERO] * size
                for j, value in zip(columns, part):
                    plane[j] = value
                best = min(best, objective(plane))
    return unless_alike(model.certificate_["objective above"], relative(mine - best, mine))


def unless_alike(claim, above):
    """Give what an answer is above its minimum, and the bound; of columns alike up to rounding, and said to be, any is the minimum.

    An answer that is said to be of such columns, and is not proven, is judged as it is: if it is right, that is a false alarm.
    """
    return above, max(above, claim.bound) if "dependent" in claim.says else claim.bound


def huber(model, data):
    """Huber's regression with a given scale: Newton's method on exact pieces of the objective, from where the fit ended."""
    epsilon, sigma, alpha = (Fraction(float(value)) for value in (model.epsilon, model.scale_, model.alpha))
    rows, cut = [[*row, Fraction(1)] for row in data.X], epsilon * sigma
    size = len(rows[0])

    def objective(plane):
        total = ZERO
        for w, r, t in zip(data.weight, rows, data.y):
            off = abs(t - dot(r, plane))
            total += w * (off * off / 2 if off <= cut else cut * off - cut * cut / 2)
        return 2 * total / sigma + alpha * dot(plane[:-1], plane[:-1])

    plane = [*fractions(model.coef_), Fraction(float(model.intercept_))]
    mine = best = objective(plane)
    for _ in range(30):
        off = [t - dot(r, plane) for r, t in zip(rows, data.y)]
        pull = [max(-cut, min(cut, one)) for one in off]
        inside = [abs(one) <= cut for one in off]
        gram = [[ZERO] * size for _ in range(size)]
        for w, r, near in zip(data.weight, rows, inside):
            faint = w if near else w * Fraction(1, 10**12)
            for i in range(size):
                for j in range(size):
                    gram[i][j] += 2 * faint * r[i] * r[j] / sigma
        for i in range(size - 1):
            gram[i][i] += 2 * alpha
        slope = [2 * sum(w * u * r[i] for w, u, r in zip(data.weight, pull, rows)) / sigma for i in range(size)]
        slope = [s - (2 * alpha * v if i < size - 1 else 0) for i, (s, v) in enumerate(zip(slope, plane))]
        way = solved(gram, slope)
        if way is None or not any(slope):
            break
        step = Fraction(1)
        while step > Fraction(1, 2**40) and objective([v + step * d for v, d in zip(plane, way)]) >= best:
            step /= 2
        moved = [Fraction(mpmath.nstr(real(v + step * d), DIGITS)) for v, d in zip(plane, way)]
        if objective(moved) >= best:
            break
        plane, best = moved, objective(moved)
    return unless_alike(model.certificate_["objective above"], relative(mine - best, mine))


def real(value):
    """Give a fraction as a number of many digits."""
    with mpmath.workdps(max(DIGITS, mpmath.mp.dps)):
        return mpmath.mpf(value.numerator) / value.denominator


def digits_for(data):
    """Give so many digits that squares of the largest values leave as many of the smallest."""
    sizes = [Fraction(1), *(abs(v) for row in data.X for v in row if v), *(abs(t) for t in data.y or () if t)]
    far = float(mpmath.log10(real(max(sizes) / min(sizes))))
    return DIGITS + 4 * int(far)


def subset(model, data):
    """The best subset: all of them are tried."""
    rows, target = data.centred()
    scale = sum(w * t * t for w, t in zip(data.weight, target))
    size = len(model.path_) - 1
    best = None
    for chosen in combinations(range(len(data.X[0])), size):
        part = least(data, rows, chosen, target)
        if part is not None:
            left = [t - sum(c * r[j] for c, j in zip(part, chosen)) for r, t in zip(rows, target)]
            error = sum(w * e * e for w, e in zip(data.weight, left))
            best = error if best is None else min(best, error)
    mine = sum(
        w * e * e
        for w, e in zip(data.weight, data.residuals(fractions(model.coef_), Fraction(float(model.intercept_))))
    )
    if best is None:
        return 0.0, 1.0  # no subset of so many columns has one solution
    # Of the target's squares; rounding of what the residuals are differences of may hide a little, and never more than a thousandth.
    above, bound = unless_alike(
        model.certificate_["an exact search"], float(mine - best if scale == 0 else (mine - best) / scale)
    )
    return above, bound * 1.001


def orthogonal(model, data):
    """Orthogonal matching pursuit: no coefficients of the same columns leave less."""
    rows, target = data.centred()
    scale = sum(w * t * t for w, t in zip(data.weight, target))
    chosen = [int(j) for j in np.flatnonzero(model.coef_)]
    if len(chosen) < model.n_nonzero_coefs and model.certificate_["columns that are missing"].value > 0:
        return 1.0, 1.0  # it gave up early, and says so
    part = least(data, rows, chosen, target)
    if part is None or scale == 0:
        return 0.0, 1.0
    left = [t - sum(c * r[j] for c, j in zip(part, chosen)) for r, t in zip(rows, target)]
    best = sum(w * e * e for w, e in zip(data.weight, left))
    off = data.residuals(fractions(model.coef_), Fraction(float(model.intercept_)))
    mine = sum(w * e * e for w, e in zip(data.weight, off))
    return float((mine - best) / scale), 1e-6


def kernel_ridge(model, data):
    """Kernel ridge regression: the equations solved with many digits.

    In the primal form the coefficients belong to features, and predictions are compared: the objective is above its minimum by at
    least the squared distance of what is predicted from what the minimum predicts.
    """
    bound = model.certificate_["objective above its minimum (duality gap)"].bound
    with mpmath.workdps(digits_for(data)):
        K, n, alpha = _gram(model, data.X), len(data.y), mpmath.mpf(float(getattr(model, "alpha", 1.0)))
        y, s = mpmath.matrix([real(t) for t in data.y]), [real(w) for w in data.weight]

        def objective(c):
            off = y - K * c
            return sum(s[i] * off[i] ** 2 for i in range(n)) + alpha * (c.T * K * c)[0]

        solution = mpmath.lu_solve(K + alpha * mpmath.diag([1 / one for one in s]), y)
        best = objective(solution)
        if getattr(model, "form_", "dual") == "primal":
            told, wanted = model.predict(np.array(data.X, dtype=float)), K * solution
            above = sum(s[i] * (mpmath.mpf(float(told[i])) - wanted[i]) ** 2 for i in range(n))
        else:
            above = objective(mpmath.matrix([float(v) for v in np.asarray(model.dual_coef_)[data.kept]])) - best
        return float(above / best) if best > 0 else 0.0, bound


def interpolation(model, data):
    """Interpolation: the squared residual of the coefficients as they are, where the kernel matrix has full rank."""
    if model.rank_ < len(data.y):
        return 0.0, 1.0
    with mpmath.workdps(DIGITS):
        c = mpmath.matrix([float(v) for v in np.asarray(model.dual_coef_)[data.kept]])
        y = mpmath.matrix([real(t) for t in data.y])
        off, s = y - _gram(model, data.X) * c, [real(w) for w in data.weight]
        size = sum(w * t**2 for w, t in zip(s, y))
        left = float(sum(w * r**2 for w, r in zip(s, off)) / size) if size > 0 else 0.0
    return left, model.certificate_["squared residual of an interpolation"].bound


def landmarks(model, data):
    """Nystroem's map: the kernel matrix of its landmarks, multiplied out with many digits, and read off the claim's bound."""
    with mpmath.workdps(DIGITS):
        K = _gram(model, fractions(model.components_))
        Z = K * mpmath.matrix(model.normalization_.tolist())
        off = Z * Z.T - K
        worst = max(abs(off[i, j]) for i in range(K.rows) for j in range(K.cols))
    return float(worst), model.certificate_["the kernel matrix of the landmarks"].bound


def line(model, data):
    """A straight line in the first column by nonlinear least squares: the squares above the least of them."""
    rows = [[Fraction(1), row[0]] for row in data.X]
    part = least(data, rows, (0, 1), data.y)
    if part is None:
        return 0.0, 1.0

    def squares(w):
        return sum(v * (t - dot(r, w)) ** 2 for v, r, t in zip(data.weight, rows, data.y))

    mine = squares(fractions(model.coef_))
    # The cosine of the residuals with the plane is claimed, whose square is the share of the squares that could be saved.
    if mine <= Fraction(1, 10**28) * sum(v * t * t for v, t in zip(data.weight, data.y)):
        return 0.0, 1.0  # every row is met to the last digit
    return relative(mine - squares(part), mine), max(4 * model.certificate_["cosine"].bound ** 2, 1e-14)


def _gram(model, X):
    kind, p = model.kernel, len(X[0])
    gamma = mpmath.mpf(1) / p if model.gamma is None else mpmath.mpf(float(model.gamma))

    more = () if kind in ("rbf", "linear") else (mpmath.mpf(float(model.coef0)), int(model.degree))
    return mpmath.matrix([[similar(kind, a, b, gamma, *more) for b in X] for a in X])


def similar(kind, a, b, gamma, coef0=0, degree=1):
    """Give a kernel of two rows of fractions."""
    if kind == "rbf":
        return mpmath.exp(-gamma * real(sum((x - y) ** 2 for x, y in zip(a, b))))
    inner = real(dot(a, b))
    return inner if kind == "linear" else (gamma * inner + coef0) ** degree


def clusters(model, data):
    """k-means: no row is nearer to another centre, by more than the claim allows."""
    centres = fractions(model.cluster_centers_)
    variance = sum(np.var([[float(v) for v in row] for row in data.X], axis=0, dtype=np.float64)) or 1.0
    worst = ZERO
    for row, label in zip(data.X, np.asarray(model.labels_)[data.kept]):
        away = [sum((a - b) ** 2 for a, b in zip(row, centre)) for centre in centres]
        worst = max(worst, away[label] - min(away))
    return float(worst) / variance, 1e-9
