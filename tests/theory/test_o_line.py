"""O-LINE: the best line is along the first eigenvector."""

import numpy as np
import pytest

import qed
from qed.reduction import random_directions, rayleigh_quotient
from qed.stats import project_on_line


@pytest.mark.parametrize("seed", range(3))
def test_top_eigenvector_beats_random_directions(seed):
    """Check: error + captured = mean square; no random direction has more than the first eigenvalue, nor a smaller error."""
    X = np.random.default_rng(seed).standard_normal((50, 3)) @ np.diag([3.0, 2.0, 1.0])
    X = X - X.mean(axis=0)
    C, model = X.T @ X / 50, qed.PCA(1).fit(X)
    direction, first = model.components_[0], model.singular_values_[0] ** 2 / 50
    tried = random_directions(10_000, 3, random_state=seed)
    assert rayleigh_quotient(C, tried).max() <= first + 1e-12
    error = model.reconstruction_error(X) / 50
    assert error + first == pytest.approx(np.mean((X**2).sum(axis=1)), rel=1e-12)
    assert first == pytest.approx(np.mean((X @ direction) ** 2), rel=1e-12)
    others = [np.mean(((X - project_on_line(X, w)[1]) ** 2).sum(axis=1)) for w in tried[:200]]
    assert min(others) >= error - 1e-12
