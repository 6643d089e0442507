"""O-PERC, O-PERC-BOUND, O-PERC-CYCLE, O-PERC-SGD: the update, its three inequalities, the three points that go round, and SGD."""

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


def visited(X, y, order, **settings):
    """Show a perceptron one row after another, and give it after each; its planes are those of the course's pseudo-code."""
    model, classes = qed.Perceptron(**PLAIN, **settings), np.unique(y)
    for i in order:
        yield i, model.partial_fit(X[i : i + 1], y[i : i + 1], classes=classes)


def orders(n, seed, passes):
    """Rows in turn, or in any other order."""
    random = np.random.default_rng(seed)
    return [*np.tile(np.arange(n), passes), *random.integers(n, size=passes * n)]


def test_a_mistake_moves_the_score_by_the_squared_length():
    """(w + xy)'x = w'x + y |x|^2; a row that is right moves nothing."""
    X, y, _ = separable(0)
    w, moved = np.zeros(3), 0
    for i, model in visited(X, y, orders(30, 0, 2)):
        x, label, wrong = X[i], y[i], y[i] * (w @ X[i]) <= 0
        expected = w + x * label if wrong else w
        np.testing.assert_allclose(model.coef_[0], expected, atol=1e-13)
        assert model.coef_[0] @ x == pytest.approx(w @ x + wrong * label * (x @ x), abs=1e-12)
        w, moved = model.coef_[0].copy(), moved + wrong
    assert model.updates_[0] == moved > 0


@pytest.mark.parametrize("seed", range(3))
def test_the_three_inequalities_hold_at_every_visit(seed):
    """Mistakes <= R^2 / g^2, |w|^2 <= mistakes R^2, w'u >= mistakes g, and Cauchy and Schwarz between them; in any order."""
    X, y, u = separable(seed)
    gamma, radius = (y * (X @ u)).min(), np.linalg.norm(X, axis=1).max()
    for _, model in visited(X, y, orders(30, seed, 2)):
        w, mistakes = model.coef_[0], model.updates_[0]
        assert mistakes <= (radius / gamma) ** 2
        assert w @ w <= mistakes * radius**2 * (1 + 1e-12)
        assert w @ u >= mistakes * gamma * (1 - 1e-12)
        assert (w @ u) ** 2 <= w @ w * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_fit_ends_without_a_mistake_and_within_the_bound(seed, shuffle):
    X, y, u = separable(seed)
    gamma, radius = (y * (X @ u)).min(), np.linalg.norm(X, axis=1).max()
    model = qed.Perceptron(fit_intercept=False, shuffle=shuffle, random_state=seed).fit(X, y)
    assert model.score(X, y) == 1 and model.ending_.reason.name == "CERTIFIED"
    assert model.certificate_["corrections, as a share"].holds and model.updates_[0] <= (radius / gamma) ** 2


def test_three_points_that_go_round():
    """The text's sequence; its third point has to be (-1, 1/2) for it (S4), and a row on the plane counts as positive.

    Ours counts such a row as the first class, so that the positive class is that here, and planes have the other sign.
    """
    X, y = np.array([[0.0, 1.0], [0.0, -1.0], [-1.0, 0.5]]), np.array(["+", "+", "-"])
    seen = [(0.0, 0.0)]
    for _, model in visited(X, y, [0, 1, 2] * 3, strict=False):
        plane = tuple((0.0 - model.coef_[0]).tolist())
        seen += [plane] if plane != seen[-1] else []
    assert seen == [(0, 0), (1, -0.5), (1, 0.5), (1, -0.5), (1, 0.5), (1, -0.5)]
    model = qed.Perceptron(**PLAIN, strict=False).fit(X, y)
    assert model.ending_.reason.name == "DEGENERATE" and "came back" in model.ending_.because
    assert model.n_iter_ <= 3 and model.certificate_


def test_with_the_printed_point_and_sign_of_zero_positive_it_ends():
    """With (-1, -1) and a row on the plane counted as positive: (1, 1), then (1, 0), and no more."""
    X, y = np.array([[-1.0, -1.0], [0.0, 1.0], [0.0, -1.0]]), np.array(["second", "first", "first"])
    model = qed.Perceptron(**PLAIN, strict=False).fit(X, y)
    assert model.classes_.tolist() == ["first", "second"]
    np.testing.assert_array_equal(-model.coef_[0], [1.0, 0.0])
    assert model.updates_[0] == 2 and model.score(X, y) == 1.0 and model.ending_.reason.name == "CERTIFIED"


@pytest.mark.parametrize("seed", range(3))
def test_it_is_stochastic_subgradient_descent(seed):
    """Steps of length one along a subgradient of max(0, -(w'x) y), row after row: the same plane after every one."""
    X, y, _ = separable(seed, gap=0.05)
    w = np.zeros(X.shape[1])
    for i, model in visited(X, y, orders(30, seed, 1)):
        subgradient = -X[i] * y[i] if (w @ X[i]) * y[i] <= 0 else np.zeros_like(w)
        w = w - 1.0 * subgradient
        np.testing.assert_allclose(model.coef_[0], w, atol=1e-12)
    # A fit visits rows the same way, pass after pass.
    fitted, again = qed.Perceptron(**PLAIN).fit(X, y), qed.Perceptron(**PLAIN)
    for _ in range(fitted.n_iter_):
        again.partial_fit(X, y)
    np.testing.assert_allclose(fitted.coef_, again.coef_, atol=1e-12)
