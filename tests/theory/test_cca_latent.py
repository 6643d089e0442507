"""cca-latent: hidden causes, learned from two tables."""

import numpy as np
import pytest

import qed


@pytest.mark.parametrize(("p", "q"), [(3, 3), (4, 2), (2, 5)])
def test_the_story_has_the_covariances(p, q):
    """Theory: AA' + BB' = Sxx, CC' + DD' = Syy, BC' = Sxy to 1e-10, with the divisor n."""
    generator = np.random.default_rng(p)
    Z = generator.standard_normal((300, 2))
    X = Z @ generator.standard_normal((2, p)) + generator.standard_normal((300, p)) + 4
    Y = Z @ generator.standard_normal((2, q)) + generator.standard_normal((300, q))
    told = qed.CCA().fit(X, Y).latent()
    covariance = np.cov(np.hstack([X, Y]).T, bias=True)
    np.testing.assert_allclose(told.A @ told.A.T + told.B @ told.B.T, covariance[:p, :p], atol=1e-10)
    np.testing.assert_allclose(told.C @ told.C.T + told.D @ told.D.T, covariance[p:, p:], atol=1e-10)
    np.testing.assert_allclose(told.B @ told.C.T, covariance[:p, p:], atol=1e-10)
    assert told.B.shape == (p, min(p, q))


def test_what_it_samples_has_the_same_pairs():
    """Theory: rows drawn from the story have the canonical correlations of the data."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((500, 3))
    model = qed.CCA().fit(X, X[:, :2] + generator.standard_normal((500, 2)))
    drawn = qed.CCA().fit(*model.latent().sample(20_000, random_state=0))
    np.testing.assert_allclose(drawn.correlations_, model.correlations_, atol=6 / 20_000**0.5)
