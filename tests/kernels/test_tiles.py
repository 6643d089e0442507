"""Parts of Gram matrices: chosen rows, sums of similarities, and blocks, none of which the number of threads changes."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import InputError
from qed.kernels import RBF, Constant, Custom, Kernel, Laplace, Linear, Polynomial, QuadraticForm, exp

EPS = np.finfo(np.float64).eps
KERNELS = [
    Linear(),
    Polynomial(3, 0.2, 1.0),
    RBF(0.1),
    Laplace(0.3),
    Laplace(0.3, norm=1),
    RBF(0.1) + 2 * Polynomial(2, 0.2) * Linear().on([0, 2]),
    exp(0.1 * Linear()).normalized() ** 2 + Constant(2.0),
    QuadraticForm(np.diag([1.0, 2.0, 3.0, 4.0, 5.0])).polynomial([1.0, 0.5]),
    Linear().conjugate(lambda X: 1 + X[:, 0] ** 2).mapped(lambda X: X[:, :3]),
    Custom(lambda A, B: np.tanh(A @ B.T), vectorized=True),
]


def rows_of(n, p=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def rounding(kernel: Kernel, X, Z):
    """How much two ways of summing may differ: the products of p columns are summed in another order, then magnified."""
    return 1e3 * X.shape[1] * EPS * (1 + np.abs(kernel(X, Z)))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("count", [0, 1, 2, 300, 531])
def test_chosen_rows_are_those_of_the_whole(kernel, count):
    X = rows_of(531)
    chosen = np.random.default_rng(1).permutation(531)[:count]
    found = kernel.tiles(X).rows(chosen)
    assert found.shape == (count, 531)
    assert (np.abs(found - kernel(X)[chosen]) <= rounding(kernel, X[chosen], X)).all()


@pytest.mark.parametrize("kernel", KERNELS[:5], ids=repr)
def test_chosen_rows_of_sparse_and_single_tables(kernel):
    X = rows_of(400, 7) * (np.random.default_rng(2).random((400, 7)) < 0.4)
    chosen = [399, 0, 17, 17]
    np.testing.assert_allclose(
        kernel.tiles(sparse.csr_array(X)).rows(chosen), kernel(X)[chosen], rtol=1e-10, atol=1e-12
    )
    single = kernel.tiles(X.astype(np.float32)).rows(chosen)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel(X.astype(np.float32))[chosen], rtol=3e-7, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sums_of_similarities_are_products_with_the_matrix(kernel):
    X, Z = rows_of(531), rows_of(257, seed=1)
    coefficients = np.random.default_rng(3).standard_normal((531, 2))
    found = kernel.tiles(X, Z).combined(coefficients)
    K = kernel(X, Z)
    bound = rounding(kernel, X, Z).T @ np.abs(coefficients) + 531 * EPS * np.abs(K).T @ np.abs(coefficients)
    assert found.dtype == np.float64 and (np.abs(found - K.T @ coefficients) <= bound).all()
    single = kernel.tiles(X.astype(np.float32), Z.astype(np.float32)).combined(coefficients)
    exact = kernel(X.astype(np.float32).astype(float), Z.astype(np.float32).astype(float)).T @ coefficients
    assert (np.abs(single - exact) <= bound).all(), "similarities of single precision are summed unrounded"


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_threads_change_no_bit(kernel):
    X, Z = rows_of(700), rows_of(520, seed=1)
    coefficients = np.random.default_rng(3).standard_normal((700, 3))

    def parts():
        tiles = kernel.tiles(X, Z)
        few = [block for memory in (300_000, 2 << 20) for _, block in tiles.blocks(tiles.held + memory)]
        return [tiles.whole(), tiles.rows(np.arange(0, 700, 3)), tiles.rows([5]), tiles.combined(coefficients), *few]

    with qed.threads(1):
        one = parts()
    for count in (2, 5):
        with qed.threads(count):
            many = parts()
        assert len(one) == len(many)
        for a, b in zip(one, many):
            np.testing.assert_array_equal(a, b)


def test_blocks_are_the_whole_where_tiles_have_their_full_size():
    X, Z = rows_of(2000), rows_of(2000, seed=1)
    blocks = [block for _, block in RBF(0.1).blocks(X, Z, memory=40 << 20)]
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate(blocks), RBF(0.1)(X, Z))


def test_the_least_memory_is_what_the_message_says():
    X, tiles = rows_of(50), RBF(0.1).tiles(rows_of(50))
    least = tiles.held + 2 * 50 * 8 + 8 * (1 + tiles.bound.extra)
    np.testing.assert_allclose(np.concatenate([b for _, b in tiles.blocks(least)]), RBF(0.1)(X), rtol=1e-12)
    with pytest.raises(InputError, match=f"take {least}"):
        next(tiles.blocks(least - 1))


def test_what_overflows_is_refused_whatever_is_asked_for():
    X = np.array([[1e200], [2.0]])
    with pytest.raises(InputError, match=r"Linear\(\) overflow"):
        Linear().tiles(X).rows([0])
    with pytest.raises(InputError, match=r"Linear\(\) overflow"):
        Linear().tiles(X).combined(np.ones((2, 1)))
    with pytest.raises(InputError, match="overflow"):
        Linear().tiles(np.full((2, 1), 1e30, np.float32)).rows([1])


def test_nothing_is_a_sum_of_nothing():
    X = rows_of(4)
    assert RBF().tiles(X[:0], X).combined(np.empty((0, 2))).tolist() == [[0, 0]] * 4
    assert RBF().tiles(X, X[:0]).combined(np.ones((4, 2))).shape == (0, 2)
    assert RBF().tiles(X, X[:0]).rows([1, 2]).shape == (2, 0)
