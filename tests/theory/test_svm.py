"""HYPER, HSVM, SSVM, SVM-ERM, DUALSVM, SVM-CASES, SVM-RECOVER, KSVM: the support vector machines of the course.

The course writes w'x - b; ours is w'x + intercept, so its b is minus ours. Numbers are those of the catalogue; answers on tiny tables are
exact to rounding, since small problems are solved to a gap of 1e-12: that bounds ||w - w*|| by sqrt(2e-12 P).
"""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import qed
from qed.base.errors import DegenerateError
from qed.kernels import Linear, Polynomial

SIX = np.array([[-3.0], [-1.0], [0.5], [1.0], [3.0], [-0.2]])
SIX_LABELS = np.array([-1, -1, -1, 1, 1, 1])
FOUR = np.array([[2.0, 2.0], [2.0, 0.0], [0.0, 0.0], [-1.0, 1.0]])
FOUR_LABELS = np.array([1, 1, -1, -1])
XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
XOR_LABELS = np.array([-1, -1, 1, 1])
NEAR = 1e-5


def linear(C=1.0, **more):
    return qed.SVC(C, "linear", **more)


def overlapping(n=60, seed=3):
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.5, 1, -1)
    return random.standard_normal((n, 2)) + 0.8 * y[:, None], y


def test_hyper():
    """w = (3, 4), b = 5, z = (5, 5): distance 6; w is orthogonal to differences of points of H; scaling changes nothing."""
    rows = np.array([[3.0, 4.0], [-3.0, -4.0]]) / 5 + np.array(
        [0.6, 0.8]
    )  # H is 3x + 4y = 5, and these lie at distance 1
    model = linear(100.0).fit(rows, [1, -1])
    w, b = model.coef_[0], -model.intercept_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), [0.6, 0.8], atol=NEAR)
    score = model.decision_function([[5.0, 5.0]])[0]
    assert score * model.margin_[0] == pytest.approx(6.0, abs=NEAR)
    on = np.array([[5 / 3, 0.0], [0.0, 5 / 4]])
    np.testing.assert_allclose(on @ w, b, atol=NEAR)
    assert abs((on[1] - on[0]) @ w) < NEAR


def test_hsvm():
    """w = (1, 0), b = 1, margin 1, p = d = 1/2, min y f = 1; (2, 2) lies on the margin without a multiplier."""
    model = linear(np.inf, tol=1e-10).fit(FOUR, FOUR_LABELS)
    assert model.certificate_
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=NEAR)
    assert -model.intercept_[0] == pytest.approx(1.0, abs=NEAR)
    assert model.margin_[0] == pytest.approx(1.0, abs=NEAR)
    assert model.primal_objective_[0] == pytest.approx(0.5, abs=1e-9)
    assert model.dual_objective_[0] == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(model.multipliers_, [[0, 0.5, 0.5, 0]], atol=NEAR)
    assert (FOUR_LABELS * model.decision_function(FOUR)).min() == pytest.approx(1.0, abs=NEAR)
    # E27: the score at the origin is minus b, not plus.
    assert model.decision_function([[0.0, 0.0]])[0] == pytest.approx(-1.0, abs=NEAR)


def test_hsvm_reports_that_there_is_none():
    with pytest.raises(DegenerateError, match="no function of this kernel separates"):
        linear(np.inf).fit(XOR, XOR_LABELS)


def test_ssvm_six_points():
    """w = 1, b = 0, slack (0, 0, 1.5, 0, 0, 1.2), p = 3.2."""
    model = linear().fit(SIX, SIX_LABELS)
    np.testing.assert_allclose(model.coef_, [[1.0]], atol=NEAR)
    assert model.intercept_[0] == pytest.approx(0.0, abs=NEAR)
    np.testing.assert_allclose(model.slacks_, [[0, 0, 1.5, 0, 0, 1.2]], atol=NEAR)
    assert model.primal_objective_[0] == pytest.approx(3.2, rel=1e-6)
    slack = np.maximum(1 - SIX_LABELS * model.decision_function(SIX), 0)
    np.testing.assert_allclose(model.slacks_[0], slack, atol=NEAR)
    assert (model.slacks_[0][model.predict(SIX) != SIX_LABELS] > 1).all()


@pytest.mark.parametrize(("C", "objective"), [(0.1, 0.18), (0.25, 0.375), (0.5, 0.5), (3.0, 0.5)])
def test_ssvm_of_two_points(C, objective):
    model = linear(C).fit([[-1.0], [1.0]], [-1, 1])
    assert model.primal_objective_[0] == pytest.approx(objective, rel=1e-9)
    assert model.dual_objective_[0] == pytest.approx(objective, rel=1e-9)
    assert model.coef_[0, 0] == pytest.approx(min(2 * C, 1.0), rel=1e-6)
    np.testing.assert_allclose(model.multipliers_, np.full((1, 2), min(C, 0.5)), rtol=1e-6)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)


