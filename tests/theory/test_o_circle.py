"""O-CIRCLE: points on a circle lie in a hyperplane after a quadratic map. (One text prints c^2 for the squared radius.)"""

import numpy as np
import pytest

import qed
from qed.data.synthetic import rings
from qed.kernels import Polynomial, centred

ANGLES = np.linspace(0, 2 * np.pi, 40, endpoint=False)


def circle(a, b, r):
    return np.column_stack([a + r * np.cos(ANGLES), b + r * np.sin(ANGLES)])


@pytest.mark.parametrize("a, b, r", [(0.0, 0.0, 1.0), (0.5, -0.7, 2.0), (-1.5, 0.3, 0.25)])
def test_the_map_makes_it_linear(a, b, r):
    powers = qed.PolynomialFeatures(2).fit(circle(a, b, r))
    Phi = powers.transform(circle(a, b, r))
    weight = {"1": a**2 + b**2 - r**2, "x0": -2 * a, "x1": -2 * b, "x0^2": 1, "x0 x1": 0, "x1^2": 1}
    u = np.array([weight[name] for name in powers.get_feature_names_out()])
    assert np.abs(Phi @ u).max() < 1e-12
    printed = u + np.where(powers.get_feature_names_out() == "1", r**2 - 3.0**2, 0.0)
    assert np.abs(Phi @ printed).max() > 1, "with another number than the radius it is not"


def test_principal_components_of_the_plane_find_both_directions_important():
    X = circle(0.5, -0.7, 2.0)
    values = qed.PCA(n_components=None).fit(X).explained_variance_
    assert values[0] == pytest.approx(values[1], rel=1e-10)


def test_squares_of_a_unit_circle_lie_on_a_line():
    z = qed.FeatureMap(np.square).fit_transform(circle(0.0, 0.0, 1.0))
    np.testing.assert_allclose(-z[:, 0] - z[:, 1] + 1, 0, atol=1e-15)
    assert qed.LinearRegression().fit(z[:, :1], z[:, 1]).coef_[0] == pytest.approx(-1.0)


@pytest.mark.parametrize("a, b, r", [(0.0, 0.0, 1.0), (0.5, -0.7, 2.0)])
def test_the_centred_kernel_matrix_has_rank_four_on_a_circle_and_five_in_general(a, b, r):
    """Six features, less one by centring, less one by the circle."""
    kernel = Polynomial(2)
    generic = np.random.default_rng(0).standard_normal((40, 2))
    assert np.linalg.matrix_rank(centred(kernel(circle(a, b, r)))) == 4
    assert np.linalg.matrix_rank(centred(kernel(generic))) == 5


def test_rings_are_told_apart_by_a_plane_after_the_map_and_not_before():
    X, label = rings(300, random_state=0)
    y = np.where(label == label[0], 1.0, -1.0)

    def accuracy(features):
        model = qed.Ridge(1e-6).fit(features, y)
        return np.mean(np.sign(model.predict(features)) == y)

    assert accuracy(Polynomial(2).features(X)) == 1.0
    assert accuracy(X) < 0.8
