"""O-PCA-K: the least number of components with 95 % of the variance."""

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError
from qed.reduction.evidence import log_evidence


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(100, 8), (8, 100)])
def test_enough_and_not_one_more(seed, shape):
    """Check: K components have 0.95 of the variance, K - 1 do not; it is what n_components is by default."""
    X = np.random.default_rng(seed).standard_normal(shape) * 0.7 ** np.arange(shape[1])
    model, ratio = qed.PCA().fit(X), qed.PCA(None).fit(X).explained_variance_ratio_
    k = model.n_components_
    assert ratio[:k].sum() >= 0.95 - 1e-12 and ratio[: k - 1].sum() < 0.95


@pytest.mark.parametrize(
    ("n", "p", "k", "offset"), [(200, 6, 2, 0.0), (40, 11, 5, 1e5), (1000, 4, 3, 0.0), (15, 12, 1, 0.0)]
)
def test_the_most_likely_number(n, p, k, offset):
    """Minka: with "mle" as many components are kept as scikit-learn keeps, and the evidence is the same but for what does not matter."""
    from sklearn.decomposition import PCA
    from sklearn.decomposition._pca import _assess_dimension

    random = np.random.default_rng(n)
    X = 2 * random.standard_normal((n, k)) @ random.standard_normal((k, p)) + random.standard_normal((n, p)) + offset
    model, peer = qed.PCA("mle").fit(X), PCA("mle").fit(X)
    assert model.n_components_ == peer.n_components_
    assert model.certificate_ and qed.certify(model, X)
    variances = PCA().fit(X).explained_variance_
    expected = [_assess_dimension(variances, number, n) for number in range(1, p)]
    # The same sums, of a few thousand logarithms, in another order.
    np.testing.assert_allclose(log_evidence(variances, n), expected, rtol=1e-9)


def test_the_most_likely_number_of_rows_that_hardly_vary():
    """Ties and directions without variance have no evidence by the formula: the first count as nearly alike, the others as impossible."""
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert qed.PCA("mle").fit(np.column_stack([X, X])).n_components_ == 3
    assert qed.PCA("mle").fit(np.vstack([np.eye(4), -np.eye(4)])).certificate_
    assert qed.PCA("mle").fit(np.ones((9, 3))).n_components_ == 1
    weight = np.random.default_rng(1).integers(1, 4, 50)
    weighted = qed.PCA("mle").fit(X, sample_weight=weight)
    assert weighted.n_components_ == qed.PCA("mle").fit(np.repeat(X, weight, axis=0)).n_components_
    with pytest.raises(ParameterError, match="n_samples >= n_features"):
        qed.PCA("mle").fit(X[:2])
    with pytest.raises(ParameterError, match="all components are needed"):
        qed.PCA("mle", svd_solver="randomized").fit(X)