def test_ssvm_chooses_c_by_cross_validation():
    """The best of a grid on held-out rows is what fits of every fold would have chosen."""
    X, y = overlapping()
    grid, folds = [0.01, 1.0, 100.0], qed.KFold(5, random_state=0)
    found = qed.Search(linear(), {"C": grid}, cv=folds).fit(X, y)
    scores = [np.mean([linear(C).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X)]) for C in grid]
    assert found.best_params_ == {"C": grid[int(np.argmax(scores))]}
    assert found.best_score_ == pytest.approx(max(scores), rel=1e-12)


def test_ssvm_is_monotone_in_c_and_becomes_hard():
    X, y = overlapping()
    fits = [linear(C).fit(X, y) for C in (0.01, 0.1, 1.0, 10.0)]
    slacks = [fit.slacks_.sum() for fit in fits]
    lengths = [1 / fit.margin_[0] for fit in fits]
    assert all(b <= a * (1 + NEAR) for a, b in zip(slacks, slacks[1:]))
    assert all(b >= a * (1 - NEAR) for a, b in zip(lengths, lengths[1:]))
    hard, soft = (linear(C, tol=1e-10).fit(FOUR, FOUR_LABELS) for C in (np.inf, 0.6))
    np.testing.assert_allclose(soft.coef_, hard.coef_, atol=NEAR)


def test_svm_erm():
    """lambda = 1/(2Cn): the hinge form has the same w and b, and the objective 3.2/6."""
    model, n = qed.LinearSVC(loss="hinge", tol=1e-8).fit(SIX, SIX_LABELS), len(SIX)
    dual = linear().fit(SIX, SIX_LABELS)
    np.testing.assert_allclose(model.coef_, dual.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, dual.intercept_, atol=1e-4)
    hinge = qed.optim.HingeLoss().value(model.decision_function(SIX), SIX_LABELS) / n
    # The gap allows 1e-8, and 1e-4 for w is its root.
    assert hinge + model.coef_[0] @ model.coef_[0] / (2 * n) == pytest.approx(3.2 / 6, rel=1e-6)


def test_two_ways_agree():
    """The primal by Newton and the dual by pairs have the same objective, which neither could pass."""
    X, y = overlapping(200)
    primal, dual = qed.LinearSVC(loss="hinge", tol=1e-8).fit(X, y), linear().fit(X, y)
    assert primal.primal_objective_[0] >= dual.dual_objective_[0] * (1 - 1e-9)
    assert primal.primal_objective_[0] == pytest.approx(dual.primal_objective_[0], rel=1e-6)


def test_dualsvm():
    """alpha = (0, .85, 1, .85, 0, 1), d = 3.2, gap <= 1e-6; sums of both classes equal; Q positive semidefinite."""
    model = linear().fit(SIX, SIX_LABELS)
    np.testing.assert_allclose(model.multipliers_, [[0, 0.85, 1, 0.85, 0, 1]], atol=NEAR)
    assert model.dual_objective_[0] == pytest.approx(3.2, rel=1e-6)
    assert model.gap_[0] <= 1e-6
    assert abs(model.multipliers_[0] @ SIX_LABELS) < 1e-12
    Q = SIX_LABELS[:, None] * Linear()(SIX) * SIX_LABELS
    a = model.multipliers_[0]
    assert np.linalg.eigvalsh(Q).min() > -1e-12
    assert a.sum() - a @ Q @ a / 2 == pytest.approx(model.dual_objective_[0], rel=1e-12)
    np.testing.assert_allclose((a * SIX_LABELS) @ SIX, model.coef_[0], atol=1e-12)


def test_dual_objective_rises_with_every_step():
    X, y = overlapping(200)
    objectives = [step.objective for step in qed.steps(linear(), X, y)]
    assert all(after <= before for before, after in zip(objectives, objectives[1:]))


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_svm_cases(C):
    """alpha = 0: on or outside the margin; between: on it; alpha = C: on or inside; and the implications the other way round."""
    X, y = overlapping()
    model = linear(C).fit(X, y)
    a, case, m = model.multipliers_[0], model.cases_[0], y * model.decision_function(X)
    assert (m[case == 0] >= 1 - NEAR).all()
    np.testing.assert_allclose(m[case == 1], 1.0, atol=NEAR)
    assert (m[case == 2] <= 1 + NEAR).all()
    assert (a[m < 1 - NEAR] == C).all()
    assert (a[m > 1 + NEAR] == 0).all()
    slack = model.slacks_[0]
    assert np.abs(a * ((1 - slack) - m)).max() <= NEAR * C
    assert np.abs((C - a) * slack).max() <= NEAR * C
    six = linear().fit(SIX, SIX_LABELS)
    assert set(six.cases_[0].tolist()) == {0, 1, 2}


def test_svm_recover():
    """b is the same from every free support vector; without one it is any value of [-0.35, 0.35]."""
    X, y = overlapping()
    model = linear().fit(X, y)
    free = model.cases_[0] == 1
    assert free.any()
    np.testing.assert_allclose(X[free] @ model.coef_[0] - y[free], -model.intercept_[0], atol=NEAR)
    flat = linear(0.5).fit(SIX, SIX_LABELS)
    assert not (flat.cases_ == 1).any()
    assert flat.dual_objective_[0] == pytest.approx(1.78875, rel=1e-9)
    assert flat.coef_[0, 0] == pytest.approx(0.65, rel=1e-9)
    assert -0.35 <= flat.intercept_[0] <= 0.35


