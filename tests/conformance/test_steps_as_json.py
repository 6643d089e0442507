"""The steps of every iterative model can be given as JSON, number for number: what the lab shows."""

import json
import warnings
from dataclasses import fields
from numbers import Real

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import qed
from qed.base.models.trial import Trial
from qed.base.running.stepped import Stepped
from qed.base.running.steps import Step
from tests.conformance.specimens import estimators, specimen, table, target_for

X, NUMBER, LABEL = table(120)
STEPPED = sorted(name for name, kind in estimators().items() if issubclass(kind, Stepped))
WORLD = qed.GridWorld(["S.G", ".#.", "..."])
TRIALS = {
    "EpsilonGreedy": (qed.EpsilonGreedy(pulls=50, runs=2, random_state=0), qed.Bandit([0.2, 0.8])),
    "PolicyIteration": (qed.PolicyIteration(), WORLD),
    "QLearning": (qed.QLearning(max_iter=20, random_state=0), WORLD),
    "ThompsonSampling": (qed.ThompsonSampling(pulls=50, runs=2, random_state=0), qed.Bandit([0.2, 0.8])),
    "UpperConfidence": (qed.UpperConfidence(pulls=50, runs=2, random_state=0), qed.Bandit([0.2, 0.8])),
    "ValueIteration": (qed.ValueIteration(), WORLD),
}


def no_constant(word):
    raise AssertionError(f"{word} is no JSON")


def same(value, found):
    """Say whether what came back is what was there: numbers as they are, what is not finite in words, models by their name."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, BaseEstimator):
        return found == repr(value)
    if isinstance(value, (list, tuple)):
        return isinstance(found, list) and len(value) == len(found) and all(map(same, value, found))
    if isinstance(value, Real) and not isinstance(value, bool):
        return found == value or (isinstance(found, str) and not np.isfinite(value) and str(float(value)) == found)
    if isinstance(value, dict):
        return isinstance(found, dict) and all(same(part, found[str(name)]) for name, part in value.items())
    return value == found if isinstance(value, (str, bool, type(None))) else same(parts(value), found)


def parts(value):
    if isinstance(value, Step):
        return {"number": value.number, "objective": value.objective, "gap": value.gap, "state": value.state}
    return {one.name: getattr(value, one.name) for one in fields(value)}


def check(steps):
    assert steps
    for step in [*steps[:4], steps[-1]]:
        found = json.loads(json.dumps(step.to_json(), allow_nan=False), parse_constant=no_constant)
        assert (
            same(step.objective, found["objective"]) and same(step.gap, found["gap"]) and found["number"] == step.number
        )
        assert found["state"].keys() == step.state.keys()
        for name, value in step.state.items():
            assert same(value, found["state"][name]), (name, value, found["state"][name])


@pytest.mark.parametrize("name", STEPPED)
def test_steps_of_every_model(name):
    model, steps = specimen(name), []
    with warnings.catch_warnings(), qed.watch(call=lambda step: steps.append(step) and None):
        warnings.simplefilter("ignore")
        model.fit(X, target_for(model, NUMBER, LABEL))
    check(steps)


def test_all_that_learn_by_trial_are_here():
    found = {
        name for name in dir(qed) if isinstance(getattr(qed, name), type) and issubclass(getattr(qed, name), Trial)
    }
    assert found == TRIALS.keys()


@pytest.mark.parametrize("name", TRIALS)
def test_steps_of_what_learns_by_trial(name):
    steps = []
    with warnings.catch_warnings(), qed.watch(call=lambda step: steps.append(step) and None):
        warnings.simplefilter("ignore")
        TRIALS[name][0].fit(TRIALS[name][1])
    check(steps)


def test_steps_of_a_minimisation():
    steps: list[Step] = []
    with qed.watch(call=lambda step: steps.append(step) and None):
        qed.optim.minimize(lambda x: float(x @ x), np.ones(2))
    check(steps)
