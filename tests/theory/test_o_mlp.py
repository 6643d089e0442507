"""O-MLP, O-MLP-MULTI, O-TRICKS, LSSVM-NN: one hidden layer, several outputs, advice for training."""

import numpy as np
import pytest

import qed
from qed.neural import Activation, Dense, Dropout, Network, Schedule, train

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
SIGN = np.array([-1.0, 1.0, 1.0, -1.0])


def one_hidden(d=2, hidden=3, loss="squared_error"):
    network = Network([Dense(hidden), Activation("logistic"), Dense(1)], d, loss=loss, dtype=np.float64)
    network.vector[:] = np.random.default_rng(0).normal(size=network.n_parameters)
    return network


def test_thirteen_weights():
    assert one_hidden(2, 3).n_parameters == (3 + 1) + 3 * (2 + 1) == 13


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_the_slopes_of_the_text(loss):
    network, rng = one_hidden(loss=loss), np.random.default_rng(1)
    X, r = rng.normal(size=(8, 2)), rng.integers(0, 2, 8).astype(float)
    W = network.parameters
    Z = 1 / (1 + np.exp(-(X @ W["0.weight"] + W["0.bias"])))
    out = (Z @ W["2.weight"] + W["2.bias"])[:, 0]
    y = out if loss == "squared_error" else 1 / (1 + np.exp(-out))
    slopes = network.gradients(X, r)
    np.testing.assert_allclose(8 * slopes["2.weight"][:, 0], -Z.T @ (r - y), rtol=1e-10, atol=1e-12)
    inner = -((r - y)[:, None] * W["2.weight"][:, 0]) * Z * (1 - Z)
    np.testing.assert_allclose(8 * slopes["0.weight"], X.T @ inner, rtol=1e-10, atol=1e-12)
    for i in range(13):
        ends = [network.gradient(X, r, vector=network.vector + s * 1e-6 * (np.arange(13) == i))[0] for s in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(network.gradient(X, r)[1][i], abs=1e-8)


def test_xor_is_solved_by_a_hidden_layer_and_not_without():
    hidden = qed.MLPClassifier(4, "tanh", solver="lbfgs", alpha=0, random_state=1).fit(XOR, SIGN)
    plain = qed.MLPClassifier((), solver="lbfgs", alpha=0, random_state=1).fit(XOR, SIGN)
    assert hidden.score(XOR, SIGN) == 1 and plain.score(XOR, SIGN) <= 0.75


def test_other_seeds_end_in_other_minima():
    losses = [
        qed.MLPRegressor("squared_error", 2, "tanh", solver="lbfgs", alpha=0, random_state=seed).fit(XOR, SIGN).loss_
        for seed in range(6)
    ]  # fmt: skip
    assert max(losses) - min(losses) > 0.05


def test_outputs_that_share_a_hidden_layer_have_fewer_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    shared = qed.MLPRegressor("squared_error", 8, "tanh", solver="lbfgs", random_state=0).fit(X, Y)
    alone = [qed.MLPRegressor("squared_error", 8, "tanh", solver="lbfgs", random_state=0).fit(X, y) for y in Y.T]
    weights = [sum(part.size for part in (*model.coefs_, *model.intercepts_)) for model in (shared, *alone)]
    assert shared.predict(X).shape == Y.shape and weights[0] < sum(weights[1:])


def test_without_momentum_it_is_gradient_descent():
    networks = [one_hidden() for _ in range(2)]
    X, r = np.random.default_rng(2).normal(size=(2, 6, 2)).sum(axis=0), np.arange(6.0)
    train(networks[0], X, r, update=qed.Update("momentum", momentum=0.0), batch=6, epochs=5, learning_rate=0.1)
    plain = networks[1].vector.copy()
    for _ in range(5):
        plain -= 0.1 * networks[1].gradient(X, r, vector=plain)[1]
    np.testing.assert_allclose(networks[0].vector, plain, rtol=1e-9, atol=1e-12)


def test_momentum_is_the_rule_of_the_text():
    """Each move is minus the rate times the slope plus a share of the last move."""
    network = one_hidden()
    X, r = np.random.default_rng(2).normal(size=(6, 2)), np.arange(6.0)
    plain, move = network.vector.copy(), 0.0
    for _ in range(4):
        move = -0.05 * network.gradient(X, r, vector=plain)[1] + 0.8 * move
        plain = plain + move
    train(network, X, r, update=qed.Update("momentum", momentum=0.8), batch=6, epochs=4, learning_rate=0.05)
    np.testing.assert_allclose(network.vector, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["invscaling", "step", "exponential", "cosine"])
def test_rates_fall(kind):
    rates = [Schedule(kind, 1.0, epochs=20).rate(epoch, 100 * epoch) for epoch in range(20)]
    assert rates[0] == 1 and all(a >= b for a, b in zip(rates, rates[1:], strict=False)) and rates[-1] < 0.1


def test_stopping_early_gives_the_weights_that_did_best_on_other_rows():
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(2, 30, 4))
    y, truth = (rng.integers(0, 2, 30) for _ in range(2))
    network = Network([Dense(30), Activation("relu"), Dense(2)], 4)
    found = train(network, X, y, validation=(other, truth), patience=5, epochs=100, batch=10, learning_rate=0.02)
    assert found.ending.n_iter < 99
    # Of the weights after each epoch, those with the least loss on the other rows; their accuracy is among those that were told.
    own, out = network.loss_of(network.run(other), truth).value, network.forward(other)
    assert (out.argmax(axis=1) == truth).mean() in found.scores
    again = Network([Dense(30), Activation("relu"), Dense(2)], 4)
    losses = []
    for epochs in range(1, found.ending.n_iter + 1):
        again.begin()
        train(again, X, y, epochs=epochs, batch=10, learning_rate=0.02)
        losses.append(float(again.loss_of(again.run(other), truth).value))
    assert float(own) == min(losses) < losses[-1]


def test_dropping_is_off_in_prediction():
    network = Network([Dense(20), Dropout(0.5), Dense(2)], 4)
    X = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_array_equal(network.forward(X), network.forward(X))
    mean = np.mean([network.forward(X, training=True, draws=np.random.default_rng(k)) for k in range(4000)], axis=0)
    # Means of 4000 draws with a spread of about one.
    np.testing.assert_allclose(mean, network.forward(X), atol=5 * 2 / np.sqrt(4000))


def test_a_line_as_score_is_the_least_squares_classifier():
    """The network without hidden layers, with squared errors and a penalty, is ridge regression of the signs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=50) > 0, 1.0, -1.0)
    line = qed.MLPRegressor("squared_error", (), solver="lbfgs", alpha=2.0, tol=1e-10, max_iter=500).fit(X, y)
    ridge = qed.Ridge(alpha=2.0).fit(X, y)
    np.testing.assert_allclose(line.coefs_[0][:, 0], ridge.coef_, rtol=1e-5, atol=1e-6)
    sides = qed.RidgeClassifier(alpha=2.0).fit(X, y).predict(X)
    assert (np.where(line.predict(X) > 0, 1.0, -1.0) == sides).all()


def test_a_network_as_score_separates_rings():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 200), np.repeat([1.0, 2.0], 100)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + 0.05 * rng.normal(size=(200, 2))
    y = np.repeat([-1.0, 1.0], 100)
    ring = qed.MLPRegressor("squared_error", 10, "tanh", solver="lbfgs", random_state=0).fit(X, y)
    line = qed.MLPRegressor("squared_error", (), solver="lbfgs", random_state=0).fit(X, y)
    assert (np.sign(ring.predict(X)) == y).all() and (np.sign(line.predict(X)) == y).mean() < 0.7
