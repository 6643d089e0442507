"""O-ROC: confusion matrix, ROC and AUC; O-01: the loss that counts errors."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import qed

ROWS = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=14).filter(
    lambda rows: 0 < sum(label for label, _ in rows) < len(rows)
)


def split(rows):
    return np.array([label for label, _ in rows]), np.array([score for _, score in rows], dtype=float)


@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_the_curve_rises_from_nothing_to_everything_through_the_rates_of_the_confusion_matrix(rows):
    y, score = split(rows)
    fpr, tpr, thresholds = qed.roc_curve(y, score, drop_intermediate=False)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(fpr) >= 0).all() and (np.diff(tpr) >= 0).all()
    for false, hit, threshold in zip(fpr, tpr, thresholds):
        (tn, fp), (fn, tp) = qed.confusion_matrix(y, score >= threshold, labels=[False, True])
        assert (false, hit) == (fp / (fp + tn), tp / (tp + fn))


@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_the_area_is_the_statistic_of_mann_and_whitney(rows):
    y, score = split(rows)
    pairs = [(a > b) + (a == b) / 2 for a, b in product(score[y], score[~y])]
    area = qed.roc_auc_score(y, score)
    # A sum of at most 14 trapezia.
    assert abs(area - np.mean(pairs)) <= 64 * 2.0**-53
    assert abs(qed.roc_auc_score(y, -score) - (1 - area)) <= 64 * 2.0**-53
    assert qed.roc_auc_score(y, np.zeros(len(y))) == 0.5


def test_heaven_and_hell():
    """Scores in the right order pass (0, 1) and have area one; in the wrong order (1, 0) and nothing."""
    y, score = np.array([False, False, True, True, True]), np.array([0.1, 0.2, 0.3, 0.3, 0.9])
    for side, corner, area in ((1, (0.0, 1.0), 1.0), (-1, (1.0, 0.0), 0.0)):
        fpr, tpr, _ = qed.roc_curve(y, side * score, drop_intermediate=False)
        assert corner in list(zip(fpr, tpr)) and qed.roc_auc_score(y, side * score) == area


def test_no_line_makes_fewer_errors_than_the_best_of_all():
    """O-01: of all lines in the plane, tried by brute force, none makes more errors than that of a surrogate at its best."""
    generator = np.random.default_rng(0)
    for _ in range(10):
        X = generator.standard_normal((8, 2))
        y = generator.permutation([0, 0, 0, 0, 1, 1, 1, 1])
        least = min(qed.error_rate(y, labels) for labels in labellings(X))
        for model in (
            qed.LogisticRegression(C=100.0),
            qed.LinearDiscriminantAnalysis(),
            qed.LogisticRegression(C=0.01),
        ):
            assert qed.error_rate(y, model.fit(X, y).predict(X)) >= least


def labellings(X):
    """Give all ways in which a line cuts points in general position in two: along each pair of them, moved to either side."""
    yield np.zeros(len(X), dtype=int)
    yield np.ones(len(X), dtype=int)
    for i in range(len(X)):
        for j in range(i):
            normal = np.array([X[i, 1] - X[j, 1], X[j, 0] - X[i, 0]])
            side = (X - X[i]) @ normal > 0
            for left, right, turned in product((False, True), repeat=3):
                found = side.copy()
                found[i], found[j] = left, right
                yield (found != turned).astype(int)


def test_a_score_of_zero_is_called_the_first_class():
    """O-01: sign(0) is the first class, for whom the decision value is not positive."""
    model = qed.LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
    assert model.decision_function([[0.0]])[0] == 0 and model.predict([[0.0]])[0] == "a"
