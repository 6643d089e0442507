"""Proximal gradients: the minimum of smooth plus penalty, proven by the duality gap; falling values, exact zeros, resuming."""

from itertools import islice

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, Lasso

from qed.base.errors import InputError
from qed.base.running.steps import Reason, Rule, run
from qed.optim import (
    L1,
    L1L2,
    L2,
    AbsoluteLoss,
    Composite,
    HuberLoss,
    LogisticLoss,
    Objective,
    ProximalGradient,
    SquaredLoss,
    minimize,
    penalised,
)
from tests.theory.fixtures import problem

X, Y, _ = problem(n=40, p=8, seed=3)


@pytest.mark.parametrize("accelerated", [True, False])
def test_the_lasso_is_that_of_coordinate_descent(accelerated):
    alpha = 8.0
    found = minimize(
        penalised(X, Y, SquaredLoss(), L1(alpha)),
        np.zeros(8),
        method=ProximalGradient(accelerated=accelerated),
        tol=1e-13,
    )
    oracle = Lasso(alpha=alpha / 40, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(X, Y).coef_
    np.testing.assert_allclose(found.point, oracle, atol=1e-8)
    np.testing.assert_array_equal(found.point == 0, oracle == 0)
    assert found.ending.reason is Reason.CERTIFIED and found.certificate


@pytest.mark.parametrize("penalty", [L1(4.0), L1(4.0, positive=True), L2(3.0), L1L2(2.0, 3.0)], ids=repr)
@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(0.5), LogisticLoss()], ids=repr)
def test_every_pair_of_loss_and_penalty_is_proven(loss, penalty):
    y = np.sign(Y) if isinstance(loss, LogisticLoss) else Y
    weight = np.arange(40) % 3
    found = minimize(penalised(X, y, loss, penalty, weight), np.ones(8), method="proximal", tol=1e-10, max_iter=5000)
    assert found.certificate, str(found)
    assert (penalty.kkt_distance(found.point, X.T @ (weight * loss.gradient(X @ found.point, y))) < 1e-3).all()
    repeated = penalised(np.repeat(X, weight, axis=0), np.repeat(y, weight), loss, penalty)
    again = minimize(repeated, np.ones(8), method="proximal", tol=1e-10, max_iter=5000)
    assert again.value == pytest.approx(found.value, rel=1e-9)


def test_the_elastic_net_with_a_sparse_matrix():
    from scipy import sparse

    found = minimize(
        penalised(sparse.csr_array(X), Y, SquaredLoss(), L1L2(4.0, 6.0)), np.zeros(8), method="proximal", tol=1e-12
    )
    oracle = ElasticNet(alpha=10 / 40, l1_ratio=0.4, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(X, Y).coef_
    np.testing.assert_allclose(found.point, oracle, atol=3e-6)


def test_without_momentum_the_value_never_rises_and_keeps_the_rate():
    """The value is at most M |w_0 - w*|^2 / (2 t) above its minimum (ISTA) and 2 M |w_0 - w*|^2 / (t + 1)^2 (FISTA, no restart yet)."""
    lasso = penalised(X, Y, SquaredLoss(), L1(8.0))
    best = minimize(lasso, np.zeros(8), method="proximal", tol=1e-14)
    values = [step.objective for step in islice(ProximalGradient(accelerated=False).steps(lasso, np.zeros(8)), 60)]
    assert all(b <= a + 1e-12 * a for a, b in zip(values, values[1:]))
    reach = lasso.smooth.smoothness * best.point @ best.point
    assert all(value - best.value <= reach / (2 * t) + 1e-9 for t, value in enumerate(values[1:], start=1))


def test_momentum_needs_fewer_steps():
    generator = np.random.default_rng(0)
    Z = generator.standard_normal((60, 30)) @ np.diag(np.logspace(0, -1.5, 30))
    lasso = penalised(Z, Z[:, 0] + generator.standard_normal(60), SquaredLoss(), L1(0.05))
    fast = run(ProximalGradient().steps(lasso, np.zeros(30)), Rule(tol=1e-6, max_iter=5000))
    assert fast.reason is Reason.CERTIFIED
    thrice = Rule(tol=1e-6, max_iter=3 * fast.n_iter)
    assert run(ProximalGradient(accelerated=False).steps(lasso, np.zeros(30)), thrice).reason is Reason.MAX_ITER


def test_backtracking_needs_no_constant():
    smooth = Objective(lambda w: 0.5 * np.sum((X @ w - Y) ** 2), lambda w: X.T @ (X @ w - Y))
    found = minimize(Composite(smooth, L1(8.0)), np.full(8, 5.0), method="proximal", tol=1e-10, max_iter=5000)
    known = minimize(penalised(X, Y, SquaredLoss(), L1(8.0)), np.zeros(8), method="proximal", tol=1e-14)
    np.testing.assert_allclose(found.point, known.point, atol=1e-7)
    assert found.certificate["shortest subgradient"].holds
    steep = Composite(Objective(lambda w: np.sum(np.cosh(3 * w)), lambda w: 3 * np.sinh(3 * w)), L1(1.0))
    np.testing.assert_array_equal(minimize(steep, [2.0, -1.0], method="proximal", tol=1e-8).point, 0.0)


def test_going_on_from_a_step_changes_no_bit():
    lasso = penalised(X, Y, SquaredLoss(), L1(8.0))
    whole = list(islice(ProximalGradient().steps(lasso, np.zeros(8)), 30))
    rest = list(islice(ProximalGradient().steps(lasso, np.zeros(8), whole[11]), 18))
    np.testing.assert_array_equal(rest[-1].point, whole[-1].point)


def test_a_start_that_is_not_allowed_is_mended():
    found = minimize(penalised(X, Y, SquaredLoss(), L1(1.0, positive=True)), np.zeros(8), method="proximal", tol=1e-10)
    first = next(ProximalGradient().steps(penalised(X, Y, SquaredLoss(), L1(1.0, positive=True)), -np.ones(8)))
    assert (first.point >= 0).all() and (found.point >= 0).all()


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="Composite"):
        next(ProximalGradient().steps(lambda w: w @ w, [1.0]))
    with pytest.raises(InputError, match="kinks"):
        penalised(X, Y, AbsoluteLoss(), L1(1.0))
    with pytest.raises(InputError, match="rows"):
        penalised(X, Y[:5], SquaredLoss(), L1(1.0))
    with pytest.raises(InputError, match="negative"):
        penalised(X, Y, SquaredLoss(), L1(1.0), -np.ones(40))
