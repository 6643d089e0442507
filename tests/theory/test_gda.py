"""GDA, QDA, LDA, O-GDA, O-LDSCORE: Gaussian classes, their scores, and how many numbers they estimate."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import qed
from tests.theory.gaussians import with_moments

MODELS = (qed.LinearDiscriminantAnalysis, qed.QuadraticDiscriminantAnalysis)


def three_classes(seed=0, n=240, p=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, p)) @ np.array([[2.0, 0.3, 0.0], [0.0, 1.0, -0.4], [0.0, 0.0, 0.5]]) + 2 * y[:, None]
    return X, y


@pytest.mark.parametrize("kind", MODELS)
def test_three_ways_to_the_most_probable_class_agree(kind):
    X, y = three_classes()
    model = kind().fit(X, y)
    covariance = model.covariance_ if model.covariance_.ndim == 3 else [model.covariance_] * 3
    density = np.column_stack([multivariate_normal(m, S).pdf(X) for m, S in zip(model.means_, covariance)])
    joint = density * model.priors_
    posterior = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X), posterior, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.log_likelihood(X), np.log(joint.sum(axis=1)), rtol=1e-9)
    assert model.priors_.sum() == pytest.approx(1, rel=1e-15)


def test_the_score_is_log_of_prior_times_density():
    X, y = three_classes()
    model = qed.QuadraticDiscriminantAnalysis().fit(X, y)
    for k in range(3):
        Q = np.log(
            (2 * np.pi) ** 1.5 * model.priors_[k] * multivariate_normal(model.means_[k], model.covariance_[k]).pdf(X)
        )
        np.testing.assert_allclose(model.decision_function(X)[:, k], Q, rtol=1e-10, atol=1e-9)


def test_the_estimates_are_those_of_maximum_likelihood():
    X, y = three_classes()
    model = qed.QuadraticDiscriminantAnalysis().fit(X, y)
    rng = np.random.default_rng(1)
    for k in range(3):
        mine = X[y == k]
        np.testing.assert_allclose(model.means_[k], mine.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(model.covariance_[k], np.cov(mine.T, ddof=0), rtol=1e-11)
        best = multivariate_normal(model.means_[k], model.covariance_[k]).logpdf(mine).sum()
        for _ in range(20):
            move = rng.normal(size=(3, 3)) * 0.05
            other = model.covariance_[k] @ (np.eye(3) + (move + move.T) / 2)
            other = (other + other.T) / 2
            assert multivariate_normal(model.means_[k] + 0.05 * rng.normal(size=3), other).logpdf(mine).sum() < best


def test_the_pooled_covariance_is_the_weighted_average():
    X, y = three_classes()
    linear, quadratic = (kind().fit(X, y) for kind in MODELS)
    average = np.tensordot(quadratic.priors_, quadratic.covariance_, axes=1)
    np.testing.assert_allclose(linear.covariance_, average, rtol=1e-12)


def test_differences_of_linear_scores_have_no_second_differences():
    X, y = three_classes()
    model = qed.LinearDiscriminantAnalysis().fit(X, y)
    line = X[0] + np.linspace(0, 1, 5)[:, None] * (X[1] - X[0])
    scores = model.decision_function(line)
    gap = scores[:, 0] - scores[:, 1]
    assert np.abs(np.diff(gap, 2)).max() <= 1e-12 * np.abs(gap).max()


def test_of_equal_covariances_quadratic_is_linear():
    X, y, w = with_moments([[0, 0], [3, 1]], [[[2, 0.5], [0.5, 1]]] * 2, [0.7, 0.3])
    linear, quadratic = (kind().fit(X, y, w) for kind in MODELS)
    grid = np.random.default_rng(0).normal(size=(100, 2)) * 3
    np.testing.assert_allclose(linear.decision_function(grid), quadratic.decision_function(grid), rtol=1e-9, atol=1e-9)


def test_one_dimension_variances_one_and_four():
    X, y, w = with_moments([[0], [0]], [[[1]], [[4]]], [0.5, 0.5])
    model = qed.QuadraticDiscriminantAnalysis().fit(X, y, w)
    edge = np.sqrt(8 * np.log(2) / 3)
    assert np.abs(model.decision_function([[1.3595559869], [-1.3595559869]])).max() < 1e-9
    assert np.abs(model.decision_function([[edge], [-edge]])).max() < 1e-14
    form = model.boundary("A", "B")
    assert (form.matrix[0, 0] * edge**2 + form.vector[0] * edge + form.constant) == pytest.approx(0, abs=1e-14)


def test_the_boundary_is_a_quadric_with_a_constant_hessian():
    X, y = three_classes()
    model = qed.QuadraticDiscriminantAnalysis().fit(X, y)
    form = model.boundary(0, 1)
    inverse = [np.linalg.inv(S) for S in model.covariance_]
    np.testing.assert_allclose(2 * form.matrix, -(inverse[0] - inverse[1]), rtol=1e-9, atol=1e-10)
    scores = model.decision_function(X)
    value = np.einsum("ij,jk,ik->i", X, form.matrix, X) + X @ form.vector + form.constant
    np.testing.assert_allclose(value, scores[:, 0] - scores[:, 1], rtol=1e-8, atol=1e-8)


def test_how_many_numbers_are_estimated():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 64)), np.repeat(np.arange(10), 100)
    assert qed.LinearDiscriminantAnalysis().fit(X, y).n_parameters_ == 2729
    assert qed.QuadraticDiscriminantAnalysis().fit(X, y).n_parameters_ == 21449
    model = qed.LogisticRegression(tol=1e-2).fit(X, y)
    assert model.coef_.size + model.intercept_.size == 650


def test_samples_have_the_fitted_frequencies_and_means():
    X, y = three_classes()
    for kind in MODELS:
        model = kind().fit(X, y)
        drawn, labels = model.sample(20_000, random_state=0)
        for k in range(3):
            mine = drawn[labels == k]
            assert len(mine) / 20_000 == pytest.approx(model.priors_[k], abs=5 * 0.5 / np.sqrt(20_000))
            spread = np.sqrt(np.diagonal(model.covariance_[k] if model.covariance_.ndim == 3 else model.covariance_))
            assert (np.abs(mine.mean(axis=0) - model.means_[k]) < 5 * spread / np.sqrt(len(mine))).all()


def test_log_odds_of_the_corrected_example():
    X, y, w = with_moments([[0], [2]], [[[1]], [[1]]], [0.2, 0.8])
    model = qed.LinearDiscriminantAnalysis().fit(X, y, w)
    assert model.decision_function([[0.5]])[0] == pytest.approx(0.3862944, abs=1e-7)


def test_the_logit_undoes_the_logistic_curve():
    """O-LDSCORE: ln(y / (1 - y)) of the probability is the score; probability above 1/2, odds above 1, logit above 0 are one rule."""
    X, y = three_classes()
    model = qed.LinearDiscriminantAnalysis().fit(X, y == 2)
    p, score = model.predict_proba(X)[:, 1], model.decision_function(X)
    near = (p > 1e-3) & (p < 1 - 1e-3)
    assert near.sum() > 20
    np.testing.assert_allclose(np.log(p[near] / (1 - p[near])), score[near], rtol=1e-9, atol=1e-12)
    for rule in (p > 0.5, p > 1 - p, score > 0):
        np.testing.assert_array_equal(rule, model.predict(X))


def test_ten_digits():
    """Ten classes of 64 pixels, some of them constant: both Gaussian models know more than nine of ten digits that they have not seen."""
    X, y = qed.data.load("digits").Xy()
    first = np.arange(len(y)) % 2 == 0
    for model in (qed.LinearDiscriminantAnalysis(shrinkage=0.1), qed.QuadraticDiscriminantAnalysis(shrinkage=0.1)):
        model.fit(X[first], y[first])
        assert model.certificate_ and model.score(X[~first], y[~first]) > 0.9


def test_regions_of_linear_scores_are_convex():
    """O-LDSCORE."""
    X, y = three_classes()
    model = qed.LinearDiscriminantAnalysis().fit(X, y)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3)) * 4
    label = model.predict(points)
    for k in range(3):
        mine = points[label == k]
        pairs = rng.integers(len(mine), size=(200, 2))
        share = rng.random((200, 1))
        between = share * mine[pairs[:, 0]] + (1 - share) * mine[pairs[:, 1]]
        assert (model.predict(between) == k).all()
