"""Centring Gram matrices: as scikit-learn does, as explicit features do, and with a certificate that objects."""

import numpy as np
import pytest
from sklearn.preprocessing import KernelCenterer as Peer
from sklearn.utils.estimator_checks import parametrize_with_checks

import qed
from qed.base.errors import InputError
from qed.kernels import RBF, KernelCenterer, Polynomial, centred
from tests.conformance.checks import run_check

X = np.random.default_rng(0).standard_normal((30, 3))
Z = np.random.default_rng(1).standard_normal((7, 3))


@parametrize_with_checks([KernelCenterer()])
def test_scikit_learn_checks(estimator, check):
    run_check(estimator, check)


def test_it_is_what_scikit_learn_gives():
    kernel = RBF(0.2)
    ours, peer = KernelCenterer().fit(kernel(X)), Peer().fit(kernel(X))
    np.testing.assert_allclose(ours.K_fit_rows_, peer.K_fit_rows_, rtol=1e-13)
    assert ours.K_fit_all_ == pytest.approx(peer.K_fit_all_, rel=1e-13)
    np.testing.assert_allclose(ours.transform(kernel(Z, X)), peer.transform(kernel(Z, X)), atol=1e-13)
    np.testing.assert_allclose(ours.transform(kernel(X)), centred(kernel(X)), atol=1e-13)
    np.testing.assert_allclose(ours.transform(kernel(Z, X)), centred(kernel(X), kernel(Z, X)), atol=1e-13)


def test_new_rows_are_centred_with_the_mean_of_the_training_rows():
    kernel = Polynomial(2)
    mean = kernel.features(X).mean(axis=0)
    old, new = kernel.features(X) - mean, kernel.features(Z) - mean
    np.testing.assert_allclose(centred(kernel(X), kernel(Z, X)), new @ old.T, atol=1e-10)


@pytest.mark.parametrize("attribute", ["K_fit_rows_", "K_fit_all_"])
def test_the_certificate_objects_when_a_mean_is_moved(attribute):
    K = RBF(0.2)(X)
    model = KernelCenterer().fit(K)
    assert model.certificate_ and qed.certify(model, K)
    moved = np.array(getattr(model, attribute), dtype=float)
    moved.flat[0] *= 1.001
    setattr(model, attribute, moved if moved.ndim else float(moved))
    assert not qed.certify(model, K)


def test_float32_and_saving(tmp_path):
    K = RBF(0.2)(X.astype(np.float32))
    model = KernelCenterer().fit(K)
    assert model.transform(K).dtype == np.float32 and centred(K).dtype == np.float32
    qed.save(model, tmp_path / "model.qed")
    np.testing.assert_array_equal(qed.load(tmp_path / "model.qed").transform(K), model.transform(K))


def test_matrices_that_are_not_square_are_refused():
    with pytest.raises(InputError, match="square"):
        KernelCenterer().fit(X)
    with pytest.raises(InputError, match="square"):
        centred(X)
    with pytest.raises(InputError, match="a column for each of 30"):
        centred(RBF()(X), X)
    assert centred(np.empty((0, 0))).shape == (0, 0)
