"""What is true of reductions beyond the plane near rows, with many digits: kernels, hidden numbers, pairs of tables, columns."""

import mpmath
import numpy as np

from tests.proof.truth import digits_for, real, similar
from tests.proof.truth_of_planes import scatter_of
from tests.regression.exact import fractions


def real_matrix(values):
    """Give an array of floating-point numbers as they are."""
    return mpmath.matrix([[real(value) for value in row] for row in fractions(np.asarray(values, dtype=float))])


def centred_gram(model, data, gamma):
    """Give the centred Gram matrix, times the roots of the weights on both sides."""
    n, w = len(data.X), [real(weight) for weight in data.weight]
    K = [[similar(model.kernel, a, b, gamma, model.coef0, model.degree) for b in data.X] for a in data.X]
    total = sum(w)
    means = [sum(w[j] * K[i][j] for j in range(n)) / total for i in range(n)]
    level = sum(a * b for a, b in zip(w, means)) / total
    roots = [mpmath.sqrt(weight) for weight in w]
    return mpmath.matrix(
        [[(K[i][j] - means[i] - means[j] + level) * roots[i] * roots[j] for j in range(n)] for i in range(n)]
    ), roots


def plane_off(matrix, V, said, claims):
    """Compare directions and eigenvalues with those of a matrix, in units of what is claimed of both."""
    total = sum(matrix[j, j] for j in range(matrix.rows))
    if total <= 0:
        return 0.0, 1.0
    values, kept = sorted(mpmath.eigsy(matrix, eigvals_only=True), reverse=True), V.rows
    inner = (V * matrix * V.T) * mpmath.inverse(V * V.T)
    above = (sum(values[:kept]) - sum(inner[j, j] for j in range(kept))) / total
    off = max(abs(a - b) for a, b in zip(said, values)) / total
    eigen, least = claims
    return float(max(above / least, off / eigen)), 1.0


def claimed(model, *words):
    """Give the values of claims that begin with some words, or what rounding leaves of them where there are none."""
    found = []
    for word in words:
        told = [claim.value for claim in model.certificate_ if claim.says.startswith(word)]
        found.append(max(told[0], 1e-15) if told else 1e-12)
    return found


def similar_components(model, data):
    """Kernel PCA: variance in the features above what these directions leave out, and the eigenvalues."""
    with mpmath.workdps(2 * digits_for(data)):
        M, roots = centred_gram(model, data, model.gamma_)
        vectors = real_matrix(np.asarray(model.eigenvectors_)[data.kept])
        V = mpmath.matrix([[vectors[i, j] * roots[i] for i in range(vectors.rows)] for j in range(vectors.cols)])
        said = [real(value) for value in fractions(model.eigenvalues_)]
        return plane_off(M, V, said, claimed(model, "directions are eigenvectors", "variance of the features"))


def mapped_components(model, data):
    """PCA in feature space: the eigenvalues are those of the centred Gram matrix of the kernel."""
    with mpmath.workdps(2 * digits_for(data)):
        M, _ = centred_gram(model, data, 1 / model.n_features_in_)
        total = sum(M[j, j] for j in range(M.rows))
        if total <= 0:
            return 0.0, 1.0
        values = sorted(mpmath.eigsy(M, eigvals_only=True), reverse=True)
        freedom = real(sum(data.weight) - 1)
        said = [real(value) * freedom for value in fractions(model.explained_variance_)]
        (eigen,) = claimed(model, "components are eigenvectors")
        return float(max(abs(a - b) for a, b in zip(said, values)) / total / eigen), 1.0


def likeliest_plane(model, data):
    """Probabilistic PCA: the plane and the variances along it, and the noise that they leave."""
    with mpmath.workdps(2 * digits_for(data)):
        S = mpmath.matrix([[real(value) for value in row] for row in scatter_of(data)])
        weight = real(sum(data.weight))
        said = [real(value) * weight for value in fractions(model.explained_variance_)]
        shown = np.flatnonzero(model.explained_variance_ > model.noise_variance_)
        V = real_matrix(model.components_[shown])
        claims = claimed(model, "directions of components are eigenvectors", "squared distances from the most likely")
        return plane_off(S, V, said, claims)


def stationary_factors(model, data):
    """Factor analysis: the derivatives of the likelihood by the logarithms of the noise, in units of what is claimed."""
    with mpmath.workdps(2 * digits_for(data)):
        weight = real(sum(data.weight))
        S = mpmath.matrix([[real(value) / weight for value in row] for row in scatter_of(data)])
        L, noise = real_matrix(model.components_), [real(value) for value in fractions(model.noise_variance_)]
        precision = mpmath.inverse(L.T * L + mpmath.diag(noise))
        off = precision - precision * S * precision
        floor = [mpmath.mpf(model.noise_floor) * S[j, j] * (1 + mpmath.mpf(1e-5)) for j in range(S.rows)]
        slopes = [noise[j] * off[j, j] for j in range(S.rows)]
        free = [abs(slope) for j, slope in enumerate(slopes) if noise[j] > floor[j] or slope <= 0]
    claim = next(iter(model.certificate_))
    return float(max(free, default=0.0)), claim.bound


def canonical_pair(model, data):
    """CCA of one target: the correlation is the root of R^2; nothing is said where columns are dependent up to rounding."""
    varying = sum(len(set(column)) > 1 for column in zip(*data.X))
    if model.x_rank_ < varying or varying < len(data.X[0]):
        return 0.0, 1.0
    with mpmath.workdps(2 * digits_for(data)):
        rows, target = data.centred()
        w = data.weight
        p = range(len(rows[0]))
        A = mpmath.matrix([[real(sum(v * r[i] * r[j] for v, r in zip(w, rows))) for j in p] for i in p])
        b = mpmath.matrix([real(sum(v * r[i] * t for v, r, t in zip(w, rows, target))) for i in p])
        yy = real(sum(v * t * t for v, t in zip(w, target)))
        try:
            exact = mpmath.sqrt((b.T * mpmath.lu_solve(A, b))[0] / yy)
        except ZeroDivisionError:
            return 0.0, 1.0
        off = abs(real(fractions(model.correlations_)[0]) - exact)
    first, second = tuple(model.certificate_)[:2]
    return float(off), first.value + second.value


def varying_most(model, data):
    """The columns that vary most: by how much one left out varies more than one kept, relative to it."""
    total = sum(data.weight)
    variances = []
    for column in zip(*data.X):
        mean = sum(w * v for w, v in zip(data.weight, column)) / total
        variances.append(sum(w * (v - mean) ** 2 for w, v in zip(data.weight, column)) / total)
    support = np.asarray(model.support_)
    kept = min(value for value, chosen in zip(variances, support) if chosen)
    left = max((value for value, chosen in zip(variances, support) if not chosen), default=0)
    return float((left - kept) / left) if left > kept else 0.0, tuple(model.certificate_)[1].bound
