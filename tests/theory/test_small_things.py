"""What the texts say in passing: averaged stochastic gradients, the RBF map as functions, Adaline, how many support vectors there are,
several labels from one network."""

from itertools import islice

import numpy as np
import pytest
from scipy.integrate import quad

import qed
from qed.kernels import RBF
from qed.optim import StochasticGradient
from tests.theory.fixtures import problem
from tests.theory.quadratics import squares


def test_the_mean_of_the_iterates_of_stochastic_gradients_comes_near_the_minimum_nearly_always():
    """With steps of about 1 / sqrt(t) the average of all iterates is near with high probability, though the last one goes on jumping."""
    X, y, _ = problem(n=40, p=3)
    total = squares(X, y)
    least = qed.LinearRegression(fit_intercept=False).fit(X, y)
    bottom = total.value(least.coef_)
    averaged, last = [], []
    for seed in range(15):
        method = StochasticGradient(0.02, batch=1, every=10, seed=seed)
        points = np.array([step.iterate for step in islice(method.steps(total, np.zeros(3)), 150)])
        averaged.append(total.value(points[50:].mean(axis=0)) - bottom)
        last.append(total.value(points[-1]) - bottom)
    start = total.value(np.zeros(3)) - bottom
    assert np.quantile(averaged, 0.9) < 0.02 * start
    assert np.median(averaged) < 0.6 * np.median(last)


@pytest.mark.parametrize("gamma", [0.3, 1.0])
@pytest.mark.parametrize("x, z", [(0.0, 0.0), (0.5, -1.0), (2.0, 1.5)])
def test_the_rbf_kernel_is_the_inner_product_of_bumps_as_an_integral(gamma, x, z):
    """x is mapped to the function t -> (4 gamma / pi)^(1/4) exp(-2 gamma (t - x)²); the integral of a product is exp(-gamma (x - z)²)."""

    def bump(t, at):
        return (4 * gamma / np.pi) ** 0.25 * np.exp(-2 * gamma * (t - at) ** 2)

    integral, _ = quad(lambda t: bump(t, x) * bump(t, z), -30, 30, limit=200, points=[x, z, (x + z) / 2])
    assert RBF(gamma)(np.array([[x]]), np.array([[z]]))[0, 0] == pytest.approx(integral, rel=1e-7)


def test_adaline_is_least_squares_on_labels_by_stochastic_gradients():
    """w <- w + a (y - w'x) x on labels of plus and minus one: the squared error's stochastic gradient; its limit is least squares."""
    X, y = qed.data.synthetic.blobs(80, random_state=0)
    rows, label = X[y < 2], np.where(y[y < 2] == 1, 1.0, -1.0)
    design = np.column_stack([np.ones(len(rows)), rows])
    total = squares(design / 5, label)
    method = StochasticGradient(0.05, batch=1, every=1, seed=0)
    before, after = islice(method.steps(total, np.array([0.1, -0.2, 0.3])), 2)
    (row,) = method.rows(1, len(label))
    x = design[row] / 5
    np.testing.assert_allclose(
        after.iterate, before.iterate + 0.05 * 2 * (label[row] - x @ before.iterate) * x, rtol=1e-10
    )
    planes = qed.RidgeClassifier(alpha=0.0).fit(rows, label)
    slowly = StochasticGradient(0.05, batch=1, every=20, seed=0)
    points = np.array([step.iterate for step in islice(slowly.steps(total, np.zeros(3)), 300)])
    told = np.sign(design @ points[150:].mean(axis=0))
    assert (told == planes.predict(rows)).mean() > 0.97


@pytest.mark.parametrize("seed", range(8))
def test_a_plane_in_two_dimensions_rests_on_two_or_three_rows_and_typically_on_three(seed):
    """A plane in p dimensions has p + 1 numbers, so that p + 1 rows hold it where they lie in general position, and two at least always."""
    random = np.random.default_rng(seed)
    X = np.concatenate([random.standard_normal((30, 2)) - 4, random.standard_normal((30, 2)) + 4])
    y = np.repeat([0, 1], 30)
    model = qed.SVC(kernel="linear", C=1e6).fit(X, y)
    assert 2 <= len(model.support_) <= 3 and len(np.unique(y[model.support_])) == 2


def test_three_support_vectors_are_what_is_typical():
    """Of classes that face each other along a broad front; corners that face each other need two."""
    counts = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        X = np.column_stack(
            [np.repeat([-0.2, 0.2], 40) + np.repeat([-1, 1], 40) * random.random(80), 8 * random.random(80)]
        )
        counts.append(len(qed.SVC(kernel="linear", C=1e6).fit(X, np.repeat([0, 1], 40)).support_))
    assert np.mean(np.array(counts) == 3) >= 0.6 and max(counts) <= 3


def test_one_network_tells_several_labels():
    """An output with a logistic function for each label: their chances need not sum to one, and they share the hidden layer."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    labels = np.column_stack([X[:, 0] + X[:, 1] > 0, X[:, 0] > X[:, 1], (X**2).sum(axis=1) < 0.5]).astype(int)
    model = qed.MLPClassifier(16, "tanh", learning_rate_init=0.03, batch_size=40, max_iter=60, random_state=0)
    model.fit(X[:300], labels[:300])
    chances, said = model.predict_proba(X[300:]), model.predict(X[300:])
    assert said.shape == chances.shape == (100, 3) and (said == (chances > 0.5)).all()
    assert ((said == labels[300:]).mean(axis=0) > 0.9).all()
    assert chances.sum(axis=1).min() < 0.5 and chances.sum(axis=1).max() > 2
    # The loss is the sum of three cross-entropies, each of its own output.
    joint = np.where(labels[300:] == 1, chances, 1 - chances)
    assert -np.log(joint).sum(axis=1).mean() < 3 * np.log(2) / 2
    together = sum(part.size for part in (*model.coefs_, *model.intercepts_))
    alone = qed.MLPClassifier(16, "tanh", max_iter=1, random_state=0).fit(X, labels[:, 0])
    assert together < 3 * sum(part.size for part in (*alone.coefs_, *alone.intercepts_))
