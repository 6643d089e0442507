"""svm-slack-sparsity: linear slack is sparse, squared slack is not.

Both problems, min ||w||^2/2 + C sum xi and + C sum xi^2 with y_i w'x_i >= 1 - xi_i (the bias as a constant feature), are solved by
`LinearSVC` without a constant of its own; multipliers are told from slacks by the stationarity of the optimum.
"""

import numpy as np
import pytest

import qed

# Squared slack has no corner, and Newton's method ends at rounding.
TOL = {"hinge": 1e-8, "squared_hinge": 1e-15}


def demo(seed=0):
    """Two unit Gaussians at +-(1.2, 1.2), 80 points, and a constant feature."""
    random = np.random.default_rng(seed)
    label = np.repeat([1.0, -1.0], 40)
    X = random.standard_normal((80, 2)) + 1.2 * label[:, None]
    return np.column_stack([X, np.ones(80)]), label


@pytest.fixture(scope="module", params=[1.0, 10.0])
def solved(request):
    X, y = demo()
    found = {}
    for loss in ("hinge", "squared_hinge"):
        model = qed.LinearSVC(request.param, loss=loss, fit_intercept=False, tol=TOL[loss]).fit(X, y)
        assert model.gap_[0] <= 1e-8
        found[loss] = model.coef_[0], np.maximum(1 - y * (X @ model.coef_[0]), 0.0)
    return request.param, found


def test_squared_slack_is_alpha_over_2c(solved):
    """Theory [derived]: alpha = 2 C xi, so w = sum 2 C xi_i y_i x_i and every support vector has slack; to 1e-8."""
    C, found = solved
    X, y = demo()
    w, slack = found["squared_hinge"]
    np.testing.assert_allclose((2 * C * slack * y) @ X, w, atol=1e-8 * np.abs(w).max())


def test_linear_slack_only_at_the_upper_bound(solved):
    """Theory [derived]: xi_i > 0 implies alpha_i = C; what they leave of w is carried by rows on the margin, which have none.

    The gap bounds the error of w by the root of twice itself, and that of a margin by its product with the length of a row.
    """
    C, found = solved
    X, y = demo()
    w, slack = found["hinge"]
    off = np.sqrt(2 * TOL["hinge"] * (w @ w / 2 + C * slack.sum())) * np.linalg.norm(X, axis=1)
    inside, on = slack > off, np.abs(1 - y * (X @ w)) <= off
    rest = w - C * y[inside] @ X[inside]
    share = np.linalg.lstsq((y[:, None] * X)[on].T, rest, rcond=None)[0]
    assert 0 < on.sum() <= 3  # no more than there are coefficients
    np.testing.assert_allclose(share @ (y[:, None] * X)[on], rest, atol=off.max())
    assert (share > -off.max()).all() and (share < C + off.max()).all()


def test_linear_slack_is_sparser(solved):
    """Numbers [seed]: the linear slack has fewer non-zeros; how many depends on the draw."""
    few, many = (int((solved[1][loss][1] > 1e-4).sum()) for loss in ("hinge", "squared_hinge"))
    assert 0 < few < many < 40


def test_reward_of_a_smaller_slack():
    """Theory: C per unit for linear slack, 2 C xi for squared slack, which so fades before zero is reached."""
    hinge, slack = qed.optim.HingeLoss(), 0.1
    z, step = np.array([1 - slack]), 1e-7
    assert (hinge.value(z, [1.0]) - hinge.value(z + step, [1.0])) / step == pytest.approx(1.0, rel=1e-6)
    assert (hinge.value(z, [1.0]) ** 2 - hinge.value(z + step, [1.0]) ** 2) / step == pytest.approx(2 * slack, rel=1e-5)
