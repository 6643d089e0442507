"""O-REDUND: a third feature that follows from two others leaves a line of solutions."""

import numpy as np
import pytest

import qed

GENERATOR = np.random.default_rng(0)
HEIGHT, WEIGHT = GENERATOR.uniform(1, 2, 30), GENERATOR.uniform(50, 90, 30)
X = np.column_stack([HEIGHT, WEIGHT, 2 * HEIGHT + 3 * WEIGHT])
Y = 3 * HEIGHT + 4 * WEIGHT


@pytest.mark.parametrize("w", [(1, 1, 1), (0, -1 / 2, 3 / 2), (3, 4, 0)])
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_all_listed_solutions_are_exact(w):
    """Each differs from ours by a direction that the columns do not see."""
    ours = qed.LinearRegression(fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), Y, rtol=1e-10)
    np.testing.assert_allclose(ours.predict(X), X @ w, rtol=1e-10)
    away = np.array(w) - ours.coef_
    assert abs(away @ ours.coef_) < 1e-7 and np.abs(X @ away).max() < 1e-6


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_shortest_solution():
    model = qed.LinearRegression(fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(model.coef_, [3 / 7, 1 / 7, 9 / 7], rtol=1e-8)
    assert model.coef_ @ model.coef_ == pytest.approx(13 / 7, rel=1e-8)
    assert model.rank_ == 2 and model.certificate_


def test_ridge_tends_to_the_shortest_solution():
    model = qed.Ridge(alpha=1e-7, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(model.coef_, [3 / 7, 1 / 7, 9 / 7], atol=1e-5)
