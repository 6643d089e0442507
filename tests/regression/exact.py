"""Least squares in exact arithmetic: the judge of what claims about it are worth. Every float is a fraction, so nothing is rounded."""

from fractions import Fraction

import numpy as np


def fractions(values):
    """Give nested lists of fractions."""
    values = np.asarray(values, dtype=np.float64)
    return [fractions(row) for row in values] if values.ndim > 1 else [Fraction(float(value)) for value in values]


def solve(matrix, right):
    """Solve linear equations by elimination."""
    table = [[*row, value] for row, value in zip(matrix, right)]
    size = len(table)
    for step in range(size):
        best = max(range(step, size), key=lambda row: abs(table[row][step]))
        table[step], table[best] = table[best], table[step]
        assert table[step][step] != 0, "singular"
        for row in range(size):
            if row != step and table[row][step] != 0:
                factor = table[row][step] / table[step][step]
                table[row] = [a - factor * b for a, b in zip(table[row], table[step])]
    return [row[-1] / row[i] for i, row in enumerate(table)]


class Exact:
    """Ridge regression (or, with alpha = 0, least squares of rows that are independent) of one target, in exact arithmetic."""

    def __init__(self, X, y, alpha=0.0, weight=None, centered=True):
        self.X, self.y, self.alpha = fractions(X), fractions(y), Fraction(float(alpha))
        self.weight = fractions(np.ones(len(y)) if weight is None else weight)
        self.X, self.y, self.weight = zip(*[(x, t, w) for x, t, w in zip(self.X, self.y, self.weight) if w > 0])
        total = sum(self.weight)
        p = len(self.X[0])
        self.x_mean, self.y_mean = [Fraction(0)] * p, Fraction(0)
        if centered:
            self.x_mean = [sum(w * x[j] for w, x in zip(self.weight, self.X)) / total for j in range(p)]
            self.y_mean = sum(w * t for w, t in zip(self.weight, self.y)) / total
        self.rows = [[a - m for a, m in zip(x, self.x_mean)] for x in self.X]
        self.target = [t - self.y_mean for t in self.y]
        self.centered = centered

    def objective(self, coef, intercept):
        """Give the penalised error of a model."""
        coef, intercept = fractions(coef), Fraction(float(intercept))
        residual = [t - intercept - sum(a * c for a, c in zip(x, coef)) for x, t in zip(self.X, self.y)]
        return sum(w * r * r for w, r in zip(self.weight, residual)) + self.alpha * sum(c * c for c in coef)

    def solution(self):
        """Give the coefficients of the minimum: through as many equations as columns, or as rows if these are fewer."""
        p, n = len(self.rows[0]), len(self.rows)
        if n - self.centered > p or (self.alpha > 0 and p <= n):
            columns = list(zip(*self.rows))
            weighted = [[w * a for w, a in zip(self.weight, column)] for column in columns]
            gram = [[sum(a * b for a, b in zip(one, other)) for other in columns] for one in weighted]
            for j in range(p):
                gram[j][j] += self.alpha
            return solve(gram, [sum(a * t for a, t in zip(one, self.target)) for one in weighted])
        outer = [[sum(a * b for a, b in zip(one, other)) for other in self.rows] for one in self.rows]
        for i, w in enumerate(self.weight):
            outer[i][i] += self.alpha / w
        if self.alpha == 0 and self.centered:
            # Weights times the rows add up to zero: adding a multiple of the square of that dependency changes no solution.
            outer = [[entry + wi * wj for entry, wj in zip(row, self.weight)] for row, wi in zip(outer, self.weight)]
        dual = solve(outer, self.target)
        return [sum(u * x[j] for u, x in zip(dual, self.rows)) for j in range(p)]

    def least(self):
        """Give the smallest value of the objective."""
        coef = self.solution()
        residual = [t - sum(a * c for a, c in zip(x, coef)) for x, t in zip(self.rows, self.target)]
        return sum(w * r * r for w, r in zip(self.weight, residual)) + self.alpha * sum(c * c for c in coef)

    def excess(self, model):
        """Give by how much a model misses the minimum, in units of its claim: relative to its objective and the reach of its residuals."""
        value = self.objective(model.coef_, model.intercept_)
        lengths = [float(sum(w * a * a for w, a in zip(self.weight, column))) ** 0.5 for column in zip(*self.rows)]
        size = float(sum(w * t * t for w, t in zip(self.weight, self.target))) ** 0.5
        reach = size + float(np.dot(lengths, np.abs(model.coef_))) or 1.0
        return float(value - self.least()) / (float(value) + 1e-8 * min(reach**2, 1e9 * size**2 or np.inf))
