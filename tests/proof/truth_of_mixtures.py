"""What is true of mixtures, to fifty digits."""

import mpmath
import numpy as np

DIGITS = 50


def density(model, data):
    """The mean log-likelihood of the rows at the model's public numbers, and by how much what it says of that is off."""
    with mpmath.workdps(DIGITS):
        k, p = model.means_.shape
        total, size = mpmath.mpf(0), mpmath.mpf(0)
        for row, weight in zip(data.X, data.weight):
            row, weight = [_number(v) for v in row], _number(weight)
            value = mpmath.log(mpmath.fsum(mpmath.exp(_log_joint(model, row, j, p)) for j in range(k)))
            total, size = total + weight * value, size + weight * abs(value)
        weights = mpmath.fsum(_number(weight) for weight in data.weight)
        scale = max(size / weights, mpmath.mpf("1e-3"))
        miss = abs(_float(model.lower_bound_) - total / weights) / scale
    claim = next(claim for claim in model.certificate_ if claim.says.startswith("lower_bound_"))
    return float(miss), claim.bound


def _float(value):
    return mpmath.mpf(float(value))


def _number(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def _log_joint(model, row, j, p):
    """Give the logarithm of weight times density of one component at one row."""
    if model.weights_[j] == 0:
        return mpmath.mpf("-inf")
    away = [x - _float(m) for x, m in zip(row, model.means_[j])]
    root = model.precisions_cholesky_[j]
    if np.ndim(root) < 2:
        root = np.diag(np.broadcast_to(root, p))
    white = [mpmath.fsum(_float(root[a, b]) * away[a] for a in range(p)) for b in range(p)]
    spread = mpmath.fsum(mpmath.log(_float(root[a, a])) for a in range(p))
    constant = mpmath.log(_float(model.weights_[j])) + spread - p * mpmath.log(2 * mpmath.pi) / 2
    return constant - mpmath.fsum(value**2 for value in white) / 2
