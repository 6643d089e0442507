"""C6-EM-QDA: with known labels the M step gives the means, covariances and priors of quadratic discriminant analysis."""

import numpy as np

import qed
from qed.clustering.mixtures.shares import Shares


def test_known_labels_make_quadratic_discriminant_analysis():
    X, y = qed.data.load("iris").Xy()
    classes, label = np.unique(y, return_inverse=True)
    from qed.clustering.mixtures.mixture import Mixture
    from qed.clustering.mixtures.shapes import spread_like
    from qed.clustering.mixtures.shares import Held

    start = Mixture.of("full", np.full(3, 1 / 3), np.tile(X.mean(axis=0), (3, 1)), spread_like(1.0, "full", 3, 4))
    found = Shares.given(start.away(X), np.eye(3)[label].T, "full", np.ones(len(X))).updated(start, Held("full"))
    qda = qed.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    counts = np.bincount(label)
    assert np.abs(found.means - qda.means_).max() < 1e-12
    assert np.abs(found.weights - qda.priors_).max() < 1e-12
    for j in range(3):
        assert np.abs(found.covariances[j] - np.cov(X[label == j].T, bias=True)).max() < 1e-12
        # QDA divides by n - 1 where scikit-learn does; the most likely one by n.
        scaled = qda.covariance_[j] * (counts[j] - 1) / counts[j]
        assert min(np.abs(found.covariances[j] - other).max() for other in (qda.covariance_[j], scaled)) < 1e-12
