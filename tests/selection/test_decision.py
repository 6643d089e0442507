"""Probabilities that are true, and lines drawn where errors cost least."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve as peer

from qed.base.errors import InputError, ParameterError
from qed.selection import best_threshold, calibration_curve, confusion_matrix, get_scorer


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 4, 10])
def test_the_curve_is_that_of_scikit_learn(strategy, n_bins):
    generator = np.random.default_rng(0)
    p = generator.random(300).round(2)
    y = (generator.random(300) < p).astype(int)
    for found, wanted in zip(
        calibration_curve(y, p, n_bins=n_bins, strategy=strategy), peer(y, p, n_bins=n_bins, strategy=strategy)
    ):
        np.testing.assert_allclose(found, wanted, rtol=300 * 2.0**-52)


def test_weights_are_repetitions_and_labels_words():
    y, p, w = np.array(["no", "yes", "yes", "no"]), np.array([0.1, 0.2, 0.8, 0.9]), np.array([1, 2, 0, 3])
    weighted = calibration_curve(y, p, n_bins=2, sample_weight=w)
    repeated = calibration_curve(np.repeat(y, w), np.repeat(p, w), n_bins=2)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-15)
    flipped = calibration_curve(y, 1 - p, n_bins=2, pos_label="no", sample_weight=w)
    np.testing.assert_allclose(flipped, 1 - np.array(weighted)[:, ::-1], rtol=1e-14)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=12),
    st.integers(0, 4),
    st.integers(0, 4),
)
def test_no_line_costs_less_than_the_best(rows, false_positive, false_negative):
    y, score = np.array([one for one, _ in rows]), np.array([two for _, two in rows], dtype=float)
    if y.all() or not y.any():
        with pytest.raises(InputError, match="one class only"):
            best_threshold(y, score)
        return
    costs = {"false_positive": false_positive, "false_negative": false_negative}
    line, least = best_threshold(y, score, **costs)

    def cost(t):
        matrix = confusion_matrix(y, score >= t, labels=[False, True])
        return false_positive * matrix[0, 1] + false_negative * matrix[1, 0]

    assert cost(line) == least
    assert least == min(cost(t) for t in [*score, np.inf])


def test_with_true_probabilities_the_line_is_that_of_bayes():
    # Of 1000 rows with the chance p, exactly 1000 p are positive: the best line is the first chance above c_FP / (c_FP + c_FN).
    p = np.repeat(np.arange(1, 10) / 10, 1000)
    y = np.concatenate([np.arange(1000) < k * 100 for k in range(1, 10)])
    assert best_threshold(y, p, false_positive=1, false_negative=3)[0] == 0.3
    assert best_threshold(y, p, false_positive=4, false_negative=1)[0] == 0.9


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InputError, match=r"outside \[0, 1\]"):
        calibration_curve([0, 1], [0.5, 2.0])
    with pytest.raises(ParameterError, match="strategy"):
        calibration_curve([0, 1], [0.5, 0.5], strategy="middle")
    with pytest.raises(ParameterError, match="false_positive"):
        best_threshold([0, 1], [0.5, 0.5], false_positive=-1)
    with pytest.raises(ParameterError, match="treats all classes alike.*f1"):
        get_scorer("accuracy").with_positive("yes")
