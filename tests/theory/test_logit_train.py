"""LOGIT-TRAIN: training binary logistic regression, on the worked numbers."""

import warnings

import numpy as np
import pytest

import qed
from qed.base.running.steps import Reason, Step
from qed.base.sources.block import Block
from qed.optim.functions.softmax import SoftmaxLoss, coding_of

X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
Y = np.array([0, 0, 1, 0, 1])
BEST = np.array([1.09042556, -0.62269007])
LEAST = 2.421966843685811
DESIGN = np.column_stack([X, np.ones(5)])
LOSS = SoftmaxLoss(coding_of(2), np.zeros(1), np.ones(1), True, np.ones(2))
BLOCK = Block(X, Y)


def test_the_worked_numbers():
    model = qed.LogisticRegression(C=None, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], BEST, atol=5e-9)
    assert model.ending_.step.objective == pytest.approx(LEAST, rel=1e-15)
    assert model.ending_.reason is Reason.CERTIFIED and model.certificate_
    assert np.abs(LOSS.of(BLOCK, np.array([[model.coef_[0, 0], model.intercept_[0]]])).gradient).max() < 1e-11


@pytest.mark.parametrize("start", [(0.0, 0.0), (5.0, -3.0), (-2.0, 4.0)])
def test_any_start_leads_there(start):
    begin = Step(np.inf, coef=np.array([[start[0]]]), intercept=np.array([start[1]]))
    walk = qed.steps(qed.LogisticRegression(C=None), X, Y, start=begin)
    for step in walk:
        if step.gap < 1e-25:
            break
    assert step.number < 15
    np.testing.assert_allclose([step.coef[0, 0], step.intercept[0]], BEST, atol=5e-9)
    assert step.objective == pytest.approx(LEAST, rel=1e-15)


def test_newton_needs_six_steps():
    theta = np.zeros((1, 2))
    for _ in range(6):
        found = LOSS.of(BLOCK, theta, "full")
        theta = theta - np.linalg.solve(LOSS.joined(found.blocks), found.gradient.ravel())[None]
    assert np.linalg.norm(LOSS.of(BLOCK, theta).gradient) < 2e-15
    np.testing.assert_allclose(theta[0], BEST, atol=5e-9)


def test_gradient_descent_needs_seventy_five():
    steepest = 2.5  # the largest eigenvalue of X'X / 4
    theta, count = np.zeros((1, 2)), 0
    while np.linalg.norm(gradient := LOSS.of(BLOCK, theta).gradient) >= 1e-10:
        theta, count = theta - gradient / steepest, count + 1
    assert 70 <= count <= 80
    np.testing.assert_allclose(theta[0], BEST, atol=1e-8)


def test_derivatives_at_zero():
    found = LOSS.of(BLOCK, np.zeros((1, 2)), "full")
    np.testing.assert_allclose(LOSS.joined(found.blocks), DESIGN.T @ DESIGN / 4, rtol=1e-14)
    np.testing.assert_allclose(found.gradient[0], DESIGN.T @ (0.5 - Y), rtol=1e-14)


def test_the_hessian_is_positive():
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta, v = 3 * rng.normal(size=(1, 2)), rng.normal(size=2)
        p = 1 / (1 + np.exp(-DESIGN @ theta[0]))
        H = LOSS.joined(LOSS.of(BLOCK, theta, "full").blocks)
        assert v @ H @ v == pytest.approx((p * (1 - p)) @ (DESIGN @ v) ** 2, rel=1e-10)
        assert v @ H @ v >= 0


def test_predicted_and_seen_are_equally_many():
    model = qed.LogisticRegression(C=None).fit(X, Y)
    assert model.predict_proba(X)[:, 1].sum() == pytest.approx(2, abs=1e-7)
    np.testing.assert_allclose(X[:, 0] @ (model.predict_proba(X)[:, 1] - Y), 0, atol=1e-6)


def test_separable_data_are_noticed():
    with pytest.warns(qed.base.errors.ConvergenceWarning, match="no finite maximum"):
        model = qed.LogisticRegression(C=None).fit(X, [0, 0, 0, 1, 1])
    assert model.ending_.reason is Reason.DEGENERATE
    lengths = []
    for C in (1e2, 1e4, 1e6):
        lengths.append(qed.LogisticRegression(C=C).fit(X, [0, 0, 0, 1, 1]).coef_[0, 0])
    assert lengths == sorted(lengths) and lengths[-1] > 15


@pytest.mark.parametrize("solver", ["gradient", "lbfgs", "svrg", "sgd"])
def test_batch_and_stochastic_gradients_reach_the_worked_numbers(solver):
    """Without a penalty: by all rows at the safe constant step, or with what steps told; by single rows; falling steps come near."""
    steps = 2000 if solver == "sgd" else 10_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.GradientLogisticRegression(C=None, solver=solver, batch=1, tol=1e-7, max_iter=steps).fit(X, Y)
    found = model.ending_.step.objective
    assert model.certificate_ or solver == "sgd"
    assert LEAST * (1 - 1e-15) <= found <= LEAST * (1 + (1e-3 if solver == "sgd" else 1e-14))
    if solver != "sgd":
        # The objective is within tol squared of its minimum, so coefficients are off by tol times the root of curvature, about.
        np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], BEST, atol=1e-6)


def test_gradient_descent_never_rises():
    model = qed.GradientLogisticRegression(C=None).fit(X, Y)
    values = np.array([step["objective"] for step in model.ending_.trace])
    assert (np.diff(values) <= 4 * 2.0**-52 * LEAST).all() and len(values) > 10
