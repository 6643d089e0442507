"""Derivatives by differences and by the complex step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qed.base.errors import InputError, ParameterError
from qed.optim import check_gradient, gradient, hessian, hessian_product, jacobian

POINT = np.array([0.3, -1.7, 2.5])


def wavy(w):
    return np.sin(w[0]) * np.exp(0.3 * w[1]) + w[2] ** 3 / (1 + w[0] ** 2)


def wavy_gradient(w):
    return np.array(
        [
            np.cos(w[0]) * np.exp(0.3 * w[1]) - 2 * w[0] * w[2] ** 3 / (1 + w[0] ** 2) ** 2,
            0.3 * np.sin(w[0]) * np.exp(0.3 * w[1]),
            3 * w[2] ** 2 / (1 + w[0] ** 2),
        ]
    )


def system(w):
    return np.array([w[0] * w[1], np.exp(w[0]), w[1] ** 2, np.sin(w[0] * w[1])])


def system_jacobian(w):
    a, b = w
    return np.array([[b, a], [np.exp(a), 0], [0, 2 * b], [b * np.cos(a * b), a * np.cos(a * b)]])


@pytest.mark.parametrize(("method", "digits"), [("forward", 1e-7), ("central", 1e-9), ("complex", 2e-15)])
def test_accuracy_of_each_method(method, digits):
    exact = wavy_gradient(POINT)
    assert np.linalg.norm(gradient(wavy, POINT, method) - exact) < digits * np.linalg.norm(exact)
    w = np.array([0.7, -1.2])
    np.testing.assert_allclose(jacobian(system, w, method), system_jacobian(w), rtol=digits, atol=digits)


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e6, 1e100])
@pytest.mark.parametrize("method", ["forward", "central", "complex"])
def test_steps_follow_the_size_of_the_point(size, method):
    found = gradient(lambda w: ((w / size) ** 2).sum(), np.array([size, -3 * size]), method, scale=size)
    np.testing.assert_allclose(found * size, [2, -6], rtol=1e-7)


@given(st.floats(-300, 300), st.floats(1, 9))
def test_central_differences_at_any_scale(exponent, head):
    x = head * 10.0 ** (exponent / 2)
    found = gradient(lambda w: 0.5 * (w @ w), [x], scale=x)[0]
    assert abs(found / x - 1) < 1e-9


def test_a_step_that_leaves_the_domain_is_taken_smaller():
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(gradient(lambda w: np.log(w).sum(), [1e-8, 2.0]), [1e8, 0.5], rtol=1e-8)


def test_hessian_with_and_without_gradient():
    exact = jacobian(wavy_gradient, POINT, "complex")
    np.testing.assert_allclose(hessian(wavy, POINT, wavy_gradient), exact, atol=1e-8)
    found = hessian(wavy, POINT)
    np.testing.assert_allclose(found, exact, atol=3e-6)
    assert (found == found.T).all()
    assert (hessian(wavy, POINT, wavy_gradient) == hessian(wavy, POINT, wavy_gradient).T).all()


def test_product_with_the_hessian():
    direction = np.array([1.0, -2.0, 0.5])
    exact = jacobian(wavy_gradient, POINT, "complex") @ direction
    np.testing.assert_allclose(hessian_product(wavy_gradient, POINT, direction), exact, rtol=1e-8)
    np.testing.assert_allclose(hessian_product(wavy_gradient, POINT, 1e9 * direction), 1e9 * exact, rtol=1e-8)
    assert not hessian_product(wavy_gradient, POINT, np.zeros(3)).any()


def test_check_gradient_tells_right_from_wrong():
    assert check_gradient(wavy, wavy_gradient, POINT).holds
    assert check_gradient(wavy, wavy_gradient, POINT, method="complex", tol=1e-14).holds
    assert check_gradient(wavy, wavy_gradient, POINT, method="forward").holds
    for j in range(3):
        factor = np.ones(3)
        factor[j] = -1
        claim = check_gradient(wavy, lambda w, factor=factor: wavy_gradient(w) * factor, POINT)
        assert not claim.holds
        assert claim.value > 0.005


def test_check_gradient_allows_for_rounding_at_a_minimum():
    def lifted(w):
        return 1e6 + ((w - 0.1) ** 2).sum()

    assert check_gradient(lifted, lambda w: 2 * (w - 0.1), [0.1, 0.1]).holds
    assert not check_gradient(lifted, lambda w: 2 * (w - 0.1) + 1, [0.1, 0.1]).holds


def test_numbers_and_arrays_of_one_are_accepted():
    np.testing.assert_allclose(gradient(lambda w: w**2, 3.0), [6.0], rtol=1e-9)
    np.testing.assert_allclose(jacobian(lambda w: w[0] ** 2, [3]), [[6.0]], rtol=1e-7)
    np.testing.assert_allclose(hessian(lambda w: w**3, 2.0), [[12.0]], rtol=1e-6)


def test_the_point_is_not_changed():
    point = POINT.copy()
    for method in ("forward", "central", "complex"):
        jacobian(lambda w: w**2, point, method)
    hessian(wavy, point)
    assert (point == POINT).all()


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match="'forward', 'central', 'complex', not 'middle'"):
        gradient(wavy, POINT, "middle")
    with pytest.raises(InputError, match="finite"):
        gradient(wavy, [np.nan, 1.0, 1.0])
    with pytest.raises(InputError, match="one number"):
        gradient(lambda w: w, [1.0, 2.0])
    with pytest.raises(InputError, match="complex step"):
        gradient(lambda w: np.abs(w).sum(), [1.0, 2.0], "complex")
    with pytest.raises(InputError, match="2 entries at a point of 1"):
        check_gradient(lambda w: w[0], lambda w: np.ones(2), [1.0])


def test_a_function_that_is_nowhere_finite_gives_no_number():
    assert np.isnan(gradient(lambda w: np.nan, [1.0])).all()
    assert not check_gradient(lambda w: np.nan, lambda w: w, [1.0]).holds
