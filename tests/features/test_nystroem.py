"""Nystroem with kernel matrices that are given, and functions with arguments."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import qed
from qed.base.errors import InputError, ParameterError

KERNEL = qed.kernels.RBF(0.3)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 3))


def smallest(x, z, scale):
    return scale * np.minimum(np.abs(x), np.abs(z)).sum()


def test_a_given_kernel_matrix_gives_the_same_map(X):
    others = np.random.default_rng(1).normal(size=(9, 3))
    direct = qed.Nystroem(KERNEL, n_components=20, random_state=1).fit(X)
    given = qed.Nystroem("precomputed", n_components=20, random_state=1).fit(KERNEL(X))
    np.testing.assert_array_equal(direct.component_indices_, given.component_indices_)
    # The root stretches rounding by at most one over the least eigenvalue that is kept, here above 1e-3.
    np.testing.assert_allclose(direct.transform(others), given.transform(KERNEL(others, X)), atol=1e-11)
    assert abs(direct.error_ - given.error_) < 1e-11
    assert given.certificate_ and qed.certify(given, KERNEL(X))
    given.normalization_[0, 0] *= 1.001
    assert not qed.certify(given, KERNEL(X))


def test_folds_take_rows_and_columns_of_a_given_matrix(X):
    y = X[:, 0]
    given = make_pipeline(qed.Nystroem("precomputed", random_state=0), qed.Ridge(1e-3))
    direct = make_pipeline(qed.Nystroem(KERNEL, random_state=0), qed.Ridge(1e-3))
    np.testing.assert_allclose(qed.cross_val_score(given, KERNEL(X), y), qed.cross_val_score(direct, X, y), rtol=1e-9)


def test_arguments_of_a_function(X):
    double = qed.Nystroem(smallest, kernel_params={"scale": 2.0}, n_components=10, random_state=0).fit(X)
    single = qed.Nystroem(lambda x, z: smallest(x, z, 1.0), n_components=10, random_state=0).fit(X)
    np.testing.assert_allclose(double.transform(X), np.sqrt(2) * single.transform(X), rtol=1e-9, atol=1e-11)


def test_what_makes_no_sense_is_refused(X):
    for rest in ({"gamma": 1.0}, {"coef0": 1.0}, {"degree": 2}):
        with pytest.raises(ParameterError, match="gamma, coef0 or degree"):
            qed.Nystroem("precomputed", **rest).fit(KERNEL(X))
    with pytest.raises(ParameterError, match="kernel_params"):
        qed.Nystroem("rbf", kernel_params={"scale": 1.0}).fit(X)
    with pytest.raises(InputError, match="square"):
        qed.Nystroem("precomputed").fit(X)
