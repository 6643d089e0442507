"""LogisticRegression's claim against the truth in sixty digits: its value is never below the excess, and plain data are always proven."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from tests.proof.truth_of_classes import excess


def fitted(C, X, y, weight=None):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = qed.LogisticRegression(C, max_iter=60).fit(X, y, sample_weight=weight)
    return model, [str(word.message) for word in heard]


def plain(rng, n, p, k):
    X = rng.normal(size=(n, p))
    y = (X @ rng.normal(size=(p, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


def outlier(rng, X):
    X[0] *= 10.0 ** rng.integers(6, 13)
    return X


def one_cell(rng, X):
    X[0, 0] = 10.0 ** rng.integers(6, 13)
    return X


def scales(rng, X):
    return X * 10.0 ** rng.integers(-8, 9, size=X.shape[1])


def offset(rng, X):
    return X + 10.0 ** rng.integers(3, 9)


def duplicate(rng, X):
    return np.column_stack([X, X[:, 0]])


def nearly(rng, X):
    return np.column_stack([X, X[:, 0] + 10.0 ** rng.integers(-16, -5) * rng.normal(size=len(X))])


def summed(rng, X):
    return np.column_stack([X, X.sum(axis=1)])


def constant(rng, X):
    return np.column_stack([X, np.full(len(X), 0.1)])


def whole(rng, X):
    return np.round(X)


NASTY = [outlier, one_cell, scales, offset, duplicate, nearly, summed, constant, whole]
PENALTIES = [None, 1e-8, 1e-2, 1.0, 1e3, 1e8]


def attack(seed, kind, C, k, weighted, n, p):
    rng = np.random.default_rng(seed)
    X, y = plain(rng, n, p, k)
    X = kind(rng, X)
    weight = 10.0 ** rng.uniform(-6, 6, size=n) if weighted else None
    model, heard = fitted(C, X, y, weight)
    claim = model.certificate_["objective above its minimum"]
    truth = excess(model, X, y, C, weight)
    assert claim.value >= truth * (1 - 1e-9), (claim, truth, str(model.ending_))
    again = qed.certify(model, X, y, weight)["objective above its minimum"]
    assert again.value >= truth * (1 - 1e-9), (again, truth)
    assert claim.bound <= 1e-6
    assert bool(model.certificate_) or heard, "not proven, and nobody said so"


CASES = {
    "seed": st.integers(0, 10**6),
    "kind": st.sampled_from(NASTY),
    "C": st.sampled_from(PENALTIES),
    "k": st.sampled_from([2, 2, 3]),
    "weighted": st.booleans(),
    "p": st.integers(1, 3),
}


@settings(max_examples=25, deadline=None)
@given(n=st.integers(6, 16), **CASES)
def test_the_claim_is_never_below_the_truth(seed, kind, C, k, weighted, n, p):
    attack(seed, kind, C, k, weighted, n, p)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(n=st.integers(4, 40), **CASES)
def test_the_claim_is_never_below_the_truth_at_length(seed, kind, C, k, weighted, n, p):
    attack(seed, kind, C, k, weighted, n, p)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("C", [None, 1e-4, 1.0, 1e4])
def test_plain_data_are_always_proven(k, C):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = plain(rng, 200, 4, k)
        X = (X + 10.0 ** rng.integers(0, 4, size=4)) * 10.0 ** rng.integers(-4, 5, size=4)
        model, heard = fitted(C, X, y)
        assert model.certificate_ and qed.certify(model, X, y) and not heard, str(model.certificate_)


@pytest.mark.parametrize("size", [1e8, 1e9, 1e10, 1e12])
def test_a_row_far_away_is_no_proof_of_anything_else(size):
    """In coordinates that such a row fits into, the curvature of the others is below rounding."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = plain(rng, 41, 4, 2)
        X[0] *= size
        model, heard = fitted(1.0, X, y)
        claim = model.certificate_["objective above its minimum"]
        assert claim.value >= excess(model, X, y, 1.0) * (1 - 1e-9)
        assert bool(model.certificate_) or heard


