"""O-SVM-HARD, O-SVM-DUAL, O-SVM-K, O-SVM-REP, O-SVM-SOFT, O-SVM-CASES, O-SVM-OVR, O-SVM-NSV, LOSSES, O-LOSSES: margins and losses."""

import numpy as np
import pytest

import qed
from qed.base.errors import ManySupportVectorsWarning
from qed.optim import ExponentialLoss, HingeLoss, LogisticLoss, SquaredHingeLoss, SquaredLoss, check_convexity

POINTS = np.array([[1.0, 1.0], [2.0, 2.0], [1.0, 0.5], [3.0, 1.0]])
LABELS = np.array([-1, 1, -1, 1])
NEAR = 1e-5


def test_o_svm_hard():
    """w = (1, 1), b = -3, margin 1/sqrt 2; with (2, 7/4) added w = (1.28, 0.96), b = -3.24, margin 0.625."""
    model = qed.SVC(np.inf, "linear", tol=1e-10).fit(POINTS, LABELS)
    np.testing.assert_allclose(model.coef_, [[1.0, 1.0]], atol=NEAR)
    assert model.intercept_[0] == pytest.approx(-3.0, abs=NEAR)
    assert model.margin_[0] == pytest.approx(np.sqrt(0.5), abs=NEAR)
    np.testing.assert_allclose(LABELS * model.decision_function(POINTS), [1, 1, 1.5, 1], atol=NEAR)
    more, labels = np.vstack([POINTS, [2.0, 1.75]]), np.append(LABELS, 1)
    model = qed.SVC(np.inf, "linear", tol=1e-12).fit(more, labels)
    np.testing.assert_allclose(model.coef_, [[1.28, 0.96]], atol=NEAR)
    assert model.intercept_[0] == pytest.approx(-3.24, abs=NEAR)
    assert model.margin_[0] == pytest.approx(0.625, abs=NEAR)
    assert set(np.flatnonzero(model.multipliers_[0] > NEAR).tolist()) == {0, 4}


def test_o_svm_dual_without_bias():
    """Without a constant no sum has to vanish: max 1'a - a'Qa/2 over the box, by a quadratic program, has the value of the primal.

    Its multipliers add up to w, and a (1 - slack - m) vanishes.
    """
    model = qed.LinearSVC(10.0, loss="hinge", fit_intercept=False, tol=1e-8).fit(POINTS, LABELS)
    assert model.certificate_ and model.intercept_[0] == 0
    with_bias = qed.LinearSVC(10.0, loss="hinge", tol=1e-8).fit(POINTS, LABELS)
    assert with_bias.primal_objective_[0] <= model.primal_objective_[0]
    signed, eye = LABELS[:, None] * POINTS, np.eye(4)
    found = qed.optim.solve_qp(signed @ signed.T, -np.ones(4), G=np.vstack([-eye, eye]), h=np.repeat([0.0, 10.0], 4))
    assert found.certificate and -found.value == pytest.approx(model.primal_objective_[0], rel=1e-7)
    # The gap of 1e-8 bounds the distance of w by the root of twice its share of the objective.
    near = np.sqrt(4e-8 * model.primal_objective_[0])
    np.testing.assert_allclose(found.point @ signed, model.coef_[0], atol=near)
    m = LABELS * model.decision_function(POINTS)
    assert (
        np.abs(found.point * (1 - np.maximum(1 - m, 0) - m)).max() <= 10 * near * np.linalg.norm(POINTS, axis=1).max()
    )


@pytest.mark.filterwarnings("ignore::qed.base.errors.ManySupportVectorsWarning")
def test_o_svm_k():
    """Two rings: a Gaussian kernel tells them apart, a line does not."""
    random = np.random.default_rng(0)
    angle, radius = random.uniform(0, 2 * np.pi, 200), np.repeat([1.0, 3.0], 100) + 0.1 * random.standard_normal(200)
    X, y = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), np.repeat([0, 1], 100)
    assert qed.SVC().fit(X, y).score(X, y) == 1.0
    assert qed.SVC(kernel="linear").fit(X, y).score(X, y) < 0.75


def test_o_svm_rep():
    """What software prints of the duals is the linear function: coef_ is dual_coef_ times the support vectors."""
    model = qed.SVC(kernel="linear").fit(POINTS, LABELS)
    np.testing.assert_allclose(model.coef_, model.dual_coef_ @ model.support_vectors_, atol=1e-14)
    vectors, v = np.array([[2, 7 / 4], [3.0, 1.0], [1.0, 1.0]]), np.array([3.0, 9.0, -4.0])
    printed = (
        qed.kernels.Similarity.of("linear").combined(np.vstack([np.eye(2), np.zeros(2)]), vectors, v[:, None])[:, 0] + 3
    )
    np.testing.assert_allclose([printed[0] - printed[2], printed[1] - printed[2], printed[2]], [29, 10.25, 3])


