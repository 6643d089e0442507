"""Directions of principal components: their signs are claimed, and tables that do not vary are proven or refused without a warning."""

import warnings

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateError

X = np.random.default_rng(0).normal(size=(40, 4))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (qed.PCA(2), "components_"),
        (qed.FeatureSpacePCA(2), "components_"),
        (qed.KernelPCA(2, kernel="rbf"), "eigenvectors_"),
    ],
)
def test_a_direction_turned_about_is_noticed(model, name):
    assert qed.certify(model.fit(X), X)
    setattr(model, name, -getattr(model, name))
    assert not qed.certify(model, X)


def test_rows_that_are_all_alike_have_a_plane_found_by_chance():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = qed.PCA(2, svd_solver="randomized", random_state=0).fit(np.ones((12, 3)))
    assert model.error_ == 0 and model.certificate_


def test_features_that_vary_by_rounding_alone_are_refused():
    with pytest.raises(DegenerateError, match="no more than rounding"):
        qed.FeatureSpacePCA().fit((X * 1e-25).astype(np.float32))
