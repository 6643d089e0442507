"""Metrics and scorers against scikit-learn's, on random and on nasty input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics as oracle
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from qed.base.errors import InputError, NotAvailableError, ParameterError, UndefinedMetricWarning
from qed.selection.inputs import classes_of, positions
from qed.selection.metrics import classification as labelled
from qed.selection.metrics import precision as precise
from qed.selection.metrics import probability as probable
from qed.selection.metrics import ranking as ranked
from qed.selection.metrics import regression as numeric
from qed.selection.metrics.report import classification_report
from qed.selection.scoring import (
    Scorer,
    check_scoring,
    default_scorer,
    get_scorer,
    get_scorer_names,
    make_scorer,
)

CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def random_weights(random, n, kind):
    if kind == "none":
        return None
    weight = random.uniform(0.1, 3.0, size=n)
    return np.where(random.random(n) < 0.3, 0.0, weight) if kind == "with zeros" else weight


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **options)


def agree(ours, theirs, *args, **options):
    found, expected = quietly(ours, *args, **options), quietly(theirs, *args, **options)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for mine, other in zip(found, expected):
            assert (mine is None) == (other is None)
            if other is not None:
                np.testing.assert_allclose(mine, other, **CLOSE)
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, **CLOSE)


weighted = pytest.mark.parametrize("kind", ["none", "positive", "with zeros"])
seeded = pytest.mark.parametrize("seed", range(2))

REGRESSION = [
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "median_absolute_error",
    "mean_absolute_percentage_error",
    "mean_pinball_loss",
    "r2_score",
    "explained_variance_score",
]


class TestRegression:
    @seeded
    @weighted
    @pytest.mark.parametrize("name", REGRESSION)
    @pytest.mark.parametrize("outputs", [1, 3])
    def test_as_sklearn(self, name, outputs, kind, seed):
        random = np.random.default_rng(seed)
        shape = (57,) if outputs == 1 else (57, outputs)
        y = random.normal(size=shape) * 10
        predicted = y + random.normal(size=shape)
        options = {"sample_weight": random_weights(random, 57, kind)}
        reductions = ["uniform_average", "raw_values"]
        if outputs > 1:
            reductions.append(np.array([0.2, 0.0, 0.8]))
        if name in ("r2_score", "explained_variance_score"):
            reductions.append("variance_weighted")
        for multioutput in reductions:
            agree(getattr(numeric, name), getattr(oracle, name), y, predicted, multioutput=multioutput, **options)

    @seeded
    def test_max_error(self, seed):
        random = np.random.default_rng(seed)
        y, predicted, weight = random.normal(size=(3, 40))
        agree(numeric.max_error, oracle.max_error, y, predicted)
        counted = weight > 0
        expected = oracle.max_error(y[counted], predicted[counted])
        assert numeric.max_error(y, predicted, sample_weight=counted.astype(float)) == expected
        both = np.column_stack([y, weight]), np.column_stack([predicted, weight])
        np.testing.assert_array_equal(
            numeric.max_error(*both, multioutput="raw_values"), [oracle.max_error(y, predicted), 0]
        )

    @pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.93, 1.0])
    def test_pinball(self, alpha):
        y, predicted = np.random.default_rng(0).normal(size=(2, 30))
        agree(numeric.mean_pinball_loss, oracle.mean_pinball_loss, y, predicted, alpha=alpha)

    @pytest.mark.parametrize("name", REGRESSION)
    def test_kinds_of_input(self, name):
        y, predicted = np.array([3, 5, 2, 8]), np.array([2.5, 5, 4, 8])
        expected = getattr(numeric, name)(y, predicted)
        for convert in (list, pd.Series, pl.Series, lambda a: a[:, None], lambda a: a.astype(np.float32)):
            assert getattr(numeric, name)(convert(y), convert(predicted)) == pytest.approx(expected, rel=1e-15)
        assert isinstance(expected, float)

    def test_unsigned_integers_do_not_wrap(self):
        assert numeric.mean_squared_error(np.uint8([0, 1]), np.uint8([2, 0])) == 2.5

    @pytest.mark.parametrize("weight", [[1, 1, 2, 4], [1, 1, 1, 3], [2, 0, 0, 2], [0, 0, 0, 1], [3, 1, 1, 1]])
    def test_weighted_median_with_ties_and_exact_halves(self, weight):
        y, predicted = np.zeros(4), np.array([1.0, 2.0, 2.0, 7.0])
        agree(numeric.median_absolute_error, oracle.median_absolute_error, y, predicted, sample_weight=weight)
        repeated = np.median(np.repeat(predicted, weight))
        assert numeric.median_absolute_error(y, predicted, sample_weight=weight) == repeated

    @pytest.mark.parametrize("name", ["r2_score", "explained_variance_score"])
    def test_constant_targets(self, name):
        metric = getattr(numeric, name)
        for constant in (2.0, 0.1, 1e9 / 3):
            y = np.full(7, constant)
            assert metric(y, y) == 1.0
            assert metric(y, y + np.arange(7)) == 0.0
        both = np.column_stack([np.full(5, 2.0), np.arange(5.0)])
        for multioutput in ("raw_values", "uniform_average", "variance_weighted"):
            agree(metric, getattr(oracle, name), both, both[::-1], multioutput=multioutput)
        assert metric(both[:, [0, 0]], both[:, [0, 0]], multioutput="variance_weighted") == 1.0

    def test_a_single_row(self):
        with pytest.warns(UndefinedMetricWarning, match="single row"):
            assert np.isnan(numeric.r2_score([1.0], [1.0]))
        assert numeric.mean_squared_error([1.0], [3.0]) == 4.0

    @pytest.mark.parametrize(
        ("y", "predicted", "options", "message"),
        [
            ([1, 2], [1, 2, 3], {}, "y_true has 2 rows and y_pred has 3"),
            ([1, np.nan], [1, 2], {}, "y_true is not finite in row 1"),
            ([1, 2], [np.inf, 2], {}, "y_pred is not finite in row 0"),
            ([], [], {}, "empty"),
            ([["a"]], [[1]], {}, "y_true must hold numbers"),
            ([[1, 2]], [[1]], {}, "2 outputs and y_pred has 1"),
            (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), {}, "one or two axes"),
            ([1, 2], [1, 2], {"sample_weight": [1]}, "sample_weight must hold 2 weights"),
            ([1, 2], [1, 2], {"sample_weight": [1, -1]}, "negative for row 1"),
            ([1, 2], [1, 2], {"sample_weight": [0, 0]}, "zero everywhere"),
            ([1, 2], [1, 2], {"sample_weight": [1, np.nan]}, "sample_weight is not finite in row 1"),
            ([1, 2], [1, 2], {"multioutput": "mean"}, "multioutput must be one of"),
            ([1, 2], [1, 2], {"multioutput": [1, 2]}, "multioutput must hold 1 weights"),
            ([1, 2], [1, 2], {"multioutput": "variance_weighted"}, "multioutput must be one of"),
        ],
    )
    def test_bad_input_is_named(self, y, predicted, options, message):
        with pytest.raises(InputError, match=message):
            numeric.mean_squared_error(y, predicted, **options)

    def test_bad_quantile(self):
        with pytest.raises(ParameterError, match="alpha"):
            numeric.mean_pinball_loss([1, 2], [1, 2], alpha=1.5)


def random_labels(random, n, names, flip=0.4):
    y = random.choice(names, size=n)
    return y, np.where(random.random(n) < flip, random.choice(names, size=n), y)


NAMES = {
    "0/1": np.array([0, 1]),
    "-1/1": np.array([-1, 1]),
    "strings": np.array(["zebra", "ant", "bee", "a longer name"]),
    "floats": np.array([1.0, 2.0, 5.0]),
    "booleans": np.array([True, False]),
    "one": np.array([1]),
}
named = pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())


class TestLabels:
    @seeded
    @weighted
    @named
    @pytest.mark.parametrize(
        "name",
        ["accuracy_score", "balanced_accuracy_score", "confusion_matrix", "matthews_corrcoef", "cohen_kappa_score"],
    )
    def test_as_sklearn(self, name, names, kind, seed):
        random = np.random.default_rng(seed)
        y, predicted = random_labels(random, 45, names)
        agree(
            getattr(labelled, name),
            getattr(oracle, name),
            y,
            predicted,
            sample_weight=random_weights(random, 45, kind),
        )

    @seeded
    @weighted
    def test_confusion_options(self, seed, kind):
        random = np.random.default_rng(seed)
        y, predicted = random_labels(random, 40, NAMES["strings"])
        weight = random_weights(random, 40, kind)
        for normalize in (None, "true", "pred", "all"):
            for labels in (None, ["zebra", "ant"], ["bee", "unheard of", "zebra"]):
                options = {"normalize": normalize, "labels": labels, "sample_weight": weight}
                agree(labelled.confusion_matrix, oracle.confusion_matrix, y, predicted, **options)
        assert labelled.confusion_matrix(y, predicted).dtype.kind == "i"

    @seeded
    def test_other_options(self, seed):
        y, predicted = random_labels(np.random.default_rng(seed), 40, NAMES["floats"])
        agree(labelled.balanced_accuracy_score, oracle.balanced_accuracy_score, y, predicted, adjusted=True)
        agree(labelled.accuracy_score, oracle.accuracy_score, y, predicted, normalize=False)
        for weights in (None, "linear", "quadratic"):
            agree(labelled.cohen_kappa_score, oracle.cohen_kappa_score, y, predicted, weights=weights)
        agree(labelled.cohen_kappa_score, oracle.cohen_kappa_score, y, predicted, labels=[5.0, 1.0], weights="linear")
        assert labelled.error_rate(y, predicted) == pytest.approx(oracle.zero_one_loss(y, predicted), rel=1e-14)
        weight = np.arange(40.0)
        expected = 1 - oracle.accuracy_score(y, predicted, sample_weight=weight)
        assert labelled.error_rate(y, predicted, sample_weight=weight) == pytest.approx(expected, rel=1e-14)

    def test_predicted_classes_that_are_not_true_ones(self):
        y, predicted = [0, 0, 1, 1], [0, 2, 1, 3]
        agree(labelled.balanced_accuracy_score, oracle.balanced_accuracy_score, y, predicted)
        agree(labelled.matthews_corrcoef, oracle.matthews_corrcoef, y, predicted)

    def test_undefined_values_come_with_a_warning(self):
        with pytest.warns(UndefinedMetricWarning, match="kappa"):
            assert np.isnan(labelled.cohen_kappa_score([1, 1], [1, 1]))
        with pytest.warns(UndefinedMetricWarning, match="chance level"):
            assert np.isnan(labelled.balanced_accuracy_score([1, 1], [1, 1], adjusted=True))
        assert labelled.matthews_corrcoef([1, 1, 1], [1, 1, 1]) == 0.0

    def test_sources_of_labels(self):
        y, predicted = ["no", "yes", "yes"], ["no", "no", "yes"]
        expected = labelled.confusion_matrix(y, predicted)
        for convert in (
            np.array,
            pd.Series,
            pl.Series,
            pd.Categorical,
            lambda a: np.array(a, dtype=object),
            lambda a: np.array(a)[:, None],
            lambda a: pd.Series(a, dtype="string"),
        ):
            np.testing.assert_array_equal(labelled.confusion_matrix(convert(y), convert(predicted)), expected)
        np.testing.assert_array_equal(labelled.confusion_matrix([True, False], [1, 0]), np.eye(2))

    @pytest.mark.parametrize(
        ("y", "predicted", "message"),
        [
            ([0, 1], [0, 1, 1], "y_true has 2 rows and y_pred has 3"),
            ([0, 1], [0.2, 0.8], "y_pred must hold class labels, but row 0 is 0.2"),
            ([0, 1], ["0", "1"], "y_pred holds strings and y_true holds numbers"),
            (["a", None], ["a", "b"], "no label in row 1"),
            (["a", 1], ["a", "b"], None),
            (np.array(["a", 1], dtype=object), ["a", "b"], "mixes strings"),
            ([0, np.nan], [0, 1], "row 1 is nan"),
            ([], [], "empty"),
            ([[0, 2], [1, 1]], [[0, 1], [1, 1]], "zeros and ones"),
            (np.array(["2020-01-01"], dtype="datetime64[D]"), [1], "integers or strings"),
        ],
    )
    def test_bad_labels_are_named(self, y, predicted, message):
        if message is None:
            assert labelled.accuracy_score(y, predicted) == 0.5
        else:
            with pytest.raises(InputError, match=message):
                labelled.accuracy_score(y, predicted)

    def test_bad_options_are_named(self):
        with pytest.raises(ParameterError, match="normalize"):
            labelled.confusion_matrix([0, 1], [0, 1], normalize="rows")
        with pytest.raises(InputError, match="None of the labels"):
            labelled.confusion_matrix([0, 1], [0, 1], labels=[7])
        with pytest.raises(ParameterError, match="twice"):
            labelled.confusion_matrix([0, 1], [0, 1], labels=[1, 1])
        with pytest.raises(ParameterError, match="weights"):
            labelled.cohen_kappa_score([0, 1], [0, 1], weights="cubic")

    @pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.float32, str])
    @pytest.mark.parametrize("reach", [20, 127])
    def test_positions_are_a_dictionary_lookup(self, dtype, reach):
        random = np.random.default_rng(0)
        low = 0 if dtype is np.uint8 else -reach - 1
        classes = random.permutation(np.arange(low, reach + 1))[:12].astype(dtype)
        values = np.r_[low, reach, random.integers(low, reach + 1, size=200)].astype(dtype)
        place = {label: i for i, label in enumerate(classes.tolist())}
        np.testing.assert_array_equal(positions(values, classes), [place.get(v, -1) for v in values.tolist()])
        np.testing.assert_array_equal(classes_of(values, classes), np.unique(np.r_[values, classes]))

    def test_labels_far_apart(self):
        y, predicted = [-(2**62), 5, 2**62], [5, 5, 2**62]
        agree(labelled.confusion_matrix, oracle.confusion_matrix, y, predicted)


class TestPrecision:
    @seeded
    @weighted
    @named
    def test_all_averages_as_sklearn(self, names, kind, seed):
        random = np.random.default_rng(seed)
        y, predicted = random_labels(random, 30, names, flip=0.7)
        weight = random_weights(random, 30, kind)
        for average in ("macro", "micro", "weighted", None):
            for zero_division, beta in ((0, 0.5), (1, 0.0), (np.nan, 1.0), (np.nan, np.inf), ("warn", 1.0)):
                agree(
                    precise.precision_recall_fscore_support,
                    oracle.precision_recall_fscore_support,
                    y,
                    predicted,
                    average=average,
                    beta=beta,
                    sample_weight=weight,
                    zero_division=zero_division,
                )

    @seeded
    @pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score"])
    def test_single_scores(self, name, seed):
        random = np.random.default_rng(seed)
        y, predicted = random_labels(random, 30, np.array([0, 1]))
        ours, theirs = getattr(precise, name), getattr(oracle, name)
        agree(ours, theirs, y, predicted)
        agree(ours, theirs, y, predicted, pos_label=0)
        texts = np.array(["no", "yes"])
        agree(ours, theirs, texts[y], texts[predicted], pos_label="no")
        y, predicted = random_labels(random, 30, NAMES["strings"])
        for average in ("macro", "micro", "weighted", None):
            agree(ours, theirs, y, predicted, average=average, labels=["zebra", "bee"])
        agree(precise.fbeta_score, oracle.fbeta_score, y, predicted, beta=2.0, average="macro")

    @pytest.mark.parametrize(
        ("y", "predicted"),
        [([0, 0, 0], [0, 0, 0]), ([1, 1], [1, 1]), ([0, 0, 1], [0, 0, 0]), ([0, 0, 0], [1, 0, 0]), ([1, 0], [0, 1])],
    )
    @pytest.mark.parametrize("zero_division", [0, 1, np.nan])
    def test_degenerate_binary(self, y, predicted, zero_division):
        for name in ("precision_score", "recall_score", "f1_score"):
            agree(getattr(precise, name), getattr(oracle, name), y, predicted, zero_division=zero_division)

    def test_labels_that_never_occur(self):
        options = {"labels": [0, 1, 9], "average": None, "zero_division": np.nan}
        agree(precise.f1_score, oracle.f1_score, [0, 1, 1], [0, 0, 1], **options)
        agree(precise.f1_score, oracle.f1_score, [0, 1, 1], [0, 0, 1], **(options | {"average": "weighted"}))

    def test_warnings_only_for_what_was_asked(self):
        with pytest.warns(UndefinedMetricWarning, match="precision of 1 of 1 classes is 0/0"):
            assert precise.precision_score([0, 1], [0, 0]) == 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert precise.recall_score([0, 1], [0, 0]) == 0.0
            assert precise.precision_score([0, 1], [0, 0], zero_division=1) == 1.0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"average": "mean"}, "average must be"),
            ({"average": "samples"}, "rows of several classes"),
            ({"zero_division": 2}, "zero_division"),
            ({"zero_division": "raise"}, "zero_division"),
            ({"pos_label": 5}, "pos_label=5 is none of"),
            ({"pos_label": "1"}, "is none of the labels"),
            ({"average": None, "labels": ["a"]}, "strings"),
        ],
    )
    def test_bad_options(self, options, message):
        with pytest.raises(InputError, match=message):
            precise.f1_score([0, 1, 1], [0, 0, 1], **options)

    def test_bad_beta_and_many_classes(self):
        with pytest.raises(ParameterError, match="beta"):
            precise.fbeta_score([0, 1], [0, 1], beta=-1.0)
        with pytest.raises(InputError, match="two classes, but there are 3"):
            precise.f1_score([0, 1, 2], [0, 1, 2])
        with pytest.raises(ParameterError, match="name the positive one"):
            precise.f1_score(["no", "yes"], ["no", "no"])


class TestReport:
    @seeded
    @weighted
    def test_numbers_as_sklearn(self, seed, kind):
        random = np.random.default_rng(seed)
        y, predicted = random_labels(random, 50, NAMES["strings"])
        weight = random_weights(random, 50, kind)
        for labels in (None, ["zebra", "ant"]):
            options = {"labels": labels, "sample_weight": weight, "zero_division": 0}
            found = classification_report(y, predicted, **options).to_dict()
            expected = oracle.classification_report(y, predicted, output_dict=True, **options)
            assert list(found) == list(expected)
            for name, row in expected.items():
                if isinstance(row, dict):
                    assert list(found[name]) == list(row)
                    np.testing.assert_allclose(list(found[name].values()), list(row.values()), **CLOSE)
                else:
                    assert found[name] == pytest.approx(row, rel=1e-12)

    def test_table(self):
        report = classification_report([0, 1, 1], [0, 0, 1], target_names=["ham", "spam"], digits=3)
        lines = str(report).splitlines()
        assert lines[0].split() == ["precision", "recall", "f1-score", "support"]
        assert lines[3].split() == ["spam", "1.000", "0.500", "0.667", "2"]
        assert lines[5].split() == ["accuracy", "0.667", "3"]
        assert len({len(line) for line in lines if line}) == 1
        with pytest.raises(ParameterError, match="3 names for 2 classes"):
            classification_report([0, 1], [0, 1], target_names=["a", "b", "c"])

    def test_one_warning_a_quantity(self):
        with pytest.warns(UndefinedMetricWarning) as caught:
            classification_report([0, 1, 2], [0, 0, 0])
        assert len(caught) == 1


def random_probabilities(random, n, k):
    table = random.dirichlet(np.ones(k), size=n)
    return np.round(table * 8) / 8 if k == 2 else table


class TestProbabilities:
    @seeded
    @weighted
    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_as_sklearn(self, seed, kind, k):
        random = np.random.default_rng(seed)
        y = np.array(["e", "a", "b", "d", "c"][:k])[np.r_[np.arange(k), random.integers(k, size=40)]]
        table = random_probabilities(random, len(y), k)
        weight = random_weights(random, len(y), kind)
        agree(probable.log_loss, oracle.log_loss, y, table, sample_weight=weight)
        agree(probable.brier_score_loss, oracle.brier_score_loss, y, table, sample_weight=weight)
        agree(probable.brier_score_loss, oracle.brier_score_loss, y, table, scale_by_half=True)
        agree(probable.log_loss, oracle.log_loss, y[:1], table[:1], labels=np.unique(y))

    @seeded
    @pytest.mark.parametrize("names", [np.array([0, 1]), np.array([-1, 1])])
    def test_one_column(self, seed, names):
        random = np.random.default_rng(seed)
        y, p = names[random.integers(2, size=30)], random.random(30)
        agree(probable.log_loss, oracle.log_loss, y, p)
        agree(probable.brier_score_loss, oracle.brier_score_loss, y, p)
        agree(probable.brier_score_loss, oracle.brier_score_loss, y, p, pos_label=names[0])
        agree(probable.brier_score_loss, oracle.brier_score_loss, y, p[:, None], scale_by_half=False)
        agree(probable.brier_score_loss, oracle.brier_score_loss, np.ones(30, dtype=int), p)

    @seeded
    @weighted
    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_shares_explained(self, seed, kind, k):
        random = np.random.default_rng(seed)
        y = np.array(["e", "a", "b", "d", "c"][:k])[np.r_[np.arange(k), random.integers(k, size=40)]]
        table = random_probabilities(random, len(y), k)
        weight = random_weights(random, len(y), kind)
        for name in ("d2_log_loss_score", "d2_brier_score"):
            ours, theirs = getattr(probable, name), getattr(oracle, name)
            agree(ours, theirs, y, table, sample_weight=weight)

    def test_shares_of_a_single_class_or_row(self):
        y, certain, even = [1, 1, 1], np.ones(3), np.full(3, 0.5)
        for metric in (probable.d2_log_loss_score, probable.d2_brier_score):
            assert metric(y, certain, labels=[0, 1]) == 1
            assert metric(y, even, labels=[0, 1]) == 0
            with pytest.warns(UndefinedMetricWarning, match="single row"):
                assert np.isnan(metric([1], [0.5], labels=[0, 1]))
        agree(probable.d2_brier_score, oracle.d2_brier_score, [0, 1, 0, 1], [0.2, 0.9, 0.4, 0.5], pos_label=0)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_impossible_events_are_clipped(self, dtype):
        table = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], dtype=dtype)
        found = probable.log_loss([1, 1, 0], table)
        assert found == pytest.approx(oracle.log_loss([1, 1, 0], table), rel=1e-6)
        assert found == pytest.approx((-np.log(np.finfo(dtype).eps) + np.log(2)) / 3, rel=1e-6)

    def test_sum_instead_of_mean(self):
        y, p, weight = [0, 1, 1], [0.2, 0.6, 0.3], [1.0, 0.0, 2.0]
        agree(probable.log_loss, oracle.log_loss, y, p, normalize=False)
        agree(probable.log_loss, oracle.log_loss, y, p, normalize=False, sample_weight=weight)

    @pytest.mark.parametrize(
        ("y", "p", "options", "message"),
        [
            ([0, 1], [0.5, 1.5], {}, "1.5 in row 1"),
            ([0, 1], [-0.5, 0.5], {}, "-0.5 in row 0"),
            ([0, 1], [[0.5, 0.6], [0.5, 0.5]], {}, "sums to 1.1 in row 0"),
            ([0, 1], [[0.5, 0.3, 0.2]] * 2, {}, "3 columns for the 2 classes"),
            ([1, 1], [0.5, 0.5], {}, "name all classes"),
            ([0, 1], [0.5, 0.5], {"labels": [1, 0]}, "sorted and distinct"),
            ([0, 7], [0.5, 0.5], {"labels": [0, 1]}, "label 7, which is not among"),
            ([0, 1, 1], [0.5, 0.5], {}, "3 rows and y_proba has 2"),
        ],
    )
    def test_bad_probabilities_are_named(self, y, p, options, message):
        with pytest.raises(InputError, match=message):
            probable.log_loss(y, p, **options)

    def test_bad_positive_labels(self):
        with pytest.raises(InputError, match="give pos_label"):
            probable.brier_score_loss(["a", "a"], [0.1, 0.2])
        with pytest.raises(InputError, match="3 classes"):
            probable.brier_score_loss([0, 1, 2], [0.1, 0.2, 0.3])
        with pytest.raises(ParameterError, match="none of the labels"):
            probable.brier_score_loss([0, 1], [0.1, 0.2], pos_label=4)


def tied_scores(random, n, levels):
    return random.normal(size=n) if levels is None else random.integers(levels, size=n) / levels


levelled = pytest.mark.parametrize("levels", [None, 6, 2, 1])


class TestRanking:
    @seeded
    @weighted
    @levelled
    def test_curves_as_sklearn(self, seed, kind, levels):
        random = np.random.default_rng(seed)
        y, score = np.r_[0, 1, random.integers(2, size=60)], tied_scores(random, 62, levels)
        weight = random_weights(random, 62, kind)
        for drop in (True, False):
            options = {"sample_weight": weight, "drop_intermediate": drop}
            agree(ranked.roc_curve, oracle.roc_curve, y, score, **options)
            agree(ranked.precision_recall_curve, oracle.precision_recall_curve, y, score, **options)
        agree(ranked.roc_auc_score, oracle.roc_auc_score, y, score, sample_weight=weight)
        agree(ranked.average_precision_score, oracle.average_precision_score, y, score, sample_weight=weight)
        texts = np.array(["neg", "pos"])[y]
        agree(ranked.roc_curve, oracle.roc_curve, texts, score, pos_label="neg", sample_weight=weight)
        agree(ranked.roc_auc_score, oracle.roc_auc_score, texts, score)
        agree(ranked.average_precision_score, oracle.average_precision_score, texts, score, pos_label="pos")

    @seeded
    @levelled
    def test_area_is_the_chance_of_outscoring(self, seed, levels):
        random = np.random.default_rng(seed)
        y, score = np.r_[0, 1, random.integers(2, size=40)], tied_scores(random, 42, levels)
        gap = score[y == 1][:, None] - score[y == 0]
        assert ranked.roc_auc_score(y, score) == pytest.approx((gap > 0).mean() + (gap == 0).mean() / 2, rel=1e-13)

    @seeded
    @weighted
    @pytest.mark.parametrize("k", [3, 5])
    def test_several_classes_as_sklearn(self, seed, kind, k):
        random = np.random.default_rng(seed)
        y = np.array(["e", "a", "b", "d", "c"][:k])[np.r_[np.arange(k), np.arange(k), random.integers(k, size=40)]]
        table = random_probabilities(random, len(y), k)
        weight = random_weights(random, len(y), kind)
        if weight is not None:
            weight[:k] = 1.0
        for average in ("macro", "weighted", "micro", None):
            options = {"average": average, "sample_weight": weight}
            agree(ranked.roc_auc_score, oracle.roc_auc_score, y, table, multi_class="ovr", **options)
            agree(ranked.average_precision_score, oracle.average_precision_score, y, table, **options)
        for average in ("macro", "weighted"):
            agree(ranked.roc_auc_score, oracle.roc_auc_score, y, table, multi_class="ovo", average=average)

    def test_weights_in_pairs_are_repetitions(self):
        random = np.random.default_rng(0)
        y, table = np.tile([0, 1, 2], 8), random_probabilities(random, 24, 3)
        weight = random.integers(0, 4, size=24)
        for average in ("macro", "weighted"):
            options = {"multi_class": "ovo", "average": average}
            found = ranked.roc_auc_score(y, table, sample_weight=weight, **options)
            rows = np.repeat(np.arange(24), weight)
            assert found == pytest.approx(oracle.roc_auc_score(y[rows], table[rows], **options), rel=1e-12)

    def test_absent_classes(self):
        table = random_probabilities(np.random.default_rng(0), 20, 3)
        y, options = np.tile([0, 2], 10), {"labels": [0, 1, 2]}
        for average in ("macro", "weighted"):
            agree(ranked.roc_auc_score, oracle.roc_auc_score, y, table, multi_class="ovo", average=average, **options)
            agree(ranked.roc_auc_score, oracle.roc_auc_score, y, table, multi_class="ovr", average=average, **options)

    @pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
    def test_one_class_only(self, y):
        score = [0.1, 0.5, 0.3]
        with pytest.warns(UndefinedMetricWarning, match="not defined"):
            assert np.isnan(ranked.roc_auc_score(y, score))
        agree(ranked.roc_curve, oracle.roc_curve, y, score)
        agree(ranked.precision_recall_curve, oracle.precision_recall_curve, y, score)
        agree(ranked.average_precision_score, oracle.average_precision_score, y, score)
        with pytest.warns(UndefinedMetricWarning):
            ranked.roc_curve(y, score)
        with pytest.warns(UndefinedMetricWarning):
            assert np.isnan(ranked.roc_auc_score([0, 0], np.eye(3)[:2], multi_class="ovo", labels=[0, 1, 2]))

    def test_two_columns_of_two_classes(self):
        y, p = [0, 1, 1, 0], np.array([0.2, 0.9, 0.4, 0.5])
        assert ranked.roc_auc_score(y, np.column_stack([1 - p, p])) == ranked.roc_auc_score(y, p)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: ranked.roc_auc_score([0, 1, 2], np.eye(3)), "choose 'ovr'"),
            (lambda: ranked.roc_auc_score([0, 1, 2], [1, 2, 3], multi_class="ovr"), "1 columns for the 3 classes"),
            (lambda: ranked.roc_auc_score([0, 1, 2], np.eye(3), multi_class="ovr", average="x"), "average"),
            (lambda: ranked.roc_auc_score([0, 1, 2], np.eye(3), multi_class="ovo", average=None), "average"),
            (lambda: ranked.roc_auc_score([0, 1], [0.1, np.nan]), "y_score is not finite in row 1"),
            (lambda: ranked.roc_curve([0, 1, 2], [1, 2, 3]), "3 classes"),
            (lambda: ranked.roc_curve([0, 1], np.eye(2)), "2 columns"),
            (lambda: ranked.average_precision_score(["a", "b"], [1, 2]), "pos_label=1 is none of"),
            (lambda: ranked.average_precision_score([0, 1], np.eye(2)), "2 columns"),
        ],
    )
    def test_bad_input_is_named(self, call, message):
        with pytest.raises(InputError, match=message):
            call()


@pytest.fixture(scope="module")
def problems():
    random = np.random.default_rng(0)
    X = random.normal(size=(90, 3))
    score = X @ [1.0, -2.0, 0.5] + random.normal(size=90)
    return {
        "X": X,
        "number": score,
        "binary": (score > 0).astype(int),
        "text": np.where(score > 0, "yes", "no"),
        "three": np.digitize(score, [-1, 1]),
        "weight": random.uniform(size=90),
    }


BINARY_ONLY = {"precision", "recall", "f1", "jaccard", "roc_auc", "average_precision"}
OURS_ALONE = {"neg_error_rate", "cohen_kappa", "specificity", "gini", "f2", "f0.5", "f2_macro", "f0.5_macro"}
# Those of amounts, which the lines of these problems leave; `test_more_metrics.py` has them.
OF_AMOUNTS = {name for name in get_scorer_names() if name.endswith(("log_error", "poisson_deviance"))}
# Those that take no weights in scikit-learn.
WITHOUT_WEIGHTS = {"neg_max_error", "adjusted_rand_score", "roc_auc_ovo", "roc_auc_ovo_weighted"}
OF_SEVERAL_CLASSES = [name for name in get_scorer_names() if name.endswith("_samples")]
OF_ONE_CLASS = [name for name in get_scorer_names() if name not in {*OURS_ALONE, *OF_AMOUNTS, *OF_SEVERAL_CLASSES}]


class TestScorers:
    @pytest.mark.parametrize(
        ("weighted_rows", "name"),
        [(False, name) for name in OF_ONE_CLASS]
        + [(True, name) for name in OF_ONE_CLASS if name not in WITHOUT_WEIGHTS],
    )
    def test_as_sklearn(self, name, weighted_rows, problems):
        X = problems["X"]
        regression = name in ("r2", "explained_variance") or ("error" in name and "rate" not in name)
        targets = ["number"] if regression else ["binary"] if name in BINARY_ONLY else ["binary", "three"]
        given = {"sample_weight": problems["weight"]} if weighted_rows else {}
        for target in targets:
            y = problems[target]
            model = (LinearRegression() if regression else LogisticRegression()).fit(X, y)
            found, expected = get_scorer(name)(model, X, y, **given), oracle.get_scorer(name)(model, X, y, **given)
            assert found == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("name", OF_SEVERAL_CLASSES)
    @pytest.mark.parametrize("weighted_rows", [False, True])
    def test_rows_of_several_classes_as_sklearn(self, name, weighted_rows, problems):
        X, y = problems["X"], np.column_stack([problems["X"][:, 0] > 0, problems["binary"], np.ones(90)]).astype(int)
        given = {"sample_weight": problems["weight"]} if weighted_rows else {}
        model = KNeighborsClassifier(5).fit(X, y)
        found, expected = get_scorer(name)(model, X, y, **given), oracle.get_scorer(name)(model, X, y, **given)
        assert found == pytest.approx(expected, rel=1e-12) and 0 < found < 1
        with pytest.raises(ParameterError, match="rows of several classes"):
            get_scorer(name)(LogisticRegression().fit(X, y[:, 1]), X, y[:, 1], **given)

    def test_ours_alone(self, problems):
        X, y = problems["X"], problems["three"]
        model = LogisticRegression().fit(X, y)
        assert get_scorer("neg_error_rate")(model, X, y) == pytest.approx(model.score(X, y) - 1)
        expected = oracle.cohen_kappa_score(y, model.predict(X))
        assert get_scorer("cohen_kappa")(model, X, y) == pytest.approx(expected)

    def test_labels_may_be_strings(self, problems):
        X, y = problems["X"], problems["text"]
        model = LogisticRegression().fit(X, y)
        for name in ("accuracy", "roc_auc", "neg_log_loss", "f1_macro"):
            assert get_scorer(name)(model, X, y) == pytest.approx(oracle.get_scorer(name)(model, X, y), rel=1e-12)
        p = model.predict_proba(X)[:, 1]
        expected = -oracle.brier_score_loss(y, p, pos_label="yes")
        assert get_scorer("neg_brier_score")(model, X, y) == pytest.approx(expected)
        with pytest.raises(ParameterError, match="pos_label=1 is none of the labels"):
            get_scorer("f1")(model, X, y)
        no = make_scorer(precise.f1_score, pos_label="no")
        assert no(model, X, y) == pytest.approx(oracle.f1_score(y, model.predict(X), pos_label="no"))

    def test_a_positive_class_that_comes_first(self, problems):
        X, y = problems["X"], np.where(problems["binary"] == 1, 1, 2)
        model = LogisticRegression().fit(X, y)
        for name in ("average_precision", "f1", "roc_auc", "neg_brier_score"):
            assert get_scorer(name)(model, X, y) == pytest.approx(oracle.get_scorer(name)(model, X, y), rel=1e-12)
        first = make_scorer(ranked.average_precision_score, response="predict_proba")
        expected = oracle.average_precision_score(y, model.predict_proba(X)[:, 0], pos_label=1)
        assert first(model, X, y) == pytest.approx(expected)

    def test_models_without_probabilities(self, problems):
        X, y = problems["X"], problems["binary"]
        model = LinearSVC().fit(X, y)
        assert get_scorer("roc_auc")(model, X, y) == pytest.approx(oracle.get_scorer("roc_auc")(model, X, y))
        with pytest.raises(ParameterError, match="needs predict_proba, which LinearSVC does not have"):
            get_scorer("neg_log_loss")(model, X, y)

    def test_rows_that_lack_a_class_can_be_scored(self, problems):
        X, y = problems["X"], problems["three"]
        model, part = LogisticRegression().fit(X, y), problems["three"] != 1
        expected = -oracle.log_loss(y[part], model.predict_proba(X[part]), labels=[0, 1, 2])
        assert get_scorer("neg_log_loss")(model, X[part], y[part]) == pytest.approx(expected)

    def test_in_a_sklearn_search(self, problems):
        X, y = problems["X"], problems["three"]
        for name in ("neg_log_loss", "balanced_accuracy"):
            ours, theirs = (
                GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scoring, cv=3).fit(X, y)
                for scoring in (get_scorer(name), name)
            )
            np.testing.assert_allclose(
                ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
            )

    @pytest.mark.parametrize("name", ["neg_mean_squared_error", "neg_root_mean_squared_error", "r2"])
    @weighted
    @pytest.mark.parametrize("outputs", [1, 3])
    def test_additive_scorers_follow_from_sums(self, name, kind, outputs):
        random = np.random.default_rng(1)
        y, predicted = random.normal(size=(2, 50, outputs))
        given = random_weights(random, 50, kind)
        weight = np.ones(50) if given is None else given
        squared_error = weight @ (y - predicted) ** 2
        scatter = weight @ (y - np.average(y, axis=0, weights=weight)) ** 2
        scorer = get_scorer(name)
        assert scorer.additive
        found = scorer.from_sums(weight.sum(), squared_error, scatter).mean()
        assert found == pytest.approx(scorer.sign * scorer.function(y, predicted, sample_weight=given), rel=1e-12)

    def test_sums_of_many_models_at_once(self):
        squared_error = np.array([[0.0, 1.0, 4.0], [2.0, -1e-18, 4.0]])
        scatter = np.array([2.0, 0.0, 8.0])
        found = get_scorer("r2").from_sums(10.0, squared_error, scatter)
        np.testing.assert_array_equal(found, [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
        assert get_scorer("neg_root_mean_squared_error").from_sums(1.0, -1e-18, 1.0) == 0.0

    def test_others_are_not_additive(self):
        additive = {name for name in get_scorer_names() if get_scorer(name).additive}
        assert additive == {"r2", "neg_mean_squared_error", "neg_root_mean_squared_error"}
        assert not make_scorer(numeric.r2_score, multioutput="variance_weighted").additive
        assert make_scorer(numeric.mean_squared_error, greater_is_better=False).additive
        with pytest.raises(NotAvailableError, match="needs the rows"):
            get_scorer("accuracy").from_sums(1.0, 1.0, 1.0)

    def test_scorers_are_values(self):
        for name in get_scorer_names():
            scorer = get_scorer(name)
            assert pickle.loads(pickle.dumps(scorer)) == scorer
            assert hash(scorer) == hash(get_scorer(name))
            assert get_scorer(scorer) is scorer

    @pytest.mark.parametrize(
        ("scoring", "message"),
        [
            ("acuracy", "Did you mean 'accuracy'"),
            ("neg_mean_squared_eror", "Did you mean 'neg_mean_squared_error'"),
            ("zzz", "There are: accuracy"),
            (3, "name of a scorer"),
            (numeric.mean_squared_error, r"make_scorer\(mean_squared_error\)"),
        ],
    )
    def test_unknown_scorers(self, scoring, message):
        with pytest.raises(ParameterError, match=message):
            get_scorer(scoring)

    @pytest.mark.parametrize(
        ("called", "meant"), [("mean_squared_error", "neg_mean_squared_error"), ("AUC", "roc_auc")]
    )
    def test_what_people_call_a_score_is_understood(self, called, meant):
        assert get_scorer(called) == get_scorer(meant)

    def test_unknown_keywords_are_refused(self):
        with pytest.raises(ParameterError, match="has an argument 'respons'. Did you mean 'response'"):
            make_scorer(numeric.r2_score, respons="predict")
        with pytest.raises(
            ParameterError, match="Neither make_scorer nor the metric fbeta_score has an argument 'bta'"
        ):
            make_scorer(precise.fbeta_score, bta=2.0)
        named = make_scorer(score_func=numeric.r2_score, response_method="predict")
        assert named == make_scorer(numeric.r2_score, response="predict")
        anything = make_scorer(lambda y_true, y_pred, **options: options["beta"], beta=2.0)
        assert anything.options == {"beta": 2.0}

    def test_custom_scorers(self, problems):
        X, y = problems["X"], problems["number"]
        model = LinearRegression().fit(X, y)
        worst = make_scorer(
            lambda true, predicted: np.abs(true - predicted).max(), greater_is_better=False, name="worst"
        )
        assert (worst.name, worst(model, X, y)) == ("worst", -oracle.max_error(y, model.predict(X)))
        with pytest.raises(ParameterError, match="does not accept sample_weight"):
            worst(model, X, y, sample_weight=problems["weight"])
        own = get_scorer(lambda estimator, X, y: 42.0)
        assert own(model, X, y) == 42.0
        for bad in ({"response": "guess"}, {"function": 5}):
            with pytest.raises(ParameterError):
                make_scorer(**({"function": numeric.r2_score} | bad))
        with pytest.raises(ParameterError, match="sign"):
            Scorer("s", numeric.r2_score, sign=2)

    def test_defaults(self, problems):
        X = problems["X"]
        assert default_scorer("regressor").name == default_scorer(LinearRegression()).name == "r2"
        assert default_scorer(LogisticRegression()).name == check_scoring(LogisticRegression()).name == "accuracy"
        clusters = KMeans(2, n_init=1, random_state=0).fit(X)
        own = default_scorer(clusters)
        assert own(clusters, X) == clusters.score(X)
        assert not own.additive
        assert check_scoring(LogisticRegression(), "f1").name == "f1"
        with pytest.raises(ParameterError, match="no score of its own"):
            default_scorer(object())
        with pytest.raises(ParameterError, match="task"):
            default_scorer("clusterer")
