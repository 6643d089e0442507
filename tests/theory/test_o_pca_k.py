"""O-PCA-K: the least number of components with 95 % of the variance."""

import numpy as np
import pytest

import qed


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(100, 8), (8, 100)])
def test_enough_and_not_one_more(seed, shape):
    """Check: K components have 0.95 of the variance, K - 1 do not; it is what n_components is by default."""
    X = np.random.default_rng(seed).standard_normal(shape) * 0.7 ** np.arange(shape[1])
    model, ratio = qed.PCA().fit(X), qed.PCA(None).fit(X).explained_variance_ratio_
    k = model.n_components_
    assert ratio[:k].sum() >= 0.95 - 1e-12 and ratio[: k - 1].sum() < 0.95
