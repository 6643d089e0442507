"""prior-cv: choosing between beliefs by cross-validation."""

import numpy as np

import qed
from qed.selection.splitting.splits import KFold

GOOD, BAD = (0.75, 0.75), (-0.75, -0.75)
SIGMA, LAMBDA = 0.5, 6.0


def table(seed):
    """Twenty points of the line with slope 0.5 and intercept 1, x uniform from 1 to 5, noise of deviation 0.5."""
    random = np.random.default_rng(seed)
    x = random.uniform(1, 5, 20)
    return np.column_stack([x, np.ones(20)]), 0.5 * x + 1 + SIGMA * random.standard_normal(20)


def model(centre):
    return qed.GaussianMAP(centre, SIGMA**2 / LAMBDA, SIGMA**2)


def error(centre, X, y, folds):
    """The mean over folds of the mean squared error on what was held out."""
    errors = []
    for train, test in folds:
        w = qed.linear_gaussian(X[train], y[train], noise=LAMBDA, prior=1.0, prior_mean=centre).mean
        errors.append(np.mean((X[test] @ w - y[test]) ** 2))
    return np.mean(errors)


def test_well_centred_prior_wins_every_time():
    """Numbers: the good prior won in 200 of 200 draws, with five folds shared by both."""
    wins = 0
    for seed in range(200):
        X, y = table(seed)
        folds = list(KFold(5, shuffle=True, random_state=seed).split(X))
        wins += error(GOOD, X, y, folds) < error(BAD, X, y, folds)
    assert wins == 200


def test_works_inside_a_grid_search():
    """The prior is a parameter like any other, so scikit-learn's search chooses it."""
    from sklearn.model_selection import GridSearchCV

    X, y = table(0)
    grid = {"prior_mean": [GOOD, BAD], "prior_covariance": [SIGMA**2 / LAMBDA]}
    search = GridSearchCV(model(GOOD), grid, cv=5, scoring="neg_mean_squared_error").fit(X, y)
    assert search.best_params_["prior_mean"] == GOOD


def test_variance_can_be_chosen_too():
    """A bad centre does least harm when its variance is large, and cross-validation notices."""
    X, y = table(1)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))

    def score(variance):
        errors = []
        for train, test in folds:
            fitted = qed.GaussianMAP(BAD, variance, SIGMA**2).fit(X[train], y[train])
            errors.append(np.mean((fitted.predict(X[test]) - y[test]) ** 2))
        return np.mean(errors)

    assert score(100.0) < score(SIGMA**2 / LAMBDA) < score(1e-4)