@pytest.mark.parametrize("C", [1.0, 1e6])
@pytest.mark.parametrize("k", [2, 3])
def test_what_a_fit_proves_is_proven_again_by_who_has_not_walked_there(C, k):
    """With more columns than rows the Hessian is only multiplied with: a step from the minimum has to be exact to prove anything."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = plain(rng, 12, 50, k)
        model, _ = fitted(C, X, y)
        assert model.certificate_ and qed.certify(model, X, y), f"{model.certificate_}"


class TestDependentColumns:
    """Without a penalty, a column that is an exact combination of others changes nothing; one that is nearly one may change all."""

    def dummies(self):
        rng = np.random.default_rng(0)
        level = rng.integers(4, size=300)
        X = np.column_stack([np.eye(4)[level], rng.normal(size=300)])
        return X, (rng.random(300) < 0.3 + 0.1 * level).astype(int)

    def test_a_full_set_of_dummies_is_proven(self):
        X, y = self.dummies()
        model = qed.LogisticRegression(C=None).fit(X, y)
        assert model.certificate_ and qed.certify(model, X, y)
        less = qed.LogisticRegression(C=None).fit(X[:, 1:], y)
        np.testing.assert_allclose(model.decision_function(X), less.decision_function(X[:, 1:]), rtol=1e-6, atol=1e-6)

    def test_totals_and_multiples_of_whole_numbers_are_proven(self):
        rng = np.random.default_rng(1)
        counts = rng.integers(0, 20, size=(200, 3)).astype(float)
        y = rng.integers(2, size=200)
        for extra in (counts.sum(axis=1), 3 * counts[:, 0] - 2 * counts[:, 1] + 7, counts[:, 2] / 4):
            assert qed.LogisticRegression(C=None).fit(np.column_stack([counts, extra]), y).certificate_

    def test_nearly_dependent_columns_are_not(self):
        rng = np.random.default_rng(2)
        X, y = plain(rng, 60, 2, 2)
        model, heard = fitted(None, np.column_stack([X, X.sum(axis=1)]), y)
        assert not model.certificate_ and heard


class TestTampering:
    """Whatever public number is changed, a claim fails, and nothing is raised."""

    @pytest.mark.parametrize("k", [2, 3])
    @pytest.mark.parametrize("C", [None, 1.0])
    @pytest.mark.parametrize("name", ["coef_", "intercept_", "covariance_", "n_iter_"])
    def test_numbers(self, k, C, name):
        X, y = plain(np.random.default_rng(k), 150, 3, k)
        model = qed.LogisticRegression(C).fit(X, y)
        before = getattr(model, name)
        if before is None:
            return
        for change in (lambda a: a * 1.001 + 1e-3, np.negative, lambda a: a * np.nan, lambda a: a + 1):
            setattr(model, name, change(np.asarray(before, dtype=float)))
            assert not qed.certify(model, X, y), (name, getattr(model, name))
        for place in np.ndindex(np.shape(before)):
            changed = np.array(before, dtype=float)
            changed[place] += 1e-3 * np.abs(changed).max()
            setattr(model, name, changed)
            assert not qed.certify(model, X, y), (name, place)
        setattr(model, name, before)
        assert qed.certify(model, X, y)

    @pytest.mark.parametrize("name", ["coef_", "intercept_", "covariance_"])
    def test_shapes(self, name):
        X, y = plain(np.random.default_rng(0), 150, 3, 3)
        model = qed.LogisticRegression(C=None).fit(X, y)
        setattr(model, name, getattr(model, name)[:-1])
        assert not qed.certify(model, X, y)

    def test_classes_in_another_order(self):
        X, y = plain(np.random.default_rng(0), 150, 3, 3)
        model = qed.LogisticRegression().fit(X, y)
        model.classes_ = model.classes_[::-1]
        assert not qed.certify(model, X, y)

    def test_a_constant_that_was_not_fitted(self):
        X, y = plain(np.random.default_rng(0), 150, 3, 2)
        model = qed.LogisticRegression(fit_intercept=False).fit(X, y)
        model.intercept_ = model.intercept_ + 0.1
        assert not qed.certify(model, X, y)
