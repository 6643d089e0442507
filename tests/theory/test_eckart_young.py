"""eckart-young: the best approximation of low rank."""

import numpy as np
import pytest
from scipy.optimize import minimize

from qed.stats import low_rank

A = np.random.default_rng(0).standard_normal((7, 5))
VALUES = np.linalg.svd(A, compute_uv=False)


@pytest.mark.parametrize("k", range(6))
def test_what_is_left_are_the_small_singular_values(k):
    """Theory: the squared Frobenius distance is the sum of the squares left out, the spectral one the first of them."""
    near = low_rank(A, k)
    assert np.linalg.matrix_rank(near) == k
    assert np.linalg.norm(A - near) ** 2 == pytest.approx(np.sum(VALUES[k:] ** 2), rel=1e-10, abs=1e-24)
    assert np.linalg.norm(A - near, 2) == pytest.approx(VALUES[k] if k < 5 else 0.0, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_other_matrix_of_that_rank_is_nearer(k):
    """Theory: neither at random (with the best right factor for each) nor by optimisation; in other norms neither."""
    random = np.random.default_rng(1)
    ours = low_rank(A, k)
    best, *others = (np.linalg.norm(A - ours, kind) for kind in ("fro", 2, "nuc"))
    np.testing.assert_allclose(others, [VALUES[k], VALUES[k:].sum()], rtol=1e-10)
    for _ in range(200):
        left = random.standard_normal((7, k))
        rival = left @ np.linalg.lstsq(left, A)[0]
        assert np.linalg.norm(A - rival) >= best - 1e-12
        assert np.linalg.norm(A - rival, 2) >= others[0] - 1e-12
        assert np.linalg.norm(A - rival, "nuc") >= others[1] - 1e-12

    def distance(parts):
        return np.sum((A - parts[: 7 * k].reshape(7, k) @ parts[7 * k :].reshape(k, 5)) ** 2)

    found = minimize(distance, random.standard_normal(12 * k), method="L-BFGS-B", options={"maxiter": 2000})
    assert found.fun >= best**2 - 1e-9
    assert found.fun == pytest.approx(best**2, rel=1e-3)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="rank must be a whole number"):
        low_rank(A, -1)
    with pytest.raises(ValueError, match="finite"):
        low_rank([[np.nan, 1.0]], 1)
