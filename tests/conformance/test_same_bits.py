"""No bit of a model depends on how many threads BLAS or we may use, or on which thread fits it."""

import threading
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import qed
from tests.conformance.test_same_answer import learned

generator = np.random.default_rng(0)
X = generator.normal(size=(900, 560))
y = X @ generator.normal(size=560) + generator.normal(size=900)
FEW = generator.normal(size=(1100, 5))
TARGET = np.sin(FEW).sum(axis=1) + generator.normal(size=1100)

# From 512 columns or rows on BLAS would share its work, from 1024 on we do.
MODELS = {
    "LinearRegression": lambda: qed.LinearRegression().fit(X, y),
    "LinearRegression, wide": lambda: qed.LinearRegression().fit(X[:520], y[:520]),
    "Ridge": lambda: qed.Ridge().fit(X, y),
    "Ridge, wide": lambda: qed.Ridge().fit(X[:520], y[:520]),
    "GaussianMAP": lambda: qed.GaussianMAP().fit(X, y),
    "TotalLeastSquares": lambda: qed.TotalLeastSquares().fit(X, y),
    "Lasso": lambda: qed.Lasso(alpha=0.5).fit(X, y),
    "LogisticRegression": lambda: qed.LogisticRegression().fit(X, y > 0),
    "KernelRidge": lambda: qed.KernelRidge(kernel="rbf").fit(FEW, TARGET),
    "KernelInterpolator": lambda: qed.KernelInterpolator(kernel="rbf", gamma=1.0).fit(FEW, TARGET),
    "Nystroem": lambda: qed.Nystroem(n_components=520, random_state=0).fit(FEW),
    "RandomFourierFeatures": lambda: qed.RandomFourierFeatures(n_components=520, random_state=0).fit(FEW),
    "Search": lambda: qed.Search(qed.KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0]}, cv=2).fit(FEW, TARGET),
}
FAST = ["LinearRegression", "Ridge, wide", "KernelRidge"]


def used(model):
    """Give all numbers of a model, and what it makes of rows."""
    data = FEW if model.n_features_in_ == FEW.shape[1] else X
    made = model.transform(data[:40]) if hasattr(model, "transform") else model.predict(data[:40])
    scores = np.asarray(model.cv_results_["mean_test_score"]) if hasattr(model, "cv_results_") else np.empty(0)
    return {**learned(model), "made": made, "scores": scores}


def in_another_thread(make):
    found = []
    thread = threading.Thread(target=lambda: found.append(used(make())))
    thread.start()
    thread.join()
    return found[0]


def check(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with threadpool_limits(1, user_api="blas"), qed.threads(1):
            expected = used(make())
        ways = []
        for blas, ours in ((2, 1), (4, 2), (1, 4)):
            with threadpool_limits(blas, user_api="blas"), qed.threads(ours):
                ways.append(used(make()))
        ways.append(in_another_thread(make))
    for found in ways:
        assert found.keys() == expected.keys()
        for place in expected:
            np.testing.assert_array_equal(found[place], expected[place], err_msg=place)


@pytest.mark.parametrize("name", FAST)
def test_no_bit_depends_on_threads(name):
    check(MODELS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if name not in FAST])
def test_no_bit_of_other_large_models_depends_on_threads(name):
    check(MODELS[name])


@pytest.mark.parametrize("n", [1, 127, 128, 1023, 1024, 1100, 1300])
def test_the_factor_of_tiles_is_the_factor(n):
    from qed.linalg.cholesky import factor_in_place

    B = generator.normal(size=(n, n + 3))
    K = B @ B.T + np.eye(n)
    A = np.array(K, order="F")
    assert factor_in_place(A)
    L = np.tril(A)
    # A Cholesky factor is that of a matrix no further than n u from the one given, relative to its diagonal (Higham, 10.3).
    size = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    assert (np.abs(L @ L.T - K) <= 2 * (n + 2) * 2.0**-53 * size).all()
    np.testing.assert_array_equal(np.triu(A, 1), np.triu(K, 1))
    K[n // 2, n // 2] = -1.0
    assert not factor_in_place(np.array(K, order="F"))


@pytest.mark.slow
def test_a_model_on_dask_is_the_same_every_time():
    import dask.array as dask_array

    rows = qed.rows(dask_array.from_array(X[:, :40], chunks=(90, 40)), dask_array.from_array(y, chunks=90))
    first = learned(qed.GradientRidge().fit(rows))
    for _ in range(5):
        again = learned(qed.GradientRidge().fit(rows))
        assert all(np.array_equal(first[place], again[place]) for place in first)
