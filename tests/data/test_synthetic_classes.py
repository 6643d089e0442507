"""Clusters, shapes and labelled models follow the laws that their docstrings state."""

import numpy as np
import pytest
from scipy import stats

from qed.base.errors import ParameterError
from qed.data.synthetic import blobs, checkerboard, classes, logistic, moons, rings, softmax_classes, xor


def sizes(labels):
    return np.bincount(labels).tolist()


def test_blobs():
    X, labels, truth = blobs(3001, 4, n_clusters=5, spread=0.5, random_state=0, return_truth=True)
    assert X.shape == (3001, 4) and sizes(labels) == [601, 600, 600, 600, 600]
    assert truth["centers"].shape == (5, 4) and abs(truth["centers"]).max() <= 10
    rest = X - truth["centers"][labels]
    assert rest.std() == pytest.approx(0.5, rel=0.05)
    for label in range(5):
        np.testing.assert_allclose(X[labels == label].mean(axis=0), truth["centers"][label], atol=0.1)


def test_blobs_about_given_centres():
    centers = [[0, 0, 0], [5, 5, 5]]
    X, labels, truth = blobs(10, centers=centers, spread=0.0, random_state=0, return_truth=True)
    np.testing.assert_array_equal(X, np.array(centers)[labels])
    np.testing.assert_array_equal(truth["centers"], centers)


def test_classes_have_their_means_covariances_and_priors():
    priors = [0.5, 0.3, 0.2]
    X, y, truth = classes(30_000, 3, priors=priors, random_state=0, return_truth=True)
    np.testing.assert_allclose(np.bincount(y) / 30_000, priors, atol=4 * 0.5 / np.sqrt(30_000))
    for label in range(3):
        np.testing.assert_allclose(X[y == label].mean(axis=0), truth["means"][label], atol=0.08)
        np.testing.assert_allclose(np.cov(X[y == label].T), truth["covariances"][label], atol=0.25)


def test_classes_may_share_a_covariance():
    _, _, truth = classes(10, 3, shared_covariance=True, random_state=0, return_truth=True)
    for covariance in truth["covariances"]:
        np.testing.assert_array_equal(covariance, truth["covariances"][0])
    _, _, own = classes(10, 3, random_state=0, return_truth=True)
    assert abs(own["covariances"][1] - own["covariances"][0]).max() > 0.01


def test_class_with_prior_zero_does_not_appear():
    _, y = classes(500, priors=[0.5, 0.0, 0.5], random_state=0)
    assert set(y.tolist()) == {0, 2}


def test_moons():
    X, y = moons(501, noise=0.0, random_state=0)
    assert sizes(y) == [251, 250]
    np.testing.assert_allclose(np.hypot(*X[y == 0].T), 1.0)
    np.testing.assert_allclose(np.hypot(*(X[y == 1] - [1.0, 0.5]).T), 1.0)
    assert (X[y == 0][:, 1] >= 0).all() and (X[y == 1][:, 1] <= 0.5).all()


def test_moons_noise():
    clean, _ = moons(5000, noise=0.0, random_state=0)
    noisy, _ = moons(5000, noise=0.2, random_state=0)
    assert (noisy - clean).std() == pytest.approx(0.2, rel=0.05)


