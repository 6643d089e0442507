"""LOGIT-SQ: the squared error of the logistic curve is not convex, and flat where a row is wrong by far; the likelihood is neither."""

import numpy as np
import pytest
from scipy.special import expit

import qed
from qed.optim import check_convexity, hessian


def squares(w):
    return (1 - expit(w[0])) ** 2


def likelihood(w):
    return np.logaddexp(0.0, -w[0])


def test_the_second_derivative_changes_its_sign_at_minus_ln_2():
    for w in (-3.0, -1.0, -0.5, 0.0, 2.0):
        s = expit(w)
        exact = -2 * s * (1 - s) ** 2 * (1 - 3 * s)
        found = hessian(squares, np.array([w]))[0, 0]
        assert found == pytest.approx(exact, abs=1e-6) and (found < 0) == (w < -np.log(2))
    assert hessian(squares, np.array([-3.0]))[0, 0] == pytest.approx(-0.0738, abs=5e-5)


def test_squares_are_not_convex_and_the_likelihood_is():
    assert not check_convexity(squares, [-6.0], [6.0])
    assert check_convexity(likelihood, [-6.0], [6.0])


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
def test_least_squares_stays_where_it_is_wrong_by_far_and_the_likelihood_does_not():
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0], [0.5]]), np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    wrong = qed.NonlinearLeastSquares(lambda X, w: 1 / (1 + np.exp(-X[:, 0] * w[0])), [-30.0], max_iter=50, tol=1e-6)
    stuck = wrong.fit(X, y)
    likely = qed.LogisticRegression(C=None, fit_intercept=False).fit(X, y.astype(int))
    assert stuck.coef_[0] < -5 < 0 < likely.coef_[0, 0]
    assert stuck.cost_ > 4 * 0.5 * ((y - likely.predict_proba(X)[:, 1]) ** 2).sum()
