"""Logistic regression by gradients, of all rows and of batches, against logistic regression itself."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import ConvergenceWarning
from qed.base.running.steps import Reason
from qed.optim.solvers.epoch_kernel import batch_rows, batches

SOLVERS = ["gradient", "lbfgs", "sgd", "svrg"]


def table(k=2, n=120, p=3):
    random = np.random.default_rng(k)
    X = random.standard_normal((n, p))
    return X, (X @ random.standard_normal((p, k)) + random.gumbel(size=(n, k))).argmax(axis=1)


def quiet(model, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **given)


def reach(model):
    """How far coefficients can be from the minimum's: half the square of that is what the penalty adds to the objective at least."""
    claim = model.certificate_["objective above its minimum"].value
    return np.sqrt(2 * claim * model.ending_.step.objective)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", ["plain", "scales", "sparse", "weights"])
@pytest.mark.sampled(2)
def test_gradients_lead_to_the_same_minimum(solver, k, kind):
    X, y = table(k, 200)
    weight = np.random.default_rng(1).integers(0, 4, 200) if kind == "weights" else None
    X = {"scales": X * [1e-8, 1.0, 1e8] + [0.0, 5.0, 0.0], "sparse": sparse.csr_array(np.where(X > 0.5, X, 0.0))}.get(
        kind, X
    )
    steps = 50 if solver == "sgd" else 5000
    model = quiet(qed.GradientLogisticRegression(solver=solver, max_iter=steps, tol=1e-6), X, y, sample_weight=weight)
    exact = qed.LogisticRegression().fit(X, y, sample_weight=weight)
    assert solver == "sgd" or model.certificate_
    apart = np.linalg.norm(model.coef_ - exact.coef_)
    assert apart <= reach(model) + reach(exact) + 1e-9 * np.abs(exact.coef_).max()
    assert model.certificate_["objective above its minimum"].value < 0.05


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [2, 3])
def test_a_broken_run_goes_on_to_the_same_bits(solver, k):
    X, y = table(k, 60)
    whole = quiet(qed.GradientLogisticRegression(solver=solver, max_iter=6), X, y)
    part = quiet(qed.GradientLogisticRegression(solver=solver, max_iter=3), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        part.set_params(max_iter=6).resume(X, y)
    np.testing.assert_array_equal(part.coef_, whole.coef_)
    np.testing.assert_array_equal(part.intercept_, whole.intercept_)
    assert part.n_iter_ == whole.n_iter_ == 6


def test_stochastic_gradients_say_how_far_they_are():
    X, y = table(n=60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = qed.GradientLogisticRegression(solver="sgd", max_iter=6).fit(X, y)
    best = qed.LogisticRegression().fit(X, y).ending_.step.objective
    above = (model.ending_.step.objective - best) / model.ending_.step.objective
    assert not model.certificate_ and 0 < above <= model.certificate_["objective above its minimum"].value


def test_more_epochs_come_nearer():
    """The mean of falling steps gets there: the distance falls at least as fast as one over the epochs."""
    X, y = table(n=200)
    best = qed.LogisticRegression().fit(X, y).ending_.step.objective
    few, many = (
        quiet(qed.GradientLogisticRegression(solver="sgd", max_iter=number), X, y).ending_.step.objective - best
        for number in (8, 80)
    )
    assert 0 < many <= few / 10


def test_separated_classes_are_recognised():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    with pytest.warns(ConvergenceWarning, match="separated"):
        model = qed.GradientLogisticRegression(C=None).fit(X, [0, 0, 1, 1])
    assert model.ending_.reason is Reason.DEGENERATE


def test_a_seed_is_an_order():
    X, y = table(n=60)
    one, same, other = (
        quiet(qed.GradientLogisticRegression(solver="sgd", max_iter=3, random_state=seed), X, y).coef_
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("planes", [1, 3])
@pytest.mark.parametrize("reduced", [True, False])
def test_the_compiled_epoch_is_the_plain_one(planes, reduced):
    random = np.random.default_rng(0)
    Z, codes, weight = random.standard_normal((50, 4)), random.integers(0, max(planes, 2), 50), random.random(50)
    anchor = random.standard_normal((planes, 4))[: planes if reduced else 0]
    slope, ridge, length = random.standard_normal((planes, 4)), random.random(4), 0.1 * random.random(4)
    found = []
    for go in (batches, batch_rows):
        W, mean = np.ones((planes, 4)), np.zeros((planes, 4))
        go(Z, codes, weight, 8, W, anchor, 0.5, length, ridge, slope, mean)
        found.append((W, mean))
    # Fewer than a hundred operations stand between the start and each of these numbers, none of them larger than a hundred.
    np.testing.assert_allclose(found[0][0], found[1][0], atol=100 * 2.3e-16 * 100)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=50 * 100 * 2.3e-16 * 100)
