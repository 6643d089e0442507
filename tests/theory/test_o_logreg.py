"""O-LOGREG, O-LOGREG-REG, O-LOGREG-K, O-SOFTMAX, O-GENDISC: the likelihood of classes, its penalty and kernel form, and who models what."""

import numpy as np
import pytest
from scipy.special import expit

import qed
from qed.base.running.steps import Reason
from qed.optim import gradient, hessian

THREE, RESULT = np.array([[3.0, 21.0], [6.0, 5.0], [2.0, 9.0]]), np.array([1, 1, 0])


def overlapping(seed=0, n=60, p=3, k=2):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    return X, (X @ random.standard_normal((p, k)) + random.gumbel(size=(n, k))).argmax(axis=1)


def moved(model, theta):
    """Give a model of two classes with other weights, the constant last."""
    model.coef_, model.intercept_ = np.array(theta[:-1])[None], np.array(theta[-1:])
    return model


def test_o_logreg_the_error_is_the_cross_entropy_and_the_fit_its_only_minimum():
    X, y = overlapping()
    model = qed.LogisticRegression(C=None).fit(X, y)
    found, design = np.append(model.coef_[0], model.intercept_), np.column_stack([X, np.ones(len(X))])

    def error(theta):
        return len(y) * qed.log_loss(y, moved(model, theta).predict_proba(X))

    for theta in (found, found + 0.3, np.zeros(4)):
        p = expit(design @ theta)
        np.testing.assert_allclose(error(theta), -np.log(np.where(y == 1, p, 1 - p)).sum(), rtol=1e-12)
        np.testing.assert_allclose(error(theta), np.logaddexp(0, -np.where(y == 1, 1, -1) * (design @ theta)).sum())
        # Central differences of an error of some tens have about nine digits, second ones about six.
        np.testing.assert_allclose(gradient(error, theta), design.T @ (p - y), atol=1e-6)
        assert np.linalg.eigvalsh(hessian(error, theta)).min() > 0
    np.testing.assert_allclose(gradient(error, found), 0, atol=1e-6)


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
def test_o_logreg_three_rows_are_separated_and_that_is_said():
    model = qed.LogisticRegression(C=None).fit(THREE, RESULT)
    assert model.ending_.reason is Reason.DEGENERATE and "separated" in str(model.ending_)
    assert qed.separating_plane(THREE, RESULT).is_separable


def test_o_logreg_gaussian_classes_of_one_spread_have_linear_log_odds():
    """Slope (m1 - m2) / s^2, constant (m2^2 - m1^2) / 2s^2 plus the logarithm of the odds of the classes."""
    X, y = np.array([[1.0], [3.0], [3.0], [5.0], [-3.0], [-1.0]]), np.array([1, 1, 1, 1, 0, 0])
    one, two, share = 3.0, -2.0, 4 / 2
    square = (8 + 2) / 6
    model = qed.LinearDiscriminantAnalysis().fit(X, y)
    assert model.coef_[0, 0] == pytest.approx((one - two) / square, rel=1e-12)
    assert model.intercept_[0] == pytest.approx((two**2 - one**2) / (2 * square) + np.log(share), rel=1e-12)
    grid = np.linspace(-4, 6, 9)[:, None]
    np.testing.assert_allclose(model.predict_proba(grid)[:, 1], expit(model.decision_function(grid)), rtol=1e-12)


def test_o_logreg_reg_has_one_finite_solution_on_three_rows():
    penalised = [qed.LogisticRegression(C).fit(THREE, RESULT) for C in (0.01, 1.0, 100.0)]
    sizes = [np.linalg.norm(model.coef_) for model in penalised]
    assert all(model.certificate_ for model in penalised) and sizes[0] < sizes[1] < sizes[2] < np.inf
    model = penalised[1]
    p = model.predict_proba(THREE)[:, 1]
    # The gradient of C times the error plus half the squared length vanishes, to the tolerance of the fit.
    np.testing.assert_allclose(model.coef_[0] + (p - RESULT) @ THREE, 0, atol=1e-5)
    assert (p - RESULT).sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("n", "p"), [(60, 3), (15, 40)])
