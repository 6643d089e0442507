"""What discriminants and naive Bayes claim of their coefficients, distances and counts is at least the truth, in exact fractions."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.base.errors import InputError
from tests.proof.attempts import KINDS, data_of
from tests.proof.truth_of_classes import distance_error, exact_moments, linear_error

TABLES = [kind for kind in KINDS if "target" not in kind]


def labelled(kind, seed):
    """Give a table with a defect, two classes and weights."""
    X, y, weight = data_of(kind, seed, n=14)
    label = (y > np.median(y)).astype(int)
    weight = np.ones(len(X)) if weight is None else weight
    label[:2] = 0, 1
    return X, label, weight


def fitted(kind, X, y, weight):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return kind().fit(X, y, weight)
        except InputError:
            return None


@settings(max_examples=30, deadline=None)
@given(kind=st.sampled_from(TABLES), seed=st.integers(0, 2**32 - 1))
def test_coefficients_of_linear_discriminants_are_as_right_as_claimed(kind, seed):
    X, y, weight = labelled(kind, seed)
    model = fitted(qed.LinearDiscriminantAnalysis, X, y, weight)
    if model is None or not model.certificate_:
        return
    found = linear_error(model, X, y, weight)
    claim = model.certificate_["relative error of coefficients"]
    # Columns that are equal, or alike up to rounding, are one column twice: which of the solutions is taken is up to the model.
    assert found is None or "dependent" in claim.says or found <= 1.001 * claim.value + 1e-15


@settings(max_examples=30, deadline=None)
@given(kind=st.sampled_from(TABLES), seed=st.integers(0, 2**32 - 1))
def test_distances_of_quadratic_discriminants_are_as_right_as_claimed(kind, seed):
    X, y, weight = labelled(kind, seed)
    model = fitted(qed.QuadraticDiscriminantAnalysis, X, y, weight)
    if model is None or not model.certificate_ or model.strengthened_.any():
        return
    claim = model.certificate_["relative error of squared distances"]
    assert distance_error(model, X, y, weight) <= 1.001 * claim.value + 1e-13


@pytest.mark.parametrize("kind", [qed.LinearDiscriminantAnalysis, qed.QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize(
    "data", ["plain", "scales", "offset 1e4", "zero weights", "single precision", "duplicate rows"]
)
def test_right_answers_are_proven(kind, data):
    for seed in range(5):
        X, y, weight = labelled(data, seed)
        model = fitted(kind, X, y, weight)
        assert model is not None and model.certificate_, f"{model.certificate_}"
        assert qed.certify(model, X, y, weight)


@pytest.mark.parametrize("shrinkage", [None, 0.1, "auto"])
def test_classes_of_the_same_rows_do_not_differ_but_for_rounding_and_that_is_proven(shrinkage):
    """Every row once in each class, in another order: the means differ by how they were rounded, if at all."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, order = rng.normal(size=(20, 3)) + 10.0**seed, rng.permutation(20)
        model = qed.LinearDiscriminantAnalysis(shrinkage).fit(np.vstack([X, X[order]]), np.repeat([0, 1], 20))
        assert model.certificate_ and np.abs(model.coef_).max() < 1e-6, f"{model.certificate_}"


def test_dependent_columns_are_left_out_with_a_warning():
    X, y, weight = labelled("equal columns", 0)
    with pytest.warns(qed.base.errors.DegenerateWarning, match="depend on each other"):
        model = qed.LinearDiscriminantAnalysis().fit(X, y)
    once = qed.LinearDiscriminantAnalysis().fit(np.delete(X, 1, axis=1), y)
    np.testing.assert_allclose(model.decision_function(X), once.decision_function(np.delete(X, 1, axis=1)), rtol=1e-9)
    assert model.certificate_


def test_a_class_of_one_row_is_said_and_strengthened():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.array(["few"] + ["many"] * 29)
    with pytest.warns(qed.base.errors.DegenerateWarning, match="'few' is singular, because its 1 rows are too few"):
        model = qed.QuadraticDiscriminantAnalysis().fit(X, y)
    assert model.strengthened_.tolist() == [True, False]
    assert model.certificate_ and qed.certify(model, X, y)


@settings(max_examples=30, deadline=None)
@given(kind=st.sampled_from(TABLES), seed=st.integers(0, 2**32 - 1))
def test_means_and_variances_of_gaussian_naive_bayes_are_right_where_proven(kind, seed):
    X, y, weight = labelled(kind, seed)
    model = fitted(qed.GaussianNB, X, y, weight)
    if model is None or not model.certificate_:
        return
    for k in (0, 1):
        total, mean, scatter = exact_moments(X[y == k], weight[y == k])
        for j, level in enumerate(mean):
            variance = float(scatter[j][j] / total)
            size = abs(float(level)) + variance**0.5
            assert abs(float(Fraction(float(model.theta_[k, j])) - level)) <= 1e-12 * size
            # A variance is a sum of squares of differences, each of which rounds by the size of the column.
            blur = 1e-12 * (variance + variance**0.5 * size) + (1e-12 * size) ** 2
            assert abs(model.var_[k, j] - model.epsilon_ - variance) <= blur + 1e-12 * model.epsilon_


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_counts_are_exact(seed):
    random = np.random.default_rng(seed)
    X, y = random.poisson(2.0, (30, 4)).astype(float), random.integers(0, 3, 30)
    y[:3] = 0, 1, 2
    for kind in (qed.BernoulliNB, qed.MultinomialNB):
        model = kind().fit(X, y)
        marked = X > 0 if kind is qed.BernoulliNB else X
        np.testing.assert_array_equal(model.feature_count_, [marked[y == k].sum(axis=0) for k in range(3)])
        assert model.certificate_ and qed.certify(model, X, y)
    model = qed.CategoricalNB().fit(X, y)
    for j, found in enumerate(model.category_count_):
        wanted = [np.bincount(X[y == k, j].astype(int), minlength=found.shape[1]) for k in range(3)]
        np.testing.assert_array_equal(found, wanted)
    assert model.certificate_ and qed.certify(model, X, y)
