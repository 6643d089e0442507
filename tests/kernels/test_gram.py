"""Gram matrices: accuracy, symmetry, every kind of input, and memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.spatial.distance import cdist

import qed
from qed.base.errors import InputError, NotAvailableError, ParameterError
from qed.kernels import RBF, Constant, Custom, Laplace, Linear, Polynomial, QuadraticForm
from qed.kernels.polynomial import power
from tests.property.nasty import tables


def rows_of(n=300, p=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def direct(kernel, X, Z):
    """A twin of the kernels by loops over pairs."""
    if isinstance(kernel, RBF):
        return np.exp(-kernel.gamma * cdist(X, Z, "sqeuclidean"))
    if isinstance(kernel, Laplace):
        return np.exp(-kernel.gamma * cdist(X, Z, "euclidean" if kernel.norm == 2 else "cityblock"))
    if isinstance(kernel, Polynomial):
        return (kernel.gamma * X @ Z.T + kernel.coef0) ** kernel.degree
    return X @ Z.T


SIMPLE = [Linear(), Polynomial(3, 0.2, 1.0), Polynomial(4, 0.2, 0.0), RBF(0.1), Laplace(0.3), Laplace(0.3, norm=1)]


@pytest.mark.parametrize("kernel", SIMPLE, ids=repr)
def test_values_are_those_of_the_formula(kernel):
    X, Z = rows_of(531), rows_of(257, seed=1)
    np.testing.assert_allclose(kernel(X, Z), direct(kernel, X, Z), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel(X), direct(kernel, X, X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X)), rtol=1e-12)


@pytest.mark.parametrize("kernel", [*SIMPLE, RBF(0.1) + 2 * Polynomial(2), QuadraticForm(np.eye(5))], ids=repr)
def test_a_table_with_itself_is_symmetric_bit_for_bit_and_threads_change_no_bit(kernel):
    X = rows_of(700)
    with qed.threads(1):
        one = kernel(X)
    with qed.threads(2):
        two = kernel(X)
    np.testing.assert_array_equal(one, one.T)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kernel", SIMPLE, ids=repr)
def test_float32_stays_float32_and_is_rounded_once(kernel):
    X = rows_of().astype(np.float32)
    found = kernel(X)
    assert found.dtype == np.float32 and kernel.diagonal(X).dtype == np.float32
    np.testing.assert_allclose(found, kernel(X.astype(np.float64)), rtol=1.2e-7)
    assert kernel(X, X.astype(np.float64)).dtype == np.float64
    assert kernel(np.arange(6).reshape(3, 2)).dtype == np.float64


@pytest.mark.parametrize("kernel", SIMPLE, ids=repr)
def test_sparse_is_the_same_as_dense(kernel):
    X = rows_of(300, 7) * (np.random.default_rng(2).random((300, 7)) < 0.4)
    X[5] = X[6]
    for container in (sparse.csr_array, sparse.csc_matrix):
        S = container(X)
        np.testing.assert_allclose(kernel(S), kernel(X), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(kernel(S, X[:10]), kernel(X, X[:10]), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(kernel(X[:10], S), kernel(X[:10], X), rtol=1e-10, atol=1e-12)
    assert isinstance(kernel, (Linear, Polynomial)) or kernel(sparse.csr_array(X))[5, 6] == 1


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplace(0.5), Laplace(0.5, norm=1)], ids=repr)
def test_equal_rows_have_similarity_one_exactly(kernel):
    X = rows_of(500, 3) * 100 + 1e4
    X[100:200] = X[:100]
    K = kernel(X)
    assert (np.diagonal(K) == 1).all()
    assert (K[np.arange(100), np.arange(100, 200)] == 1).all()
    assert (kernel(X, X.copy())[np.arange(500), np.arange(500)] == 1).all()


def test_no_digits_are_lost_far_from_zero_and_between_distant_groups():
    X = rows_of(200, 3)
    far = X + 2.0**20
    np.testing.assert_allclose(RBF(0.5)(far), RBF(0.5)(far - 2.0**20), rtol=1e-10)
    groups = np.vstack([X[:100], X[:100] + 2.0**24])
    groups = np.vstack([groups[:100], groups[100:] - 2.0**24 + 2.0**24])
    K, near = RBF(0.5)(groups), direct(RBF(0.5), groups, groups)
    np.testing.assert_allclose(K, near, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(Laplace(0.5)(groups), direct(Laplace(0.5), groups, groups), rtol=1e-9, atol=1e-15)


@given(tables())
def test_distances_of_any_table_are_those_of_the_differences(X):
    gamma = 1 / max(float(np.var(X)) * X.shape[1], 1e-300)
    np.testing.assert_allclose(RBF(gamma)(X), direct(RBF(gamma), X, X), rtol=1e-9, atol=1e-10)
    scale = float(np.sqrt(gamma))
    np.testing.assert_allclose(Laplace(scale)(X), direct(Laplace(scale), X, X), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e150, 1e200, 1e308])
@pytest.mark.parametrize("kernel", [RBF(1.0), RBF(100.0), Laplace(1.0), Laplace(1.0, norm=1)], ids=repr)
def test_huge_and_tiny_scales_give_the_limit(kernel, scale):
    """Distances that overflow are infinite, so the similarity is zero; those that vanish give one."""
    K = kernel(np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]]) * scale)
    apart = 0.0 if scale > 1 else 1.0
    np.testing.assert_array_equal(K, [[1, apart, 1], [apart, 1, apart], [1, apart, 1]])


def test_a_width_can_balance_any_scale():
    X = rows_of(20, 3)
    np.testing.assert_allclose(RBF(sigma=1e200)(X * 1e200), RBF(sigma=1.0)(X), rtol=1e-9)
    np.testing.assert_allclose(Laplace(sigma=1e200)(X * 1e200), Laplace(sigma=1.0)(X), rtol=1e-9)
    np.testing.assert_allclose(RBF(sigma=1e-150)(X * 1e-150), RBF(sigma=1.0)(X), rtol=1e-9)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), Linear() * Linear(), qed.kernels.exp(Linear())], ids=repr)
def test_values_that_overflow_are_refused(kernel):
    with pytest.raises(InputError, match="overflow"):
        kernel(np.array([[1e200], [2.0]]))
    with pytest.raises(InputError, match="overflow"):
        Polynomial(3)(np.array([[1e20]], dtype=np.float32))


@pytest.mark.parametrize("kernel", [*SIMPLE, RBF() + Linear()], ids=repr)
def test_no_rows_and_one_row(kernel):
    X = rows_of(4, 3)
    assert kernel(X, X[:0]).shape == (4, 0)
    assert kernel(X[:0], X).shape == (0, 4)
    assert kernel(X[:0]).shape == (0, 0)
    assert kernel(X[:1]).shape == (1, 1)
    assert list(kernel.blocks(X[:0], X)) == []
    (rows, block) = next(kernel.blocks(X, X[:0]))
    assert block.shape == (4, 0)


def test_bad_tables_are_refused_in_words():
    kernel, X = RBF(), rows_of(4, 3)
    with pytest.raises(InputError, match=r"1D array.*reshape"):
        kernel([1.0, 2.0])
    with pytest.raises(InputError, match="X has 3 columns and Z has 2"):
        kernel(X, X[:, :2])
    with pytest.raises(InputError, match="no columns"):
        kernel(X[:, :0])
    for bad, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        hole = X.copy()
        hole[2, 1] = bad
        with pytest.raises(InputError, match=f"Z contains {word}: row 2, column 1"):
            kernel(X, hole)
        with pytest.raises(InputError, match=f"X contains {word}: row 2, column 1"):
            kernel(sparse.csr_array(hole))
    with pytest.raises(InputError, match="not numbers"):
        kernel(np.array([["a", 1.0]], dtype=object))
    with pytest.raises(InputError, match="not real numbers"):
        kernel(X.astype(complex))


def test_frames_and_lists_are_tables():
    import pandas

    X = rows_of(5, 2)
    np.testing.assert_array_equal(RBF()(pandas.DataFrame(X)), RBF()(X))
    np.testing.assert_array_equal(RBF()(X.tolist()), RBF()(X))


@pytest.mark.parametrize("memory", [2 << 20, 5 << 20])
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        RBF(0.1),
        Laplace(0.1),
        Laplace(0.1, norm=1),
        RBF(0.1) + 2 * Polynomial(3),
        (RBF(0.1) + 1) ** 3 * Linear().on([0, 1]),
        QuadraticForm(np.eye(20)) + Constant(2.0),
        Linear().normalized().polynomial([1.0, 2.0, 3.0]),
    ],
    ids=repr,
)
@pytest.mark.sampled(2)
def test_blocks_need_no_more_memory_than_asked_for(kernel, memory):
    X, Z = rows_of(3000, 20), rows_of(1500, 20, seed=1)
    next(kernel.blocks(X, Z, memory=memory))  # what is loaded or started once is so now
    total, places = 0.0, []
    tracemalloc.start()
    for rows, block in kernel.blocks(X, Z, memory=memory):
        total += float(block.sum())
        places.append(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The arrays keep to it; Python's own objects, and those of other threads of the process (a cluster's loop), are a few thousand bytes.
    assert peak <= memory + 2**18
    assert len(places) > 1 and places[0].start == 0 and places[-1].stop == len(X)
    assert all(a.stop == b.start for a, b in zip(places, places[1:]))
    assert total == pytest.approx(float(kernel(X, Z).sum()), rel=1e-9)


def test_blocks_of_float32_and_sparse_tables_keep_to_their_memory():
    X = sparse.random_array((2000, 50), density=0.05, rng=np.random.default_rng(0)).tocsr()
    for table in (X, X.toarray().astype(np.float32)):
        next(RBF(0.1).blocks(table, memory=4 << 20))  # what is compiled once is so now
        tracemalloc.start()
        parts = [block.sum(axis=1) for _, block in RBF(0.1).blocks(table, memory=4 << 20)]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= 4 << 20 and len(parts) > 1
        np.testing.assert_allclose(np.concatenate(parts), RBF(0.1)(table).sum(axis=1), rtol=1e-5)


def test_too_little_memory_is_refused():
    with pytest.raises(ParameterError, match="memory=1000 bytes are too few"):
        next(RBF().blocks(rows_of(), memory=1000))


@pytest.mark.parametrize("degree", range(1, 20))
def test_powers_by_repeated_squaring(degree):
    x = np.array([0.0, 1.0, -1.0, 1.5, -0.7])
    np.testing.assert_allclose(power(x.copy(), degree), x**degree, rtol=1e-13)


def test_the_polynomial_kernel_never_makes_its_features():
    kernel, X = Polynomial(7), rows_of(20, 400)
    assert kernel.n_features(400) > 10**14
    assert kernel(X / 100).shape == (20, 20)
    with pytest.raises(ParameterError, match=r"has \d+ features for 400 columns, more than max_features"):
        kernel.features(X)
    with pytest.raises(NotAvailableError, match="qed.Nystroem"):
        RBF().features(X)


def test_functions_of_two_rows_and_of_two_tables():
    X = rows_of(30, 3)
    expected = X @ X.T
    np.testing.assert_allclose(Custom(lambda x, z: x @ z)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(Custom(lambda A, B: A @ B.T, vectorized=True)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(Custom(lambda x, z: x @ z).diagonal(X), np.diagonal(expected), rtol=1e-12)
    with pytest.raises(InputError, match="must give one number for two rows"):
        Custom(lambda x, z: x)(X)
    with pytest.raises(InputError, match="must give a matrix of the shape"):
        Custom(lambda A, B: A, vectorized=True)(X)
    with pytest.raises(InputError, match="gives NaN"):
        Custom(lambda x, z: np.nan)(X)
    with pytest.raises(ParameterError, match="function"):
        Custom(3)


@pytest.mark.parametrize("spread", [0.3, 40.0], ids=["near", "far"])
def test_the_compiled_gaussian_is_the_plain_one(spread):
    # Enough rows to be worth compiling; some equal, some nearly so, and some so far from others that nothing is left.
    X = spread * rows_of(1100, 3) + 1e3
    X[1], X[2] = X[0], X[0] + 1e-9
    K = RBF(0.5)(X)
    for i in (0, 1, 2, 700, 1099):
        exponent = -0.5 * ((X - X[i]) ** 2).sum(axis=1)
        # The exponent is off by a few units of rounding of the squared lengths about the mean, the exponential by a few of its own.
        lengths = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
        allowed = np.finfo(float).eps * (8 + 4 * (lengths + lengths[i]))
        plain = np.exp(exponent)
        assert (abs(K[i] - plain) <= allowed * plain + 1e-300).all()
    assert K[0, 1] == 1 and (K == K.T).all() and (spread < 1 or (K == 0).any())
