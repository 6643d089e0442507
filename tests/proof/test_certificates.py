"""A certificate that holds is true: fits to data that go wrong, judged in exact arithmetic."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.specimens import estimators
from tests.proof import truth
from tests.proof.attempts import KINDS, MODELS, WITH_HOLES, WITHOUT, attempt, data_of

# Judging one of these takes a second: all planes through four of nine rows.
SLOW = {"LeastAbsoluteDeviations"}


def test_every_model_of_the_registry_has_a_judge_or_a_reason():
    judged = {name.split(",")[0] for name in MODELS}
    assert judged | set(WITHOUT) == set(estimators()) and not judged & set(WITHOUT)
    assert all(len(reason) > 10 for reason in WITHOUT.values())


@pytest.mark.parametrize("name", sorted(set(MODELS) - SLOW))
@settings(max_examples=6, deadline=None)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32 - 1))
def test_what_is_proven_is_true(name, kind, seed):
    found = attempt(name, kind, seed)
    assert found is None or not found.is_false_proof, f"{found}"


@pytest.mark.parametrize("name", sorted(set(MODELS) - SLOW))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled(3)
def test_plain_data_are_proven(name, seed):
    found = attempt(name, "plain", seed)
    assert found.proven and not found.is_false_proof


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_data_makes_a_false_proof(name, kind):
    tried = [attempt(name, kind, seed) for seed in range(10)]
    assert not [found for found in tried if found is not None and found.is_false_proof]
    alarms = [found for found in tried if found is not None and found.is_false_alarm]
    assert kind != "plain" or not alarms


# What a judge looks at, moved: the first of these that a model has.
MOVED = (
    "coef_",
    "dual_coef_",
    "cluster_centers_",
    "mean_",
    "data_min_",
    "normalization_",
    "statistics_",
    "random_weights_",
    "theta_",
    "whitening_",
    "class_prior_",
)


@pytest.mark.parametrize("name", sorted(set(MODELS) - SLOW))
def test_a_judge_knows_a_wrong_answer(name):
    make, judge = MODELS[name]
    X, y, _ = data_of("plain", 0)
    model = make()
    if isinstance(model, WITH_HOLES):
        X[2, 1] = np.nan
    data = truth.Data(X, y, None)
    model.fit(X, {"number": y, "label": data.labels, None: None}[model.target])
    right, bound = judge(model, data)
    assert right <= bound
    if name == "OneHotEncoder":
        model.categories_ = [levels[1:] for levels in model.categories_]
    elif name == "ColumnEncoder":
        model.columns_ = [replace(column, fill=column.fill + 0.3) for column in model.columns_]
    elif name == "PolynomialFeatures":
        data.X[0][0] += 1  # its numbers follow from nothing else
    elif "Neighbors" in name:
        model.X_fit_ = model.X_fit_[::-1]
        vars(model).pop("tree_", None)
    elif "DecisionTree" in name:
        model.tree_ = replace(model.tree_, threshold=model.tree_.threshold + 0.3)
    elif "Boosting" in name:
        model.forest_ = replace(model.forest_, value=model.forest_.value + 0.3)
    elif name == "AdaBoostClassifier":
        model.estimator_errors_ = model.estimator_errors_ + 0.3
    elif name.startswith(("PCA", "FeatureSpacePCA", "ProbabilisticPCA")):
        model.explained_variance_ = model.explained_variance_ + 0.3
    elif name.startswith("GaussianMixture"):
        model.means_ = model.means_ + 0.3
    elif name == "KMeans":
        model.labels_ = 1 - model.labels_
    elif name.startswith("KernelKMeans"):
        model.labels_ = np.roll(model.labels_, 1)
    elif name == "FactorAnalysis":
        model.noise_variance_ = model.noise_variance_ + 0.3
    elif name == "CCA":
        model.correlations_ = model.correlations_ - 0.3
    elif name in ("Apriori", "FPGrowth"):
        model.supports_ = model.supports_ - 0.3
    elif name == "TopVariance":
        model.support_ = np.roll(model.support_, 1)
    elif name.startswith(("SpectralClustering", "KernelPCA")):
        model.eigenvalues_ = model.eigenvalues_ + 0.3
    else:
        attribute = next(attribute for attribute in MOVED if attribute in vars(model))
        moved = np.asarray(getattr(model, attribute))
        setattr(model, attribute, moved + 0.3)
    if name == "RandomFourierFeatures":
        model.random_weights_ = 0.1 * model.random_weights_
    wrong, bound = judge(model, data)
    assert wrong > bound
