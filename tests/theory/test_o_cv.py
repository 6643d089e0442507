"""O-CV: every row is validated once; leaving one out is as many folds as rows; for ridge it has a short way; it picks lambda and k."""

import numpy as np
import pytest

import qed


@pytest.mark.parametrize("k", [2, 5, 10, 12])
def test_every_row_is_validated_exactly_once(k):
    seen = np.concatenate([test for _, test in qed.KFold(k, shuffle=True, random_state=0).split(np.zeros((57, 1)))])
    assert sorted(seen) == list(range(57))
    sizes = [len(test) for _, test in qed.KFold(k).split(np.zeros((57, 1)))]
    assert max(sizes) - min(sizes) <= 1


def test_leaving_one_out_is_as_many_folds_as_rows():
    X = np.zeros((9, 1))
    ones = [(train.tolist(), test.tolist()) for train, test in qed.LeaveOneOut().split(X)]
    folds = [(train.tolist(), test.tolist()) for train, test in qed.KFold(9).split(X)]
    assert sorted(ones) == sorted(folds)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_the_short_way_of_ridge_is_leaving_rows_out(alpha):
    """e_i / (1 - h_ii), with the hat matrix of the centred rows, is what a fit without row i is off by."""
    lots = np.random.default_rng(0)
    X = lots.standard_normal((25, 4))
    y = X @ [1.0, -2.0, 0.0, 1.0] + lots.standard_normal(25)
    model = qed.Ridge(alpha=alpha, fit_intercept=False).fit(X, y)
    leverage = np.diag(X @ np.linalg.solve(X.T @ X + alpha * np.eye(4), X.T))
    short = (y - model.predict(X)) / (1 - leverage)
    left_out = y - qed.cross_val_predict(qed.Ridge(alpha=alpha, fit_intercept=False), X, y, cv=qed.LeaveOneOut())
    assert np.allclose(short, left_out, rtol=1e-9, atol=1e-9)


def test_it_picks_lambda_and_k_as_fitting_every_fold_does():
    lots = np.random.default_rng(1)
    X = lots.standard_normal((90, 5))
    y = X[:, 0] + 0.7 * lots.standard_normal(90)
    folds = qed.KFold(5, shuffle=True, random_state=0)
    alphas = [0.01, 1.0, 10.0, 100.0]
    found = qed.Search(qed.Ridge(), {"alpha": alphas}, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    errors = [
        np.mean([((y[b] - qed.Ridge(alpha=a).fit(X[t], y[t]).predict(X[b])) ** 2).mean() for t, b in folds.split(X)])
        for a in alphas
    ]
    assert found.best_params_["alpha"] == alphas[int(np.argmin(errors))]
    label = (y > 0).astype(int)
    ks = [1, 3, 5, 7, 9]
    chosen = qed.Search(qed.KNeighborsClassifier(), {"n_neighbors": ks}, cv=folds).fit(X, label)
    wrong = [
        np.mean(
            [
                (qed.KNeighborsClassifier(k).fit(X[t], label[t]).predict(X[b]) != label[b]).mean()
                for t, b in folds.split(X)
            ]
        )
        for k in ks
    ]
    # Several k may be as good.
    assert wrong[ks.index(chosen.best_params_["n_neighbors"])] <= min(wrong) + 1e-12
