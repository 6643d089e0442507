"""The loss and its derivatives against finite differences; the proven gap against a dual written out by itself."""

import numpy as np
import pytest
from scipy.special import expit, xlogy

import qed
from qed.base.models.labels import coded, encode
from qed.base.sources.block import Block
from qed.base.summary import Summary
from qed.classification.logistic.likelihood import is_factorised
from qed.classification.logistic.problem import AT_LEAST, COLUMNS_PER_SCORE, SPEED, fit_seconds
from qed.classification.logistic.smooth_likelihood import SmoothLikelihood as Likelihood
from qed.optim.functions import softmax
from qed.optim.functions.softmax import SoftmaxLoss, coding_of


def problem(n=60, p=3, k=2, C=2.0, intercept=True, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    y = (Z @ rng.normal(size=(p, k)) + 2 * rng.gumbel(size=(n, k))).argmax(axis=1)
    X = Z * [1.0, 30.0, 0.2][:p] + 5
    weight = rng.uniform(0.5, 2, size=n)
    rows = qed.rows(X, y, sample_weight=weight, block_size=17)
    labelled = coded(rows, np.arange(k))
    return X, y, weight, Likelihood(labelled, rows.fold(Summary.of), np.ones(k), C, intercept, centred=True)


def near(objective, k, p, seed=0):
    """A point near the minimum, but not at it."""
    rows = 1 if k == 2 else k
    point = objective.at(np.zeros((rows, p)), np.zeros(rows))
    for _ in range(10):
        point = objective.descend(point, objective.newton(point).direction)
    rng = np.random.default_rng(seed)
    coef = point.coef * (1 + 0.003 * rng.normal(size=point.coef.shape))
    return objective.at(coef - (coef.mean(axis=0) if k > 2 else 0), point.intercept)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_derivatives(k, intercept):
    rng = np.random.default_rng(k)
    block = Block(rng.normal(size=(30, 3)), rng.integers(k, size=30), rng.uniform(0, 2, size=30))
    loss = SoftmaxLoss(
        coding_of(k), rng.normal(size=3), rng.uniform(1, 3, size=3), intercept, rng.uniform(1, 2, size=k)
    )
    theta = rng.normal(size=loss.shape)
    found = loss.of(block, theta, "full")
    H = loss.joined(found.blocks)
    step = 1e-5
    for place in np.ndindex(theta.shape):
        change = np.zeros_like(theta)
        change[place] = step
        up, down = loss.of(block, theta + change), loss.of(block, theta - change)
        assert found.gradient[place] == pytest.approx((up.value - down.value) / (2 * step), abs=1e-7)
        slope = (up.gradient - down.gradient) / (2 * step)
        flat = np.ravel_multi_index(place, theta.shape)
        np.testing.assert_allclose(H[flat].reshape(theta.shape), slope, atol=1e-7)
        np.testing.assert_allclose(loss.times(block, theta, change) / step, slope, atol=1e-7)
    np.testing.assert_allclose(loss.of(block, theta, "diagonal").diagonal.ravel(), np.diagonal(H), rtol=1e-12)
    assert np.linalg.eigvalsh(H)[0] > -1e-12


@pytest.mark.parametrize("C", [0.1, 2.0, 100.0])
def test_without_an_intercept_the_plain_gap_is_half_the_squared_gradient(C):
    X, y, weight, objective = problem(C=C, intercept=False)
    w = near(objective, 2, 3).coef[0]
    chance = expit(X @ w)
    primal = C * weight @ (np.logaddexp(0, X @ w) - y * (X @ w)) + 0.5 * w @ w
    u = C * X.T @ (weight * (chance - y))
    dual = -C * weight @ (xlogy(chance, chance) + xlogy(1 - chance, 1 - chance)) - 0.5 * u @ u
    gradient = u + w
    assert primal - dual == pytest.approx(0.5 * gradient @ gradient, rel=1e-8)
    assert objective.at(w[None], np.zeros(1)).objective == pytest.approx(primal, rel=1e-13)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("C", [0.1, 2.0, np.inf])
def test_the_gap_is_that_of_a_dual_point(k, C):
    """Build the dual point that Newton's step predicts and compare primal and dual, both by their definitions."""
    X, y, weight, objective = problem(k=k, C=C)
    point = near(objective, k, 3)
    # Far from the minimum a proof is made only if it could be enough.
    objective.tol = 1.0
    newton = objective.newton(point)
    factor, penalty = (C, 1.0) if np.isfinite(C) else (1.0, 0.0)

    coef, intercept = point.coef, point.intercept
    change, constant = objective.outside(newton.direction)
    scores, moves = X @ coef.T + intercept, X @ change.T + constant
    if k == 2:
        scores, moves = (np.hstack([np.zeros((len(X), 1)), part]) for part in (scores, moves))
    top = scores.max(axis=1, keepdims=True)
    chance = np.exp(scores - top) / np.exp(scores - top).sum(axis=1, keepdims=True)
    q = chance * (1 + moves - (chance * moves).sum(axis=1, keepdims=True))
    assert (q > 0).all()
    np.testing.assert_allclose(q.sum(axis=1), 1, rtol=1e-12)

    seen = np.eye(k)[y]
    loss = (top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))[:, 0] - (scores * seen).sum(axis=1)
    primal = factor * weight @ loss + 0.5 * penalty * (coef**2).sum()
    u = factor * (weight[:, None] * (q - seen)).T @ X
    u = u[1:] if k == 2 else u
    np.testing.assert_allclose(weight @ (q - seen), 0, atol=1e-8)
    if penalty == 0:
        np.testing.assert_allclose(u, 0, atol=1e-6)
    dual = -factor * weight @ xlogy(q, q).sum(axis=1) - 0.5 * penalty * (u**2).sum()

    least = near_minimum(objective, k)
    assert dual <= least * (1 + 1e-12) and least <= primal
    assert primal - least <= newton.gap * primal
    assert primal - dual <= newton.gap * primal * (1 + 1e-6) + 1e-12 * primal
    assert newton.gap * primal <= 2.1 * (primal - dual) + 1e-12 * primal


