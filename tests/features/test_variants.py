"""scikit-learn's checks on transformers whose parameters are not the defaults (those are tested with all models)."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

import qed
from tests.conformance.checks import run_check

VARIANTS = [
    qed.StandardScaler(with_mean=False),
    qed.MinMaxScaler((-1, 1), clip=True),
    qed.PolynomialFeatures((2, 3), interaction_only=True, include_bias=False),
    qed.FeatureMap(),
    qed.OneHotEncoder(sparse_output=False, drop="if_binary", handle_unknown="ignore"),
    qed.SimpleImputer(strategy="median", add_indicator=True),
    qed.SimpleImputer(strategy="most_frequent"),
    qed.SimpleImputer(strategy="constant", fill_value=3, missing_values=-1),
    qed.ColumnEncoder(scale=True, impute="median", dtype=np.float32),
]


@parametrize_with_checks(VARIANTS)
def test_scikit_learn_check(estimator, check):
    run_check(estimator, check)
