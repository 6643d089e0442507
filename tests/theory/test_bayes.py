"""BAYES, GENCLF, DISCCLF: the rule of least expected cost, and who has probabilities to apply it to."""

import numpy as np
import pytest

import qed
from tests.theory.gaussians import with_moments


def with_posterior(share):
    """Give a classifier whose probability of "+" is `share` everywhere."""
    y = np.array(["+"] * 3 + ["-"] * 7)
    return qed.MajorityClassifier().fit(np.zeros((10, 1)), y, np.where(y == "+", share / 3, (1 - share) / 7))


def test_zero_one_loss_is_the_most_probable_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), rng.integers(3, size=90)
    model = qed.LinearDiscriminantAnalysis().fit(X + y[:, None], y)
    np.testing.assert_array_equal(model.decide(X, 1 - np.eye(3)), model.predict(X))


def test_a_missed_disease_costs_ten():
    model = with_posterior(0.3)
    costs = {("-", "+"): 10, ("+", "-"): 1}
    assert model.predict([[0.0]])[0] == "-" and model.decide([[0.0]], costs)[0] == "+"
    risk = model.predict_proba([[0.0]]) @ np.array([[0, 1], [10, 0]]).T  # in the order of classes_: +, -
    np.testing.assert_allclose(risk, [[0.7, 3.0]])


@pytest.mark.parametrize("share", [1 / 11 - 1e-6, 1 / 11 + 1e-6])
def test_the_threshold_is_the_share_of_the_cost(share):
    found = with_posterior(share).decide([[0.0]], {("-", "+"): 10, ("+", "-"): 1})[0]
    assert found == ("+" if share > 1 / 11 else "-")


def test_no_rule_has_less_risk_under_the_true_posterior():
    X, y, w = with_moments([[0.0], [2.0]], [[[1.0]], [[2.0]]], [0.6, 0.4])
    model = qed.QuadraticDiscriminantAnalysis().fit(X, y, w)
    costs = np.array([[0.0, 3.0], [1.0, 0.0]])
    points, _ = model.sample(3000, random_state=0)
    chance = model.predict_proba(points)
    risk = chance @ costs.T
    best = risk[np.arange(len(points)), (model.decide(points, costs) == "B").astype(int)].mean()
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = (points[:, 0] > rng.normal() * 2).astype(int)
        assert risk[np.arange(len(points)), other].mean() >= best


@pytest.mark.parametrize(
    "costs",
    [np.eye(3), [[0, np.nan], [1, 0]], {("+", "?"): 1.0}, {"+": 1.0}],
    ids=["shape", "missing", "label", "pair"],
)
def test_costs_that_make_no_sense_are_refused(costs):
    with pytest.raises(qed.base.errors.ParameterError, match="costs"):
        with_posterior(0.5).decide([[0.0]], costs)


def test_only_models_of_probabilities_decide_by_cost():
    assert hasattr(qed.LogisticRegression(), "decide") and hasattr(qed.LinearDiscriminantAnalysis(), "decide")
    X, y = [[-1.0], [-0.5], [0.5], [1.0]], [0, 0, 1, 1]
    for kind in (qed.RidgeClassifier, qed.LinearSVC, qed.SVC, qed.Perceptron):
        model = kind().fit(X, y)
        for name in ("predict_proba", "predict_log_proba", "decide"):
            with pytest.raises(AttributeError, match=f"{kind.__name__}.*{name}"):
                getattr(model, name)
