"""C7-ADABOOST, C7-ADA-WEIGHT, O-ADA, O-ADA-BOUND: weights that move to the mistakes, and the bound that follows from them."""

import numpy as np
import pytest

import qed
from qed.ensembles.adaboost.classifier import bound_of
from qed.ensembles.problem import MemberClasses

random = np.random.default_rng(3)
X = random.standard_normal((160, 4))
SIGN = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * random.standard_normal(160) > 0, 1, -1)
MODEL = qed.AdaBoostClassifier(n_estimators=25).fit(X, SIGN)
# Sums of 160 terms, and exponentials of as much say as all members have.
ROUNDING = (160 + 8 * MODEL.estimator_weights_.sum()) * 2.0**-50


def members(model=MODEL):
    """Give what each member says, and half its say, as the course counts it."""
    return np.array([one.predict(X) for one in model.estimators_]), model.estimator_weights_ / 2


@pytest.mark.parametrize(
    ("wrong", "alpha", "factor"),
    [((1, 1), 1.0986123, 3.0), ((2, 3), 0.5493061, 1.7320508), ((3, 3), 0.4236489, None), ((4, 4), 0.2027326, None)],
)
def test_the_say_of_a_member_is_what_the_course_says(wrong, alpha, factor):
    """Ten rows of each class, some of which have the value of the other one."""
    y = np.repeat([0, 1], 10)
    x = y.copy()
    x[: wrong[0]], x[10 : 10 + wrong[1]] = 1, 0
    model = qed.AdaBoostClassifier(n_estimators=1).fit(x[:, None], y)
    assert model.estimator_errors_[0] == pytest.approx(sum(wrong) / 20, abs=1e-15)
    assert model.estimator_weights_[0] / 2 == pytest.approx(alpha, abs=5e-8)
    if factor is not None:
        assert np.exp(model.estimator_weights_[0] / 2) == pytest.approx(factor, abs=5e-8)


def test_weights_are_exponentials_of_margins():
    """Identities 1, 4, 5 and 7: w = exp(-y F), half of it on the mistakes, and its mean is the product of all Z."""
    said, alpha = members()
    margin = np.zeros(len(X))
    for t, (one, a) in enumerate(zip(said, alpha)):
        weight = np.exp(-margin)
        wrong = one != SIGN
        error = weight[wrong].sum() / weight.sum()
        assert error == pytest.approx(MODEL.estimator_errors_[t], abs=ROUNDING)
        assert a == pytest.approx(np.log((1 - error) / error) / 2, abs=ROUNDING)
        margin += a * SIGN * one
        after = np.exp(-margin)
        share = np.sqrt(error * (1 - error))
        assert after[wrong].sum() == pytest.approx(share * weight.sum(), rel=ROUNDING)
        assert after[~wrong].sum() == pytest.approx(share * weight.sum(), rel=ROUNDING)
        bound = bound_of(MODEL.estimator_errors_[: t + 1], MODEL.estimator_weights_[: t + 1])
        assert after.mean() == pytest.approx(bound, rel=ROUNDING)
        assert bound >= (margin <= 0).mean()


def test_no_other_say_makes_the_loss_smaller():
    """Identity 3: alpha minimises (1 - e) exp(-alpha) + e exp(alpha); the minimum is 2 sqrt(e (1 - e))."""
    alphas = np.linspace(-2, 2, 801)
    for error in (0.1, 0.3, 0.45):
        losses = [float(bound_of(np.array([error]), np.array([2 * alpha]))) for alpha in alphas]
        best = np.log((1 - error) / error) / 2
        assert alphas[np.argmin(losses)] == pytest.approx(best, abs=5e-3)
        assert bound_of(np.array([error]), np.array([2 * best])) == pytest.approx(
            2 * np.sqrt(error * (1 - error)), rel=1e-14
        )


