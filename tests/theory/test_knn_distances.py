"""KNN-MINK, KNN-KERNEL, KNN-IMPROVE: other distances, and what helps."""

import numpy as np
import pytest

import qed
from qed.neighbors.measures import Minkowski


@pytest.mark.parametrize(("p", "wanted"), [(1, 7), (2, 5), (3, 91 ** (1 / 3)), (np.inf, 4)])
def test_minkowski_of_the_triangle(p, wanted):
    """KNN-MINK: (0, 0) and (3, 4)."""
    distance, _ = qed.NearestNeighbors(n_neighbors=1, p=p).fit([[0.0, 0.0]]).kneighbors([[3.0, 4.0]])
    assert distance[0, 0] == pytest.approx(wanted, rel=1e-15)


def test_minkowski_falls_with_p_and_keeps_the_triangle():
    """KNN-MINK: D_p does not grow with p, and no way round is shorter."""
    generator = np.random.default_rng(0)
    x, y, z = generator.standard_normal((3, 50, 6))
    powers = (1.0, 1.5, 2.0, 3.0, 7.0, np.inf)
    table = np.array([[Minkowski(p).between(a, b) for a, b in zip(x, y)] for p in powers])
    assert (np.diff(table, axis=0) <= 1e-14 * table[:-1]).all()
    for p in powers:
        measure = Minkowski(p)
        for a, b, c in zip(x, y, z):
            assert measure.between(a, c) <= (measure.between(a, b) + measure.between(b, c)) * (1 + 1e-14)


def test_minkowski_on_digits():
    """KNN-MINK: other exponents on images of digits; each is right most of the time."""
    X, y = qed.data.load("digits").Xy()
    found = {
        p: qed.KNeighborsClassifier(1, p=p).fit(X[:900], y[:900]).score(X[900:1200], y[900:1200]) for p in (1, 2, 3)
    }
    assert all(score > 0.9 for score in found.values()), found


def test_kernel_linear_is_euclid():
    """KNN-KERNEL."""
    X, Q = np.random.default_rng(1).standard_normal((2, 80, 3))
    plain = qed.NearestNeighbors().fit(X).kneighbors(Q)
    kernel = qed.NearestNeighbors(metric=qed.kernels.Linear()).fit(X).kneighbors(Q)
    np.testing.assert_array_equal(kernel[1], plain[1])
    np.testing.assert_allclose(kernel[0], plain[0], rtol=1e-7)


def test_kernel_polynomial_is_its_map():
    """KNN-KERNEL: distances of the explicit features."""
    X, Q = np.random.default_rng(2).standard_normal((2, 60, 2))
    kernel = qed.kernels.Polynomial(2)

    def features(X):
        a, b, r = X[:, 0], X[:, 1], np.sqrt(2)
        return np.column_stack([np.ones(len(X)), r * a, r * b, a * a, r * a * b, b * b])

    np.testing.assert_allclose(features(Q) @ features(X).T, kernel(Q, X), rtol=1e-12, atol=1e-13)
    mapped = qed.NearestNeighbors().fit(features(X)).kneighbors(features(Q))
    found = qed.NearestNeighbors(metric=kernel).fit(X).kneighbors(Q)
    np.testing.assert_array_equal(found[1], mapped[1])
    # A difference of similarities of about a hundred: their roundings, seen through the root.
    np.testing.assert_allclose(found[0] ** 2, mapped[0] ** 2, atol=1e-10)


def test_kernel_gauss_keeps_the_order():
    """KNN-KERNEL: D^2 = 2 - 2k, and the nearest rows are those of Euclid."""
    X, Q = np.random.default_rng(3).standard_normal((2, 80, 3))
    kernel = qed.kernels.RBF(0.3)
    distance, number = qed.NearestNeighbors(metric=kernel).fit(X).kneighbors(Q)
    np.testing.assert_array_equal(number, qed.NearestNeighbors().fit(X).kneighbors(Q)[1])
    wanted = np.take_along_axis(2 - 2 * kernel(Q, X), number, axis=1)
    np.testing.assert_allclose(distance**2, wanted, atol=1e-14)


def test_fewer_columns_help():
    """KNN-IMPROVE: columns of noise harm; leaving them out, or more rows, helps."""
    generator = np.random.default_rng(4)
    X = generator.standard_normal((1500, 60))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    score = {
        (n, p): qed.KNeighborsClassifier(9).fit(X[:n, :p], y[:n]).score(X[1000:, :p], y[1000:])
        for n, p in [(100, 60), (1000, 60), (100, 2)]
    }
    assert score[100, 2] > score[1000, 60] > score[100, 60]
