"""O-MODELSEL: choose a model by its error on rows it has not seen, never by its training error."""

import numpy as np

import qed
from qed.data.synthetic import polynomial

DEGREES = range(10)


def test_choose_the_degree():
    """Training error always prefers the largest degree; the validation error finds the truth, a cubic."""
    X, y = polynomial(80, coef=[0.0, -1.0, 0.0, 4.0], noise=0.3, random_state=1)
    train, test, t, r = qed.train_test_split(X, y, random_state=0)
    training, validation = [], []
    for degree in DEGREES:
        features = qed.PolynomialFeatures(degree)
        model = qed.LinearRegression(fit_intercept=False).fit(features.fit_transform(train), t)
        training.append(qed.mean_squared_error(t, model.predict(features.transform(train))))
        validation.append(qed.mean_squared_error(r, model.predict(features.transform(test))))
    assert np.argmin(training) == max(DEGREES)
    assert validation[3] < 0.5 * min(validation[:3])
    assert int(np.argmin(validation)) in (3, 4, 5)


def test_cross_validation_picks_the_true_degree():
    """The simplest degree within one standard error of the best is the cubic, for nearly every draw, and never less."""
    chosen = []
    for seed in range(6):
        X, y = polynomial(80, coef=[0.0, -1.0, 0.0, 4.0], noise=0.3, random_state=seed)
        found = []
        for degree in range(7):
            features = (
                qed.PolynomialFeatures(degree, include_bias=False).fit_transform(X) if degree else np.zeros((80, 1))
            )
            model = qed.LinearRegression() if degree else qed.MeanRegressor()
            folds = qed.KFold(10, random_state=0)
            found.append(qed.cross_validate(model, features, y, folds, "neg_mean_squared_error"))
        best = max(found, key=lambda one: one.mean)
        chosen.append(next(k for k, one in enumerate(found) if one.mean >= best.mean - best.standard_error))
    assert chosen.count(3) >= 5 and min(chosen) >= 3


def test_regularised_error():
    """E' = error on data + lambda * complexity: a larger lambda gives a simpler model, lambda is chosen on rows held out."""
    X, y = polynomial(30, coef=[0.0, 2.0], noise=0.5, random_state=2)
    Phi = qed.PolynomialFeatures(8, include_bias=False).fit_transform(X)
    search = qed.Search(qed.Ridge(), {"alpha": [1e-6, 1e-2, 1.0, 100.0]}, cv=5).fit(Phi, y)
    sizes = [np.linalg.norm(qed.Ridge(alpha=a).fit(Phi, y).coef_) for a in (1e-6, 1e-2, 1.0, 100.0)]
    assert (np.diff(sizes) < 0).all()
    assert search.best_params_["alpha"] > 1e-6