def test_rings():
    X, y = rings(3000, radii=(1, 3, 7), noise=0.1, random_state=0)
    radius = np.hypot(*X.T)
    for ring, length in enumerate((1, 3, 7)):
        assert radius[y == ring].mean() == pytest.approx(length, abs=4 * 0.1 / np.sqrt(1000))
        assert radius[y == ring].std() == pytest.approx(0.1, rel=0.1)
    angle = np.arctan2(X[:, 1], X[:, 0])
    assert stats.kstest(angle, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-4


def test_rings_are_separated_by_squares_and_not_by_lines():
    X, y = rings(200, random_state=0)
    sign = 2.0 * y - 1.0

    def accuracy(features):
        design = np.column_stack([np.ones(len(X)), features])
        return (np.sign(design @ np.linalg.lstsq(design, sign)[0]) == sign).mean()

    assert accuracy(X) < 0.7 and accuracy(np.column_stack([X, X**2])) == 1.0


def test_checkerboard():
    X, y = checkerboard(20_000, cells=3, random_state=0)
    assert X.min() >= 0 and X.max() < 3
    np.testing.assert_array_equal(y, np.floor(X).sum(axis=1) % 2)
    assert y.mean() == pytest.approx(4 / 9, abs=4 * 0.5 / np.sqrt(20_000))


def test_checkerboard_flips_as_often_as_asked():
    X, y = checkerboard(20_000, flip=0.1, random_state=0)
    wrong = y != np.floor(X).sum(axis=1) % 2
    assert wrong.mean() == pytest.approx(0.1, abs=4 * 0.3 / np.sqrt(20_000))


def test_xor_corners():
    X, y = xor()
    np.testing.assert_array_equal(2 * y - 1, -X[:, 0] * X[:, 1])
    X, y = xor(400, noise=0.1, random_state=0)
    np.testing.assert_array_equal(2 * y - 1, -np.sign(X[:, 0] * X[:, 1]))
    assert sizes(y) == [200, 200]


@pytest.mark.parametrize("seed", [0, 1])
def test_logistic_labels_are_calibrated(seed):
    X, y, truth = logistic(20_000, 5, intercept=-0.5, random_state=seed, return_truth=True)
    probability = truth["probability"]
    assert X.shape == (20_000, 5) and set(y.tolist()) == {0, 1}
    np.testing.assert_allclose(probability, 1 / (1 + np.exp(-(X @ truth["coef"] - 0.5))), rtol=1e-12)
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (probability >= low) & (probability < low + 0.25)
        assert y[inside].mean() == pytest.approx(probability[inside].mean(), abs=2 / np.sqrt(inside.sum()))


def test_logistic_score_equation_holds_at_the_truth():
    """At the true w the gradient of the log-likelihood has mean zero."""
    X, y, truth = logistic(20_000, 3, random_state=2, return_truth=True)
    assert abs((X * (y - truth["probability"])[:, None]).mean(axis=0)).max() < 4 * 0.5 / np.sqrt(20_000)


def test_logistic_with_given_and_with_sparse_weights():
    _, _, truth = logistic(10, 2, coef=[3, -1], random_state=0, return_truth=True)
    assert truth["coef"].tolist() == [3.0, -1.0]
    _, _, truth = logistic(10, 50, n_informative=7, random_state=0, return_truth=True)
    assert np.count_nonzero(truth["coef"]) == 7
    _, _, truth = logistic(10, 5, signal=0.0, random_state=0, return_truth=True)
    assert truth["probability"].tolist() == [0.5] * 10


def test_softmax_classes_are_calibrated():
    intercept = [1.0, 0.0, -1.0]
    X, y, truth = softmax_classes(20_000, 4, intercept=intercept, random_state=0, return_truth=True)
    probability = truth["probability"]
    scores = np.exp(X @ truth["coef"].T + intercept)
    np.testing.assert_allclose(probability, scores / scores.sum(axis=1, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(np.bincount(y) / 20_000, probability.mean(axis=0), atol=2 / np.sqrt(20_000))
    sure = probability[:, 0] > 0.8
    assert (y[sure] == 0).mean() == pytest.approx(probability[sure, 0].mean(), abs=2 / np.sqrt(sure.sum()))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: blobs(10, n_clusters=0), "n_clusters"),
        (lambda: blobs(10, centers=[1, 2]), "centers must have shape any x any"),
        (lambda: blobs(10, spread=-1), "spread"),
        (lambda: classes(10, priors=[0.5, 0.5]), "priors must have shape 3"),
        (lambda: classes(10, priors=[0.5, 0.5, 0.5]), "priors must be non-negative and sum to 1"),
        (lambda: classes(10, priors=[1.5, -0.5, 0.0]), "priors must be non-negative"),
        (lambda: moons(10, noise=-0.1), "noise"),
        (lambda: rings(10, radii=[]), "radii"),
        (lambda: checkerboard(10, flip=1.5), "flip must be a finite number >= 0 and <= 1"),
        (lambda: xor(0), "n must be a whole number"),
        (lambda: logistic(10, 3, coef=[1, 2]), "coef must have shape 3"),
        (lambda: softmax_classes(10, 2, n_classes=1), "n_classes must be a whole number >= 2"),
        (lambda: softmax_classes(10, 2, coef=[[1, 2]]), "coef must have shape 3 x 2"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
