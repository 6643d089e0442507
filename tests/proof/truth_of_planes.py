"""What is true of planes that lie near rows, with many digits: principal components."""

import mpmath

from tests.proof.truth import digits_for, real
from tests.regression.exact import fractions


def scatter_of(data):
    """Give the scatter of the rows about their mean, as fractions."""
    total = sum(data.weight)
    means = [sum(w * v for w, v in zip(data.weight, column)) / total for column in zip(*data.X)]
    rows = [[v - m for v, m in zip(row, means)] for row in data.X]
    p = range(len(means))
    return [[sum(w * row[i] * row[j] for w, row in zip(data.weight, rows)) for j in p] for i in p]


def components(model, data):
    """Principal components: squared distances from their plane above the least possible, relative to all squares, and their variances."""
    scatter = scatter_of(data)
    with mpmath.workdps(2 * digits_for(data)):
        S = mpmath.matrix([[real(value) for value in row] for row in scatter])
        total = sum(S[j, j] for j in range(S.rows))
        if total == 0:
            return 0.0, 0.0
        values = sorted(mpmath.eigsy(S, eigvals_only=True), reverse=True)
        V = mpmath.matrix([[real(value) for value in row] for row in fractions(model.components_)])
        # The plane is what the directions span, be they orthonormal or nearly so.
        inner = (V * S * V.T) * mpmath.inverse(V * V.T)
        kept = model.n_components_
        above = (sum(values[:kept]) - sum(inner[j, j] for j in range(kept))) / total
        freedom = real(sum(data.weight) - 1)
        said = [real(value) * freedom for value in fractions(model.explained_variance_)]
        off = max(abs(a - b) for a, b in zip(said, values)) / total
    claims = {claim.says.split(" (")[0]: claim.value for claim in model.certificate_}
    eigen = claims["components are eigenvectors"]
    least = next((value for says, value in claims.items() if says.startswith("reconstruction")), 1e-12)
    # Both are claimed: the distance by itself, the variances by the residual of the eigenvectors, and rounding of many digits is nothing.
    return float(max(above / least, off / eigen)), 1.0
