"""Kernel regressions on nasty data: certified, or honest about why not; never NaN, never a crash."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.base.errors import InputError
from tests.property.nasty import regression_problems

pytestmark = pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
QUICK = settings(max_examples=30, deadline=None)
KERNELS = st.sampled_from(["linear", "rbf", "poly", "laplacian"])


@QUICK
@given(regression_problems(), KERNELS, st.sampled_from([1e-6, 1.0, 1e4]), st.sampled_from(["auto", "dual"]))
def test_kernel_ridge_is_certified(problem, kernel, alpha, form):
    X, y = problem
    model = qed.KernelRidge(alpha, kernel=kernel, form=form, degree=2).fit(X, y)
    assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.predict(X)).all()
    # Similarities are rounded by 1e-16 of themselves: where that is not far below the penalty, nobody can tell where the minimum is.
    largest = qed.kernels.as_kernel(kernel, None, 2, 1.0).diagonal(X).max()
    if len(X) * largest < 1e9 * alpha:
        assert model.certificate_, f"{model.certificate_}"
    if model.certificate_:
        assert qed.certify(model, X, y), f"{qed.certify(model, X, y)}"


@QUICK
@given(regression_problems(), KERNELS, st.sampled_from(["auto", "dual"]))
def test_without_a_penalty_nothing_breaks(problem, kernel, form):
    X, y = problem
    model = qed.KernelInterpolator(kernel, degree=2, form=form).fit(X, y)
    assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.predict(X)).all()
    assert 0 <= model.rank_ <= len(y) and model.condition_ >= 1
    error, nothing = np.sum((y - model.predict(X)) ** 2), np.sum(y**2)
    assert error <= nothing * (1 + 1e-6)
    if model.condition_ < 1e9:
        assert model.certificate_, f"{model.certificate_}"


@QUICK
@given(regression_problems(), KERNELS, st.integers(0, 100))
def test_zero_weights_are_absence(problem, kernel, seed):
    X, y = problem
    weight = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    weight[0] = 1.0
    kept = weight > 0
    options = {"kernel": kernel, "degree": 2, "form": "dual"}
    weighted = qed.KernelRidge(1.0, **options).fit(X, y, weight)
    fewer = qed.KernelRidge(1.0, **options).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_allclose(weighted.dual_coef_[kept], fewer.dual_coef_, rtol=1e-12, atol=1e-300)
    assert (weighted.dual_coef_[~kept] == 0).all()


@QUICK
@given(regression_problems(min_rows=3, max_rows=15), st.sampled_from(["rbf", "linear"]))
def test_leaving_one_out_is_fitting_without_it(problem, kernel):
    X, y = problem
    path = qed.kernel_ridge_path(X, y, [0.5], kernel=kernel)
    rest = np.arange(len(y)) != 1
    model = qed.KernelRidge(0.5, kernel=kernel, form="dual").fit(X[rest], y[rest])
    K = np.abs(qed.kernels.as_kernel(kernel).diagonal(X)).max() + 0.5
    tolerance = 1e-14 * len(y) * (K / 0.5) * (np.abs(y).max() + np.abs(path.leave_one_out_residual).max())
    assert abs(path.leave_one_out_residual[0, 1] - (y[1] - model.predict(X[1:2])[0])) <= tolerance + 1e-12


def test_overflow_is_refused():
    X = np.array([[1e200], [2e200], [3e200]])
    for form in ("auto", "dual"):
        with pytest.raises(InputError, match="scale"):
            qed.KernelRidge(form=form).fit(X, [1.0, 2.0, 3.0])
