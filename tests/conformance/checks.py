"""One of scikit-learn's checks, none of which is left out."""

import numpy as np
import pytest
from sklearn.base import clone

# The check of array namespaces also goes back from what was made, which these can do with the right parameters only.
TO_GO_BACK = {
    "FeatureMap": {"inverse": np.arctan},
    "SimpleImputer": {"add_indicator": True},
    "KernelPCA": {"fit_inverse_transform": True},
}


def run_check(estimator, check):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIPY_ARRAY_API", "1")  # without which that check is skipped
        if check.func.__name__ == "check_array_api_input":
            estimator = clone(estimator).set_params(**TO_GO_BACK.get(type(estimator).__name__, {}))
        check(estimator)
