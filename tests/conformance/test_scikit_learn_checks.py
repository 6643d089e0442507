"""scikit-learn's own checks over every public estimator, with no expected failure and none left out."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.conformance.specimens import estimators, specimen

# The check of array namespaces also goes back from what was made, which these can do with the right parameters only.
TO_GO_BACK = {"FeatureMap": {"inverse": np.arcsin}, "SimpleImputer": {"add_indicator": True}}


@parametrize_with_checks([specimen(name) for name in estimators()])
def test_scikit_learn_check(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without which that check is skipped
    if check.func.__name__ == "check_array_api_input":
        estimator = clone(estimator).set_params(**TO_GO_BACK.get(type(estimator).__name__, {}))
    check(estimator)
