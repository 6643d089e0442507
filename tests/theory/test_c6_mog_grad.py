"""C6-MOG-GRAD: the gradient of the likelihood is that of Fisher's identity, and climbing it ends where EM does."""

import numpy as np
import pytest

import qed
from qed.base.sources.open import rows
from qed.clustering.mixtures.gradient import Coordinates
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.problem import MixtureProblem
from qed.clustering.mixtures.shapes import KINDS
from qed.clustering.mixtures.shares import Held


def data():
    generator = np.random.default_rng(1)
    return np.vstack([generator.standard_normal((60, 2)) * [1.0, 3.0], generator.standard_normal((90, 2)) + [4.0, 2.0]])


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_matches_differences(kind):
    X = data()
    model = qed.GaussianMixture(2, covariance_type=kind, random_state=0, tol=10.0).fit(X)
    mixture = Mixture.of(kind, model.weights_, model.means_, model.covariances_)
    problem = MixtureProblem(rows(X), model, Held(kind))
    coordinates = Coordinates(problem, mixture)
    numbers = coordinates.of(mixture) + 0.1

    def value(at):
        return problem.shares([coordinates.mixture(at)])[0].mean_likelihood

    here = coordinates.mixture(numbers)
    found = coordinates.gradient(here, problem.shares([here])[0])
    step = 1e-5
    wanted = np.array(
        [(value(numbers + step * e) - value(numbers - step * e)) / (2 * step) for e in np.eye(len(numbers))]
    )
    # A central difference is off by its step squared, and by rounding over its step.
    assert np.abs(found - wanted).max() <= 1e-6 * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("algorithm", ["gradient", "lbfgs"])
def test_climbing_reaches_the_likelihood_of_em_from_the_same_start(algorithm):
    X = data()
    start = [[0.0, 0.0], [4.0, 2.0]]
    em = qed.GaussianMixture(2, means_init=start, tol=1e-9, max_iter=1000).fit(X)
    climbed = qed.GaussianMixture(2, means_init=start, tol=1e-7, max_iter=3000, algorithm=algorithm).fit(X)
    assert abs(em.lower_bound_ - climbed.lower_bound_) <= 1e-4
    assert climbed.certificate_ and qed.certify(climbed, X)
