"""tls-existence: when total least squares has a solution."""

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateError
from tests.theory.fixtures import problem


def test_numbers_of_the_case_without_solution():
    """Numbers: X = (1, 0)', y = (0, 2)': the smallest singular value belongs to X alone. Must raise."""
    X, y = np.array([[1.0], [0.0]]), np.array([0.0, 2.0])
    with pytest.raises(DegenerateError, match="no solution"):
        qed.TotalLeastSquares(fit_intercept=False).fit(X, y)


@pytest.mark.parametrize("seed", range(6))
def test_the_condition_gives_both_requirements(seed):
    """Theory: interlacing always; strictly below, X'X - s^2 I is positive definite and the last component is not zero."""
    X, y, _ = problem(n=12, p=4, seed=seed)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    smallest, following = np.linalg.svd(X, compute_uv=False)[-1], model.singular_values_[-1]
    assert following <= smallest
    assert model.smallest_ == pytest.approx(smallest, rel=1e-12)
    assert following < smallest
    gap = np.linalg.eigvalsh(X.T @ X - following**2 * np.eye(4))[0]
    assert gap == pytest.approx(smallest**2 - following**2, rel=1e-8) and gap > 0
    last = np.linalg.svd(np.column_stack([X, y]))[2][-1, -1]
    assert abs(last) == pytest.approx(1 / np.sqrt(1 + model.coef_ @ model.coef_), rel=1e-8)
    assert model.certificate_["smallest squared singular value"].holds


def test_noise_makes_the_case_go_away():
    """Pitfall: data with continuous noise satisfy the condition with probability one."""
    random = np.random.default_rng(0)
    X, y = np.array([[1.0], [0.0]]), np.array([0.0, 2.0])
    for _ in range(20):
        noisy = X + 1e-6 * random.standard_normal(X.shape)
        assert qed.TotalLeastSquares(fit_intercept=False).fit(
            noisy, y + 1e-6 * random.standard_normal(2)
        ).coef_.shape == (1,)
