"""C6-LVM: with labels that are known the expected log-likelihood is that of the labelled rows."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import qed
from qed.clustering import expected_log_likelihood, lower_bound


def fitted():
    """Give rows, a mixture of three components, and its logarithms of weight times density, written out here."""
    X = np.random.default_rng(0).standard_normal((50, 2)) * [1.0, 3.0]
    model = qed.GaussianMixture(3, random_state=0).fit(X)
    parts = zip(model.weights_, model.means_, model.covariances_)
    return X, model, np.column_stack([np.log(w) + multivariate_normal(mean, S).logpdf(X) for w, mean, S in parts])


def test_the_joint_density_is_that_of_weights_and_normal_densities():
    """L_c = log p(x, z): the posterior's logarithm and that of the density of the row add up to it."""
    X, model, logs = fitted()
    found = np.log(model.predict_proba(X)) + model.score_samples(X)[:, None]
    # Logarithms of a few hundred at most, with the rounding of a Cholesky factor of two columns.
    np.testing.assert_allclose(found, logs, rtol=1e-10, atol=1e-10)


def test_certain_labels_give_the_labelled_log_likelihood():
    X, model, logs = fitted()
    label = np.random.default_rng(1).integers(0, 3, 50)
    q = np.eye(3)[label]
    labelled = sum(
        np.log(model.weights_[z]) + multivariate_normal(model.means_[z], model.covariances_[z]).logpdf(x)
        for x, z in zip(X, label)
    )
    assert expected_log_likelihood(logs, q) == pytest.approx(labelled, rel=1e-13)
    # Certainty has no entropy.
    assert lower_bound(logs, q) == expected_log_likelihood(logs, q)


def test_soft_imputation_is_the_mean_over_what_is_missing():
    """E_q[L_c] = sum_k q_k L_c(x, k): of any shares it is what drawing the labels from them gives on average."""
    _, _, logs = fitted()
    q = np.random.default_rng(2).dirichlet(np.ones(3), 50)
    assert expected_log_likelihood(logs, q) == pytest.approx(float((q * logs).sum()), rel=1e-13)
    entropy = -float((q * np.log(q)).sum())
    assert lower_bound(logs, q) - expected_log_likelihood(logs, q) == pytest.approx(entropy, rel=1e-10)
