"""The gap that support vector machines claim, against the gap in fractions: never below it but for the rounding allowed for."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import qed

GAP = "primal less dual objective"


def fractions(values):
    return [Fraction(float(value)) for value in np.ravel(values)]


def exact_gap(X, y, C, coef, intercept, alpha):
    """Give primal less dual objective relative to the primal one, of w and b as they are and of multipliers as they are."""
    rows, w, b, a = [fractions(row) for row in X], fractions(coef), Fraction(float(intercept)), fractions(alpha)
    length = sum(value * value for value in w)
    slack = sum(max(Fraction(0), 1 - s * (sum(u * v for u, v in zip(row, w)) + b)) for row, s in zip(rows, y))
    primal = length / 2 + Fraction(float(C)) * slack
    v = [sum(ai * s * row[j] for ai, s, row in zip(a, y, rows)) for j in range(len(w))]
    return float((primal - sum(a) + sum(value * value for value in v) / 2) / primal)


@st.composite
def tables(draw):
    seed, n, p = draw(st.integers(0, 10_000)), draw(st.integers(4, 14)), draw(st.integers(1, 3))
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p)) * 10.0 ** draw(st.integers(-8, 8)) + 10.0 ** draw(st.integers(-2, 4))
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]
    y = np.where(np.arange(n) % 2, 1, -1)
    return X, y, 10.0 ** draw(st.integers(-2, 2))


@settings(max_examples=25, deadline=None)
@given(tables())
def test_the_claim_of_the_dual_is_not_below_the_truth(table):
    X, y, C = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.SVC(C, "linear", max_iter=20).fit(X, y)
    claim = model.certificate_[GAP]
    truth = exact_gap(X, y, C, model.coef_, model.intercept_[0], model.multipliers_[0])
    allowed = claim.bound - model.tol
    # coef_ itself is rounded: its error times what slack costs is within the rounding that the claim allows for.
    assert claim.value >= truth - max(allowed, 1e-12) * (1 + abs(truth))


@pytest.mark.parametrize("loss", ["hinge"])
@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_the_claim_of_the_primal_is_not_below_the_excess(loss, table):
    """What the dual machine has found from below bounds every minimum: the primal one can not be nearer than it says."""
    X, y, C = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.LinearSVC(C, loss=loss, tol=1e-6, max_iter=60).fit(X, y)
        best = qed.SVC(C, "linear", max_iter=200).fit(X, y)
    claim = model.certificate_[GAP]
    here, lowest = model.primal_objective_[0], best.primal_objective_[0]
    assert claim.value >= (here - lowest) / here - (claim.bound - model.tol) - 1e-12


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["probA_", "probB_"])
def test_another_slope_or_constant_of_probabilities_is_noticed(classes, name):
    """The likelihood is flat at its top, and hardly tells: what is compared are the numbers themselves."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((90, 3))
    score = X[:, 0] + generator.standard_normal(90)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    model = qed.SVC(probability=True).fit(X, y)
    assert qed.certify(model, X, y) and qed.certify(model, csr_array(X), y)
    value = getattr(model, name).copy()
    for place in range(len(value)):
        moved = value.copy()
        moved[place] += 1e-3 * np.abs(value).max()
        setattr(model, name, moved)
        assert not qed.certify(model, X, y)
