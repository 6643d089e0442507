"""C6-EM-QDA: with known labels the M step gives the means, covariances and priors of quadratic discriminant analysis."""

import numpy as np

import qed
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.shapes import spread_like
from qed.clustering.mixtures.shares import Held, Shares


def labelled_iris():
    X, y = qed.data.load("iris").Xy()
    return X, np.unique(y, return_inverse=True)[1]


def test_known_labels_make_quadratic_discriminant_analysis():
    X, label = labelled_iris()
    start = Mixture.of("full", np.full(3, 1 / 3), np.tile(X.mean(axis=0), (3, 1)), spread_like(1.0, "full", 3, 4))
    found = Shares.given(start.away(X), np.eye(3)[label].T, "full", np.ones(len(X))).updated(start, Held("full"))
    qda = qed.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, label)
    assert np.abs(found.means - qda.means_).max() < 1e-12
    assert np.abs(found.weights - qda.priors_).max() < 1e-12
    for j in range(3):
        assert np.abs(found.covariances[j] - np.cov(X[label == j].T, bias=True)).max() < 1e-12
        assert np.abs(found.covariances[j] - qda.covariance_[j]).max() < 1e-12


def test_rows_of_classes_far_apart_are_their_own_labels():
    """Where posteriors are certain, EM itself ends at the class means, covariances and shares, and decides as QDA does."""
    X, label = labelled_iris()
    X = X + 50.0 * np.eye(4)[label]
    start = np.array([X[label == j].mean(axis=0) for j in range(3)]) + 0.5
    model = qed.GaussianMixture(3, means_init=start, reg_covar=0.0, tol=1e-9).fit(X)
    np.testing.assert_allclose(model.weights_, np.bincount(label) / len(X), rtol=1e-12)
    for j in range(3):
        np.testing.assert_allclose(model.means_[j], X[label == j].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(model.covariances_[j], np.cov(X[label == j].T, bias=True), atol=1e-11)
    assert np.array_equal(model.predict(X), qed.QuadraticDiscriminantAnalysis().fit(X, label).predict(X))
