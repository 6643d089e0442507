"""PolynomialFeatures: scikit-learn's columns in scikit-learn's order, dense and sparse, counted before they are made."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import preprocessing

import qed
from qed.base.errors import InputError, ParameterError
from qed.base.sources.rows import ArrayRows
from qed.features.maps.polynomial_kernels import expand, leading

SHAPES = [(3, 3), (4, (2, 3)), (2, 0), (3, (0, 2)), (3, (3, 3)), (1, 4), (5, 2), (4, 5), (2, (1, 1))]


@pytest.mark.parametrize("p, degree", SHAPES)
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
def test_the_columns_of_scikit_learn(p, degree, interaction_only, include_bias):
    X = np.random.default_rng(0).normal(size=(9, p))
    options = {"interaction_only": interaction_only, "include_bias": include_bias}
    theirs = preprocessing.PolynomialFeatures(degree, **options)
    if (degree == 0 and not include_bias) or theirs.fit(X).n_output_features_ == 0:
        with pytest.raises(ParameterError, match="no columns"):
            qed.PolynomialFeatures(degree, **options).fit(X)
        return
    ours = qed.PolynomialFeatures(degree, **options).fit(X)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    assert (
        ours.get_feature_names_out(list("abcde"[:p])).tolist()
        == theirs.get_feature_names_out(list("abcde"[:p])).tolist()
    )
    assert ours.certificate_ and qed.certify(ours, X)
    holes = sparse.random_array((30, p), density=0.5, rng=1, format="csr")
    made = ours.transform(holes)
    made.check_format()
    np.testing.assert_allclose(made.toarray(), ours.transform(holes.toarray()), rtol=1e-15)


@settings(max_examples=25, deadline=None)
@given(p=st.integers(1, 5), degree=st.integers(1, 5), skip=st.integers(0, 1), seed=st.integers(0, 99))
def test_kernel_and_its_twin(p, degree, skip, seed):
    X = np.random.default_rng(seed).normal(size=(3, p))
    choose = itertools.combinations if skip else itertools.combinations_with_replacement
    terms = [term for k in range(1, degree + 1) for term in choose(range(p), k)]
    out = np.empty((3, len(terms)))
    expand(X, leading(p, degree, skip), 1, skip, 0, out)
    twin = np.column_stack([np.prod(X[:, list(term)], axis=1) for term in terms])
    np.testing.assert_allclose(out, twin, rtol=1e-14)


def test_sparse_stores_only_what_is_there():
    X = sparse.csr_array(np.eye(200)[:, :100])
    made = qed.PolynomialFeatures(3, include_bias=False).fit_transform(X)
    assert made.shape == (200, math.comb(103, 3) - 1) and made.nnz == 300


def test_float32_blocks_and_threads():
    X = np.random.default_rng(2).normal(size=(5000, 3))
    whole = qed.PolynomialFeatures(3).fit_transform(X)
    rows = ArrayRows(X, size=700)
    with qed.threads(3):
        np.testing.assert_array_equal(qed.PolynomialFeatures(3).fit(rows).transform(rows), whole)
    single = qed.PolynomialFeatures(3).fit_transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, whole, rtol=1e-5, atol=1e-6)


def test_too_many_columns_are_refused_before_memory_is_asked_for():
    with pytest.raises(ParameterError, match=r"126410606437752 columns.*TB.*kernel"):
        qed.PolynomialFeatures(25).fit(np.ones((2, 25)))
    with pytest.raises(ParameterError, match="max_features=10"):
        qed.PolynomialFeatures(3, max_features=10).fit(np.ones((2, 3)))
    assert qed.PolynomialFeatures(3, max_features=20).fit(np.ones((2, 3))).n_output_features_ == 20


def test_more_memory_than_there_is_is_refused():
    few = np.lib.stride_tricks.as_strided(np.ones(30), shape=(200_000_000, 30), strides=(0, 8), writeable=False)
    model = qed.PolynomialFeatures(3).fit(np.ones((3, 30)))
    with pytest.raises(InputError, match=r"TB.*polynomial kernel"):
        model.transform(few)


def test_overflow_is_refused():
    model = qed.PolynomialFeatures(4).fit([[1.0]])
    with pytest.raises(InputError, match="overflow"):
        model.transform([[1e80]])
    with pytest.raises(InputError, match="overflow"):
        model.transform(np.array([[1e10]], dtype=np.float32))
    assert np.isfinite(qed.PolynomialFeatures(4, interaction_only=True).fit_transform([[1e80, 1.0]])).all()


def test_bad_degrees():
    for degree in (-1, 1.5, (3, 2), (1, 2, 3), "two", True):
        with pytest.raises(ParameterError, match="degree"):
            qed.PolynomialFeatures(degree).fit([[1.0]])


def test_a_changed_count_breaks_the_claim():
    X = np.ones((4, 2))
    model = qed.PolynomialFeatures(2).fit(X)
    assert qed.certify(model, X)
    model.include_bias = False
    assert not qed.certify(model, X)


def test_files(tmp_path):
    X = np.random.default_rng(3).normal(size=(50, 2))
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b", comments="", fmt="%.17g")
    path = str(tmp_path / "rows.csv")
    model = qed.PolynomialFeatures(2).fit(path)
    np.testing.assert_allclose(model.transform(path), qed.PolynomialFeatures(2).fit_transform(X), rtol=1e-15)
    assert model.get_feature_names_out().tolist() == ["1", "a", "b", "a^2", "a b", "b^2"]
