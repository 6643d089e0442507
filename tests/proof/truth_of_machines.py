"""What is true of support vector machines: how far their objective is above a dual one, from public numbers, in extended arithmetic."""

import mpmath
import numpy as np

from tests.proof.truth import digits_for, real, similar

GAP = "primal less dual objective"


def settled(beta, low, high):
    """Take the sum of multipliers off those with room, until it is zero."""
    beta, rest = [max(lo, min(hi, v)) for v, lo, hi in zip(beta, low, high)], 0
    rest = sum(beta)
    for i in sorted(range(len(beta)), key=lambda i: -min(beta[i] - low[i], high[i] - beta[i])):
        step = min(rest, beta[i] - low[i]) if rest > 0 else max(rest, beta[i] - high[i])
        beta[i], rest = beta[i] - step, rest - step
    return beta


def ascended(K, p, beta, low, high, moves=400):
    """Give the dual objective after moves of the pair that violates the order most, from multipliers that keep their constraints."""
    beta, n = settled(beta, low, high), len(beta)
    f = [p[i] - sum(beta[j] * K[i][j] for j in range(n)) for i in range(n)]
    for _ in range(moves):
        up = max((i for i in range(n) if beta[i] < high[i]), key=lambda i: f[i], default=None)
        down = min((i for i in range(n) if beta[i] > low[i]), key=lambda i: f[i], default=None)
        if up is None or down is None or not f[up] > f[down]:
            break
        curve, room = K[up][up] + K[down][down] - 2 * K[up][down], min(high[up] - beta[up], beta[down] - low[down])
        step = room if curve <= 0 else min(room, (f[up] - f[down]) / curve)
        beta[up], beta[down] = beta[up] + step, beta[down] - step
        f = [f[i] - step * (K[i][up] - K[i][down]) for i in range(n)]
    return sum(b * (q + g) for b, q, g in zip(beta, p, f)) / 2


def on_corners(data, w, residual, cost, epsilon):
    """Guess multipliers from a plane that lies on corners of the loss: those of the nearest rows make up its coefficients.

    Whoever is farther from the corner has all of its cost, or nothing. Any multipliers bound the least objective from below.
    """
    n, p = len(residual), len(w)
    X = [[real(x) for x in row] for row in data.X]
    size = [max(abs(row[j]) for row in X) or mpmath.mpf(1) for j in range(p)]
    near = sorted(range(n), key=lambda i: abs(abs(residual[i]) - epsilon))
    for count in range(min(n, p + 1) + 1):
        free, beta = near[:count], [mpmath.sign(r) * c if abs(r) > epsilon else 0 for r, c in zip(residual, cost)]
        left = [(w[j] - sum(beta[i] * X[i][j] for i in near[count:])) / size[j] for j in range(p)]
        left.append(-sum(beta[i] for i in near[count:]))
        rows = mpmath.matrix([[X[i][j] / size[j] for i in free] for j in range(p)] + [[1] * count])
        try:
            found = mpmath.lu_solve(rows, mpmath.matrix(left)) if count else []
        except ZeroDivisionError:
            continue
        for i, value in zip(free, found):
            beta[i] = value
        yield [max(v, 0) for v in beta] + [min(v, 0) for v in beta]


def machine(model, data):
    """A machine, with a kernel or linear: its objective, above a dual one that is taken as far up as some moves can, with many digits."""
    with mpmath.workdps(digits_for(data)):
        number, kernel = mpmath.mpf, getattr(model, "kernel", "linear")
        gamma = number(float(getattr(model, "gamma_", 1.0)))
        K = [[similar(kernel, a, b, gamma) for b in data.X] for a in data.X]
        n, cost = len(K), [number(float(model.C)) * real(w) for w in data.weight]
        target, epsilon = [real(t) for t in data.y], number(float(getattr(model, "epsilon", 0.0)))
        b, beta = number(float(np.ravel(model.intercept_)[0])), [number(0)] * n
        if hasattr(model, "dual_coef_"):
            every = np.zeros(len(data.table))
            every[model.support_] = model.dual_coef_[0]
            beta = [number(float(v)) for v in every[data.kept]]
        if kernel == "linear":
            w = [number(float(v)) for v in np.ravel(model.coef_)]
            score = [sum(v * real(x) for v, x in zip(w, row)) + b for row in data.X]
            square = sum(v * v for v in w) / 2
        else:
            score = [sum(v * k for v, k in zip(beta, line)) + b for line in K]
            square = sum(v * (s - b) for v, s in zip(beta, score)) / 2
        if hasattr(model, "smoothing_"):
            # A corner that was not rounded is as sharp as the digits are.
            corner = number(float(model.smoothing_[0])) or number(10) ** -(mpmath.mp.dps // 2)
            up, down = (
                [c * min(max(s * (t - v) - epsilon, 0) / corner, 1) for c, t, v in zip(cost, target, score)]
                for s in (1, -1)
            )
            least = min(sum(up), sum(down))
            up, down = ([v * least / sum(side) if sum(side) else v for v in side] for side in (up, down))
            beta = [u - d for u, d in zip(up, down)]
        if model.target == "label":
            sign = [1 if data.labels[i] else -1 for i in data.kept]
            primal = square + sum(c * max(0, 1 - s * v) for c, s, v in zip(cost, sign, score))
            low, high = [min(s * c, 0) for s, c in zip(sign, cost)], [max(s * c, 0) for s, c in zip(sign, cost)]
            dual = ascended(K, sign, beta, low, high)
        else:
            primal = square + sum(c * max(0, abs(t - v) - epsilon) for c, t, v in zip(cost, target, score))
            p, nothing = [t - epsilon for t in target] + [t + epsilon for t in target], [number(0)] * n
            twice = [[K[i % n][j % n] for j in range(2 * n)] for i in range(2 * n)]
            halves = [max(v, 0) for v in beta] + [min(v, 0) for v in beta]
            box = nothing + [-c for c in cost], cost + nothing
            dual = ascended(twice, p, halves, *box)
            if hasattr(model, "smoothing_") and not model.smoothing_[0]:
                corners = on_corners(data, w, [t - v for t, v in zip(target, score)], cost, epsilon)
                dual = max(dual, *(ascended(twice, p, one, *box, moves=40) for one in corners))
        return (float((primal - dual) / primal) if primal > np.finfo(float).tiny else 0.0), model.certificate_[
            GAP
        ].bound