def near_minimum(objective, k):
    rows = 1 if k == 2 else k
    point = objective.at(np.zeros((rows, 3)), np.zeros(rows))
    for _ in range(15):
        point = objective.descend(point, objective.newton(point).direction)
    return point.objective


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_conjugate_gradients_find_the_same_step(k, C):
    *_, objective = problem(n=300, k=k, C=C)
    point = near(objective, k, 3)
    exact = objective.newton(point)
    for kind in ("blocks", "diagonal"):
        objective.kind, objective._last = kind, None
        found = objective.newton(objective.at(point.coef, point.intercept))
        np.testing.assert_allclose(found.direction, exact.direction, atol=2e-2 * np.abs(exact.direction).max())
        if np.isfinite(C):
            assert exact.gap * 0.9 <= found.gap
        else:
            assert found.gap == 1.0  # without a penalty, nothing is proven but with the whole Hessian


def test_codes():
    for labels in (
        np.array([3, 1, 2, 1]),
        np.array(["c", "a", "b", "a"]),
        np.array(["c", "a", "b", "a"], dtype=object),
    ):
        np.testing.assert_array_equal(encode(labels, np.unique(labels)), [2, 0, 1, 0])
    with pytest.raises(ValueError, match="'z' is not among"):
        encode(np.array(["a", "z"]), np.array(["a", "b"]))
    np.testing.assert_array_equal(encode(np.array([1, 9]), np.array([0, 1]), np.array([1.0, 0.0])), [1, 0])


# Few columns and many classes, where what is done to each score counts for more than its products, and the opposite.
@pytest.mark.parametrize(("n", "p", "k"), [(1500, 4, 80), (500, 5, 150), (3000, 30, 12), (800, 90, 8)])
def test_a_fit_does_about_the_work_that_it_is_said_to_do(n, p, k, monkeypatch):
    random, handled = np.random.default_rng(0), []

    def counting(function):
        def counted(scores, *given):
            handled.append(scores.size)
            return function(scores, *given)

        return counted

    X = random.standard_normal((n, p))
    y = (2 * X @ random.standard_normal((p, k)) / np.sqrt(p) + random.gumbel(size=(n, k))).argmax(axis=1)
    planes = len(np.unique(y))
    for name in ("cross_entropy", "moved"):
        monkeypatch.setattr(softmax, name, counting(getattr(softmax, name)))
    qed.LogisticRegression().fit(X, y)
    assert not is_factorised(n, planes - 1, p + 1)
    # Products of a score with its columns, twice, and what is done to the score itself.
    done = sum(handled) * 4 * (p + COLUMNS_PER_SCORE)
    said = (fit_seconds(n, p, planes) - AT_LEAST) * SPEED
    assert said / 4 < done < 1.25 * said
