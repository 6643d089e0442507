"""O-PERC, O-PERC-BOUND, O-PERC-CYCLE, O-PERC-SGD: the update, its three inequalities, the three points that go round, and SGD."""

from itertools import islice

import numpy as np
import pytest

import qed

PLAIN = {"fit_intercept": False, "shuffle": False}


def separable(seed, n=30, p=3, gap=0.3):
    random = np.random.default_rng(seed)
    u = random.standard_normal(p)
    u /= np.linalg.norm(u)
    X = random.standard_normal((n, p))
    y = np.where(X @ u >= 0, 1, -1)
    return X + gap * np.outer(y, u), y, u


def after_one_pass(model, X, y):
    return next(islice(qed.steps(model, X, y), 1, None))


def one_by_one(X, y):
    """The planes after each visit, from models that are shown one row more each time, in one pass."""
    for k in range(1, len(X) + 1):
        used = np.zeros(len(X))
        used[:k] = 1
        if len(set(y[:k].tolist())) < 2:
            continue
        yield k, after_one_pass(qed.Perceptron(**PLAIN), X[:k], y[:k])


def test_a_mistake_moves_the_score_by_the_squared_length():
    """(w + xy)'x = w'x + y |x|^2."""
    X, y, _ = separable(0)
    before = None
    for k, step in one_by_one(X, y):
        w = step.weights[0, :-1]
        if before is not None:
            x, label = X[k - 1], y[k - 1]
            wrong = label * (before @ x) <= 0
            expected = before + x * label if wrong else before
            np.testing.assert_allclose(w, expected, atol=1e-13)
            assert w @ x == pytest.approx(before @ x + wrong * label * (x @ x), abs=1e-12)
        before = w


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shuffle", [True, False])
def test_the_three_inequalities_hold_at_every_pass(seed, shuffle):
    X, y, u = separable(seed)
    gamma, radius = (y * (X @ u)).min(), np.linalg.norm(X, axis=1).max()
    model = qed.Perceptron(fit_intercept=False, shuffle=shuffle, random_state=seed)
    for step in qed.steps(model, X, y):
        w, mistakes = step.weights[0, :-1], step.told[0].sum()
        assert mistakes <= (radius / gamma) ** 2
        assert w @ w <= mistakes * radius**2 * (1 + 1e-12)
        assert w @ u >= mistakes * gamma * (1 - 1e-12)
        if step.objective == 0:
            break
    fitted = model.fit(X, y)
    assert fitted.certificate_["corrections, as a share"].holds and fitted.updates_[0] <= (radius / gamma) ** 2


def test_three_points_that_go_round():
    """The text's sequence; its third point has to be (-1, 1/2) for it (S4), and the rows come as third, first, second."""
    X, y = np.array([[-1.0, 0.5], [0.0, 1.0], [0.0, -1.0]]), np.array([-1, 1, 1])
    seen = []
    for k in (1, 2, 3):
        part = qed.Perceptron(**PLAIN, strict=True)
        rows, labels = (X[:k], y[:k]) if k > 1 else (X[[0, 0]], y[[0, 0]])
        if k == 1:
            seen.append(-X[0])
            continue
        seen.append(after_one_pass(part, rows, labels).weights[0, :-1])
    np.testing.assert_array_equal(seen, [[1.0, -0.5], [1.0, 0.5], [1.0, -0.5]])
    model = qed.Perceptron(**PLAIN).fit(X, y)
    assert model.ending_.reason.name == "DEGENERATE" and "came back" in model.ending_.because
    assert model.n_iter_ <= 3 and model.certificate_
    np.testing.assert_array_equal(model.coef_[0], [1.0, -0.5])


def test_with_the_printed_point_and_sign_of_zero_positive_it_ends():
    """With (-1, -1) and a row on the plane counted as positive: (1, 1), then (1, 0), and no more."""
    X, y = np.array([[-1.0, -1.0], [0.0, 1.0], [0.0, -1.0]]), np.array(["second", "first", "first"])
    model = qed.Perceptron(**PLAIN, strict=False).fit(X, y)
    assert model.classes_.tolist() == ["first", "second"]
    np.testing.assert_array_equal(-model.coef_[0], [1.0, 0.0])
    assert model.updates_[0] == 2 and model.score(X, y) == 1.0 and model.ending_.reason.name == "CERTIFIED"


@pytest.mark.parametrize("seed", range(3))
def test_it_is_stochastic_subgradient_descent(seed):
    """Steps of length one along a subgradient of max(0, -(w'x) y), row after row: the same planes, pass by pass."""
    X, y, _ = separable(seed, gap=0.05)
    w = np.zeros(X.shape[1])
    for step in islice(qed.steps(qed.Perceptron(**PLAIN), X, y), 1, None):
        for x, label in zip(X, y):
            subgradient = -x * label if (w @ x) * label <= 0 else np.zeros_like(x)
            w = w - 1.0 * subgradient
        np.testing.assert_allclose(step.weights[0, :-1], w, atol=1e-12)
        if step.objective == 0:
            break
