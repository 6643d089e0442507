"""poly-kernel: (x'z + 1)^p is the inner product of all monomials up to degree p, and is computed without them.

Two slips: a garbled sentence leaves open which dimension l is meant (it is the raw one, that of x); and the remark that the
cost of an entry does not depend on p leaves out the log p multiplications of the power.
"""

import itertools
import math

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError
from qed.kernels import Polynomial


def test_numbers():
    x = np.array([[1.0, 2.0]])
    assert Polynomial(2)(x, [[3.0, 4.0]]).item() == 144
    assert Polynomial(2)(x, [[3.0, -1.0]]).item() == 4


def test_the_expansion_for_two_columns_and_degree_two():
    """The course's phi = (x1^2, x2^2, r x1x2, r x1, r x2, 1) with r the root of two; ours has another order."""
    x1, x2 = 1.7, -0.6
    r = np.sqrt(2)
    printed = np.array([x1**2, x2**2, r * x1 * x2, r * x1, r * x2, 1])
    ours = Polynomial(2).features([[x1, x2]])[0]
    np.testing.assert_allclose(ours, printed[[5, 3, 4, 0, 2, 1]], rtol=1e-14)


@pytest.mark.parametrize("l, p", list(itertools.product(range(1, 6), range(1, 6))))
def test_the_kernel_is_the_inner_product_of_the_features(l, p):
    X = np.random.default_rng(10 * l + p).standard_normal((8, l))
    kernel = Polynomial(p)
    Phi = kernel.features(X)
    np.testing.assert_allclose(Phi @ Phi.T, (X @ X.T + 1) ** p, rtol=1e-9, atol=1e-9)
    assert Phi.shape[1] == kernel.n_features(l) == math.comb(l + p, p) == qed.monomial_count(l, p)


@pytest.mark.parametrize("l, p", [(2, 3), (3, 4), (4, 2)])
def test_coefficients_are_roots_of_multinomials_in_the_order_of_polynomial_features(l, p):
    X = np.random.default_rng(0).standard_normal((5, l))
    plain = qed.PolynomialFeatures(p).fit(X)
    powers = plain.powers_
    factors = [
        math.factorial(p) // (math.prod(math.factorial(a) for a in row) * math.factorial(p - sum(row)))
        for row in powers.tolist()
    ]
    np.testing.assert_allclose(Polynomial(p).features(X), plain.transform(X) * np.sqrt(factors), rtol=1e-12)


@pytest.mark.parametrize("gamma, coef0", [(0.5, 2.0), (2.0, 0.0), (None, 1.0)])
def test_other_scales_and_the_homogeneous_kernel(gamma, coef0):
    X = np.random.default_rng(0).standard_normal((6, 3))
    kernel = Polynomial(4, gamma, coef0)
    Phi = kernel.features(X)
    factor = 1 / 3 if gamma is None else gamma
    np.testing.assert_allclose(kernel(X), (factor * X @ X.T + coef0) ** 4, rtol=1e-11)
    np.testing.assert_allclose(Phi @ Phi.T, kernel(X), rtol=1e-9, atol=1e-12)
    assert Phi.shape[1] == (math.comb(7, 4) if coef0 else math.comb(6, 4))


def test_features_are_never_built_for_the_kernel_and_their_number_is_told():
    """100 columns and degree 20 have 3e22 features; an entry takes 100 + 5 multiplications."""
    X = np.random.default_rng(0).standard_normal((10, 100)) / 10
    kernel = Polynomial(20)
    np.testing.assert_allclose(kernel(X), (X @ X.T + 1) ** 20, rtol=1e-11)
    with pytest.raises(ParameterError, match=str(math.comb(120, 20))):
        kernel.features(X)