def test_o_logreg_k_the_weights_are_a_combination_of_the_rows(n, p):
    """w = sum of a_i x_i with a_i = C (y_i - p_i); so a kernel is enough, and a linear one gives the same probabilities."""
    X, y = overlapping(n=n, p=p)
    model = qed.LogisticRegression(2.0).fit(X, y)
    amounts = 2.0 * (y - model.predict_proba(X)[:, 1])
    np.testing.assert_allclose(model.coef_[0], amounts @ X, atol=1e-5)
    similar = qed.Nystroem("linear", n_components=n, random_state=0).fit(X)
    by_kernel = qed.LogisticRegression(2.0).fit(similar.transform(X), y)
    other = np.random.default_rng(9).standard_normal((30, p))
    np.testing.assert_allclose(by_kernel.predict_proba(similar.transform(other)), model.predict_proba(other), atol=1e-5)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_o_logreg_k_a_linear_kernel_is_the_penalised_fit(k, intercept):
    X, y = overlapping(k=k)
    settings = {"C": 2.0, "fit_intercept": intercept, "class_weight": "balanced"}
    dual = qed.KernelLogisticRegression(kernel="linear", **settings).fit(X, y)
    plain = qed.LogisticRegression(**settings).fit(X, y)
    assert dual.certificate_ and qed.certify(dual, X, y)
    # Half the square of a difference of coefficients is at most what an objective is above its minimum.
    above = [model.certificate_["objective above its minimum"].value for model in (dual, plain)]
    reach = np.sqrt(2 * np.array(above) * plain.ending_.step.objective * (1 + 1e-9)).sum()
    assert np.linalg.norm(dual.dual_coef_ @ X - plain.coef_) <= reach + 1e-12
    # Rows pull by what the model does not know of them; the weights of balanced classes are those of their shares.
    share = len(y) / (k * np.bincount(y))[y]
    unknown = np.eye(k)[y] - dual.predict_proba(X)
    pulls = 2.0 * share[:, None] * (unknown[:, 1:] if k == 2 else unknown)
    np.testing.assert_allclose(dual.dual_coef_.T, pulls, atol=1e-4)


def test_o_softmax():
    """Nothing changes when all scores rise alike; the slope of the loss is p - y; huge scores are no trouble; of two it is the sigmoid."""
    X, y = overlapping(k=3)
    model = qed.LogisticRegression().fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-14)
    free = model.intercept_

    def loss(constants):
        model.intercept_ = constants
        return len(y) * qed.log_loss(y, model.predict_proba(X))

    assert loss(free + 7.0) == pytest.approx(loss(free), rel=1e-12)
    slope = shares.sum(axis=0) - np.bincount(y)
    np.testing.assert_allclose(gradient(loss, free), slope, atol=1e-6)
    np.testing.assert_allclose(loss(free), -np.log(shares[np.arange(len(y)), y]).sum(), rtol=1e-12)
    far = model.predict_proba(1e6 * X)
    assert np.isfinite(far).all() and (far.max(axis=1) == 1).mean() > 0.9
    X, y = overlapping()
    two = qed.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], expit(two.decision_function(X)), rtol=1e-12)


GENERATIVE = [qed.LinearDiscriminantAnalysis, qed.QuadraticDiscriminantAnalysis, qed.GaussianNB]
DISCRIMINATIVE = [qed.LogisticRegression, qed.Perceptron, qed.LinearSVC, qed.RidgeClassifier]


def test_o_gendisc():
    """A generative model knows P(x, y), its posterior follows by Bayes' rule; a discriminative one knows P(y | x) or a boundary."""
    X, y = overlapping()
    for kind in GENERATIVE:
        model = kind().fit(X, y)
        joint = model.predict_joint_log_proba(X)
        posterior = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
        np.testing.assert_allclose(model.predict_proba(X), posterior, rtol=1e-9, atol=1e-12)
        assert model.predict(X).tolist() == model.classes_[joint.argmax(axis=1)].tolist()
    for kind in DISCRIMINATIVE:
        model = kind().fit(X, y)
        assert not hasattr(model, "predict_joint_log_proba") and not hasattr(model, "sample")
        assert hasattr(model, "predict_proba") == (kind is qed.LogisticRegression)
