"""Directions of principal components: their signs are claimed, and tables that do not vary are proven or refused without a warning."""

import warnings

import mpmath
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


@pytest.mark.parametrize("gamma", [None, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_distances_that_lose_digits_are_counted_in(seed, gamma):
    """A row far away moves the middle, and distances of the others become differences of long squares."""
    random = np.random.default_rng(seed)
    table = random.standard_normal((9, 3))
    table[: 1 + seed % 2 * 4] *= 10.0 ** random.integers(1, 7)
    table = np.round(table) if seed % 4 > 1 else table
    model = qed.KernelPCA(2, kernel="rbf", gamma=gamma).fit(table)
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(value)) for value in row] for row in table]
        width = mpmath.mpf(float(model.gamma_))
        K = mpmath.matrix([[mpmath.exp(-width * sum((a - b) ** 2 for a, b in zip(x, z))) for z in rows] for x in rows])
        centre = mpmath.eye(9) - mpmath.ones(9) / 9
        exact = sorted(mpmath.eigsy(centre * K * centre, eigvals_only=True), reverse=True)
        off = float(max(abs(mpmath.mpf(float(v)) - w) for v, w in zip(model.eigenvalues_, exact)) / exact[0])
    claim = model.certificate_["directions are eigenvectors"]
    assert model.certificate_ and off <= claim.value
