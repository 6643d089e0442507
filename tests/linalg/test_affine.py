"""Values of affine functions in single precision are as good as its range allows."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.linalg.affine import affine


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("X", "coef", "intercept", "wanted"),
    [
        ([[2.0**20], [2.0**20 + 1]], [2.0**123], -(2.0**143), [0.0, 2.0**123]),  # only the sum is in range
        ([[2.0**100, 2.0**100]], [2.0**100, -(2.0**100)], 1.0, [1.0]),  # products cancel
        ([[2.0**-140]], [2.0**140], 1.0, [2.0]),
        ([[2.0**100]], [2.0**100], 0.0, [np.inf]),
    ],
)
def test_what_leaves_single_precision_on_the_way_is_worked_out_in_double(make, X, coef, intercept, wanted):
    found = affine(make(np.array(X, dtype=np.float32)), np.array(coef), intercept)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array(wanted, dtype=np.float32))


def test_models_of_single_precision_give_numbers_for_columns_of_any_size():
    x = np.arange(8.0)
    far = np.array(2.0**20 + x[:, None], dtype=np.float32)
    model = qed.LinearRegression().fit(far, x * 1e37)
    np.testing.assert_allclose(model.predict(far), x * 1e37, rtol=1e-6, atol=1e31)
    tiny = np.array((x[:, None] - 3.5) * 2.0**-140, dtype=np.float32)
    planes = qed.LinearDiscriminantAnalysis().fit(tiny, x > 3)
    assert np.abs(planes.coef_).max() > np.finfo(np.float32).max
    assert (planes.decision_function(tiny) > 0).tolist() == (x > 3).tolist() == planes.predict(tiny).tolist()
    near = np.array((x[:, None] - 3.5) * 2.0**-40, dtype=np.float32)
    bayes = qed.GaussianNB().fit(near * np.where(x > 3, 2, 1)[:, None].astype(np.float32), x > 3)
    # Joint densities beyond the range of single precision still differ.
    assert bayes.decision_function(np.array([[2.0**40]], dtype=np.float32)) == [np.inf]
