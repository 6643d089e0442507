"""Kernels by name mean what scikit-learn means by them."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from qed.base.errors import ParameterError
from qed.kernels import RBF, Custom, Laplace, Linear, Polynomial, as_kernel, kernel_rule

X = np.random.default_rng(0).standard_normal((40, 3))
Z = np.random.default_rng(1).standard_normal((20, 3))


@pytest.mark.parametrize("gamma", [None, 0.3])
@pytest.mark.parametrize("name", ["linear", "poly", "polynomial", "rbf", "laplacian", "cosine"])
def test_names_are_those_of_scikit_learn(name, gamma):
    settings = {"gamma": gamma, "degree": 2, "coef0": 0.5}
    expected = pairwise_kernels(X, Z, metric=name, filter_params=True, **settings)
    np.testing.assert_allclose(as_kernel(name, **settings)(X, Z), expected, rtol=1e-10, atol=1e-12)


def test_kernels_and_functions():
    kernel = RBF(2)
    assert as_kernel(kernel) is kernel
    assert as_kernel(np.dot) == Custom(np.dot)
    np.testing.assert_allclose(as_kernel(np.dot)(X, Z), pairwise_kernels(X, Z, metric=np.dot), rtol=1e-12)
    assert as_kernel("laplacian", gamma=1) == Laplace(gamma=1, norm=1)
    assert as_kernel("poly") == Polynomial(3, None, 1.0) and as_kernel("linear") == Linear()


def test_unknown_names_are_refused():
    with pytest.raises(ParameterError, match="'linear'.*'rbf'"):
        as_kernel("gauss")
    with pytest.raises(ParameterError, match="not positive semidefinite"):
        as_kernel("sigmoid")
    with pytest.raises(ParameterError, match="not 3"):
        as_kernel(3)


def test_the_rule_for_parameters():
    rule = kernel_rule("precomputed")
    assert all(rule.accepts(value) for value in ("rbf", "precomputed", RBF(), np.dot))
    assert not any(rule.accepts(value) for value in ("sigmoid", 3, None))
    assert rule.kind == "model"
