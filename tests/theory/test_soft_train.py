"""SOFT-TRAIN: training logistic regression with more than two classes."""

import numpy as np
import pytest

import qed
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.optim.functions.softmax import SoftmaxLoss, coding_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X @ RNG.normal(size=(3, 4)) + RNG.gumbel(size=(80, 4))).argmax(axis=1)
DESIGN = np.column_stack([X, np.ones(80)])


def free(k):
    """The loss in the scores' own coordinates: one vector for each class."""
    return SoftmaxLoss(np.eye(k), np.zeros(3), np.ones(3), True, np.ones(k))


def test_the_gradient_is_that_of_the_text():
    loss, W = free(4), RNG.normal(size=(4, 4))
    scores = DESIGN @ W.T
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    found = loss.of(Block(X, Y), W).gradient
    np.testing.assert_allclose(found, (P - np.eye(4)[Y]).T @ DESIGN, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-12)
    for place in np.ndindex(4, 4):
        change = np.zeros((4, 4))
        change[place] = 1e-6
        slope = (loss.of(Block(X, Y), W + change).value - loss.of(Block(X, Y), W - change).value) / 2e-6
        assert found[place] == pytest.approx(slope, abs=1e-6)


def test_the_hessian_is_flat_along_common_shifts_only():
    loss, W = free(4), RNG.normal(size=(4, 4))
    H = loss.joined(loss.of(Block(X, Y), W, "full").blocks)
    values = np.linalg.eigvalsh(H)
    np.testing.assert_allclose(values[:4], 0, atol=1e-12)
    assert values[4] > 1e-3
    assert values[-1] <= np.linalg.eigvalsh(DESIGN.T @ DESIGN)[-1] / 2
    coded = SoftmaxLoss(coding_of(4), np.zeros(3), np.ones(3), True, np.ones(4))
    U = coding_of(4) @ W
    inner = np.linalg.eigvalsh(coded.joined(coded.of(Block(X, Y), U, "full").blocks))
    np.testing.assert_allclose(inner, values[4:], rtol=1e-9)


def test_any_start_leads_to_the_same_loss():
    ends = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        begin = Step(np.inf, coef=2 * rng.normal(size=(4, 3)), intercept=rng.normal(size=4))
        for step in qed.steps(qed.LogisticRegression(C=None), X, Y, start=begin):
            if step.gap < 1e-20:
                break
        ends.append(step.objective)
    np.testing.assert_allclose(ends, ends[0], rtol=1e-13)
    assert qed.LogisticRegression(C=None).fit(X, Y).ending_.step.objective == pytest.approx(ends[0], rel=1e-13)


def test_two_classes_walk_the_binary_path_at_twice_the_step():
    y = Y % 2
    soft, binary = free(2), SoftmaxLoss(coding_of(2), np.zeros(3), np.ones(3), True, np.ones(2))
    W, w = np.zeros((2, 4)), np.zeros((1, 4))
    for _ in range(50):
        W = W - 0.005 * soft.of(Block(X, y), W).gradient
        w = w - 0.01 * binary.of(Block(X, y), w).gradient
        np.testing.assert_allclose(W[1] - W[0], w[0], rtol=1e-10, atol=1e-12)


def test_the_text_descends():
    loss, W = free(4), np.zeros((4, 4))
    before = np.inf
    for _ in range(100):
        found = loss.of(Block(X, Y), W)
        assert found.value < before
        before, W = found.value, W - 0.01 * found.gradient
    assert before < 80 * np.log(4)