def test_ksvm_xor():
    """k = (1 + x'z)^2, C = 10: alpha = 1/8 each, d = 1/4, f = +-1 at the points."""
    model = qed.SVC(10.0, "poly", degree=2, gamma=1.0, coef0=1.0).fit(XOR, XOR_LABELS)
    np.testing.assert_allclose(model.multipliers_, np.full((1, 4), 0.125), atol=1e-9)
    assert model.dual_objective_[0] == pytest.approx(0.25, rel=1e-9)
    np.testing.assert_allclose(model.decision_function(XOR), XOR_LABELS, atol=1e-9)


def test_ksvm_is_the_linear_machine_of_its_features():
    X, y = overlapping()
    kernel = Polynomial(2, coef0=1.0)
    by_kernel = qed.SVC(1.0, kernel).fit(X, y)
    by_features = linear().fit(kernel.features(X), y)
    by_matrix = qed.SVC(1.0, "precomputed").fit(kernel(X), y)
    np.testing.assert_allclose(
        by_kernel.decision_function(X), by_features.decision_function(kernel.features(X)), atol=1e-4
    )
    np.testing.assert_allclose(by_kernel.decision_function(X), by_matrix.decision_function(kernel(X)), atol=1e-4)


@pytest.mark.filterwarnings("ignore::qed.base.errors.ManySupportVectorsWarning")
def test_ksvm_needs_its_support_vectors_alone():
    """Without the other rows the machine is the same."""
    X, y = overlapping(150)
    model = qed.SVC(gamma=0.5).fit(X, y)
    assert len(model.support_) < len(X)
    again = qed.SVC(gamma=0.5).fit(X[model.support_], y[model.support_])
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=NEAR)


def test_a_budget_leaves_the_best_state_with_its_gap():
    X, y = overlapping(300)
    with qed.watch(seconds=1e-9), pytest.warns(ConvergenceWarning):
        model = qed.SVC(1e6, gamma=5.0).fit(X, y)
    assert not model.certificate_ and model.gap_[0] > model.tol
    model.resume(X, y)
    assert model.certificate_


def test_hsvm_no_other_direction_has_a_wider_street():
    """The margin is the least distance, attained by both classes; no unit direction has more, and units do not matter."""
    random = np.random.default_rng(5)
    y = np.repeat([-1, 1], 15)
    X = random.standard_normal((30, 2)) + 4.0 * y[:, None]
    model = linear(np.inf, tol=1e-10).fit(X, y)
    w, margin = model.coef_[0], model.margin_[0]
    distance = y * model.decision_function(X) / np.linalg.norm(w)
    for label in (-1, 1):
        assert distance[y == label].min() == pytest.approx(margin, abs=NEAR)
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    along = X @ np.vstack([np.cos(angle), np.sin(angle)])
    # Eq. 5.1: along each direction the best b lies in the middle of the gap between the classes.
    widest = ((along[y == 1].min(axis=0) - along[y == -1].max(axis=0)) / 2).max()
    assert widest <= margin * (1 + NEAR)
    # A direction half a step off the best one loses no more than rows are long times that angle.
    assert widest >= margin - np.pi / 2000 * np.linalg.norm(X, axis=1).max()
    larger = linear(np.inf, tol=1e-10).fit(100 * X, y)
    np.testing.assert_allclose(100 * larger.coef_, model.coef_, atol=NEAR)
    assert larger.margin_[0] == pytest.approx(100 * margin, rel=NEAR)


def test_ssvm_without_a_free_support_vector():
    """C = 1/2: alpha = (0, .5, .5, .5, 0, .5), and every b of [-0.35, 0.35] has the same objective; none beyond has."""
    model = linear(0.5).fit(SIX, SIX_LABELS)
    np.testing.assert_allclose(model.multipliers_, [[0, 0.5, 0.5, 0.5, 0, 0.5]], atol=1e-12)

    def objective(b):
        scores = SIX @ model.coef_[0] - b
        return model.coef_[0] @ model.coef_[0] / 2 + 0.5 * qed.optim.HingeLoss().value(scores, SIX_LABELS)

    least = model.primal_objective_[0]
    for b in np.linspace(-0.35, 0.35, 15):
        assert objective(b) == pytest.approx(least, rel=1e-9)
    assert min(objective(-0.36), objective(0.36)) > least * (1 + 1e-4)


@pytest.mark.filterwarnings("ignore::qed.base.errors.ManySupportVectorsWarning")
def test_ksvm_asks_for_no_more_similarities_than_there_are_support_vectors():
    seen = []

    def kernel(x, z):
        seen.append(1)
        return float(np.exp(-0.5 * ((x - z) ** 2).sum()))

    X, y = overlapping(60)
    model = qed.SVC(kernel=kernel).fit(X, y)
    assert len(model.support_) < len(X)
    seen.clear()
    model.decision_function(X[:7])
    assert len(seen) == 7 * len(model.support_)
