"""What is true of clusters that were found by similarities, with many digits: means in a kernel's features, and cuts of graphs."""

import mpmath
import numpy as np

from tests.proof.truth import digits_for, real
from tests.regression.exact import fractions


def similarities(kernel, gamma, rows):
    """Give the kernel of all rows with each other: the linear one, or the Gaussian."""

    def value(a, b):
        if kernel == "linear":
            return real(sum(x * z for x, z in zip(a, b)))
        return mpmath.exp(-real(gamma) * real(sum((x - z) ** 2 for x, z in zip(a, b))))

    return [[value(a, b) for b in rows] for a in rows]


def means(model, data):
    """Kernel k-means: what rows would gain with the nearest mean, and inertia_, in units of what is claimed of both."""
    labels, k = np.asarray(model.labels_)[data.kept].tolist(), model.n_clusters
    with mpmath.workdps(2 * digits_for(data)):
        K = similarities(model.kernel, fractions(np.array([model.gamma_]))[0], data.X)
        w, n = [real(weight) for weight in data.weight], len(data.X)

        def away(row, cluster):
            total = sum(w[j] for j in cluster)
            own = sum(w[j] * w[m] * K[j][m] for j in cluster for m in cluster) / total**2
            return K[row][row] - 2 * sum(w[j] * K[row][j] for j in cluster) / total + own

        clusters = [[i for i in range(n) if labels[i] == c] for c in range(k)]
        whole = sum(w[i] * away(i, range(n)) for i in range(n))
        own = [away(i, clusters[labels[i]]) for i in range(n)]
        best = [min(away(i, cluster) for cluster in clusters if cluster) for i in range(n)]
        gain = sum(w[i] * (own[i] - best[i]) for i in range(n))
        off = abs(real(fractions(np.array([model.inertia_]))[0]) - sum(a * b for a, b in zip(w, own)))
        if whole <= 0:
            return 0.0, 1.0
        allowed = [max(claim.value, claim.bound) for claim in tuple(model.certificate_)[:2]]
        return float(max(gain / whole / real_of(allowed[0]), off / whole / real_of(allowed[1]))), 1.0


def real_of(value):
    return mpmath.mpf(max(float(value), 1e-15))


def cuts(model, data):
    """Spectral clustering: eigenvalues, the cut, and the share below which no cut is, in units of what is claimed of them."""
    labels, k = np.asarray(model.labels_).tolist(), model.n_clusters
    affinity = np.asarray(
        model.affinity_matrix_.toarray() if hasattr(model.affinity_matrix_, "toarray") else model.affinity_matrix_
    )
    with mpmath.workdps(50):
        A = [
            [real(value) if i != j else mpmath.mpf(0) for j, value in enumerate(row)]
            for i, row in enumerate(fractions(affinity))
        ]
        n = len(A)
        degree = [sum(row) for row in A]
        root = [mpmath.sqrt(d) if d > 0 else mpmath.mpf(1) for d in degree]
        L = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                L[i, j] = (1 if i == j and degree[i] > 0 else 0) - A[i][j] / root[i] / root[j]
        values = sorted(mpmath.eigsy(L, eigvals_only=True))
        cut = mpmath.mpf(0)
        for c in range(k):
            inside = [i for i in range(n) if labels[i] == c]
            volume = sum((degree[i] for i in inside), mpmath.mpf(0))
            if volume > 0:
                cut += sum(A[i][j] for i in inside for j in range(n) if labels[j] != c) / volume
        off = max(abs(real(said) - value) for said, value in zip(fractions(model.eigenvalues_), values))
        far = abs(real(fractions(np.array([model.normalized_cut_]))[0]) - cut)
        least = model.certificate_["no clusters cut less"].value * model.normalized_cut_
        filled = len(set(labels))
        above = max(mpmath.mpf(least) - sum(values[:filled]), mpmath.mpf(0))
        missed = (
            model.certificate_["an eigenvalue that was missed"].value
            + model.certificate_["vectors are eigenvectors"].value
            + 1e-12
        )
        return float(
            max(
                off / mpmath.mpf(missed), far / mpmath.mpf(1e-9) / max(cut, mpmath.mpf(1e-9)), above / mpmath.mpf(1e-13)
            )
        ), 1.0
