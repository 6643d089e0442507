"""scikit-learn's own checks over every public estimator, with no expected failure: the short run takes every third of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.conformance.checks import run_check
from tests.conformance.specimens import estimators, specimen


@pytest.mark.sampled(3)
@parametrize_with_checks([specimen(name) for name in estimators()])
def test_scikit_learn_check(estimator, check):
    run_check(estimator, check)
