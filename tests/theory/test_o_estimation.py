"""O-BAYES, O-MLE-BERN, O-MLE-MULTI, O-MLE-GAUSS, O-BETA, O-DISCPRIOR, O-PREDICTIVE, O-GAUSSGAUSS, KLDIV: likelihood, priors, estimates."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

import qed
from qed.base.errors import DegenerateError, InputError, NotAvailableError

# Numbers of the text are fractions; ours are sums of logarithms of size three at the most, and their exponential.
EXACT = 64 * 2.0**-52


def test_late_to_class():
    """O-BAYES: the likely explanation that is rare loses against the frequent one."""
    rare = 1e-4
    family = {"martians": qed.stats.Bernoulli(0.97), "overslept": qed.stats.Bernoulli(0.5)}
    prior = qed.stats.DiscretePrior({"martians": rare, "overslept": 1 - rare}, family.__getitem__)
    after = prior.posterior([1])
    assert after.most_probable == "overslept" and prior.most_likely([1]) == "martians"
    assert sum(after.probabilities.values()) == pytest.approx(1)
    even = qed.stats.DiscretePrior({"martians": 1, "overslept": 1}, family.__getitem__)
    assert even.posterior([1]).most_probable == even.most_likely([1])


def test_heights_are_decided_where_the_densities_cross():
    model = qed.QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]).fit(
        [[160.0], [172.0], [172.0], [188.0]], ["w", "w", "m", "m"]
    )
    grid = np.linspace(150, 200, 5001)[:, None]
    crossing = np.flatnonzero(np.diff(np.sign(model.decision_function(grid))))
    at = grid[crossing[0], 0]
    density = [qed.stats.Gaussian(m, S).density([at]) for m, S in zip(model.means_, model.covariance_)]
    assert density[0] == pytest.approx(density[1], rel=1e-2)


@pytest.mark.parametrize(
    ("data", "share"),
    [
        ([1, 0, 1, 1], Fraction(3, 4)),
        ([1, 1, 0], Fraction(2, 3)),
        ([1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1], Fraction(8, 11)),
        ([0, 0, 0, 0, 1, 1, 0, 0, 0], Fraction(2, 9)),
        ([1, 1, 1, 1, 0, 1, 1, 1], Fraction(7, 8)),
    ],
)
def test_bernoulli_shares(data, share):
    found = qed.stats.Bernoulli.fit(data)
    assert found.p == float(share)
    best, step = found.log_likelihood(data), 1e-4
    low, high = (qed.stats.Bernoulli(found.p + side * step).log_likelihood(data) for side in (-1, 1))
    assert low < best and high < best
    assert (high - low) / (2 * step) == pytest.approx(0, abs=1e-2) and (high - 2 * best + low) / step**2 < 0


def test_the_likelihood_of_two_ones_and_a_zero():
    assert np.exp(qed.stats.Bernoulli.fit([1, 1, 0]).log_likelihood([1, 1, 0])) == pytest.approx(4 / 27, rel=EXACT)
    assert qed.stats.Bernoulli(1.0).log_likelihood([1, 0]) == -np.inf  # what was seen can not be impossible


def test_a_die():
    die = qed.stats.Categorical.fit([4, 6, 4, 2, 3, 3], values=range(1, 7))
    np.testing.assert_allclose(die.p, [0, 1 / 6, 1 / 3, 1 / 3, 0, 1 / 6], rtol=EXACT)
    rng = np.random.default_rng(0)
    for other in rng.dirichlet(np.ones(6), size=50):
        assert qed.stats.Categorical(other, die.values).log_likelihood([4, 6, 4, 2, 3, 3]) <= die.log_likelihood(
            [4, 6, 4, 2, 3, 3]
        )


def test_the_variance_of_maximum_likelihood_is_too_small():
    normal = qed.stats.Gaussian([3.0], [[4.0]])

    class Draws:
        def sample(self, n, random_state):
            return normal.sample(n, random_state)[:, 0]

    biased = qed.stats.assess_estimator(lambda X: X.var(axis=1), Draws(), truth=4.0, n=5)
    honest = qed.stats.assess_estimator(lambda X: X.var(axis=1, ddof=1), Draws(), truth=4.0, n=5)
    assert honest.seems_unbiased and not biased.seems_unbiased
    assert biased.bias == pytest.approx(-4.0 / 5, abs=5 * biased.bias_error)
    sample = normal.sample(50, 0)[:, 0]
    fitted = qed.stats.Gaussian.fit(sample)
    assert fitted.mean[0] == pytest.approx(sample.mean()) and fitted.covariance[0, 0] == pytest.approx(sample.var())


def test_beta_is_conjugate():
    data = [1, 1, 1, 1, 0, 1, 1, 1]
    prior = qed.stats.Beta(2, 2)
    after = prior.posterior(data)
    assert (after.a, after.b, after.mean, after.mode) == (9, 3, 0.75, 0.8)

    def weight(p):
        return float(prior.density(p)) * np.exp(qed.stats.Bernoulli(p).log_likelihood(data))

    whole = quad(weight, 0, 1)[0]
    for p in (0.2, 0.6, 0.9):
        assert float(after.density(p)) == pytest.approx(weight(p) / whole, rel=1e-9)
    assert quad(lambda p: p * weight(p), 0, 1)[0] / whole == pytest.approx(after.mean, rel=1e-9)
    assert qed.stats.Beta(1, 1).posterior(data).mode == qed.stats.Bernoulli.fit(data).p
    assert qed.stats.Beta(5, 5).posterior(np.tile(data, 10_000)).mean == pytest.approx(7 / 8, abs=1e-3)
    assert after.predictive().p == 0.75
    with pytest.raises(NotAvailableError, match="no single most probable"):
        _ = qed.stats.Beta(1, 1).mode


def test_dirichlet_is_conjugate():
    after = qed.stats.Dirichlet([1, 1, 1], ["a", "b", "c"]).posterior(["a", "a", "c"])
    np.testing.assert_allclose(after.mean, [3 / 6, 1 / 6, 2 / 6])
    assert after.predictive().probability("b") == pytest.approx(1 / 6)
    two = qed.stats.Dirichlet([2, 3]).posterior([0, 0, 1])
    one = qed.stats.Beta(3, 2).posterior([0, 0, 1])
    assert two.mean[1] == pytest.approx(one.mean) and two.mode[1] == pytest.approx(one.mode)


def uniform_prior():
    return qed.stats.DiscretePrior({1: 2 / 3, 2: 1 / 3}, lambda top: qed.stats.Uniform(0, top))


def test_a_value_above_one_settles_it():
    after = uniform_prior().posterior([0.5, 1.3, 0.7])
    assert after.probabilities[2] == 1.0
    assert after.most_probable == uniform_prior().most_likely([0.5, 1.3, 0.7]) == after.mean == 2


def test_three_small_values():
    prior = uniform_prior()
    found = prior.log_likelihoods([0.5, 0.7, 0.1])
    assert np.exp(found[1]) == 1 and np.exp(found[2]) == pytest.approx(1 / 8, rel=EXACT)
    evidence = sum(share * np.exp(found[theta]) for theta, share in prior.probabilities.items())
    assert evidence == pytest.approx(51 / 72, rel=EXACT)
    after = prior.posterior([0.5, 0.7, 0.1])
    assert after.probabilities[1] == pytest.approx(48 / 51, rel=EXACT)
    assert after.probabilities[2] == pytest.approx(3 / 51, rel=EXACT)
    assert after.most_probable == 1 and prior.most_likely([0.5, 0.7, 0.1]) == 1
    assert after.mean == pytest.approx(54 / 51, rel=EXACT)


def test_the_density_of_the_next_value():
    after = uniform_prior().posterior([0.5, 0.7, 0.1])
    assert float(after.predictive_density(0.82)) == pytest.approx(99 / 102, rel=EXACT)
    assert float(after.predictive_density(1.3)) == pytest.approx(1 / 34, rel=EXACT)
    assert quad(lambda x: float(after.predictive_density(x)), 0, 2, points=[1])[0] == pytest.approx(1)


def test_impossible_data_are_said():
    with pytest.raises(DegenerateError, match="No candidate"):
        uniform_prior().posterior([3.0])


def test_a_gaussian_prior_on_a_mean():
    assert qed.stats.GaussianMean(0.0, 1.0, noise=1.0).posterior([2.0, 4.0]).mean == 2.0
    x = np.array([1.0, 2.5, 4.0, 0.5])
    after = qed.stats.GaussianMean(-1.0, 0.5, noise=2.0).posterior(x)
    grid = np.linspace(-6, 8, 200_001)
    log = -((grid + 1) ** 2) / (2 * 0.5) - ((x[:, None] - grid) ** 2).sum(axis=0) / (2 * 2.0)
    belief = np.exp(log - log.max())
    assert grid[belief.argmax()] == pytest.approx(after.mean, abs=1e-4)
    assert (grid * belief).sum() / belief.sum() == pytest.approx(after.mean, abs=1e-6)
    share = (4 / 2.0) / (4 / 2.0 + 1 / 0.5)
    assert after.mean == pytest.approx(share * x.mean() + (1 - share) * -1.0)
    assert qed.stats.GaussianMean(-1.0, np.inf, noise=2.0).posterior(x).mean == pytest.approx(x.mean())
    assert qed.stats.GaussianMean(-1.0, 0.0, noise=2.0).posterior(x).mean == -1.0
    assert qed.stats.GaussianMean(-1.0, 0.5, noise=2.0).posterior(np.tile(x, 100_000)).mean == pytest.approx(
        x.mean(), abs=1e-4
    )


def test_divergence():
    half, nine, tenth, quarter = ([1 - p, p] for p in (0.5, 0.9, 0.1, 0.25))
    assert qed.stats.kl_divergence(half, nine) == pytest.approx(0.5108256238, abs=1e-10)
    assert qed.stats.kl_divergence(nine, half) == pytest.approx(0.3680642072, abs=1e-10)
    over = qed.stats.kl_divergence(half, quarter) + qed.stats.kl_divergence(quarter, tenth)
    assert over == pytest.approx(0.2362, abs=1e-4) and qed.stats.kl_divergence(half, tenth) > over
    p, q = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 100))
    np.testing.assert_allclose(
        qed.stats.kl_divergence(p, q), qed.stats.cross_entropy(p, q) - qed.stats.entropy(p), atol=1e-12
    )
    assert (qed.stats.kl_divergence(p, q) > 0).all() and (qed.stats.kl_divergence(p, p) == 0).all()
    assert qed.stats.kl_divergence([1.0, 0.0], [0.5, 0.5]) == pytest.approx(np.log(2))
    assert qed.stats.kl_divergence([0.5, 0.5], [1.0, 0.0]) == np.inf


def test_cross_entropy_and_divergence_have_the_same_minimum():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = (rng.random(200) < expit(2 * x)).astype(float)
    truth = np.column_stack([1 - y, y])
    model = qed.LogisticRegression(C=None, fit_intercept=False).fit(x[:, None], y)
    slopes = model.coef_[0, 0] + np.linspace(-0.5, 0.5, 101)
    chance = [np.column_stack([expit(-w * x), expit(w * x)]) for w in slopes]
    cross = [qed.stats.cross_entropy(truth, p).sum() for p in chance]
    apart = [qed.stats.kl_divergence(truth, p).sum() for p in chance]
    np.testing.assert_allclose(cross, apart, rtol=1e-12)
    assert np.argmin(cross) == 50


def test_other_distributions():
    data = np.array([3.0, -1.0, 4.0, 1.0, 5.0])
    assert qed.stats.Uniform.fit(data) == qed.stats.Uniform(-1.0, 5.0)
    found = qed.stats.LaplaceDistribution.fit(data)
    assert found.center == 3.0 and found.scale == pytest.approx(np.abs(data - 3).mean())
    assert qed.stats.LaplaceDistribution.fit([0.0, 1.0], [3, 1]) == qed.stats.LaplaceDistribution(0.0, 0.25)
    for kind in (
        qed.stats.Uniform(-1, 3),
        qed.stats.LaplaceDistribution(2.0, 0.5),
        qed.stats.Bernoulli(0.3),
        qed.stats.Beta(2, 5),
    ):
        drawn = kind.sample(20_000, random_state=0)
        assert drawn.mean() == pytest.approx(kind.mean, abs=5 * np.sqrt(kind.variance / 20_000))
        assert drawn.var() == pytest.approx(kind.variance, rel=0.1)


@pytest.mark.parametrize("bad", [[], [np.nan], ["x"], [[1.0]], [0.5]])
def test_bad_samples_are_refused(bad):
    with pytest.raises(InputError):
        qed.stats.Bernoulli.fit(bad)
