"""NLS-ROBOT: a robot finds itself from its distances to known sensors, on the worked numbers.

The gradient printed in the text is the negative of the true one, which at (2, 2) is (+1.236, +0.764) (erratum E1).
"""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import least_squares

import qed
from qed.optim import GaussNewton, Residuals

SENSORS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
RANGES = np.sqrt([2.0, 10.0, 5.0])
ROBOT = np.ones(2)
COLLINEAR = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 0.0]])


def distance(X, w):
    return np.sqrt((X[:, 0] - w[0]) ** 2 + (X[:, 1] - w[1]) ** 2)


OBJECTIVE = Residuals(lambda w: distance(SENSORS, w) - RANGES)


def test_the_jacobian_and_the_gradient():
    w = np.array([2.0, 2.0])
    J = (w - SENSORS) / np.linalg.norm(w - SENSORS, axis=1)[:, None]
    np.testing.assert_allclose(OBJECTIVE._slopes(w), J, rtol=1e-14)
    np.testing.assert_allclose(OBJECTIVE.gradient(w), [1.23606798, 0.76393202], atol=5e-9)
    # What is printed, J'(y - F), is minus that.
    np.testing.assert_allclose(J.T @ (RANGES - distance(SENSORS, w)), -OBJECTIVE.gradient(w), rtol=1e-12)


def test_gauss_newton_converges_quadratically():
    steps = islice(GaussNewton().steps(OBJECTIVE, [2.0, 2.0]), 1, 5)
    errors = [np.linalg.norm(step.point - ROBOT) for step in steps]
    np.testing.assert_allclose(errors[:3], [1.24e-1, 1.69e-3, 2.9e-7], rtol=0.02)
    assert errors[3] < 1e-14


@pytest.mark.parametrize(("start", "most"), [((2, 2), 5), ((-1, -1), 8), ((5, 5), 7)])
def test_iterations_from_other_starts(start, most):
    steps = list(islice(GaussNewton().steps(OBJECTIVE, start), most + 1))
    assert np.linalg.norm(steps[-1].point - ROBOT) < 1e-12
    assert np.linalg.norm(steps[-3].point - ROBOT) > 1e-12, "it needs about as many as the catalogue says"


@pytest.mark.parametrize("method", ["levenberg-marquardt", "gauss-newton", "newton", "gradient"])
@pytest.mark.parametrize("start", [(2.0, 2.0), (3.0, 0.5), (5.0, 5.0)])
def test_all_methods_find_the_robot(method, start):
    model = qed.NonlinearLeastSquares(distance, start, method=method).fit(SENSORS, RANGES)
    np.testing.assert_allclose(model.coef_, ROBOT, atol=1e-7)
    assert model.certificate_, f"{model.certificate_}"
    assert model.cost_ < 1e-14


@pytest.mark.parametrize("method", ["levenberg-marquardt", "gauss-newton", "newton"])
def test_all_methods_agree_with_noise(method):
    noisy = RANGES + [0.05, -0.1, 0.07]
    model = qed.NonlinearLeastSquares(distance, (2.0, 2.0), method=method).fit(SENSORS, noisy)
    best = least_squares(lambda w: distance(SENSORS, w) - noisy, [1.0, 1.0], xtol=1e-14, ftol=1e-14, gtol=1e-14).x
    np.testing.assert_allclose(model.coef_, best, atol=1e-7)
    assert model.certificate_


def test_collinear_sensors_have_two_answers():
    ranges = distance(COLLINEAR, ROBOT)
    above = qed.NonlinearLeastSquares(distance, (2.0, 2.0)).fit(COLLINEAR, ranges)
    below = qed.NonlinearLeastSquares(distance, (2.0, -2.0)).fit(COLLINEAR, ranges)
    np.testing.assert_allclose(above.coef_, [1, 1], atol=1e-9)
    np.testing.assert_allclose(below.coef_, [1, -1], atol=1e-9)
    assert above.certificate_ and below.certificate_


def test_on_the_line_of_the_sensors_a_coordinate_is_lost():
    """J'J is singular when the sensors and the robot are on one line."""
    ranges = distance(COLLINEAR, np.array([1.0, 0.0]))
    plane = Residuals(lambda w: distance(COLLINEAR, w) - ranges).tangent(np.array([1.5, 0.0]))
    assert plane.spread == 0 and plane.undetermined(np.array([1.5, 0.0])).tolist() == [False, True]
    with pytest.warns(qed.base.errors.ConvergenceWarning, match="'y' has no effect"):
        model = qed.NonlinearLeastSquares(distance, {"x": 1.5, "y": 0.0}).fit(COLLINEAR, ranges)
    assert model.ending_.reason is qed.Reason.DEGENERATE and not model.certificate_


def test_on_a_sensor_the_distance_has_no_slope():
    on = SENSORS[1]
    for side in np.array([[1e-9, 0.0], [-1e-9, 0.0]]):
        np.testing.assert_allclose(OBJECTIVE._slopes(on + side)[1], np.sign(side), atol=1e-6)
    model = qed.NonlinearLeastSquares(distance, on).fit(SENSORS, RANGES)
    np.testing.assert_allclose(model.coef_, ROBOT, atol=1e-7)
