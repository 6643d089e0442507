"""ppca: PCA as the most likely model of a few hidden numbers and noise; and factors, whose noise differs."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

import qed
from qed.base.errors import DegenerateError


def rows(seed=0, n=400, p=5, k=2, noise=0.5):
    generator = np.random.default_rng(seed)
    return (
        generator.standard_normal((n, k)) @ generator.standard_normal((k, p)) * 2
        + noise * generator.standard_normal((n, p))
        + 3
    )


def test_closed_form():
    """Computes: mean, mean of the eigenvalues left out, V (L - s^2)^(1/2), with the divisor n."""
    X = rows()
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    model = qed.ProbabilisticPCA(2).fit(X)
    assert model.noise_variance_ == pytest.approx(values[:3].mean(), rel=1e-10)
    wanted = vectors[:, 3:] @ np.diag(values[3:] - values[:3].mean()) @ vectors[:, 3:].T
    np.testing.assert_allclose(model.components_.T @ model.components_, wanted, atol=1e-10)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-13)


def test_samples_have_the_covariance():
    """Theory: the sample covariance goes to L L' + Psi."""
    for model in (qed.ProbabilisticPCA(2).fit(rows()), qed.FactorAnalysis(2).fit(rows())):
        drawn = model.sample(200_000, random_state=0)
        covariance = model.get_covariance()
        scale = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
        # An entry of a sample covariance has a standard deviation of at most sqrt(2 / n) of that.
        assert np.abs((np.cov(drawn.T) - covariance) / scale).max() < 6 * (2 / 200_000) ** 0.5


def test_density_is_that_of_the_marginal():
    """Theory: log-likelihoods are those of N(mu, L L' + Psi), and of the integral over z (k = 1)."""
    X = rows(1)
    for model in (qed.ProbabilisticPCA(1).fit(X), qed.FactorAnalysis(1).fit(X)):
        exact = multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
        np.testing.assert_allclose(model.score_samples(X), exact, rtol=1e-9)
        assert model.score(X) == pytest.approx(model.log_likelihood_, rel=1e-10)
        np.testing.assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(5), atol=1e-10)
        noise = np.sqrt(np.broadcast_to(model.noise_variance_, 5))

        def density(z, model=model, noise=noise):
            return norm.pdf(z) * norm.pdf(X[0], model.mean_ + z * model.components_[0], noise).prod()

        # The posterior of z is narrow, so its place is told.
        z = float(model.transform(X[:1])[0, 0])
        found = quad(density, z - 6, z + 6, points=[z], epsrel=1e-10)[0]
        assert np.log(found) == pytest.approx(exact[0], rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_no_neighbour_is_likelier(seed):
    """Theory: the log-likelihood at the estimate is at least that of perturbations."""
    X = rows(seed)
    generator, model = np.random.default_rng(seed), qed.ProbabilisticPCA(2).fit(X)
    best = model.score(X)
    for _ in range(50):
        loadings = model.components_ + 0.05 * generator.standard_normal(model.components_.shape)
        covariance = loadings.T @ loadings + model.noise_variance_ * np.exp(0.1 * generator.standard_normal()) * np.eye(
            5
        )
        mean = model.mean_ + 0.05 * generator.standard_normal(5)
        assert multivariate_normal(mean, covariance).logpdf(X).mean() < best


def test_same_subspace_and_reconstruction_goes_to_pca():
    """Theory: the subspace is that of PCA; the posterior-mean reconstruction differs from the projection by O(s^2)."""
    X = rows(4)
    pca = qed.PCA(2).fit(X)
    projected, apart = pca.inverse_transform(pca.transform(X)), []
    for noise in (1e-1, 1e-3, 1e-8):
        model = qed.ProbabilisticPCA(2, noise_variance=noise).fit(X)
        span = np.linalg.qr(model.components_.T)[0]
        assert np.linalg.norm(pca.components_ @ span, 2) == pytest.approx(1, abs=1e-12)
        assert np.linalg.svd(pca.components_ @ span, compute_uv=False).min() == pytest.approx(1, abs=1e-10)
        back = model.inverse_transform(model.transform(X))
        apart.append(np.abs(back - projected).max() / noise)
    # Shrinkage is s^2 / l of each score: the same multiple of s^2 in the limit.
    assert apart[2] == pytest.approx(apart[1], rel=0.01) and apart[0] < 2 * apart[1]


def test_rotations_do_not_matter():
    """Pitfall: L is known up to a rotation only; turned factors have the same likelihood."""
    X = rows(5)
    plain, turned = qed.FactorAnalysis(2).fit(X), qed.FactorAnalysis(2, rotation="varimax").fit(X)
    assert plain.score(X) == pytest.approx(turned.score(X), rel=1e-12)
    np.testing.assert_allclose(plain.get_covariance(), turned.get_covariance(), rtol=1e-9)
    assert np.abs(plain.components_ - turned.components_).max() > 1e-3
    assert turned.certificate_


def test_factors_rise_to_the_same_likelihood_from_anywhere():
    """Psi general: no closed form; the likelihood never falls, and units do not matter."""
    X = rows(6)
    models = [qed.FactorAnalysis(2, noise_variance_init=np.full(5, start)).fit(X) for start in (0.1, 1.0, 3.0)]
    for model in models:
        assert (np.diff(model.loglike_) >= -1e-9 * abs(model.loglike_[-1])).all()
        # Derivatives by the logarithms of the noise are below tol, so likelihoods agree to about its square.
        assert model.log_likelihood_ == pytest.approx(models[0].log_likelihood_, abs=1e-6)
    scale = np.array([1.0, 10.0, 0.1, 5.0, 100.0])
    scaled = qed.FactorAnalysis(2).fit(X * scale)
    np.testing.assert_allclose(
        scaled.noise_variance_ / scale**2, qed.FactorAnalysis(2).fit(X).noise_variance_, rtol=1e-4
    )


def test_noise_must_be_left():
    with pytest.raises(ValueError, match="so that noise is left"):
        qed.ProbabilisticPCA(5).fit(rows())
    with pytest.raises(ValueError, match="no bound"):
        qed.ProbabilisticPCA(3).fit(rows(noise=0.0))


@pytest.mark.parametrize("name", ["PCA", "ProbabilisticPCA", "FactorAnalysis"])
def test_rows_that_weigh_too_little_for_a_variance_are_refused_by_their_weight(name):
    X = np.random.default_rng(0).standard_normal((6, 3))
    with pytest.raises(DegenerateError, match=r"these weigh 0\.75 \(n_samples = 6\)"):
        getattr(qed, name)(1).fit(X, sample_weight=np.full(6, 0.125))
