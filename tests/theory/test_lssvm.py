"""LSSVM-SIGN, LSSVM, LSSVM-FAR, LSSVM-PHI, LSSVM-NN, LSSVM-MC, O-REGCLS: least squares as a classifier, and where it fails."""

from itertools import combinations

import numpy as np
import pytest

import qed
from qed.data.synthetic import rings, xor

LINE = np.array([-1.5, -1.0, -0.5, 0.5, 1.0, 1.5])[:, None]
SIDES = np.array([-1, -1, -1, 1, 1, 1])


def clouds(seed=0, n=60, p=3, k=3):
    random = np.random.default_rng(seed)
    y = random.integers(k, size=n)
    return random.standard_normal((n, p)) + 1.5 * random.standard_normal((k, p))[y], y


def threshold(model):
    return -model.intercept_[0] / model.coef_[0, 0]


def test_lssvm_sign():
    """The squared error of the signs is four times the number of rows that are wrong; no plane has less than the best of all."""
    random = np.random.default_rng(1)
    X, y = random.standard_normal((12, 2)), np.where(random.random(12) < 0.5, -1, 1)
    model = qed.RidgeClassifier(alpha=0).fit(X, y)
    wrong = round(12 * (1 - model.score(X, y)))
    assert ((y - model.predict(X)) ** 2).sum() == 4 * wrong > 0
    least = 12
    for i, j in combinations(range(12), 2):
        normal = np.array([X[j, 1] - X[i, 1], X[i, 0] - X[j, 0]])
        side = np.delete((X - X[i]) @ normal, [i, j]) * np.delete(y, [i, j])
        least = min(least, (side < 0).sum(), (side > 0).sum())  # the two rows themselves can be had on any side
    assert least <= wrong


def test_lssvm():
    """It is ridge regression on -1 and +1; scores do not change when all rows are moved, unless the constant is penalised."""
    X, y = clouds(k=2)
    signs = np.where(y == 1, 1.0, -1.0)
    model, ridge = qed.RidgeClassifier(0.7).fit(X, y), qed.Ridge(0.7).fit(X, signs)
    np.testing.assert_allclose(model.coef_[0], ridge.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_[0], ridge.intercept_, rtol=1e-10)
    design = np.column_stack([X, np.ones(len(X))])
    right = design.T @ signs
    theta = np.append(model.coef_[0], model.intercept_)
    np.testing.assert_allclose((design.T @ design + np.diag([0.7] * 3 + [0.0])) @ theta, right, atol=1e-10)
    moved = X + [5.0, -3.0, 2.0]
    there = qed.RidgeClassifier(0.7).fit(moved, y)
    np.testing.assert_allclose(there.decision_function(moved), model.decision_function(X), atol=1e-10)
    with_one = [np.column_stack([table, np.ones(len(X))]) for table in (X, moved)]
    scores = [
        qed.RidgeClassifier(0.7, fit_intercept=False).fit(table, y).decision_function(table) for table in with_one
    ]
    assert np.abs(scores[0] - scores[1]).max() > 0.01
    boundary = X - np.outer(model.decision_function(X) / (model.coef_[0] @ model.coef_[0]), model.coef_[0])
    np.testing.assert_allclose(model.decision_function(boundary), 0, atol=1e-12)


def test_lssvm_boundaries_turn_with_the_rows_but_do_not_scale_with_them():
    """E18: a free constant makes moves of the rows harmless; turns are harmless as well, other units of a column are not."""
    X, y = clouds(k=2)
    plain = qed.RidgeClassifier(20.0).fit(X, y).decision_function(X)
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    turned = X @ turn + [1.0, 2.0, -3.0]
    np.testing.assert_allclose(qed.RidgeClassifier(20.0).fit(turned, y).decision_function(turned), plain, atol=1e-10)
    scaled = X * [10.0, 1.0, 0.1]
    assert np.abs(qed.RidgeClassifier(20.0).fit(scaled, y).decision_function(scaled) - plain).max() > 0.01


@pytest.mark.parametrize(("m", "where"), [(0, 0.0), (1, 0.5196), (3, 0.6795), (5, 0.7240), (20, 0.7817)])
def test_lssvm_far(m, where):
    """Points that are right by far pull the boundary over one that is right by little; a support vector machine does not care."""
    X, y = np.vstack([LINE, np.full((m, 1), 10.0)]), np.append(SIDES, np.ones(m, int))
    model = qed.RidgeClassifier(alpha=0).fit(X, y)
    assert threshold(model) == pytest.approx(where, abs=5e-5)
    if m == 0:
        assert model.coef_[0, 0] == pytest.approx(6 / 7, rel=1e-12) and model.score(X, y) == 1
    else:
        assert model.predict([[0.5]])[0] == -1 and model.score(X, y) == pytest.approx((5 + m) / (6 + m))
    hard = qed.SVC(np.inf, "linear", tol=1e-10).fit(X, y)
    assert threshold(hard) == pytest.approx(0.0, abs=1e-6) and hard.score(X, y) == 1


def test_lssvm_far_in_the_plane():
    random = np.random.default_rng(0)
    near = [c + 0.4 * random.standard_normal((20, 2)) for c in ([-2.0, 2.0], [0.0, 0.0])]
    far = [14.0, -14.0] + 0.4 * random.standard_normal((20, 2))
    X, y = np.vstack(near), np.repeat([1, -1], 20)
    more, labels = np.vstack([X, far]), np.append(y, np.full(20, -1))
    first = qed.RidgeClassifier(alpha=0).fit(X, y)
    assert first.score(X, y) == 1 and first.score(more, labels) == 1
    # The catalogue's number: ten of the sixty rows are on the wrong side then.
    assert qed.RidgeClassifier(alpha=0).fit(more, labels).score(more, labels) == pytest.approx(50 / 60)
    for model in (qed.LinearSVC(), qed.LogisticRegression()):
        assert model.fit(more, labels).score(more, labels) == 1


