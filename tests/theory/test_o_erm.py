"""O-ERM: the empirical risk tends to that of the population, its minimiser has the least of all, and an error has three parts."""

import numpy as np
import pytest

import qed


def draw(n, lots):
    x = lots.uniform(-1, 1, (n, 1))
    return x, np.sin(3 * x[:, 0]) + 0.3 * lots.standard_normal(n)


def truth(x):
    return np.sin(3 * x[:, 0])


class Power:
    """Least squares on powers of x up to a degree."""

    def __init__(self, degree):
        self.map, self.line = qed.PolynomialFeatures(degree, include_bias=False), qed.LinearRegression()

    def fit(self, X, y):
        self.line.fit(self.map.fit_transform(X), y)
        return self

    def predict(self, X):
        return self.line.predict(self.map.transform(X))


def test_the_empirical_risk_of_a_fixed_hypothesis_tends_to_the_population_risk():
    lots = np.random.default_rng(0)
    for n in (100, 10_000, 400_000):
        x, y = draw(n, lots)
        losses = (y - x[:, 0]) ** 2
        # E(sin 3x - x)^2 = (1 - sin 6 / 6) / 2 + 1/3 - 2 (sin 3 - 3 cos 3) / 9, and the noise.
        risk = (1 - np.sin(6) / 6) / 2 + 1 / 3 - 2 * (np.sin(3) - 3 * np.cos(3)) / 9 + 0.09
        assert abs(qed.mean_squared_error(y, x[:, 0]) - risk) < 4 * losses.std() / np.sqrt(n)


def test_no_sampled_hypothesis_has_less_empirical_risk_than_the_minimiser():
    lots = np.random.default_rng(1)
    x, y = draw(60, lots)
    line = qed.LinearRegression().fit(x, y)
    least = qed.mean_squared_error(y, line.predict(x))
    for _ in range(300):
        other = line.intercept_ + lots.normal(scale=0.5) + (line.coef_[0] + lots.normal(scale=0.5)) * x[:, 0]
        assert qed.mean_squared_error(y, other) >= least


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_the_parts_of_the_error_add_up(degree):
    found = qed.risk_parts(Power(degree), draw, truth, 40, population=20_000, random_state=0)
    whole = found.approximation + found.generalisation + found.optimisation
    assert found.population - found.oracle == pytest.approx(whole, abs=1e-12)
    assert found.oracle == pytest.approx(0.09, rel=0.05) and found.optimisation == 0


def test_a_larger_class_approximates_better_and_generalises_worse():
    small, large = (
        [qed.risk_parts(Power(degree), draw, truth, 20, population=20_000, random_state=seed) for seed in range(10)]
        for degree in (1, 7)
    )
    assert small[0].approximation > 0.05 > large[0].approximation
    assert np.median([one.generalisation for one in large]) > np.median([one.generalisation for one in small])
    assert all(one.empirical < other.empirical for one, other in zip(large, small))


def test_a_search_that_stops_early_adds_a_part():
    early = qed.GradientRidge(alpha=0.0, max_iter=2, tol=0.0)
    lots = np.random.default_rng(0)
    scales = np.array([1.0, 8.0, 0.2])

    def wide(n, random):
        X = random.standard_normal((n, 3)) * scales
        return X, X @ [1.0, -1.0, 2.0] + 0.1 * random.standard_normal(n)

    with pytest.warns(qed.base.errors.ConvergenceWarning):
        found = qed.risk_parts(
            early,
            wide,
            lambda X: X @ [1.0, -1.0, 2.0],
            100,
            minimiser=qed.LinearRegression(),
            population=5000,
            random_state=0,
        )
    assert found.optimisation > 10 * abs(found.generalisation) and abs(found.approximation) < 1e-3
    assert "by the search" in str(found) and lots is not None
