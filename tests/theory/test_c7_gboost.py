"""C7-GBOOST: gradient boosting follows the slopes of any loss; with squared errors these are the residuals, with the exponential loss and
stumps of -1 and 1 it is AdaBoost."""

import numpy as np
import pytest

import qed
from qed.optim import Exact, ExponentialLoss, Objective
from qed.trees.boosting.losses.objectives import objective_of_classes, objective_of_numbers

random = np.random.default_rng(0)
N = 200
X = random.standard_normal((N, 3))
NUMBER = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * random.standard_normal(N)
SIGN = np.where(NUMBER + 0.5 * random.standard_normal(N) > 0, 1.0, -1.0)
CLASS = np.digitize(NUMBER, [-0.5, 0.5])
ONES = np.ones(N)


def objectives():
    for loss in ("squared_error", "huber", "poisson"):
        y = np.abs(np.rint(3 * NUMBER)) if loss == "poisson" else NUMBER
        yield pytest.param(objective_of_numbers(loss, 0.9, y, ONES), y, id=loss)
    for loss in ("log_loss", "exponential"):
        yield pytest.param(objective_of_classes(loss, 2), SIGN, id=loss)
    yield pytest.param(objective_of_classes("log_loss", 3), CLASS, id="three classes")


@pytest.mark.parametrize("objective, y", list(objectives()))
def test_slopes_are_those_of_the_loss_and_what_is_left_out_is_quadratic(objective, y):
    scores = random.standard_normal((objective.outputs, N))
    direction = random.standard_normal(scores.shape)
    before = objective.pieces(scores, y)
    slope = (before.slope * direction).sum(axis=0)
    step = 1e-5
    up, down = (objective.pieces(scores + sign * step * direction, y).loss for sign in (1, -1))
    # Central differences: the third derivative times the square of the step, and rounding over the step.
    np.testing.assert_allclose((up - down) / (2 * step), slope, rtol=1e-7, atol=1e-7)
    remainders = [
        np.abs(objective.pieces(scores + size * direction, y).loss.sum() - before.loss.sum() - size * slope.sum())
        for size in (1e-2, 5e-3)
    ]
    assert remainders[0] / remainders[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("objective, y", [one for one in objectives() if one.id != "huber"])
def test_curvatures_are_how_the_slopes_change(objective, y):
    """A leaf goes by -G / (H + lambda), so H has to be the second derivative by its own score. (Huber's is that of a parabola above it.)"""
    scores = random.standard_normal((objective.outputs, N))
    step = 1e-5
    for k in range(objective.outputs):
        alone = np.zeros((objective.outputs, 1))
        alone[k] = step
        up, down = (objective.pieces(scores + sign * alone, y).slope[k] for sign in (1, -1))
        np.testing.assert_allclose(
            (up - down) / (2 * step), objective.pieces(scores, y).curvature[k], rtol=1e-7, atol=1e-7
        )


def test_the_slope_of_squared_errors_is_the_residual():
    objective = objective_of_numbers("squared_error", 0.5, NUMBER, ONES)
    scores = random.standard_normal((1, N))
    np.testing.assert_array_equal(-objective.pieces(scores, NUMBER).slope[0], NUMBER - scores[0])


@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_the_training_loss_does_not_rise(rate):
    models = [
        (qed.GradientBoostingRegressor(max_iter=30, learning_rate=rate), NUMBER),
        (qed.GradientBoostingClassifier(max_iter=30, learning_rate=rate), SIGN > 0),
        (qed.GradientBoostingClassifier(max_iter=30, learning_rate=rate, loss="exponential"), SIGN > 0),
    ]
    for model, y in models:
        losses = model.fit(X, y).train_score_
        assert (np.diff(losses) <= 1e-13 * losses[:-1]).all() and losses[-1] < losses[0]


def stumps():
    """Give what every question about one column answers, -1 or 1."""
    found = []
    for column in X.T:
        order = np.sort(column)
        cuts = (order[1:] + order[:-1]) / 2
        found.append(np.where(column[None] <= cuts[:, None], -1.0, 1.0))
    return np.concatenate(found)


def test_exponential_loss_stumps_and_exact_steps_are_adaboost():
    stump = qed.DecisionTreeClassifier(criterion="misclassification", max_depth=1)
    model = qed.AdaBoostClassifier(stump, n_estimators=8).fit(X, SIGN)
    loss, answers, score = ExponentialLoss(), stumps(), np.zeros(N)
    objective = Objective(lambda z: loss.each(z, SIGN).sum(), lambda z: loss.gradient(z, SIGN))
    for one, say in zip(model.estimators_, model.estimator_weights_):
        downhill, g = -loss.gradient(score, SIGN), one.predict(X)
        # No stump, nor its opposite, goes along with the slopes more than the one of least weighted error.
        assert g @ downhill >= np.abs(answers @ downhill).max() * (1 - 1e-12)
        # The search ends where 1e-10 of the slope is left.
        assert Exact().length(objective, objective.at(score), g) == pytest.approx(say / 2, rel=1e-8)
        score = score + say / 2 * g


@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_a_searched_step_ends_where_the_loss_is_least(rate):
    loss, y = ExponentialLoss(), SIGN > 0
    model = qed.GradientBoostingClassifier(
        loss="exponential", max_iter=6, max_leaf_nodes=3, learning_rate=rate, line_search=True
    ).fit(X, y)
    objective = Objective(lambda z: loss.each(z, SIGN).sum(), lambda z: loss.gradient(z, SIGN))
    score = np.full(N, model.baseline_[0])
    for number in range(6):
        tree = model.forest_.tree(number)
        direction = tree.value[tree.apply(X), 0]
        assert rate * Exact().length(objective, objective.at(score), direction) == pytest.approx(1.0, rel=1e-6)
        score = score + direction
    assert (np.diff(model.train_score_) < 0).all() and qed.certify(model, X, y)


def test_a_leaf_of_the_exponential_loss_goes_to_the_mean_of_its_weighted_labels():
    model = qed.GradientBoostingClassifier(loss="exponential", max_iter=3, max_leaf_nodes=2, learning_rate=1.0)
    model.fit(X, SIGN > 0)
    score = np.full(N, model.baseline_[0])
    for number in range(3):
        tree = model.forest_.tree(number)
        leaf, weight = tree.apply(X), np.exp(-SIGN * score)
        for node in np.unique(leaf):
            here = leaf == node
            assert tree.value[node, 0] == pytest.approx(np.average(SIGN[here], weights=weight[here]), rel=1e-12)
        score = score + tree.value[leaf, 0]
