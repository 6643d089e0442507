"""What methods compare rows by: a kernel and a matrix that was given are the same to them."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import InputError, ParameterError
from qed.kernels import RBF, Custom, Linear, Polynomial, Similarity, as_kernel
from qed.kernels.features import feature_rows
from qed.kernels.names import KERNEL_PARAMETERS
from qed.kernels.similarity import NEW_ROWS, WithKernel, symmetric_part

GIVEN = Similarity.of("precomputed")


def rows_of(n, p=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def test_parameters_are_read_as_kernels_by_name_are():
    assert Similarity.of("rbf", 0.3) == Similarity(RBF(0.3)) and Similarity.of(
        "poly", None, 2, 0.5
    ).kernel == as_kernel("poly", None, 2, 0.5)
    assert Similarity.of(Linear()).kernel == Linear() and isinstance(Similarity.of(np.dot).kernel, Custom)
    assert GIVEN.kernel is None
    assert repr(GIVEN) == "Similarity('precomputed')" and repr(Similarity.of("linear")) == "Similarity(Linear())"
    with pytest.raises(ParameterError, match="no kernel called 'sigmoid'"):
        Similarity.of("sigmoid")
    assert KERNEL_PARAMETERS["kernel"].accepts("precomputed") and not KERNEL_PARAMETERS["gamma"].accepts(0)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_given_and_its_kernel_say_the_same(container, dtype):
    X, new = rows_of(300).astype(dtype), rows_of(50, seed=1).astype(dtype)
    similarity = Similarity.of("rbf", 0.2)
    K, between = RBF(0.2)(X.astype(float)), RBF(0.2)(new.astype(float), X.astype(float))
    coefficients = np.random.default_rng(2).standard_normal((300, 2))
    coefficients[::7] = 0
    table, matrix = container(X), container(K)
    np.testing.assert_allclose(similarity.gram(table), K, rtol=1e-10)
    np.testing.assert_array_equal(GIVEN.gram(matrix), K)
    np.testing.assert_allclose(similarity.diagonal(table), np.ones(300))
    np.testing.assert_array_equal(GIVEN.diagonal(matrix), np.diagonal(K))
    for found in (
        similarity.combined(container(new), table, coefficients),
        GIVEN.combined(container(between), matrix, coefficients),
    ):
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, between @ coefficients, rtol=1e-9, atol=1e-11)
    some = [4, 200, 7]
    np.testing.assert_allclose(similarity.tiles(table).rows(some), K[some], rtol=2e-7 if dtype == np.float32 else 1e-10)
    np.testing.assert_array_equal(GIVEN.tiles(matrix).rows(some), K[some])
    np.testing.assert_array_equal(GIVEN.tiles(matrix).whole(), K)
    which = np.arange(300) % 3 == 0
    np.testing.assert_allclose(similarity.gram(similarity.chosen(table, which)), K[which][:, which], rtol=1e-10)
    np.testing.assert_array_equal(GIVEN.gram(GIVEN.chosen(matrix, which)), K[which][:, which])


def test_the_matrix_is_free_to_be_overwritten():
    X = rows_of(5)
    K = RBF()(X)
    before = K.copy()
    GIVEN.gram(K)[...] = 0
    np.testing.assert_array_equal(K, before)


def test_new_rows_come_in_parts_that_do_not_show():
    X, new = rows_of(3, 1), rows_of(NEW_ROWS + 100, 1, seed=1)
    coefficients = np.ones((3, 1))
    found = Similarity.of("rbf").combined(new, X, coefficients)
    np.testing.assert_allclose(found, RBF()(new, X) @ coefficients, rtol=1e-12)
    empty = Similarity.of("rbf").combined(new[:2], X, np.zeros((3, 1)))
    assert empty.tolist() == [[0.0], [0.0]]


def test_what_is_no_gram_matrix_is_refused():
    K = RBF()(rows_of(4))
    with pytest.raises(InputError, match=r"square, not of shape \(4, 3\)"):
        GIVEN.gram(K[:, :3])
    with pytest.raises(InputError, match="square"):
        GIVEN.chosen(K[:, :3], [0, 1])
    with pytest.raises(InputError, match="square"):
        GIVEN.tiles(K[:, :3])
    bad = K.copy()
    bad[1, 2] += 0.1
    with pytest.raises(InputError, match=r"symmetric, but entry \(1, 2\)"):
        GIVEN.gram(bad)
    with pytest.raises(InputError, match=r"symmetric, but entry \(0, 1\)"):
        Similarity.of(Custom(lambda x, z: x[0] - z[0])).gram(np.array([[1.0], [2.0]]))
    bad[1, 2] = np.nan
    with pytest.raises(InputError, match=r"finite, but entry \(1, 2\) is nan"):
        symmetric_part(bad)


def test_a_matrix_too_large_is_refused_in_words(monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("qed.kernels.tiles.Tiles.whole", full)
    with pytest.raises(InputError, match="kernel matrix of 3 rows needs 0 gigabytes"):
        Similarity.of("linear").gram(rows_of(3))


def test_models_with_a_kernel_say_whether_they_take_pairs():
    class Base:
        def __sklearn_tags__(self):
            tags = type("Tags", (), {})()
            tags.input_tags = type("InputTags", (), {})()
            return tags

    class Model(WithKernel, Base):
        def __init__(self, kernel):
            self.kernel, self.gamma, self.degree, self.coef0 = kernel, None, 3, 1.0

    assert Model("precomputed").__sklearn_tags__().input_tags.pairwise
    assert not Model("nonsense").__sklearn_tags__().input_tags.pairwise
    assert Model("rbf")._similarity == Similarity(RBF())


def test_rows_as_explicit_features_do_not_look_at_rows_of_weight_zero():
    X, weight = rows_of(6, 2), np.array([1.0, 0, 2, 0, 0, 1])
    X[weight == 0] = np.nan
    seen = feature_rows(qed.rows(X, X[:, 0], sample_weight=weight, block_size=2), Polynomial(2))
    assert seen.n_features == 6 and seen.feature_names is None
    np.testing.assert_allclose(seen.array().X[weight > 0], Polynomial(2).features(X[weight > 0]))
    assert seen.count() == len(seen.array()) == 6 and np.isfinite(seen.array().X).all()
