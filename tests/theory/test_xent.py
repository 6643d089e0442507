"""LOGIT-BIN, XENT, SOFTREG: the logistic curve, the cross-entropy and the softmax model."""

import numpy as np
import pytest
from scipy.special import expit

import qed
from qed.base.sources.block import Block
from qed.optim.functions.softmax import SoftmaxLoss, coding_of
from qed.stats.classes.cross_entropy import cross_entropy


def two(z):
    return np.column_stack([np.zeros_like(z), z])


def test_the_two_decision_rules_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 3))
    y = (X[:1000] @ [1.0, -2.0, 0.5] + rng.logistic(size=1000) > 0).astype(int)
    model = qed.LogisticRegression().fit(X[:1000], y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X) == 1, model.predict_proba(X)[:, 1] > 0.5)
    np.testing.assert_array_equal(model.predict(X) == 1, scores > 0)


def test_slope_of_the_curve():
    """s' = s (1 - s): the curvature of our logistic loss at a score z is that slope."""
    z = np.linspace(-8, 8, 101)
    s = expit(z)
    ours = qed.optim.LogisticLoss().curvature(z, np.ones(101))
    np.testing.assert_allclose((expit(z + 1e-6) - expit(z - 1e-6)) / 2e-6, ours, atol=1e-9)
    np.testing.assert_allclose(ours, s * (1 - s), atol=1e-12)


def test_the_loss_has_three_faces():
    rng = np.random.default_rng(0)
    z, y = 3 * rng.normal(size=200), rng.integers(2, size=200)
    loss, chance, _ = cross_entropy(two(z), y)
    p = expit(z)
    np.testing.assert_allclose(loss, -y * np.log(p) - (1 - y) * np.log(1 - p), rtol=1e-10)
    np.testing.assert_allclose(loss, np.log1p(np.exp(-(2 * y - 1) * z)), rtol=1e-12)
    np.testing.assert_allclose(loss, -np.log(np.where(y == 1, p, 1 - p)), rtol=1e-10)
    np.testing.assert_allclose(chance[:, 1], p, rtol=1e-14)
    assert (loss > 0).all()


@pytest.mark.parametrize("k", [2, 3, 7])
def test_at_zero_it_is_n_log_k(k):
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(50, 4)), rng.integers(k, size=50))
    loss = SoftmaxLoss(coding_of(k), np.zeros(4), np.ones(4), True, np.ones(k))
    assert loss.of(block, np.zeros(loss.shape)).value == pytest.approx(50 * np.log(k), rel=1e-14)


def test_finite_at_the_ends():
    z = np.array([-1000.0, 1000.0, -1000.0, 1000.0])
    loss, chance, residual = cross_entropy(two(z), np.array([0, 1, 1, 0]))
    np.testing.assert_allclose(loss, [0, 0, 1000, 1000])
    assert np.isfinite(chance).all() and np.isfinite(residual).all()
    small, _, residual = cross_entropy(two(np.array([40.0])), np.array([1]))
    assert small[0] == pytest.approx(np.exp(-40.0), rel=1e-12)
    assert residual[0, 1] == pytest.approx(-np.exp(-40.0), rel=1e-12)


def test_softmax():
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=(60, 5)), rng.integers(5, size=60)
    loss, chance, residual = cross_entropy(scores, y)
    np.testing.assert_allclose(chance.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(residual, chance - np.eye(5)[y], atol=1e-15)
    np.testing.assert_allclose(residual.sum(axis=1), 0, atol=1e-15)
    np.testing.assert_array_equal(chance.argmax(axis=1), scores.argmax(axis=1))
    shifted = cross_entropy(scores + rng.normal(size=(60, 1)), y)
    np.testing.assert_allclose(shifted[0], loss, rtol=1e-12)
    np.testing.assert_allclose(shifted[1], chance, rtol=1e-12)
    pair = cross_entropy(scores[:, :2], y % 2)[1]
    np.testing.assert_allclose(pair[:, 1], expit(scores[:, 1] - scores[:, 0]), rtol=1e-12)


def test_predictions_are_the_largest_score():
    X, y = qed.data.load("iris").Xy()
    model = qed.LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert model.score(X, y) > 0.95
