"""O-01: the 0-1 loss of linear classifiers. A row on the plane is of the first class; the best plane of few points is found by trial."""

from itertools import combinations

import numpy as np
import pytest

import qed


def least_errors(X, y):
    """Try every plane through two of the points, moved a little to either side and turned: enough for points in general position."""
    best = min((y == 1).sum(), (y == -1).sum())
    for i, j in combinations(range(len(X)), 2):
        normal = np.array([X[j, 1] - X[i, 1], X[i, 0] - X[j, 0]])
        score = X @ normal - X[i] @ normal
        rest = np.delete(np.arange(len(X)), [i, j])
        for side in (1, -1):
            wrong = (side * y[rest] * score[rest] < 0).sum()
            # Turning and shifting by nothing much puts the two on any sides.
            best = min(best, wrong)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_no_classifier_beats_the_best_plane(seed):
    random = np.random.default_rng(seed)
    X, y = random.standard_normal((9, 2)), np.where(random.random(9) < 0.5, 1, -1)
    y[:2] = [1, -1]
    best = least_errors(X, y)
    for model in (
        qed.Perceptron(),
        qed.Perceptron(average=True),
        qed.LogisticRegression(),
        qed.LinearDiscriminantAnalysis(),
    ):
        errors = (model.fit(X, y).predict(X) != y).sum()
        assert errors >= best
    assert (best == 0) == qed.separating_plane(X, y).is_separable


def test_a_row_on_the_plane_belongs_to_the_first_class():
    model = qed.Perceptron(fit_intercept=False).fit([[-1.0, 0.0], [1.0, 0.0]], ["no", "yes"])
    assert model.decision_function([[0.0, 3.0]])[0] == 0 and model.predict([[0.0, 3.0]])[0] == "no"


def test_a_constant_column_is_an_intercept():
    random = np.random.default_rng(1)
    X = random.standard_normal((40, 2)) + [3.0, 0.0]
    y = np.where(X @ [1.0, 1.0] > 3.3, 1, -1)
    one = qed.Perceptron(shuffle=False).fit(X, y)
    two = qed.Perceptron(shuffle=False, fit_intercept=False).fit(np.column_stack([X, np.ones(40)]), y)
    np.testing.assert_allclose(np.append(one.coef_[0], one.intercept_), two.coef_[0], rtol=1e-12)
