"""O-IRLS: reweighted least squares reach the objective of other lasso solvers, to 1e-6."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from qed.optim import L1, AbsoluteSum, SquaredLoss, minimize, penalised
from tests.theory.fixtures import problem


def course(X, y, w, lam):
    """The course's objective: the sum of squares plus lambda times the sum of sizes."""
    return np.sum((X @ w - y) ** 2) + lam * np.abs(w).sum()


@pytest.mark.parametrize(("n", "p", "lam"), [(40, 5, 0.1), (40, 5, 5.0), (40, 5, 40.0), (30, 60, 5.0), (30, 60, 40.0)])
def test_the_objective_is_that_of_other_solvers(n, p, lam):
    X, y, _ = problem(n, p, seed=p)
    reweighted = minimize(AbsoluteSum.lasso(X, y, lam / 2), np.zeros(p), method="reweighted", tol=1e-7, max_iter=5000)
    proximal = minimize(
        penalised(X, y, SquaredLoss(), L1(lam / 2)), np.zeros(p), method="proximal", tol=1e-9, max_iter=50000
    )
    coordinates = Lasso(alpha=lam / (2 * n), fit_intercept=False, tol=1e-12, max_iter=10**5).fit(X, y)
    values = [course(X, y, w, lam) for w in (reweighted.point, proximal.point, coordinates.coef_)]
    np.testing.assert_allclose(values, min(values), rtol=1e-6)
    assert reweighted.value == pytest.approx(values[0] / 2, rel=1e-12)


def test_the_fixture_of_the_course():
    """X = I, y = (3, 0.5), lambda = 2 has the solution (2, 0)."""
    found = minimize(AbsoluteSum.lasso(np.eye(2), [3.0, 0.5], 1.0), [0.0, 0.0], method="reweighted", tol=1e-8)
    np.testing.assert_allclose(found.point, [2.0, 0.0], atol=1e-7)
    assert 2 * found.value == pytest.approx(5.25, rel=1e-8)
