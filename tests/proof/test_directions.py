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


@pytest.mark.parametrize("columns", [3, 6])
def test_factors_in_another_order_are_noticed(columns):
    """The likelihood is the same in any order: that the first explains the most has to be claimed."""
    random = np.random.default_rng(columns)
    table = random.normal(size=(60, 2)) @ random.normal(size=(2, columns)) + random.normal(size=(60, columns))
    model = qed.FactorAnalysis(2).fit(table)
    assert qed.certify(model, table)
    model.components_ = model.components_[::-1]
    found = qed.certify(model, table)
    assert not found and "attributes that do not follow" in f"{found}"
