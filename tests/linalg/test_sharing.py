"""Dense work that threads share: right, and the same bits for any number of them."""

import numpy as np
import pytest

import qed
from qed.base.numbers import EPS
from qed.linalg import cholesky, definite, sharing
from qed.linalg.band import Band
from qed.linalg.cholesky import factor_in_place
from qed.linalg.definite import solve_dual
from qed.linalg.sharing import Task, inverse_of_lower, products_of_rows, spans, work_in_order


def definite_matrix(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A @ A.T / n + np.eye(n)


def for_all_threads(function):
    """Do it with one, two and four threads; give what all of them found."""
    found = []
    for count in (1, 2, 4):
        with qed.threads(count):
            found.append(function())
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    return found[0]


@pytest.mark.parametrize("n", [512, 700])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiled_cholesky(n, dtype):
    A = definite_matrix(n).astype(dtype)

    def factor():
        lower = np.array(A, order="F")
        assert factor_in_place(lower)
        np.testing.assert_array_equal(np.triu(lower, 1), np.triu(A, 1))
        return np.tril(lower)

    lower = for_all_threads(factor).astype(np.float64)
    # The product of the factors is off by n + 1 roundings of entries of size |L||L'| <= max diagonal (Higham, theorem 10.3).
    assert np.abs(lower @ lower.T - A).max() <= (n + 1) * np.finfo(dtype).eps * A.diagonal().max()


@pytest.mark.parametrize("bad", [0, 300, 699])
def test_tiled_cholesky_notices_what_is_not_definite(bad):
    A = definite_matrix(700)
    A[bad, bad] = -1.0
    assert not any(for_all_threads(lambda: [factor_in_place(np.array(A, order="F"))]))


@pytest.mark.parametrize(("n", "p"), [(300, 400), (600, 130), (259, 300)])
def test_products_of_rows(n, p):
    A = np.random.default_rng(1).standard_normal((n, p))
    assert n * n * p >= sharing.WORTH_SHARING
    found = for_all_threads(lambda: products_of_rows(A))
    np.testing.assert_array_equal(found, found.T)
    assert np.abs(found - A @ A.T).max() <= 2 * p * EPS * (A**2).sum(axis=1).max()
    columns = for_all_threads(lambda: products_of_rows(A.T))
    assert np.abs(columns - A.T @ A).max() <= 2 * n * EPS * (A**2).sum(axis=0).max()


def test_inverse_of_a_triangle():
    lower = np.asfortranarray(np.linalg.cholesky(definite_matrix(600)))
    found = for_all_threads(lambda: inverse_of_lower(lower))
    # Every column is solved for by substitution, with a residual of n roundings of |L||X| (Higham, theorem 8.5).
    assert (np.abs(lower @ found - np.eye(600)) <= 600 * EPS * (np.abs(lower) @ np.abs(found)) + EPS).all()
    singular = lower.copy(order="F")
    singular[300, 300] = 0.0
    assert inverse_of_lower(singular) is None


def test_band_and_its_orthogonal_factor():
    A = definite_matrix(400)
    lower = for_all_threads(lambda: Band.of(A.copy()).lower)
    Q = for_all_threads(lambda: Band.of(A.copy()).orthogonal())
    B = sum(np.diag(line[: 400 - d], -d) for d, line in enumerate(lower))
    B = B + np.tril(B, -1).T
    # Householder reflections are orthogonal but for rounding: some n of them, each of some roundings.
    assert np.linalg.norm(Q @ B @ Q.T - A) <= 400 * EPS * np.linalg.norm(A)
    assert np.linalg.norm(Q.T @ Q - np.eye(400)) <= 400 * EPS * np.sqrt(400)


def test_tasks_wait_for_those_they_name_and_errors_set_them_free():
    order = []
    tasks = [Task(k, lambda k=k: order.append(k), [k - 1] if k else []) for k in range(50)]
    with qed.threads(4):
        work_in_order(tasks)
        assert order == list(range(50))

        def fail():
            raise ValueError("in a task")

        with pytest.raises(ValueError, match="in a task"):
            work_in_order([Task("a", fail), Task("b", lambda: None, ["a"]), Task("c", lambda: None, ["b"])])


def test_spans_cover_all_and_are_alike():
    for n in range(1, 40):
        for size in (1, 3, 7, 50):
            parts = spans(n, size)
            assert [k for part in parts for k in range(n)[part]] == list(range(n))
            lengths = [part.stop - part.start for part in parts]
            assert max(lengths) <= size and max(lengths) - min(lengths) <= 1


class TestCorrections:
    """A factor in single precision, corrected to double."""

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setattr(definite, "LARGE", 32)
        monkeypatch.setattr(cholesky, "LARGE", 64)

    def both(self, K, Y, alphas, weight=None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(definite, "_by_corrections", lambda *given: None)
            plain = solve_dual(K.copy(), Y, alphas, weight)
        return solve_dual(K.copy(), Y, alphas, weight), plain

    @pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
    @pytest.mark.parametrize("alpha", [1e-4, 1.0, 1e3])
    def test_gives_what_double_precision_gives(self, scale, alpha):
        generator = np.random.default_rng(2)
        X, Y = generator.standard_normal((100, 3)), generator.standard_normal((100, 2)) * [1.0, 1e8]
        K = scale * qed.kernels.RBF(0.5)(X)
        found, plain = self.both(K, Y, np.full(2, alpha * scale))
        # Both solve a system whose matrix is off by some n roundings; its condition number is below trace / alpha + 1.
        close = 200 * EPS * (100 / alpha + 1)
        assert found.rank == 100
        for k in range(2):
            size = np.linalg.norm(plain.dual[:, k])
            assert np.linalg.norm(found.dual[:, k] - plain.dual[:, k]) <= close * size
            left = Y[:, k] - K @ found.dual[:, k] - alpha * scale * found.dual[:, k]
            reach = np.abs(Y[:, k]) + (K + alpha * scale * np.eye(100)) @ np.abs(found.dual[:, k])
            assert (np.abs(left) <= 200 * EPS * reach).all()

    def test_weights_and_penalties_of_outputs(self):
        generator = np.random.default_rng(3)
        X, Y = generator.standard_normal((80, 2)), generator.standard_normal((80, 3))
        weight, K = generator.uniform(0.1, 5, 80), qed.kernels.RBF(0.3)(X)
        found, plain = self.both(K, Y, np.array([0.1, 1.0, 0.1]), weight)
        np.testing.assert_allclose(found.dual, plain.dual, rtol=0, atol=1e5 * EPS * np.abs(plain.dual).max())
        np.testing.assert_allclose(found.fitted, K @ found.dual, rtol=0, atol=1e3 * EPS * np.abs(Y).max())

    def test_gives_way_where_single_precision_does_not_get_there(self):
        X = np.linspace(0, 1, 60)[:, None]
        Y, K = np.sin(X), qed.kernels.RBF(0.01)(X)
        assert definite._by_corrections(K, Y, 1e-9) is None
        assert definite._by_corrections(-K, Y, 1.0) is None
        model = qed.KernelRidge(1e-9, kernel="rbf", gamma=0.01).fit(X, Y[:, 0])
        assert model.certificate_


def square(n, p):
    generator = np.random.default_rng(n + p)
    X = generator.standard_normal((n, p))
    return X, X @ generator.standard_normal(p) + generator.standard_normal(n)


@pytest.mark.parametrize(
    "model",
    [
        qed.LinearRegression(),
        qed.LinearRegression(fit_intercept=False),
        qed.Ridge(),
        qed.KernelRidge(0.1, kernel="rbf"),
    ],
    ids=["least squares", "about zero", "ridge", "kernel ridge"],
)
@pytest.mark.parametrize("shape", [(540, 520), (520, 520), (280, 700)], ids=["tall", "square", "wide"])
def test_models_give_the_same_bits_for_any_number_of_threads(model, shape):
    X, y = square(*shape)

    def fit():
        model.fit(X, y)
        return model.dual_coef_ if isinstance(model, qed.KernelRidge) else np.append(model.coef_, model.intercept_)

    for_all_threads(fit)
    assert model.certificate_ and qed.certify(model, X, y)


@pytest.mark.parametrize("intercept", [True, False], ids=["centred", "about zero"])
@pytest.mark.parametrize("shape", [(300, 300), (300, 301), (301, 300), (302, 300)])
def test_nearly_square_least_squares_needs_no_singular_values(shape, intercept, monkeypatch):
    X, y = square(*shape)
    svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *given, **more: pytest.fail("singular values take too long"))
    model = qed.LinearRegression(fit_intercept=intercept).fit(X, y)
    monkeypatch.setattr(np.linalg, "svd", svd)
    away = X - X.mean(axis=0) if intercept else X
    target = y - y.mean() if intercept else y
    rank = min(shape[0] - intercept, shape[1])
    U, values, V = svd(away, full_matrices=False)
    shortest = V[:rank].T @ ((U.T @ target)[:rank] / values[:rank])
    assert model.rank_ == rank and model.certificate_ and qed.certify(model, X, y)
    condition = values[0] / values[rank - 1]
    # Wedin: both ways are off by some n roundings times the condition number, and what is left of the target by its square.
    left = np.linalg.norm(target - away @ shortest) / np.linalg.norm(target)
    assert np.linalg.norm(model.coef_ - shortest) <= 300 * EPS * condition * (1 + condition * left) * np.linalg.norm(
        shortest
    )