def test_each_stump_is_the_best_question_on_its_weights():
    """Identity 2, for the impurity that stumps are told to lower: errors or Gini's."""
    for criterion in ("misclassification", "gini"):
        stump = qed.DecisionTreeClassifier(criterion=criterion, max_depth=1)
        model = qed.AdaBoostClassifier(stump, n_estimators=6).fit(X, SIGN)
        weight = np.ones(len(X))
        for one, say in zip(model.estimators_, model.estimator_weights_):
            best = _purity(criterion, weight, X[:, one.tree_.feature[0]] <= one.tree_.threshold[0])
            for column in X.T:
                for value in np.sort(column)[:-1]:
                    assert _purity(criterion, weight, column <= value) <= best * (1 + 1e-12)
            weight = weight * np.where(one.predict(X) == SIGN, np.exp(-say), 1.0)


def _purity(criterion, weight, left):
    counts = np.array([[weight[side & (k == SIGN)].sum() for k in (-1, 1)] for side in (left, ~left)])
    if criterion == "misclassification":
        return counts.max(axis=1).sum()
    return (counts**2).sum(axis=1) @ (1 / counts.sum(axis=1))


def test_three_texts_make_one_model():
    """O-ADA: roots of odds on both sides, exponentials on both sides, or the odds on the mistakes alone: the same shares of weight."""
    said, alpha = members()
    weights = [np.full(len(X), 1 / len(X)) for _ in range(3)]
    for one, a, error in zip(said, alpha, MODEL.estimator_errors_):
        wrong, odds = one != SIGN, np.sqrt((1 - error) / error)
        factors = (np.where(wrong, odds, 1 / odds), np.exp(np.where(wrong, a, -a)), np.where(wrong, np.exp(2 * a), 1.0))
        weights = [weight * factor / (weight * factor).sum() for weight, factor in zip(weights, factors)]
        np.testing.assert_allclose(weights[1], weights[0], rtol=ROUNDING)
        np.testing.assert_allclose(weights[2], weights[0], rtol=ROUNDING)
    votes = alpha @ said
    np.testing.assert_array_equal(MODEL.predict(X), np.where(votes > 0, 1, -1))


def test_a_member_that_is_right_half_the_time_has_no_say():
    """O-ADA: D = [.3, .5, .2] with the first and the last wrong gives alpha = 0; there is nothing to boost, and that is said."""
    crossed = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(qed.base.errors.InputError, match="no better than chance"):
        qed.AdaBoostClassifier().fit(crossed, [0, 1, 1, 0])


def test_a_member_without_error_ends_it():
    model = qed.AdaBoostClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    assert (
        len(model.estimators_) == 1
        and model.estimator_errors_[0] == 0
        and model.score([[0.0], [2.0]], ["no", "yes"]) == 1
    )


def test_the_training_error_vanishes_as_fast_as_the_edge_says():
    """O-ADA-BOUND: with errors of at most 1/2 - gamma, at most exp(-2 gamma^2 T) of the rows are wrong; none after ln(2n) / (2 gamma^2)."""
    y = X[:, 0] + X[:, 1] > 0
    deep = qed.DecisionTreeClassifier(max_depth=3)
    model = qed.AdaBoostClassifier(deep, n_estimators=60, random_state=0).fit(X, y)
    wrong = 1 - np.array(list(model.staged_score(X, y)))
    gamma = 0.5 - np.maximum.accumulate(model.estimator_errors_)
    rounds = np.arange(1, len(wrong) + 1)
    assert (wrong <= np.exp(-2 * gamma**2 * rounds) + ROUNDING).all()
    assert rounds[-1] >= np.log(2 * len(X)) / (2 * gamma[-1] ** 2) and wrong[-1] == 0


def test_rows_can_be_drawn_in_the_place_of_weights():
    """C7-ADA-WEIGHT: draws follow the weights (chi-squared), and both ways tell classes about as well."""
    model = qed.AdaBoostClassifier(n_estimators=25, resample=True, random_state=0).fit(X, SIGN)
    assert model.certificate_ and abs(model.score(X, SIGN) - MODEL.score(X, SIGN)) < 0.1
    problem = MemberClasses(qed.rows(X, SIGN), model)
    weight = np.exp(random.standard_normal(len(X)))
    times = sum(problem.drawn(len(X), weight, 0, "rows", turn) for turn in range(200))
    expected = times.sum() * weight / weight.sum()
    # Chi-squared with 159 degrees of freedom: mean 159, standard deviation 17.8.
    assert ((times - expected) ** 2 / expected).sum() < 159 + 5 * np.sqrt(2 * 159)
