"""C6-LVM: with labels that are known the expected log-likelihood is that of the labelled rows."""

import numpy as np

import qed
from qed.clustering import expected_log_likelihood, lower_bound


def test_certain_labels_give_the_labelled_log_likelihood_exactly():
    generator = np.random.default_rng(0)
    X, label = generator.standard_normal((50, 2)), generator.integers(0, 3, 50)
    model = qed.GaussianMixture(3, random_state=0).fit(X)
    from qed.clustering.mixtures.holes import log_joint

    logs = log_joint(X, model._mixture())
    q = np.eye(3)[label]
    labelled = logs[np.arange(50), label].sum()
    assert expected_log_likelihood(logs, q) == labelled
    # Certainty has no entropy.
    assert lower_bound(logs, q) == labelled


def test_the_joint_density_is_that_of_weights_and_normal_densities():
    from scipy.stats import multivariate_normal

    from qed.clustering.mixtures.holes import log_joint

    X = np.random.default_rng(1).standard_normal((30, 2))
    model = qed.GaussianMixture(2, random_state=0).fit(X)
    wanted = np.column_stack(
        [
            np.log(model.weights_[j]) + multivariate_normal(model.means_[j], model.covariances_[j]).logpdf(X)
            for j in range(2)
        ]
    )
    assert np.allclose(log_joint(X, model._mixture()), wanted, rtol=1e-10, atol=1e-10)
