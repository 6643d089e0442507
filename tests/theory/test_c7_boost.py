"""C7-BOOST: boosting adds pieces greedily; with squared errors and one column at a time it is matching pursuit."""

import numpy as np
import pytest

import qed
from qed.optim import SquaredLoss

random = np.random.default_rng(1)
X = random.standard_normal((60, 5))
Y = X @ [1.0, -2.0, 0.0, 0.5, 0.0] + 0.3 * random.standard_normal(60)


# A pursuit that is stopped after some rounds says so.
@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
def test_squared_errors_and_single_columns_are_matching_pursuit():
    loss = SquaredLoss()
    coef, length = np.zeros(5), np.linalg.norm(X, axis=0)
    for rounds in range(1, 9):
        downhill = -loss.gradient(X @ coef, Y)
        along = X.T @ downhill / length
        best = int(np.abs(along).argmax())
        coef[best] += along[best] / length[best]
        pursuit = qed.MatchingPursuit(n_nonzero_coefs=5, max_iter=rounds, tol=0.0, fit_intercept=False)
        np.testing.assert_allclose(pursuit.fit(X, Y).coef_, coef, rtol=0, atol=1e-10)


def test_each_round_takes_the_mean_of_what_is_left_over():
    model = qed.GradientBoostingRegressor(max_iter=6, max_leaf_nodes=4, min_samples_leaf=5, learning_rate=1.0).fit(X, Y)
    residual = Y - model.baseline_[0]
    for number in range(6):
        tree = model.forest_.tree(number)
        leaf = tree.apply(X)
        for node in np.unique(leaf):
            assert tree.value[node, 0] == pytest.approx(residual[leaf == node].mean(), rel=1e-12, abs=1e-14)
        residual = residual - tree.value[leaf, 0]
    np.testing.assert_allclose(Y - model.predict(X), residual, atol=1e-13)
