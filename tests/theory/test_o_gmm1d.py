"""O-GMM1D: a mixture on the line has 3k - 1 parameters, a density that integrates to one, and a sampler."""

import numpy as np
from scipy.integrate import quad

import qed
from qed.clustering import LineMixture


def test_parameters_are_counted():
    X = np.random.default_rng(0).standard_normal((80, 1))
    for k in (1, 2, 3, 4):
        model = qed.GaussianMixture(k, random_state=0, tol=1.0).fit(X)
        assert model.n_parameters_ == 3 * k - 1 == model.marginal().n_parameters


def test_the_density_integrates_to_one_and_its_integral_is_the_distribution():
    line = LineMixture([0.2, 0.5, 0.3], [-3.0, 0.0, 4.0], [0.25, 1.0, 2.0])
    found, error = quad(lambda x: float(line.density(x)), -15, 20, points=[-3, 0, 4], limit=200)
    assert abs(found - 1) <= 1e-6 + error
    below, error = quad(lambda x: float(line.density(x)), -15, 1.0, points=[-3, 0], limit=200)
    assert abs(below - float(line.distribution(1.0))) <= 1e-8 + error


def test_the_histogram_of_a_sample_is_the_distribution():
    line = LineMixture([0.4, 0.6], [-2.0, 3.0], [1.0, 4.0])
    drawn = line.sample(20_000, random_state=0)
    edges = np.linspace(-6, 10, 30)
    share = (drawn[:, None] <= edges).mean(axis=0)
    # The bound of Dvoretzky, Kiefer and Wolfowitz, missed once in a million draws.
    assert np.abs(share - line.distribution(edges)).max() <= np.sqrt(np.log(2e6) / (2 * len(drawn)))


def test_the_view_of_a_column_is_its_marginal():
    generator = np.random.default_rng(3)
    X = generator.standard_normal((300, 2)) @ [[1.0, 0.5], [0.0, 2.0]]
    model = qed.GaussianMixture(2, random_state=0).fit(X)
    line = model.marginal(1)
    alone = qed.GaussianMixture(2, random_state=0).fit(X[:, 1:])
    alone.weights_, alone.means_ = model.weights_, model.means_[:, 1:]
    alone.covariances_ = model.covariances_[:, 1:, 1:]
    alone.precisions_cholesky_ = 1 / np.sqrt(alone.covariances_)
    assert np.allclose(line.log_density(X[:, 1]), alone.score_samples(X[:, 1:]), rtol=1e-12)
    assert line.log_likelihood(X[:, 1]) == line.log_density(X[:, 1]).sum()
