"""A certificate that holds is true: fits to data that go wrong, judged in exact arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.proof.attempts import KINDS, MODELS, attempt, data_of

# Judging one of these takes a second: all planes through four of nine rows.
SLOW = {"LeastAbsoluteDeviations"}


@pytest.mark.parametrize("name", sorted(set(MODELS) - SLOW))
@settings(max_examples=6, deadline=None)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32 - 1))
def test_what_is_proven_is_true(name, kind, seed):
    found = attempt(name, kind, seed)
    assert found is None or not found.is_false_proof, f"{found}"


@pytest.mark.parametrize("name", sorted(set(MODELS) - SLOW))
@pytest.mark.parametrize("seed", range(3))
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


def test_a_judge_knows_a_wrong_answer():
    from tests.proof import truth

    for name, (make, judge) in MODELS.items():
        if name in SLOW:
            continue
        X, y, _ = data_of("plain", 0)
        model = make()
        y = None if model.target is None else y
        model.fit(X, y)
        right, bound = judge(model, truth.Data(X, y, None))
        assert right <= bound, name
        for attribute in ("coef_", "dual_coef_", "cluster_centers_", "mean_", "data_min_", "normalization_"):
            if hasattr(model, attribute):
                setattr(model, attribute, np.asarray(getattr(model, attribute)) + 0.3)
        if hasattr(model, "labels_"):
            model.labels_ = 1 - model.labels_
        wrong, bound = judge(model, truth.Data(X, y, None))
        assert wrong > bound, name
