"""mle-vs-map-demo: slope and intercept by maximum likelihood and under three priors, from (0.5, 1.0)."""

import numpy as np
import pytest

import qed

x = np.repeat([3 + np.sqrt(0.15), 3 - np.sqrt(0.15)], 5)
X, y = np.column_stack([x, np.ones(10)]), 0.5 * x + 1.0
TRUTH = np.array([0.5, 1.0])
NOISE, VARIANCE = 0.6, 0.1  # their ratio is the fixture's lambda = 6


def under(centre):
    return qed.GaussianMAP(centre, VARIANCE, NOISE).fit(X, y)


def likely():
    return qed.LinearRegression(fit_intercept=False).fit(X, y).coef_


def test_maximum_likelihood_finds_the_truth():
    """Numbers: MLE = (0.5, 1.0), the points being free of noise."""
    np.testing.assert_allclose(likely(), TRUTH, rtol=1e-10)


@pytest.mark.parametrize(
    ("centre", "expected", "digits"),
    [
        pytest.param((0, 0), (0.70, 0.25), 1e-12, id="zero"),
        pytest.param((0.75, 0.75), (0.604545, 0.710227), 1e-6, id="good"),
        pytest.param((-0.75, -0.75), (0.795455, -0.210227), 1e-6, id="bad"),
    ],
)
def test_maximum_a_posteriori_under_three_priors(centre, expected, digits):
    """Numbers: (0.70, 0.25) exactly for the prior about zero, and those of the two other priors."""
    model = under(centre)
    np.testing.assert_allclose(model.coef_, expected, atol=digits)
    assert model.certificate_


def test_only_the_ratio_of_variances_enters():
    """The fixture is given by lambda = 6 alone."""
    for variance in (0.1, 1.0, 7.0):
        found = qed.GaussianMAP((0.75, 0.75), variance, 6 * variance).fit(X, y)
        np.testing.assert_allclose(found.coef_, under((0.75, 0.75)).coef_, rtol=1e-10)


def test_posterior_is_tighter_than_the_likelihood():
    """Theory: its contours lie inside, because its covariance is smaller in every direction."""
    likelihood = NOISE * np.linalg.inv(X.T @ X)
    assert np.linalg.eigvalsh(likelihood - under((0, 0)).covariance_).min() > 0


def test_likelihood_is_an_elongated_valley():
    """Figure: slope and intercept trade off, so the contours are long and narrow."""
    model = qed.LinearRegression(fit_intercept=False).fit(X, y)
    assert model.condition_**2 > 50
    assert qed.optim.condition_number(X.T @ X) == pytest.approx(np.linalg.cond(X.T @ X), rel=1e-8)


def test_order_of_errors():
    """Theory: the good prior errs less than the bad one; with noise-free data maximum likelihood errs not at all."""
    errors = [np.linalg.norm(under(centre).coef_ - TRUTH) for centre in ((0.75, 0.75), (-0.75, -0.75))]
    assert np.linalg.norm(likely() - TRUTH) < errors[0] < errors[1]


def test_zero_prior_pulls_towards_the_origin():
    """Theory: the answer is shorter than maximum likelihood's, more so for a narrower prior."""
    lengths = [np.linalg.norm(qed.GaussianMAP(0.0, v, NOISE).fit(X, y).coef_) for v in (0.01, 0.1, 1.0)]
    assert lengths[0] < lengths[1] < lengths[2] < np.linalg.norm(likely())


def test_a_good_prior_lowers_the_variance_under_noise():
    """Text: centred near the truth MAP is like MLE but varies less; centred at (-0.75, -0.75) it is much poorer."""
    random = np.random.default_rng(0)
    draws = [y + np.sqrt(NOISE) * random.standard_normal(10) for _ in range(300)]
    fits = {
        name: np.array([fit(target) for target in draws])
        for name, fit in {
            "mle": lambda t: np.linalg.lstsq(X, t)[0],
            "good": lambda t: qed.linear_gaussian(X, t, noise=NOISE, prior=VARIANCE, prior_mean=[0.75, 0.75]).mean,
            "bad": lambda t: qed.linear_gaussian(X, t, noise=NOISE, prior=VARIANCE, prior_mean=[-0.75, -0.75]).mean,
        }.items()
    }
    assert fits["good"].var(axis=0).sum() < fits["mle"].var(axis=0).sum()
    error = {name: np.mean(np.sum((w - TRUTH) ** 2, axis=1)) for name, w in fits.items()}
    assert error["good"] < error["bad"]
