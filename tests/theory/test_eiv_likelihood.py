"""eiv-likelihood: the printed likelihood of a line with errors in both coordinates. Its parameter is called a once [ERR 21]; and it
overlooks that the observed x holds its own noise [ERR 29], so its maximum is biased: a demonstration, not an estimator."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import slope


def points(seed, n=200, w=2.0):
    random = np.random.default_rng(seed)
    truth = 3 * random.standard_normal(n)
    return truth + random.standard_normal(n), w * truth + random.standard_normal(n)


def test_the_noise_about_the_line_has_variance_w2_plus_1():
    """Theory, by simulation; and that is the variance with which the likelihood is written."""
    x, y = points(0, n=200_000)
    # A Gaussian of the variance w² + 1 has -log(2 pi e (w² + 1)) / 2 on average, and no other variance fits these distances.
    typical = qed.errors_in_variables_likelihood(2.0, x, y) / len(x)
    assert typical == pytest.approx(-0.5 * np.log(2 * np.pi * np.e * 5), abs=4 * np.sqrt(0.5 / len(x)))
    few = slice(0, 20)
    by_hand = -0.5 * (np.log(2 * np.pi * 5) * 20 + ((y - 2 * x)[few] ** 2).sum() / 5)
    assert qed.errors_in_variables_likelihood(2.0, x[few], y[few]) == pytest.approx(by_hand, rel=1e-12)


def test_the_formula():
    """Computes: const - log(w^2 + 1)/2 - (y - wx)^2 / (2 (w^2 + 1)) for every point."""
    x, y = points(1, n=10)
    for w in (-1.0, 0.0, 2.5):
        variance = w**2 + 1
        each = -0.5 * np.log(2 * np.pi) - 0.5 * np.log(variance) - 0.5 * (y - w * x) ** 2 / variance
        assert qed.errors_in_variables_likelihood(w, x, y) == pytest.approx(each.sum(), rel=1e-12)
    grid = np.linspace(-1, 3, 5)
    assert qed.errors_in_variables_likelihood(grid, x, y).shape == (5,)


@pytest.mark.parametrize("seed", range(3))
def test_the_maximum_is_one(seed):
    x, y = points(seed)
    best = qed.errors_in_variables_maximum(x, y)
    steep = slope(lambda w: qed.errors_in_variables_likelihood(w[0], x, y), [best])
    assert abs(steep[0]) < 1e-3
    grid = np.linspace(-10, 10, 2001)
    assert qed.errors_in_variables_likelihood(grid, x, y).max() <= qed.errors_in_variables_likelihood(best, x, y)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_not_total_least_squares_and_biased_low(seed):
    """Numbers [seed]: for w = 2, x of deviation 3, unit noise, n = 200: TLS near 2, the maximum near 1.8 [ERR 29]."""
    x, y = points(seed)
    total = qed.TotalLeastSquares(fit_intercept=False).fit(x[:, None], y).coef_[0]
    best = qed.errors_in_variables_maximum(x, y)
    assert total == pytest.approx(2, abs=0.2)
    assert 1.6 < best < 1.95 and total - best > 0.1


def test_more_points_do_not_help():
    """[ERR 29]: the bias stays."""
    x, y = points(0, n=100_000)
    assert qed.errors_in_variables_maximum(x, y) == pytest.approx(1.82, abs=0.03)
    assert qed.TotalLeastSquares(fit_intercept=False).fit(x[:, None], y).coef_[0] == pytest.approx(2, abs=0.02)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="one length"):
        qed.errors_in_variables_likelihood(1.0, [1.0], [1.0, 2.0])
