"""O-BIASVAR: E[(r - g)²|x] = noise + (E[r|x] - g)², and its average over training sets; "bias" there is squared bias."""

import numpy as np

import qed

GRID = np.linspace(0.0, 1.0, 15)[:, None]


def study(degree, repetitions=120):
    """Fixed inputs and fresh noise, so that variance comes from noise alone."""
    features = qed.PolynomialFeatures(degree).fit(GRID)
    X = np.linspace(0.0, 1.0, 25)[:, None]

    def draw(random):
        return features.transform(X), curve(X) + 0.3 * random.standard_normal(25)

    model = qed.LinearRegression(fit_intercept=False)
    at = features.transform(GRID)
    return qed.bias_variance(model, draw, at, curve(GRID), noise_variance=0.09, repetitions=repetitions)


def curve(X):
    return np.sin(2 * np.pi * X[:, 0])


def test_the_decomposition_adds_up():
    found = study(3)
    assert found.certificate
    # Term by term, from the predictions alone.
    mean = found.predictions.mean(axis=0)
    np.testing.assert_allclose(found.bias_squared, (mean - found.truth) ** 2, atol=1e-12)
    np.testing.assert_allclose(found.variance, found.predictions.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.error, found.bias_squared + found.variance + 0.09, rtol=1e-12)
    random = np.random.default_rng(3)
    r = found.truth + 0.3 * random.standard_normal((300, *found.predictions.shape))
    error = ((r - found.predictions) ** 2).mean()
    assert abs(error - found.error.mean()) < 0.01


def test_bias_falls_and_variance_rises_with_the_degree():
    found = [study(degree) for degree in (0, 1, 3, 5)]
    bias = [one.bias_squared.mean() for one in found]
    variance = [one.variance.mean() for one in found]
    assert (np.diff(bias) < 0).all()
    assert (np.diff(variance) > 0).all()
