"""krr-cost: primal where there are few features, dual where there are few rows, and the same predictions."""

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError
from qed.kernels import RBF, Polynomial
from tests.theory.fixtures import problem


@pytest.mark.parametrize(
    ("n", "degree", "form", "reason"),
    [
        (100, 1, "primal", "5 features are not more than 100 rows"),
        (100, 2, "primal", "15 features are not more than 100 rows"),
        (15, 2, "primal", "15 features are not more than 15 rows"),
        (14, 2, "dual", "14 rows are fewer than 15 features"),
        (30, 4, "dual", "30 rows are fewer than 70 features"),
    ],
)
def test_the_smaller_system_is_solved_and_it_is_said_why(n, degree, form, reason):
    X, y, _ = problem(n, 4)
    model = qed.KernelRidge(kernel="poly", degree=degree).fit(X, y)
    assert (model.form_, model.reason_) == (form, reason)
    assert hasattr(model, "coef_") == (form == "primal")


def test_a_kernel_without_features_is_dual():
    X, y, _ = problem(30, 2)
    model = qed.KernelRidge(kernel=RBF(1.0)).fit(X, y)
    assert (model.form_, model.reason_) == ("dual", "the kernel has no finite feature map")
    with pytest.raises(ParameterError, match="explicit features"):
        qed.KernelRidge(kernel=RBF(1.0), form="primal").fit(X, y)


@pytest.mark.parametrize("n", [8, 40])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_both_forms_predict_the_same(n, alpha):
    X, y, _ = problem(n, 3)
    new, _, _ = problem(10, 3, seed=1)
    models = [qed.KernelRidge(alpha, kernel=Polynomial(2), form=form).fit(X, y) for form in ("primal", "dual")]
    np.testing.assert_allclose(*(model.predict(new) for model in models), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(*(model.dual_coef_ for model in models), rtol=1e-7, atol=1e-7)
    assert [model.reason_ for model in models] == ["it was asked for"] * 2
    assert all(model.certificate_ and qed.certify(model, X, y) for model in models)
