"""GDA-BOUND, GDA-MULTI, LDA-LOGIT: the four kinds of boundaries, Voronoi cells, and the logistic form of the posterior."""

import numpy as np
import pytest
from scipy.special import expit

import qed
from tests.theory.gaussians import with_moments

LINEAR, QUADRATIC = qed.LinearDiscriminantAnalysis, qed.QuadraticDiscriminantAnalysis


def test_round_and_equal_is_the_bisector():
    X, y, w = with_moments([[1, 0], [-1, 0]], [np.eye(2)] * 2, [0.5, 0.5])
    model = LINEAR().fit(X, y, w)
    points = np.array([[0.0, 5.0], [0.0, -3.0], [1e-6, 2.0], [-1e-6, 2.0]])
    assert np.abs(model.decision_function(points[:2])).max() < 1e-14
    assert model.predict(points[2:]).tolist() == ["A", "B"]


def test_stretched_and_equal_is_a_line_but_not_the_bisector():
    """E21: the points are equally far from both means in Mahalanobis distance, not in Euclidean distance."""
    X, y, w = with_moments([[1, 1], [-1, -1]], [np.diag([4.0, 1.0])] * 2, [0.5, 0.5])
    model = LINEAR().fit(X, y, w)
    form = model.boundary("A", "B")
    np.testing.assert_allclose(form.vector, [0.5, 2.0], rtol=1e-12)
    assert np.abs(form.matrix).max() < 1e-15 and abs(form.constant) < 1e-14
    point = np.array([1.0, -0.5])
    nearer = qed.KNeighborsClassifier(1).fit([[1, 1], [-1, -1]], ["A", "B"])
    assert nearer.predict([point])[0] == "A" != model.predict([point])[0]
    line = np.array([[4.0, -1.0], [-8.0, 2.0]])
    far = [((line - mean) ** 2 / np.diag(model.covariance_)).sum(axis=1) for mean in model.means_]
    np.testing.assert_allclose(*far, rtol=1e-12)
    assert np.abs(model.decision_function(line)).max() < 1e-13


def test_other_priors_move_the_line():
    X, y, w = with_moments([[1, 0], [-1, 0]], [np.eye(2)] * 2, [0.8, 0.2])
    model = LINEAR().fit(X, y, w)
    assert abs(model.decision_function([[-np.log(4) / 2, 7.0]])[0]) < 1e-13
    assert abs(model.decision_function([[-0.6931471806, -3.0]])[0]) < 1e-9
    assert model.predict_proba([[0.0, 0.0]])[0, 0] == pytest.approx(0.8, rel=1e-13)  # E22: 0.8, not 0.2
    np.testing.assert_allclose(model.boundary("A", "B").vector, [2.0, 0.0], atol=1e-13)


def test_other_covariances_make_a_quadric():
    X, y, w = with_moments([[1, 0], [-1, 0]], [np.eye(2), np.diag([1.0, 4.0])], [0.5, 0.5])
    form = QUADRATIC().fit(X, y, w).boundary("A", "B")
    np.testing.assert_allclose(form.matrix, np.diag([0.0, -0.375]), atol=1e-13)


@pytest.mark.parametrize("kind", [LINEAR, QUADRATIC])
def test_the_form_of_a_boundary_is_the_difference_of_the_scores(kind):
    """S8: its constant has the factors one half, and the logarithm of p over 1 - p; means of different lengths show it."""
    X, y, w = with_moments([[3, 1], [-1, 0]], [np.diag([4.0, 1.0]), [[2.0, 0.5], [0.5, 1.0]]], [0.7, 0.3])
    model = kind().fit(X, y, w)
    form, points = model.boundary("A", "B"), np.random.default_rng(0).uniform(-4, 6, size=(50, 2))
    values = ((points @ form.matrix) * points).sum(axis=1) + points @ form.vector + form.constant
    odds = model.predict_log_proba(points)
    np.testing.assert_allclose(values, odds[:, 0] - odds[:, 1], rtol=1e-9, atol=1e-10)
    if kind is LINEAR:
        inverse, (a, b) = np.linalg.inv(model.covariance_), model.means_
        wanted = np.log(0.7 / 0.3) - (a @ inverse @ a - b @ inverse @ b) / 2
        assert form.constant == pytest.approx(wanted, rel=1e-10)


def test_a_tie_goes_to_the_first_class():
    X, y, w = with_moments([[1.0], [-1.0]], [[[1.0]]] * 2, [0.5, 0.5])
    assert LINEAR().fit(X, y, w).predict([[0.0]])[0] == "A"


def test_round_classes_of_equal_priors_are_voronoi_cells():
    means = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0], [-3.0, 2.0]])
    X, y, w = with_moments(means, [np.eye(2)] * 4, [1.0] * 4)
    points = np.random.default_rng(0).uniform(-6, 8, size=(2000, 2))
    nearest = ((points[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    for kind in (LINEAR, QUADRATIC):
        model = kind().fit(X, y, w)
        assert (model.predict(points) == np.array(list("ABCD"))[nearest]).all()


def test_the_posterior_is_the_logistic_curve_of_a_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) + 1.0
    y = rng.random(200) < expit(X @ [1.0, -1.0, 0.5])
    model = LINEAR().fit(X, y)
    line = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(line), rtol=1e-12)
    inverse = np.linalg.inv(model.covariance_)
    np.testing.assert_allclose(model.coef_[0], inverse @ (model.means_[1] - model.means_[0]), rtol=1e-9)
    constant = np.log(model.priors_[1] / model.priors_[0]) - 0.5 * (
        model.means_[1] @ inverse @ model.means_[1] - model.means_[0] @ inverse @ model.means_[0]
    )
    assert model.intercept_[0] == pytest.approx(constant, rel=1e-9)


def test_logistic_regression_on_gaussian_classes_finds_the_same_plane():
    rng = np.random.default_rng(0)
    n = 40_000
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]]) + np.where(y[:, None], [1.0, 0.5], [-0.5, 0.0])
    linear, logistic = LINEAR().fit(X, y), qed.LogisticRegression(C=None).fit(X, y)
    error = logistic.inference_.standard_errors
    found = np.append(linear.intercept_, linear.coef_) - np.append(logistic.intercept_, logistic.coef_)
    # Both estimate the same numbers; LDA is the more precise one, so they differ by a few standard errors of the other at most.
    assert (np.abs(found) < 5 * error).all()
