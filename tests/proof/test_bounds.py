"""Bounds that claims of least squares rest on, against exact arithmetic or many digits: a norm, a path, a shortest solution, a plane."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import qed
from qed.linalg.root import inverted
from tests.proof import truth_of_lines as lines
from tests.proof.least_squares import Problem
from tests.proof.truth import Data
from tests.regression.exact import Exact

pytestmark = pytest.mark.filterwarnings(
    "ignore::qed.base.errors.DegenerateWarning", "ignore::qed.base.errors.UnprovenWarning"
)
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 3.0, np.inf]))
def test_the_norm_of_an_inverse_is_never_underestimated(seed, enough):
    random = np.random.default_rng(seed)
    p = int(random.integers(1, 12))
    lower = np.asfortranarray(np.tril(random.standard_normal((p, p)) * 10.0 ** -random.uniform(0, 3)))
    lower[np.diag_indices(p)] = random.uniform(0.01, 1.0, p)
    with mpmath.workdps(50):
        exact = mpmath.matrix(np.tril(lower).tolist()) ** -1
        norm = float(mpmath.svd_r(exact, compute_uv=False)[0])
    bound, inverse = inverted(lower, enough)
    assert bound >= norm * (1 - 1e-12)
    assert inverse is None or bound <= norm * np.sqrt(p) * (1 + 1e-6)


@pytest.mark.parametrize("alike", [0.01, 1.0])
@pytest.mark.parametrize("enough", [0.0, 30.0, np.inf])
def test_the_norm_of_a_large_inverse_is_never_underestimated(alike, enough):
    # The first quarter of the rows is as good as orthogonal: what they tell must not be taken for what all tell.
    p, random = 320, np.random.default_rng(0)
    lower = np.eye(p)
    lower[p // 2 :] += np.tril(alike * random.standard_normal((p // 2, p)) / np.sqrt(p), p // 2 - 1)
    lower = np.asfortranarray(lower)
    least = np.linalg.svd(lower, compute_uv=False)[-1]
    # The least singular value is off by at most p roundings of the largest, which is below 1 + 2 * alike + rounding.
    norm = 1 / (least + 4 * p * np.finfo(float).eps)
    bound, inverse = inverted(lower, enough)
    assert bound >= norm
    assert bound <= enough or inverse is not None


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_no_gap_of_a_ridge_path_is_smaller_than_the_truth(seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((12, 3)) * 10.0 ** random.integers(-4, 5, 3) + random.choice([0.0, 10.0, 1e4], 3)
    if random.random() < 0.3:
        X[:, 2] = X[:, 0] + 1e-7 * X[:, 2]
    y = X @ (random.standard_normal(3) / X.std(axis=0)) + random.standard_normal(12)
    path = qed.ridge_path(X, y, [1e-4, 1.0, 1e4])
    assert path.certificate, f"{path.certificate}"
    model = qed.Ridge().fit(X, y)
    for alpha, model.coef_, model.intercept_, gap in zip(path.alphas, path.coef, path.intercept, path.gaps):
        assert gap >= Exact(X, y, alpha).excess(model) * (1 - 1e-6)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_the_shortest_of_many_solutions_is_known_as_well_as_claimed(seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((10, 3))
    X[:, 2] = X[:, 0] * random.choice([1.0, -2.0, 3.0]) + X[:, 1] + random.choice([0.0, 1e-17]) * X[:, 2]
    X = X * 10.0 ** random.integers(-2, 3, 3) + random.choice([0.0, 1e3], 3)
    y = random.standard_normal(10) + X[:, 0]
    problem = Problem(X, y, None, bool(random.integers(0, 2)))
    model = qed.LinearRegression(fit_intercept=problem.centered).fit(X, y)
    if model.rank_ == 3:
        return
    wanted = lines.shortest(problem, model.rank_)
    error = np.linalg.norm(model.coef_ - wanted) / np.linalg.norm(wanted)
    for certificate in (model.certificate_, qed.certify(model, X, y)):
        claim = certificate["relative error of the shortest"]
        assert claim.value >= error and "alike up to rounding" in claim.says


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_total_least_squares_in_any_units_is_right_and_proven(seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((12, 3)) * 10.0 ** random.integers(-6, 7, 3)
    y = X @ (random.standard_normal(3) / X.std(axis=0)) + 0.1 * random.standard_normal(12)
    model = qed.TotalLeastSquares().fit(X, y)
    above, bound = lines.perpendicular(model, Data(X, y, None))
    assert model.certificate_ and qed.certify(model, X, y) and above <= bound


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("scale", [1.0, 1e-310, 3e-323])
def test_the_median_of_an_odd_number_of_rows_is_one_of_them_however_small(form, scale):
    X = np.random.default_rng(0).standard_normal((9, 3)) * scale
    model = qed.SimpleImputer(strategy="median").fit(form(X))
    assert (model.statistics_ == np.sort(X, axis=0)[4]).all() and qed.certify(model, form(X))


@pytest.mark.parametrize("kind", [qed.KernelRidge, qed.KernelInterpolator])
def test_another_reason_for_a_form_is_noticed(kind):
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = kind().fit(X, X[:, 0])
    assert qed.certify(model, X, X[:, 0])
    for reason in ("2 rows are fewer than 20 features", "it was asked for"):
        model.reason_ = reason
        assert not qed.certify(model, X, X[:, 0])