def test_o_svm_soft():
    """C towards 0 takes w to 0; slack is the hinge; the form ||w||^2 + lambda sum is C = lambda / 2."""
    X = np.vstack([POINTS, [[2.5, 2.0]]])
    y = np.append(LABELS, -1)
    lengths = [np.linalg.norm(qed.SVC(C, "linear").fit(X, y).coef_) for C in (1e-8, 1e-4, 1.0)]
    assert lengths[0] < 1e-7 and lengths[0] < lengths[1] < lengths[2]
    model = qed.SVC(0.5, "linear").fit(X, y)
    np.testing.assert_allclose(model.slacks_[0], HingeLoss().each(model.decision_function(X), y), atol=NEAR)
    value = np.linalg.norm(model.coef_) ** 2 + 1.0 * model.slacks_.sum()
    assert value == pytest.approx(2 * model.primal_objective_[0], rel=1e-9)


def test_o_svm_ovr():
    """Three classes, one against the rest: the largest score wins; one against one votes."""
    random = np.random.default_rng(1)
    centre = np.array([[0.0, 4.0], [4.0, -2.0], [-4.0, -2.0]])
    y = np.repeat(np.array(["a", "b", "c"]), 40)
    X = centre[np.repeat(np.arange(3), 40)] + random.standard_normal((120, 2))
    rest, pairs = qed.LinearSVC().fit(X, y), qed.SVC(kernel="linear").fit(X, y)
    assert rest.coef_.shape == (3, 2) and pairs.coef_.shape == (3, 2)
    np.testing.assert_array_equal(rest.classes_[rest.decision_function(X).argmax(axis=1)], rest.predict(X))
    np.testing.assert_array_equal(pairs.classes_[pairs.decision_function(X).argmax(axis=1)], pairs.predict(X))
    assert rest.score(X, y) > 0.95 and pairs.score(X, y) > 0.95


def test_o_svm_nsv():
    """A kernel so narrow that every row is a support vector is worth a warning; leave-one-out errs on no more rows than these."""
    random = np.random.default_rng(2)
    X, y = random.standard_normal((80, 2)), np.repeat([0, 1], 40)
    with pytest.warns(ManySupportVectorsWarning, match="80 of 80 rows are support vectors"):
        qed.SVC(gamma=1e4).fit(X, y)
    X[y == 1] += 2.0
    model = qed.SVC(kernel="linear").fit(X, y)
    wrong = sum(
        qed.SVC(kernel="linear").fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[i : i + 1])[0] != y[i]
        for i in range(len(X))
    )
    assert wrong <= len(model.support_)


def test_losses():
    """Values at z = -1, 0, .5, 1, 2: hinge 2, 1, .5, 0, 0; logistic 1.3132617, .6931472, .4740770, .3132617, .1269280."""
    z, one = np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), np.ones(5)
    np.testing.assert_allclose(HingeLoss().each(z, one), [2, 1, 0.5, 0, 0])
    logistic = [1.3132617, 0.6931472, 0.4740770, 0.3132617, 0.1269280]
    np.testing.assert_allclose(LogisticLoss().each(z, one), logistic, atol=1e-7)
    # E23: the perceptron's loss is another, which is nothing on the right side.
    np.testing.assert_allclose(HingeLoss(margin=0.0).each(z, one), [1, 0, 0, 0, 0])
    assert HingeLoss().has_kinks and not LogisticLoss().has_kinks
    # The step is 1, 0, 0, 0, 0 there (a score of nothing is right), and no chord test lets it pass for convex.
    wrong = qed.confusion_matrix(one, np.where(z < 0, -1.0, 1.0))
    assert wrong.sum() - np.trace(wrong) == 1
    step = check_convexity(lambda v: float(v[0] < 0), -np.ones(1), np.ones(1), tests=["chord"])
    assert not step


def test_o_losses():
    """Hinge, its square, squared, exponential and logistic over ln 2 lie above the 0-1 loss, and all are convex."""
    m = np.linspace(-4, 4, 161)
    wrong, one = (m < 0).astype(float), np.ones_like(m)
    surrogates = [
        HingeLoss().each,
        SquaredHingeLoss().each,
        ExponentialLoss().each,
        lambda z, y: 2 * SquaredLoss().each(z, y),
        lambda z, y: LogisticLoss().each(z, y) / np.log(2),
    ]
    for loss in surrogates:
        assert (loss(m, one) >= wrong - 1e-12).all()
    for loss in (
        HingeLoss(),
        SquaredHingeLoss(),
        ExponentialLoss(),
        SquaredLoss(),
        LogisticLoss(),
        HingeLoss(margin=0.0),
    ):
        assert check_convexity(
            lambda z, loss=loss: float(loss.each(np.asarray(z), np.ones(1))[0]),
            -4.0 * np.ones(1),
            4.0 * np.ones(1),
            tests=["chord"],
        )
