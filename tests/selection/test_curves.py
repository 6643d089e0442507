"""Learning and validation curves: scikit-learn's numbers, from one pass where that is possible."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn import model_selection as peer
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.linear_model import LogisticRegression as PeerLogisticRegression
from sklearn.linear_model import Ridge as PeerRidge

import qed
from qed.base.errors import InputError, ParameterError
from qed.base.sources.rows import ArrayRows


def problem(seed=0, n=103, p=5, q=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    Y = X @ random.normal(size=(p, q)) + random.normal(size=(n, q)) + 3
    return X, Y if q > 1 else Y[:, 0]


@pytest.mark.parametrize("scoring", ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"])
@pytest.mark.parametrize("cv", [5, qed.KFold(4, random_state=2), qed.HoldOut(0.3, random_state=1), "pairs"])
@pytest.mark.parametrize("sizes", [(0.1, 0.325, 0.55, 0.775, 1.0), (10, 11, 40)])
@pytest.mark.sampled(2)
def test_learning_curves_are_those_of_scikit_learn(scoring, cv, sizes):
    X, y = problem()
    cv = [(np.arange(60), np.arange(60, 103)), (np.arange(20, 80), np.arange(20))] if cv == "pairs" else cv
    splits = list(cv.split(X)) if hasattr(cv, "split") else cv
    for ours, theirs in ((qed.Ridge(), PeerRidge()), (qed.LinearRegression(), PeerLinearRegression())):
        found = qed.learning_curve(ours, X, y, train_sizes=sizes, cv=cv, scoring=scoring)
        rows, train, test = peer.learning_curve(theirs, X, y, train_sizes=np.array(sizes), cv=splits, scoring=scoring)
        np.testing.assert_array_equal(found.train_sizes, rows)
        np.testing.assert_allclose(found.train_scores, train, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.test_scores, test, rtol=1e-8, atol=1e-10)
    if isinstance(cv, list):
        assert found.how.endswith("models")
    else:
        assert found.how.endswith("statistics of 1 pass" if scoring == "neg_mean_absolute_error" else "sums of 1 pass")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("q", [1, 2])
def test_shuffled_training_sets_grow_alike_either_way(weighted, q):
    X, y = problem(q=q)
    weight = np.random.default_rng(3).uniform(0.1, 2, len(X)) if weighted else None
    fast, slow = (
        qed.learning_curve(model, X, y, shuffle=True, random_state=7, sample_weight=weight)
        for model in (qed.Ridge(), PeerRidge())
    )
    assert fast.how != slow.how
    np.testing.assert_allclose(fast.test_scores, slow.test_scores, rtol=1e-9)
    np.testing.assert_allclose(fast.train_scores, slow.train_scores, rtol=1e-9)
    again = qed.learning_curve(qed.Ridge(), X, y, shuffle=True, random_state=8, sample_weight=weight)
    assert abs(again.test_scores[0] - fast.test_scores[0]).max() > 1e-6


class Counted(ArrayRows):
    """Rows that count how many of them are read."""

    read = 0

    def block(self, start, stop):
        self.read += stop - start
        return super().block(start, stop)


def test_a_learning_curve_takes_one_pass():
    data = Counted(*problem(n=500), size=64)
    curve = qed.learning_curve(qed.Ridge(), data, cv=5)
    assert data.read == 500 and curve.how == "5 sizes and 5 folds from the sums of 1 pass"


def test_validation_curves_are_those_of_scikit_learn():
    X, y = problem()
    values = [0.01, 1.0, 100.0]
    for scoring in ("r2", "neg_mean_absolute_error"):
        found = qed.validation_curve(qed.Ridge(), X, y, name="alpha", values=values, cv=4, scoring=scoring)
        train, test = peer.validation_curve(
            PeerRidge(), X, y, param_name="alpha", param_range=values, cv=4, scoring=scoring
        )
        np.testing.assert_allclose(found.train_scores, train, rtol=1e-9)
        np.testing.assert_allclose(found.test_scores, test, rtol=1e-9)
    assert found.best == values[int(test.mean(axis=1).argmax())]
    labels = (y > np.median(y)).astype(int)
    found = qed.validation_curve(PeerLogisticRegression(), X, labels, name="C", values=[0.1, 1.0], cv=3)
    train, test = peer.validation_curve(
        PeerLogisticRegression(), X, labels, param_name="C", param_range=[0.1, 1.0], cv=3
    )
    np.testing.assert_allclose(found.test_scores, test, rtol=1e-12)
    np.testing.assert_allclose(found.train_scores, train, rtol=1e-12)


def test_leaving_one_out_has_training_scores_too():
    X, y = problem(n=25)
    found = qed.validation_curve(qed.Ridge(), X, y, name="alpha", values=[1.0, 10.0], cv="loo")
    train, test = peer.validation_curve(
        PeerRidge(),
        X,
        y,
        param_name="alpha",
        param_range=[1.0, 10.0],
        cv=peer.LeaveOneOut(),
        scoring="neg_mean_squared_error",
    )
    np.testing.assert_allclose(found.train_scores, train, rtol=1e-9)
    np.testing.assert_allclose(found.test_scores, test, rtol=1e-9)


def test_training_sets_of_a_bootstrap_keep_their_repeated_rows():
    X, y = problem()
    draws = np.random.default_rng(0).integers(0, 103, (2, 80))
    cv = [(np.sort(draw), np.setdiff1d(np.arange(103), draw)) for draw in draws]
    found = qed.learning_curve(qed.Ridge(), X, y, train_sizes=[20, 80], cv=cv)
    _, train, test = peer.learning_curve(PeerRidge(), X, y, train_sizes=np.array([20, 80]), cv=cv)
    np.testing.assert_allclose(found.test_scores, test, rtol=1e-9)
    np.testing.assert_allclose(found.train_scores, train, rtol=1e-9)


def test_means_and_standard_errors():
    curve = qed.learning_curve(qed.Ridge(), *problem())
    np.testing.assert_allclose(curve.test_mean, curve.test_scores.mean(axis=1))
    np.testing.assert_allclose(curve.test_error, curve.test_scores.std(axis=1, ddof=1) / np.sqrt(5))
    np.testing.assert_allclose(curve.train_error, curve.train_scores.std(axis=1, ddof=1) / np.sqrt(5))
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.how = "otherwise"


def test_plots():
    X, y = problem()
    learning = qed.learning_curve(qed.Ridge(), X, y).plot()
    assert learning.get_xlabel() == "training rows" and len(learning.get_lines()) == 2
    _, ax = plt.subplots()
    validation = qed.validation_curve(qed.Ridge(), X, y, name="alpha", values=[0.01, 100.0])
    assert validation.plot(ax) is ax and ax.get_xscale() == "log" and ax.get_xlabel() == "alpha"
    words = qed.validation_curve(qed.Ridge(), X, y, name="fit_intercept", values=[True, False]).plot()
    assert [label.get_text() for label in words.get_xticklabels()] == ["True", "False"]
    path = qed.ridge_path(X, y, [0.0, 1.0, 10.0])
    assert [ax.get_xlabel() for ax in path.plot()] == ["alpha", "alpha"]
    plt.close("all")


def test_what_can_not_be_drawn_is_said():
    X, y = problem()
    with pytest.raises(InputError, match="from 1 to 82"):
        qed.learning_curve(qed.Ridge(), X, y, train_sizes=[90])
    for sizes in ([0.5, 1.5], [], ["all"], [0.0]):
        with pytest.raises(ParameterError, match="train_sizes"):
            qed.learning_curve(qed.Ridge(), X, y, train_sizes=sizes)
    with pytest.raises(ParameterError, match="values is empty"):
        qed.validation_curve(qed.Ridge(), X, y, name="alpha", values=[])
    with pytest.raises(ParameterError, match="no parameter 'beta'"):
        qed.validation_curve(qed.Ridge(), X, y, name="beta", values=[1])
