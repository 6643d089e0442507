"""What lies beyond a Krylov space: never said to be smaller than it is, and said at all where eigenvalues fall quickly."""

import numpy as np
import pytest

import qed
from qed.linalg.krylov import leading
from qed.linalg.krylov.beyond import nothing_above, sum_of_squares
from qed.linalg.krylov.leading import LeadingSpace

SIZE = 520


def matrix_with(values, seed=0):
    """Give a symmetric matrix with these eigenvalues."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    found = (turn * values) @ turn.T
    return (found + found.T) / 2


@pytest.mark.parametrize("fall", [0.8, 0.97])
@pytest.mark.parametrize("scale", [1.0, 1e-60, 1e60])
def test_levels_are_never_below_the_next_eigenvalue(fall, scale):
    values = scale * fall ** np.arange(SIZE)
    matrix = matrix_with(values)
    space = LeadingSpace.of(matrix, 3)
    np.testing.assert_allclose(space.values, values[:3], rtol=1e-9)
    # The next eigenvalue, and rounding of the matrix: n roundings of its length.
    noise = SIZE * np.finfo(float).eps * np.sqrt(sum_of_squares(matrix))
    assert nothing_above(values[3] * 1.001 + noise, space, space.vectors)
    for share in (0.999999, 0.9, 0.5):
        assert not nothing_above(share * values[3] - noise, space, space.vectors)


def test_an_eigenvalue_that_the_space_does_not_hold_is_missed_by_nobody(monkeypatch):
    values = 0.5 ** np.arange(float(SIZE))
    values[-1] = 0.7  # its vector is a unit vector, to which the first columns are orthogonal

    class Blind:
        def standard_normal(self, shape):
            return np.random.default_rng(0).standard_normal(shape) * (np.arange(SIZE) < SIZE - 1)[:, None]

    monkeypatch.setattr(leading, "generator", lambda *names: Blind())
    space = LeadingSpace.of(np.diag(values), 2)
    np.testing.assert_allclose(space.values, [1.0, 0.5], rtol=1e-9)
    assert not nothing_above(0.69, space, space.vectors)


def test_vectors_that_are_none_of_the_space_prove_nothing():
    space = LeadingSpace.of(np.diag(0.5 ** np.arange(float(SIZE))), 2)
    others = np.linalg.qr(np.random.default_rng(1).standard_normal((SIZE, 2)))[0]
    assert not nothing_above(0.26, space, others)
    assert not nothing_above(0.26, space, space.vectors * 1.01)
    assert not nothing_above(np.nan, space, space.vectors)


def test_slowly_falling_eigenvalues_are_left_to_who_counts():
    matrix = matrix_with(1 / np.sqrt(1 + np.arange(float(SIZE))))
    space = LeadingSpace.of(matrix, 2)
    assert space is not None
    assert not nothing_above(1 / np.sqrt(3) + 1e-3, space, space.vectors)


def test_any_number_of_threads_gives_the_same_bits():
    matrix, found = matrix_with(0.9 ** np.arange(float(SIZE))), []
    for count in (1, 3):
        with qed.threads(count):
            space = LeadingSpace.of(matrix, 4)
            found.append((space.vectors.tobytes(), space.slip, nothing_above(0.7, space, space.vectors), space.size))
    assert found[0] == found[1]


def test_kernel_components_are_proven_either_way():
    """With a space that holds nearly all, with eigenvalues that fall slowly, and once more from the data."""
    X = np.random.default_rng(0).standard_normal((600, 4))
    for gamma in (0.02, 5.0):
        model = qed.KernelPCA(3, kernel="rbf", gamma=gamma).fit(X)
        assert model.certificate_
        assert qed.certify(model, X)
        exact = np.linalg.eigvalsh(qed.kernels.centred(qed.kernels.RBF(gamma)(X)))[::-1][:3]
        np.testing.assert_allclose(model.eigenvalues_, exact, rtol=1e-8)
