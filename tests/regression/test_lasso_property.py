"""The lasso on nasty data: certified whatever the table, never NaN, the same from parts, threads and repetitions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.base.sources.rows import ArrayRows
from qed.regression.sparse import problem as lasso_problem
from tests.property.nasty import regression_problems

QUICK = settings(max_examples=60, deadline=None)
SHARES = st.sampled_from([1e-6, 1e-3, 0.1, 0.6, 1.0, 2.0])


def alpha_max(X, y, intercept):
    X, y = (X - X.mean(0), y - y.mean()) if intercept else (X, y)
    return max(float(np.abs(X.T @ y).max()) / len(y), 1e-12)


def nearly_dependent(X, intercept):
    """Say whether columns are so nearly dependent, without being so, that a Gram matrix can not tell."""
    X = X - X.mean(0) if intercept else X
    lengths = np.linalg.norm(X, axis=0)
    values = np.linalg.svd(X[:, lengths > 0] / lengths[lengths > 0], compute_uv=False)
    return bool(((values > 1e-13) & (values < 1e-6)).any())


def objective(X, y, model, w, b):
    share = model.l1_ratio
    penalty = model.alpha * (share * np.abs(w).sum() + 0.5 * (1 - share) * w @ w)
    return 0.5 * np.mean((y - X @ w - b) ** 2) + penalty


@QUICK
@given(regression_problems(), SHARES, st.booleans(), st.booleans())
def test_the_lasso_is_certified(problem, share, intercept, positive):
    X, y = problem
    assume(not nearly_dependent(X, intercept))
    alpha = share * alpha_max(X, y, intercept)
    model = qed.Lasso(alpha=alpha, fit_intercept=intercept, positive=positive).fit(X, y)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_)
    assert model.certificate_, f"{model.certificate_}"
    again = qed.certify(model, X, y)
    assert again, f"{again}"
    assert not positive or (model.coef_ >= 0).all()
    at_zero = objective(X, y, model, np.zeros(X.shape[1]), y.mean() if intercept else 0.0)
    assert objective(X, y, model, model.coef_, model.intercept_) <= at_zero * (1 + 1e-6)
    if share >= 1.0 and not positive:
        np.testing.assert_allclose(X @ model.coef_, 0.0, atol=1e-6 * (np.abs(y).max() + 1e-12))


@QUICK
@given(regression_problems(), SHARES, st.booleans(), st.sampled_from([0.1, 0.5, 0.99]))
def test_the_elastic_net_is_certified(problem, share, intercept, ratio):
    X, y = problem
    assume(not nearly_dependent(X, intercept))
    alpha = share * alpha_max(X, y, intercept) / ratio
    model = qed.ElasticNet(alpha=alpha, l1_ratio=ratio, fit_intercept=intercept).fit(X, y)
    assert model.certificate_, f"{model.certificate_}"
    assert qed.certify(model, X, y), f"{qed.certify(model, X, y)}"


@QUICK
@given(regression_problems(min_rows=2), SHARES, st.booleans(), st.booleans())
def test_columns_in_memory_and_gram_matrices_agree(problem, share, intercept, thin):
    X, y = problem
    assume(not nearly_dependent(X, intercept))
    alpha = share * alpha_max(X, y, intercept)
    gram = qed.Lasso(alpha=alpha, fit_intercept=intercept).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lasso_problem, "FEW_COLUMNS", 0)
        columns = qed.Lasso(alpha=alpha, fit_intercept=intercept).fit(sparse.csr_array(X) if thin else X, y)
    assert columns.solver_.startswith(("columns", "alpha is not below"))
    assert columns.certificate_, f"{columns.certificate_}"
    ours, theirs = (objective(X, y, model, model.coef_, model.intercept_) for model in (columns, gram))
    scale = np.abs(X).max() * (np.abs(columns.coef_).max() + np.abs(gram.coef_).max()) + np.abs(y).max()
    assert ours == pytest.approx(theirs, rel=3e-6, abs=1e-13 * scale**2 + 1e-300)


@QUICK
@given(regression_problems(min_rows=2), SHARES, st.sampled_from([1, 2, 3, 7]))
def test_blocks_and_threads_do_not_matter(problem, share, size):
    X, y = problem
    alpha = share * alpha_max(X, y, True)
    with qed.threads(1):
        one = qed.Lasso(alpha=alpha).fit(ArrayRows(X, y, size=size))
    with qed.threads(3):
        three = qed.Lasso(alpha=alpha).fit(ArrayRows(X, y, size=size))
    np.testing.assert_array_equal(one.coef_, three.coef_)


@QUICK
@given(regression_problems(min_rows=3), SHARES, st.data())
def test_weights_are_repetitions_and_zero_is_absence(problem, share, data):
    X, y = problem
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    if not weight.any():
        weight[0] = 1
    many, values = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    assume(not nearly_dependent(many, True))
    alpha = share * alpha_max(many, values, True)
    weighted = qed.Lasso(alpha=alpha).fit(X, y, sample_weight=weight)
    repeated = qed.Lasso(alpha=alpha).fit(many, values)
    assert weighted.certificate_ and repeated.certificate_
    ours, theirs = (objective(many, values, model, model.coef_, model.intercept_) for model in (weighted, repeated))
    assert ours == pytest.approx(theirs, rel=3e-6, abs=1e-12 * np.mean(values**2) + 1e-300)


@QUICK
@given(regression_problems(min_rows=2), st.booleans())
def test_paths_are_certified_and_grow_sparser(problem, intercept):
    X, y = problem
    assume(not nearly_dependent(X, intercept))
    path = qed.lasso_path(X, y, alphas=12, eps=1e-2, fit_intercept=intercept)
    assert path.certificate, f"{path.certificate}"
    assert np.isfinite(path.coef).all()
    norms, errors = np.abs(path.coef).sum(axis=1), path.training_error
    assert (np.diff(norms) >= -1e-6 * norms.max(initial=0.0) - 1e-12).all()
    assert (np.diff(errors) <= 1e-6 * errors.max(initial=0.0) + 1e-300).all()


@QUICK
@given(regression_problems(min_rows=2), st.sampled_from([0.01, 0.5, 0.9, 3.0]), st.booleans())
def test_the_constrained_form_is_certified(problem, share, positive):
    X, y = problem
    assume(not nearly_dependent(X, True))
    free = qed.Lasso(alpha=1e-4 * alpha_max(X, y, True), positive=positive).fit(X, y)
    radius = share * float(np.abs(free.coef_).sum())
    found = qed.constrained_lasso(X, y, radius, positive=positive)
    assert found.certificate, f"{found.certificate}"
    assert np.abs(found.coef).sum() <= radius * (1 + 1e-9)
