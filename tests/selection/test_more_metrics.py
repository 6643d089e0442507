"""Metrics of rows with several classes, of groupings and of guesses, against scikit-learn's; what is refused, and what is said."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as peer

import qed
from qed.base.errors import InputError, ParameterError, UndefinedMetricWarning

# Sums of a few hundred numbers below one, in another order.
CLOSE = {"rtol": 1e-13, "atol": 1e-13}


@pytest.fixture
def several():
    random = np.random.default_rng(0)
    true, predicted = random.integers(0, 2, (60, 4)), random.integers(0, 2, (60, 4))
    true[:3], predicted[2:5] = 0, 0
    return true, predicted, random.standard_normal((60, 4)).round(1), random.random(60)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "samples", None])
@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score", "jaccard_score"])
def test_several_classes_a_row(several, name, average):
    true, predicted, _, weight = several
    ours, theirs = getattr(qed, name), getattr(peer, name)
    for w in (None, weight):
        for labels in (None, [0, 2]):
            given = {"average": average, "sample_weight": w, "labels": labels, "zero_division": 0}
            np.testing.assert_allclose(ours(true, predicted, **given), theirs(true, predicted, **given), **CLOSE)
    found = ours(sparse.csr_array(true), predicted, average=average, zero_division=0)
    np.testing.assert_allclose(found, ours(true, predicted, average=average, zero_division=0), **CLOSE)


def test_rows_with_several_classes_are_right_when_all_are(several):
    true, predicted, _, weight = several
    for name in ("accuracy_score", "hamming_loss"):
        for w in (None, weight):
            ours, theirs = (getattr(package, name)(true, predicted, sample_weight=w) for package in (qed, peer))
            np.testing.assert_allclose(ours, theirs, **CLOSE)
    assert qed.hamming_loss(["a", "b"], ["a", "a"]) == 0.5


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_rankings_of_several_classes(several, average):
    true, _, score, weight = several
    for name in ("roc_auc_score", "average_precision_score"):
        given = {"average": average, "sample_weight": weight}
        ours, theirs = (getattr(package, name)(true, score, **given) for package in (qed, peer))
        np.testing.assert_allclose(ours, theirs, **CLOSE)


def test_reports_of_several_classes_and_as_a_dict(several):
    true, predicted, _, weight = several
    for a, b in ((true, predicted), (true[:, 0], predicted[:, 0])):
        given = {"output_dict": True, "sample_weight": weight, "zero_division": 0}
        ours, theirs = (package.classification_report(a, b, **given) for package in (qed, peer))
        assert ours.keys() == theirs.keys()
        for row in theirs:
            wanted, found = (
                list(one[row].values()) if isinstance(one[row], dict) else one[row] for one in (theirs, ours)
            )
            np.testing.assert_allclose(found, wanted, **CLOSE)


@pytest.mark.parametrize(
    ("true", "predicted", "message"),
    [
        ([[0, 2], [1, 1]], [[0, 1], [1, 1]], "zeros and ones"),
        ([[0, 1], [1, 1]], [0, 1], "zeros and ones"),
        ([[0, 1], [1, 1]], [[0, 1, 1], [1, 1, 1]], "2 classes and y_pred has 3"),
        ([[0, 1], [1, 1]], [[0, 1]], "2 rows and y_pred has 1"),
    ],
)
def test_bad_indicators_are_named(true, predicted, message):
    with pytest.raises(InputError, match=message):
        qed.accuracy_score(true, predicted)


def test_binary_averages_are_for_two_classes():
    with pytest.raises(InputError, match="average='binary' is for two classes"):
        qed.f1_score([[0, 1], [1, 1]], [[0, 1], [1, 1]])
    with pytest.raises(ParameterError, match="labels must be numbers of columns"):
        qed.f1_score([[0, 1], [1, 1]], [[0, 1], [1, 1]], average="macro", labels=[2])
    with pytest.raises(ParameterError, match="'samples' is for rows of several classes"):
        qed.f1_score([0, 1], [0, 1], average="samples")


@pytest.mark.parametrize("most", [0.01, 0.3, 1.0])
def test_part_of_the_area(several, most):
    _, _, score, weight = several
    y = np.random.default_rng(1).integers(0, 2, 60)
    given = {"max_fpr": most, "sample_weight": weight}
    found = (package.roc_auc_score(y, score[:, 0], **given) for package in (qed, peer))
    np.testing.assert_allclose(*found, **CLOSE)
    with pytest.raises(ParameterError, match="max_fpr"):
        qed.roc_auc_score(y, score[:, 0], max_fpr=0.0)


def test_scores_of_a_constant_target_as_the_formula_has_them():
    for name in ("r2_score", "explained_variance_score"):
        score = getattr(qed, name)
        assert score([1.0, 1.0], [1.0, 1.0]) == 1.0 and score([1.0, 1.0], [1.0, 2.0]) == 0.0
        assert np.isnan(score([1.0, 1.0], [1.0, 1.0], force_finite=False))
        assert score([1.0, 1.0], [1.0, 2.0], force_finite=False) == -np.inf


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k(several, k):
    _, _, score, weight = several
    y = np.random.default_rng(1).integers(0, 4, 60)
    for w in (None, weight):
        for normalize in (True, False):
            given = {"k": k, "sample_weight": w, "normalize": normalize}
            found = (package.top_k_accuracy_score(y, score, **given) for package in (qed, peer))
            np.testing.assert_allclose(*found, **CLOSE)
    with pytest.warns(UndefinedMetricWarning, match="every row is right"):
        assert qed.top_k_accuracy_score(y, score, k=4) == 1.0
    with pytest.raises(InputError, match="4 columns for the 2 classes"):
        qed.top_k_accuracy_score([0, 1], score[:2])
    assert qed.top_k_accuracy_score([0, 1, 1], [0.2, 0.4, 0.9], k=1) == pytest.approx(2 / 3, rel=1e-15)


def test_groupings():
    random = np.random.default_rng(0)
    X, labels, others = random.standard_normal((90, 3)) + 5, random.integers(0, 4, 90), random.integers(0, 3, 90)
    labels[0] = 9
    found = qed.silhouette_samples(X, labels)
    # Distances of size one about a point of size five: a few hundred roundings of squares of size 100.
    np.testing.assert_allclose(found, peer.silhouette_samples(X, labels), atol=1e-12)
    assert found[0] == 0.0
    assert qed.silhouette_score(X, labels) == pytest.approx(found.mean(), rel=1e-14)
    distances = peer.pairwise_distances(X)
    np.testing.assert_allclose(qed.silhouette_samples(distances, labels, metric="precomputed"), found, atol=1e-12)
    part = qed.silhouette_score(X, labels, sample_size=40, random_state=0)
    assert part == qed.silhouette_score(X, labels, sample_size=40, random_state=0)
    assert qed.adjusted_rand_score(labels, others) == pytest.approx(peer.adjusted_rand_score(labels, others), rel=1e-12)
    assert qed.adjusted_rand_score(labels, labels.astype(str)) == 1.0
    for bad in (np.zeros(90, dtype=int), np.arange(90)):
        with pytest.raises(InputError, match="Valid values are 2 to n_samples - 1"):
            qed.silhouette_score(X, bad)
    with pytest.raises(InputError, match="non-zero values on the diagonal"):
        qed.silhouette_samples(distances + 1, labels, metric="precomputed")
    with pytest.raises(ParameterError, match="metric must be"):
        qed.silhouette_samples(X, labels, metric="cityblock")


def test_silhouettes_far_from_the_origin():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    np.testing.assert_allclose(
        qed.silhouette_samples(X + 1e8, [0, 0, 1, 1]), qed.silhouette_samples(X, [0, 0, 1, 1]), rtol=1e-7
    )


def test_no_warning_where_zero_division_is_said(several):
    true, predicted, _, _ = several
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        qed.f1_score(true, predicted, average="samples", zero_division=1)


def test_there_is_no_positive_one_of_many(several):
    true, _, score, _ = several
    for y in (true, np.arange(60) % 4):
        with pytest.raises(ParameterError, match="pos_label=3 names the positive one of two classes"):
            qed.average_precision_score(y, score, pos_label=3)


WEIGHTS = [None, np.random.default_rng(5).integers(0, 3, 60).astype(float)]


@pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])
def test_scores_of_amounts_are_those_of_scikit_learn(weight):
    from sklearn import metrics as peer

    random = np.random.default_rng(4)
    true, predicted = random.poisson(3.0, 60).astype(float), random.gamma(2.0, size=60) + 0.1
    for name in (
        "mean_squared_log_error",
        "root_mean_squared_log_error",
        "mean_poisson_deviance",
        "d2_absolute_error_score",
    ):
        wanted = getattr(peer, name)(true, predicted, sample_weight=weight)
        assert getattr(qed, name)(true, predicted, sample_weight=weight) == pytest.approx(wanted, rel=1e-12), name
    two = np.column_stack([true, true[::-1]]), np.column_stack([predicted, predicted[::-1]])
    wanted = peer.mean_squared_log_error(*two, multioutput="raw_values", sample_weight=weight)
    np.testing.assert_allclose(
        qed.mean_squared_log_error(*two, multioutput="raw_values", sample_weight=weight), wanted, rtol=1e-12
    )


@pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])
def test_scores_of_two_classes_by_other_names(weight):
    from sklearn import metrics as peer

    random = np.random.default_rng(4)
    true = np.where(random.random(60) < 0.4, "yes", "no")
    predicted, score = np.where(random.random(60) < 0.3, "yes", true), random.random(60)
    of_no = peer.recall_score(true, predicted, pos_label="no", sample_weight=weight)
    assert qed.specificity_score(true, predicted, pos_label="yes", sample_weight=weight) == pytest.approx(of_no)
    area = peer.roc_auc_score(true == "yes", score, sample_weight=weight)
    assert qed.gini_score(true, score, sample_weight=weight) == pytest.approx(2 * area - 1)
    assert qed.specificity_score([1, 1], [1, 1]) == 0.0
    with pytest.raises(InputError, match="balanced_accuracy"):
        qed.specificity_score([0, 1, 2], [0, 1, 2])


def test_amounts_that_have_no_logarithm_are_refused():
    with pytest.raises(InputError, match="y_pred holds -2"):
        qed.mean_squared_log_error([1.0, 2.0], [1.0, -2.0])
    assert qed.mean_squared_log_error([1.0, -5.0], [1.0, -2.0], sample_weight=[1, 0]) == 0.0
    with pytest.raises(InputError, match="Poisson"):
        qed.mean_poisson_deviance([1.0, 2.0], [1.0, 0.0])
    assert qed.d2_absolute_error_score([3.0, 3.0], [3.0, 3.0]) == 1.0


COMMON = (
    "msle rmsle specificity f2 gini balanced_accuracy mcc kappa brier pr_auc average_precision mape medae poisson f05"
)


@pytest.mark.parametrize("word", COMMON.split())
def test_scores_have_the_names_that_people_use(word):
    X, y = np.random.default_rng(0).random((80, 3)), np.arange(80) % 2
    model = qed.LogisticRegression().fit(X, y)
    scorer = qed.get_scorer(word)
    if scorer.function.__module__.endswith(("regression", "deviance")):
        model, y = qed.Ridge().fit(X, y + 1.0), y + 1.0
    assert np.isfinite(scorer(model, X, y))


def test_a_score_that_there_is_not():
    with pytest.raises(ParameterError, match="Did you mean 'd2_absolute_error_score' or 'd2_brier_score'"):
        qed.get_scorer("d2")
    with pytest.raises(ParameterError, match="Did you mean 'rmse'"):
        qed.get_scorer("rmsee")
    with pytest.raises(ParameterError, match="There are: accuracy, .*mae, .*rmse, ") as refused:
        qed.get_scorer("zzz")
    assert "macro" not in str(refused.value)
