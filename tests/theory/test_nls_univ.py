"""NLS-UNIV: where the structure of f is unknown, a family that can approximate any function takes its place."""

import numpy as np
import pytest

import qed

pytestmark = pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")

HIDDEN = 4
X = np.linspace(-3, 3, 60)[:, None]
Y = np.sin(X[:, 0]) + 0.2 * X[:, 0] ** 2


def network(X, w):
    """A network with one hidden layer: sum_j c_j tanh(a_j x + b_j) + d."""
    a, b, c = w[: 3 * HIDDEN].reshape(3, HIDDEN)
    return np.tanh(np.outer(X[:, 0], a) + b) @ c + w[-1]


def starts(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 3 * HIDDEN + 1))


def test_a_network_is_a_model_like_any_other():
    model = qed.NonlinearLeastSquares(network, starts(2), tol=1e-3, max_iter=60).fit(X, Y)
    assert model.score(X, Y) > 0.9999
    unseen = np.linspace(-2.9, 2.9, 37)[:, None]
    assert np.abs(model.predict(unseen) - np.sin(unseen[:, 0]) - 0.2 * unseen[:, 0] ** 2).max() < 0.02


def test_more_units_approximate_better():
    errors = []
    for hidden in (1, 2, 4):

        def family(X, w, hidden=hidden):
            a, b, c = w[:-1].reshape(3, hidden)
            return np.tanh(np.outer(X[:, 0], a) + b) @ c + w[-1]

        begin = np.random.default_rng(1).standard_normal((2, 3 * hidden + 1))
        errors.append(qed.NonlinearLeastSquares(family, begin, tol=1e-3, max_iter=60).fit(X, Y).cost_)
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_the_gradient_of_the_network_is_that_of_backpropagation():
    w = starts(1, seed=3)[0]
    a, b, c = w[: 3 * HIDDEN].reshape(3, HIDDEN)
    hidden = np.tanh(np.outer(X[:, 0], a) + b)
    rest = hidden @ c + w[-1] - Y
    back = np.outer(rest, c) * (1 - hidden**2)
    wanted = np.r_[(back * X).sum(axis=0), back.sum(axis=0), hidden.T @ rest, rest.sum()]
    np.testing.assert_allclose(qed.optim.Residuals(lambda w: network(X, w) - Y).gradient(w), wanted, rtol=1e-9)
