"""svm-slack-sparsity: linear slack is sparse, squared slack is not.

Both problems, min ||w||^2/2 + C sum xi and + C sum xi^2 with y_i w'x_i >= 1 - xi_i (the bias as a constant feature), are solved here by
a small dual coordinate descent, to a duality gap that leaves no doubt.
"""

import numpy as np
import pytest


def demo(seed=0):
    """Two unit Gaussians at +-(1.2, 1.2), 80 points, and a constant feature."""
    random = np.random.default_rng(seed)
    label = np.repeat([1.0, -1.0], 40)
    X = random.standard_normal((80, 2)) + 1.2 * label[:, None]
    return np.column_stack([X, np.ones(80)]), label


def solve(X, y, C, squared):
    """Minimise a'Qa/2 - sum a (+ sum a^2/(4C) for squared slack) over 0 <= a (<= C for linear slack)."""
    Z = X * y[:, None]
    extra, top = (1 / (2 * C), np.inf) if squared else (0.0, C)
    alpha, w = np.zeros(len(y)), np.zeros(X.shape[1])
    curve = (Z**2).sum(axis=1) + extra
    for _ in range(200_000):
        before = alpha.copy()
        for i in range(len(y)):
            new = min(max(alpha[i] - (Z[i] @ w + extra * alpha[i] - 1) / curve[i], 0.0), top)
            w += (new - alpha[i]) * Z[i]
            alpha[i] = new
        if np.abs(alpha - before).max() <= 1e-15 * C:
            break
    slack = np.maximum(1 - Z @ w, 0.0)
    primal = w @ w / 2 + C * (slack**2 if squared else slack).sum()
    dual = alpha.sum() - w @ w / 2 - extra * (alpha @ alpha) / 2
    return w, alpha, slack, Z @ w, (primal - dual) / primal


@pytest.fixture(scope="module", params=[1.0, 10.0])
def solved(request):
    X, y = demo()
    return request.param, solve(X, y, request.param, False), solve(X, y, request.param, True)


def test_both_are_solved(solved):
    _, linear, squared = solved
    assert abs(linear[-1]) < 1e-8 and abs(squared[-1]) < 1e-8


def test_slack_only_inside_the_margin(solved):
    """Theory: xi > 0 exactly where y w'x < 1."""
    for _, _, slack, margin, _ in solved[1:]:
        np.testing.assert_array_equal(slack > 0, margin < 1)


def test_squared_slack_is_alpha_over_2c(solved):
    """Theory [derived]: xi = alpha/(2C), so every support vector has slack; to 1e-8."""
    C, _, (_, alpha, slack, _, _) = solved
    assert np.abs(slack - alpha / (2 * C)).max() < 1e-8
    assert (slack[alpha > 1e-6] > 0).all()


def test_linear_slack_only_at_the_upper_bound(solved):
    """Theory [derived]: xi_i > 0 implies alpha_i = C; support vectors on the margin have none."""
    C, (_, alpha, slack, _, _), _ = solved
    assert (alpha[slack > 1e-7] == C).all()
    assert ((alpha > 1e-6) & (slack <= 1e-7)).any()


def test_linear_slack_is_sparser(solved):
    """Numbers [seed]: the linear slack has fewer non-zeros; how many depends on the draw."""
    _, linear, squared = solved
    few, many = (int((slack > 1e-7).sum()) for slack in (linear[2], squared[2]))
    assert 0 < few < many < 40


def test_reward_of_a_smaller_slack():
    """Theory: C per unit for linear slack, 2 C xi for squared slack, which so fades before zero is reached."""
    C, slack, step = 3.0, 0.1, 1e-7
    assert (C * slack - C * (slack - step)) / step == pytest.approx(C, rel=1e-6)
    assert (C * slack**2 - C * (slack - step) ** 2) / step == pytest.approx(2 * C * slack, rel=1e-5)
