"""risk-taxonomy: training and validation errors are means; validation estimates the risk, training flatters it.

The world: x ~ N(0, 1), y = 1 + 2 x + noise of variance s².
The risk of h(x) = a + b x is then (1 - a)² + (2 - b)² + s², exactly.
"""

import numpy as np
import pytest

import qed
from qed.selection.metrics.classification import error_rate
from qed.selection.metrics.probability import brier_score_loss, log_loss
from qed.selection.metrics.ranking import roc_auc_score, roc_curve
from qed.selection.metrics.regression import mean_absolute_error, mean_squared_error, r2_score

NOISE = 0.5


def draw(random, n):
    x = random.normal(size=n)
    return x, 1 + 2 * x + NOISE * random.normal(size=n)


def risk(a, b):
    return (1 - a) ** 2 + (2 - b) ** 2 + NOISE**2


def fit(x, y):
    model = qed.LinearRegression().fit(x[:, None], y)
    return model.intercept_, model.coef_[0]


@pytest.mark.parametrize("metric", [mean_squared_error, mean_absolute_error, error_rate, log_loss, brier_score_loss])
def test_empirical_risks_are_means_over_rows(metric):
    """The risk of two sets together is the mean of theirs weighed by size; writing rows twice changes nothing."""
    random = np.random.default_rng(0)
    y = np.r_[0, 1, random.integers(2, size=28)]
    p = random.integers(2, size=30) if metric is error_rate else random.random(30)
    whole = metric(y, p)
    parts = [metric(y[rows], p[rows]) for rows in (slice(0, 10), slice(10, 30))]
    assert whole == pytest.approx((10 * parts[0] + 20 * parts[1]) / 30, rel=1e-13)
    assert whole == pytest.approx(metric(np.tile(y, 2), np.tile(p, 2)), rel=1e-13)
    counts = random.integers(1, 5, size=30)
    assert metric(y, p, sample_weight=counts) == pytest.approx(
        metric(np.repeat(y, counts), np.repeat(p, counts)), rel=1e-12
    )


def test_validation_error_tends_to_the_risk():
    """For a fixed h the error of m fresh rows is off by some standard errors; they fall like one over the root of m."""
    random = np.random.default_rng(1)
    a, b = 0.8, 2.3
    for m in (100, 10_000, 1_000_000):
        x, y = draw(random, m)
        losses = (y - a - b * x) ** 2
        assert abs(mean_squared_error(y, a + b * x) - risk(a, b)) < 4 * losses.std() / np.sqrt(m)


def test_validation_error_of_a_fixed_hypothesis_has_no_bias():
    random = np.random.default_rng(2)
    a, b = 0.8, 2.3
    found = np.array([mean_squared_error(y, a + b * x) for x, y in (draw(random, 5) for _ in range(4000))])
    assert abs(found.mean() - risk(a, b)) < 4 * found.std() / np.sqrt(len(found))


def test_training_error_flatters_on_average():
    """E[training error] = s² (n - 2) / n for least squares with two weights: below the noise, and the risk above."""
    random = np.random.default_rng(3)
    n, training, true, validation = 12, [], [], []
    for _ in range(3000):
        x, y = draw(random, n)
        a, b = fit(x, y)
        training.append(mean_squared_error(y, a + b * x))
        true.append(risk(a, b))
        x, y = draw(random, n)
        validation.append(mean_squared_error(y, a + b * x))
    noise = NOISE**2
    error = 4 * np.std(training) / np.sqrt(3000)
    assert abs(np.mean(training) - noise * (n - 2) / n) < error
    assert np.mean(training) + error < noise < np.mean(true)
    assert abs(np.mean(validation) - np.mean(true)) < 4 * np.std(validation) / np.sqrt(3000)


def test_judging_by_the_training_rows_is_data_incest():
    """One nearest neighbour knows its training labels by heart, even when they are coin flips."""
    random = np.random.default_rng(4)
    x, y, fresh = random.normal(size=(200, 1)), random.integers(2, size=200), random.normal(size=(400, 1))
    model = qed.KNeighborsClassifier(1).fit(x, y)
    assert error_rate(y, model.predict(x)) == 0
    assert error_rate(random.integers(2, size=400), model.predict(fresh)) > 0.4
    # Rows held out are not fooled.
    assert qed.cross_val_score(model, x, y, cv=5).mean() < 0.6


def test_the_mean_of_y_scores_zero_and_minimises_the_error():
    _, y = draw(np.random.default_rng(5), 50)
    assert r2_score(y, np.full(50, y.mean())) == pytest.approx(0, abs=1e-14)
    at_mean = mean_squared_error(y, np.full(50, y.mean()))
    assert all(mean_squared_error(y, np.full(50, y.mean() + shift)) > at_mean for shift in (-0.1, 0.01))


def test_proper_scores_favour_the_true_probabilities():
    """Averaged over outcomes that follow p, no other probability scores better than p."""
    p = 0.3
    y = np.r_[np.ones(30, dtype=int), np.zeros(70, dtype=int)]
    for score in (log_loss, brier_score_loss):
        values = [score(y, np.full(100, q)) for q in np.arange(0.05, 1, 0.05)]
        assert np.argmin(values) == 5
        assert score(y, np.full(100, p)) <= min(values) + 1e-15


class TestRankings:
    """O-ROC: the area is the chance of ranking a pair right, which is not an accuracy."""

    def test_heaven_hell_and_chance(self):
        y, score = np.array([0, 0, 1, 1]), np.array([0.1, 0.2, 0.8, 0.9])
        fpr, tpr, _ = roc_curve(y, score)
        assert (0, 1) in set(zip(fpr, tpr))
        assert roc_auc_score(y, score) == 1
        fpr, tpr, _ = roc_curve(y, -score)
        assert (1, 0) in set(zip(fpr, tpr))
        assert roc_auc_score(y, -score) == 0
        assert roc_auc_score(y, np.zeros(4)) == 0.5

    @pytest.mark.parametrize("seed", range(5))
    def test_curve_rises_from_corner_to_corner_and_negation_mirrors_it(self, seed):
        random = np.random.default_rng(seed)
        y, score = np.r_[0, 1, random.integers(2, size=50)], random.integers(8, size=52) / 8
        fpr, tpr, thresholds = roc_curve(y, score)
        assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
        assert (np.diff(fpr) >= 0).all()
        assert (np.diff(tpr) >= 0).all()
        assert (np.diff(thresholds) < 0).all()
        area = roc_auc_score(y, score)
        assert area == pytest.approx(np.trapezoid(tpr, fpr), rel=1e-13)
        assert roc_auc_score(y, -score) == pytest.approx(1 - area, rel=1e-13)
        assert roc_auc_score(y, np.exp(3 * score)) == pytest.approx(area, rel=1e-13)

    def test_the_area_is_not_the_accuracy(self):
        """A perfect ranking with a poor threshold: area 1, half of the labels wrong."""
        y, probability = np.array([0, 0, 1, 1]), np.array([0.6, 0.7, 0.8, 0.9])
        assert roc_auc_score(y, probability) == 1
        assert error_rate(y, (probability > 0.5).astype(int)) == 0.5

    def test_a_random_ranking_has_area_one_half(self):
        random = np.random.default_rng(6)
        y = np.repeat([0, 1], [60, 20])
        areas = [roc_auc_score(y, random.normal(size=80)) for _ in range(500)]
        deviation = np.sqrt((80 + 1) / (12 * 60 * 20))
        assert abs(np.mean(areas) - 0.5) < 4 * deviation / np.sqrt(500)
        assert np.std(areas) == pytest.approx(deviation, rel=0.15)