@pytest.mark.parametrize("margin", [-5.0, -1.0, 0.0, 0.5, 1.0, 6.0])
def test_o_regcls(margin):
    """The squared error of a score is that of its margin, (g - y)^2 = (gy - 1)^2; what logistic regression loses far out is nothing."""
    model = qed.RidgeClassifier(alpha=0).fit(LINE, SIDES)
    X = (np.array([margin, -margin]) / model.coef_[0, 0])[:, None]
    g, y = model.decision_function(X), np.array([1.0, -1.0])
    np.testing.assert_allclose(g * y, margin, atol=1e-12)
    np.testing.assert_allclose((g - y) ** 2, (margin - 1) ** 2, atol=1e-11)
    before, after = (
        qed.LogisticRegression(C=1e3).fit(np.vstack([LINE, [[far]]]), np.append(SIDES, 1)) for far in (10.0, 30.0)
    )
    # The row at 10 has a probability of one to more digits than the tolerance asks for, so moving it changes nothing.
    assert threshold(after) == pytest.approx(threshold(before), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_lssvm_phi(seed):
    """Two rings: a plane is worth nothing, a conic (squares and products) separates them."""
    X, y = rings(200, radii=(1.0, 3.0), noise=0.1, random_state=seed)
    assert qed.RidgeClassifier().fit(X, y).score(X, y) <= 0.62
    lift = qed.PolynomialFeatures(2, include_bias=False).fit(X)
    model = qed.RidgeClassifier(1e-3).fit(lift.transform(X), y)
    assert model.score(lift.transform(X), y) == 1
    a, b, c = model.coef_[0][2:]
    assert 4 * a * c > b**2  # an ellipse


def bump(X, w):
    """A net of one hidden layer: two neurons, one output."""
    hidden = np.tanh(X @ w[:4].reshape(2, 2) + w[4:6])
    return hidden @ w[6:8] + w[8]


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
def test_lssvm_nn():
    """Any score will do: a linear one gives the plane, a net solves exclusive or; a score on the threshold belongs to the first class."""
    X, y = clouds(k=2, p=2)
    signs = np.where(y == 1, 1.0, -1.0)
    linear = qed.NonlinearLeastSquares(lambda X, w: X @ w[:2] + w[2], np.zeros(3)).fit(X, signs)
    plane = qed.RidgeClassifier(alpha=0).fit(X, y)
    np.testing.assert_allclose(linear.coef_, np.append(plane.coef_[0], plane.intercept_), rtol=1e-6)
    X, y = xor(120, noise=0.1, random_state=0)
    signs = np.where(y == 1, 1.0, -1.0)
    starts = np.random.default_rng(0).standard_normal((6, 9))
    net = qed.NonlinearLeastSquares(bump, starts, max_iter=200).fit(X, signs)
    assert ((net.predict(X) > 0) == (y == 1)).mean() > 0.97 > qed.RidgeClassifier().fit(X, y).score(X, y)
    on_it = qed.RidgeClassifier(alpha=0, fit_intercept=False).fit([[-1.0], [1.0]], [-1, 1])
    assert on_it.decision_function([[0.0]])[0] == 0 and on_it.predict([[0.0]])[0] == -1


def test_lssvm_mc():
    """More classes: a ridge regression for each code; with a free constant the codes of every row sum to one; two codes are one plane."""
    X, y = clouds(k=4)
    model = qed.RidgeClassifier(0.3).fit(X, y)
    codes = qed.OneHotEncoder(sparse_output=False).fit_transform(y[:, None])
    W = qed.Ridge(0.3).fit(X, codes)
    np.testing.assert_allclose(model.coef_, 2 * W.coef_, rtol=1e-9, atol=1e-12)
    far = 10 * np.random.default_rng(5).standard_normal((50, 3))
    shares = (model.decision_function(far) + 1) / 2
    np.testing.assert_allclose(shares, W.predict(far), atol=1e-10)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-10)
    assert model.predict(far).tolist() == model.classes_[W.predict(far).argmax(axis=1)].tolist()
    X, y = clouds(k=2)
    two = qed.Ridge(0.3).fit(X, qed.OneHotEncoder(sparse_output=False).fit_transform(y[:, None]))
    np.testing.assert_allclose(two.coef_[1] - two.coef_[0], qed.RidgeClassifier(0.3).fit(X, y).coef_[0], rtol=1e-9)


def test_lssvm_mc_masks_a_class_in_the_middle():
    """Three classes in a row: the plane of the middle one is flat and wins nowhere, though discriminant analysis has no trouble."""
    random = np.random.default_rng(0)
    y = np.repeat(["left", "middle", "right"], 50)
    X = np.repeat([-4.0, 0.0, 4.0], 50)[:, None] + 0.5 * random.standard_normal((150, 1))
    model = qed.RidgeClassifier(alpha=0).fit(X, y)
    assert "middle" not in model.predict(X) and model.score(X, y) == pytest.approx(2 / 3)
    assert qed.LinearDiscriminantAnalysis().fit(X, y).score(X, y) == 1
    squares = np.column_stack([X, X**2])
    assert qed.RidgeClassifier(alpha=0).fit(squares, y).score(squares, y) == 1
