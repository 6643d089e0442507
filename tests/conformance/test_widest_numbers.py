"""Values and weights at the ends of what numbers can be, which no sum of squares can hold."""

import warnings

import numpy as np
import pytest

import qed
from tests.conformance.specimens import table

X, NUMBER, LABEL = table(n=60)


@pytest.mark.parametrize("kind", ["GaussianRandomProjection", "SparseRandomProjection"])
def test_projections_measure_distances_of_any_size(kind):
    usual = getattr(qed, kind)(3, random_state=0).fit(X)
    for size in (2.0**-900, 2.0**900):
        model = getattr(qed, kind)(3, random_state=0).fit(size * X)
        assert model.distortion_ == usual.distortion_ and qed.certify(model, size * X)


def test_a_column_that_varies_far_more_than_the_others_hides_none_of_them():
    Z = X * [1e-100, 1.0, 1e100, 1e-5]
    model = qed.TopVariance(1).fit(Z)
    assert model.certificate_ and qed.certify(model, Z)
    model.support_ = np.roll(model.support_, 1)
    assert not qed.certify(model, Z)


def test_a_perceptron_takes_the_heaviest_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        heavy = qed.Perceptron().fit(X, LABEL, sample_weight=np.full(60, 1e99))
    assert np.isfinite(heavy.coef_).all()


def test_numbers_wider_than_doubles_are_levels_too():
    levels = np.round(X).astype(np.longdouble)
    found = qed.OneHotEncoder().fit(levels)
    assert all((a == b).all() for a, b in zip(found.categories_, qed.OneHotEncoder().fit(np.round(X)).categories_))
