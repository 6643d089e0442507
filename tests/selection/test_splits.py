"""Splits: what they promise, what they refuse, and scikit-learn's folds where they mean the same."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import model_selection as oracle
from sklearn.linear_model import Ridge

from qed.base.errors import InputError, ParameterError
from qed.selection.splitting.holdout import HoldOut, take_rows, train_test_split
from qed.selection.splitting.splits import (
    FewMembersWarning,
    GivenSplits,
    KFold,
    LeaveOneOut,
    Partition,
    StratifiedKFold,
    check_cv,
    fold_numbers,
)


def labels_of(seed, n, shares=(0.6, 0.3, 0.1)):
    return np.random.default_rng(seed).choice(["cat", "ant", "bee"], size=n, p=shares)


def same_splits(ours, theirs):
    ours, theirs = list(ours), list(theirs)
    assert len(ours) == len(theirs)
    for (train, test), (other_train, other_test) in zip(ours, theirs):
        np.testing.assert_array_equal(train, other_train)
        np.testing.assert_array_equal(test, other_test)


@pytest.mark.parametrize(("n", "k"), [(10, 3), (9, 3), (11, 4), (7, 7), (100, 6)])
def test_unshuffled_kfold_is_that_of_sklearn(n, k):
    X = np.zeros((n, 1))
    same_splits(KFold(k, shuffle=False).split(X), oracle.KFold(k).split(X))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_unshuffled_stratified_folds_are_those_of_sklearn(seed, k):
    y = labels_of(seed, 80 + seed)
    y[:21] = np.repeat(["bee", "ant", "cat"], 7)
    X = np.zeros((len(y), 1))
    same_splits(StratifiedKFold(k, shuffle=False).split(X, y), oracle.StratifiedKFold(k).split(X, y))


def test_leave_one_out_is_that_of_sklearn_and_kfold_with_k_equal_n():
    X = np.zeros((6, 2))
    same_splits(LeaveOneOut().split(X), oracle.LeaveOneOut().split(X))
    same_splits(LeaveOneOut().split(X), KFold(6, shuffle=False).split(X))
    assert LeaveOneOut().get_n_splits(X) == 6


@pytest.mark.parametrize("splitter", [KFold(4), StratifiedKFold(4), LeaveOneOut(), HoldOut(0.25, random_state=1)])
def test_split_follows_from_assign(splitter):
    y = labels_of(0, 50, (0.4, 0.3, 0.3))
    folds = splitter.assign(50, y)
    assert isinstance(splitter, Partition)
    assert folds.dtype.kind == "i"
    for fold, (train, test) in enumerate(splitter.split(np.zeros((50, 2)), y)):
        np.testing.assert_array_equal(test, np.flatnonzero(folds == fold))
        np.testing.assert_array_equal(train, np.flatnonzero(folds != fold))


@pytest.mark.parametrize("make", [KFold, StratifiedKFold])
def test_a_seed_reproduces_and_another_seed_differs(make):
    y = labels_of(1, 60, (0.4, 0.3, 0.3))
    first = make(5, random_state=3).assign(60, y)
    np.testing.assert_array_equal(first, make(5, random_state=3).assign(60, y))
    assert (first != make(5, random_state=4).assign(60, y)).any()
    assert (first != make(5, shuffle=False).assign(60, y)).any()
    undetermined = make(5, random_state=None)
    assert any((undetermined.assign(60, y) != undetermined.assign(60, y)).any() for _ in range(3))


def test_generators_are_seeds_too():
    first = KFold(3, random_state=np.random.default_rng(5)).assign(30)
    np.testing.assert_array_equal(first, KFold(3, random_state=np.random.default_rng(5)).assign(30))
    np.testing.assert_array_equal(
        KFold(3, random_state=np.random.RandomState(5)).assign(30),
        KFold(3, random_state=np.random.RandomState(5)).assign(30),
    )


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_stratified_folds_have_equal_shares_and_sizes(shuffle, k):
    y = labels_of(2, 101, (0.5, 0.3, 0.2))
    folds = StratifiedKFold(k, shuffle=shuffle).assign(len(y), y)
    sizes = np.bincount(folds, minlength=k)
    assert sizes.max() - sizes.min() <= 1
    for name in np.unique(y):
        members = np.bincount(folds[y == name], minlength=k)
        assert members.max() - members.min() <= 1


def test_shuffled_folds_leave_no_row_its_place():
    """Each row lands in each fold equally often, over seeds."""
    folds = np.array([KFold(4, random_state=seed).assign(12) for seed in range(2000)])
    shares = np.array([(folds == fold).mean(axis=0) for fold in range(4)])
    np.testing.assert_allclose(shares, 0.25, atol=5 * np.sqrt(0.25 * 0.75 / 2000))


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", "b"] * 10, index=range(100, 120)),
        pd.Categorical(["a", "b"] * 10),
        pl.Series(["a", "b"] * 10),
        [True, False] * 10,
        np.array([1.0, 2.0] * 10),
        np.array([["a"], ["b"]] * 10),
        np.array(["a", "b"] * 10, dtype=object),
    ],
)
def test_stratified_takes_any_kind_of_labels(y):
    expected = StratifiedKFold(5).assign(20, [0, 1] * 10)
    np.testing.assert_array_equal(StratifiedKFold(5).assign(20, y), expected)


def test_too_few_rows_or_members_say_so():
    with pytest.raises(InputError, match="4 rows can not fill 5 folds"):
        KFold(5).assign(4)
    with pytest.raises(InputError, match="at least 2 rows"):
        LeaveOneOut().assign(1)
    with pytest.raises(InputError, match="no class has more than 2"):
        StratifiedKFold(3).assign(4, ["a", "a", "b", "b"])
    with pytest.warns(FewMembersWarning, match="Class 'b' has 2 rows for 3 folds"):
        folds = StratifiedKFold(3).assign(8, list("aaaaaabb"))
    assert sorted(np.bincount(folds)) == [2, 3, 3]
    with pytest.raises(InputError, match="needs their labels"):
        StratifiedKFold(3).assign(9)
    with pytest.raises(InputError, match="3 labels for 9 rows"):
        StratifiedKFold(3).assign(9, [1, 2, 3])
    with pytest.raises(InputError, match="no label in row 2"):
        StratifiedKFold(2).assign(4, ["a", "a", None, "b"])
    with pytest.raises(InputError, match=r"row 0 is 0\.5"):
        StratifiedKFold(2).assign(4, [0.5, 1.5, 2.5, 3.5])
    with pytest.raises(InputError, match="groups"):
        list(KFold(2).split(np.zeros(4), groups=[1, 1, 2, 2]))
    with pytest.raises(InputError, match="give X"):
        LeaveOneOut().get_n_splits()


@pytest.mark.parametrize("k", [1, 0, -3, 2.0, "5", True, None])
def test_a_wrong_number_of_folds_is_refused(k):
    with pytest.raises(ParameterError, match="n_splits"):
        KFold(k)


@pytest.mark.parametrize("size", [0, -1, 0.0, 1.0, 1.5, -0.2, True, "half", None, float("nan")])
def test_a_wrong_size_is_refused(size):
    with pytest.raises(ParameterError, match="test_size"):
        HoldOut(size)


@pytest.mark.parametrize(("size", "n"), [(10, 10), (12, 10), (0.3, 1), (0.01, 10), (0.99, 10)])
def test_an_empty_part_is_refused(size, n):
    with pytest.raises(InputError, match="leaves one part empty"):
        HoldOut(size).assign(n)


def test_other_wrong_parameters_are_refused():
    with pytest.raises(ParameterError, match="shuffle"):
        KFold(3, shuffle="yes")
    with pytest.raises(ParameterError, match="random_state"):
        KFold(3, random_state="seed").assign(9)


@pytest.mark.parametrize("splitter", [KFold(3), StratifiedKFold(3), LeaveOneOut(), HoldOut(0.3, random_state=0)])
def test_splitters_are_values(splitter):
    assert pickle.loads(pickle.dumps(splitter)) == splitter
    assert type(splitter).__name__ in repr(splitter)


@pytest.mark.parametrize("splitter", [KFold(3), LeaveOneOut(), HoldOut(0.3, random_state=0)])
def test_they_work_in_sklearn_searches(splitter):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20, 3)), random.normal(size=20)
    given = list(splitter.split(X, y))
    settings = {"param_grid": {"alpha": [0.1, 10.0]}, "scoring": "neg_mean_squared_error"}
    search = oracle.GridSearchCV(Ridge(), cv=splitter, **settings).fit(X, y)
    again = oracle.GridSearchCV(Ridge(), cv=given, **settings).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"])


class TestHoldOut:
    @pytest.mark.parametrize("n", [2, 5, 10, 15, 33, 1000])
    def test_size_is_the_rounded_share(self, n):
        assert (HoldOut().assign(n) == 0).sum() == round(0.3 * n)
        assert (HoldOut(1).assign(n) == 0).sum() == 1

    @pytest.mark.parametrize("shuffle", [True, False])
    @pytest.mark.parametrize("size", [0.1, 0.3, 0.5, 7, 90])
    def test_stratified_shares_are_within_one_row(self, size, shuffle):
        y = labels_of(3, 100, (0.5, 0.4, 0.1))
        held_out = HoldOut(size, stratify=True, shuffle=shuffle, random_state=0).assign(100, y) == 0
        m = held_out.sum()
        assert m == (size if isinstance(size, int) else round(size * 100))
        for name in np.unique(y):
            members = (y == name).sum()
            assert abs((held_out & (y == name)).sum() - m * members / 100) < 1
            assert 0 < (held_out & (y == name)).sum() < members

    def test_every_class_is_on_both_sides_even_when_rare(self):
        y = np.repeat([0, 1, 2, 3], [94, 2, 2, 2])
        held_out = HoldOut(5, stratify=True, random_state=0).assign(100, y) == 0
        assert np.bincount(y[held_out]).tolist() == [2, 1, 1, 1]
        held_out = HoldOut(95, stratify=True, random_state=0).assign(100, y) == 0
        assert np.bincount(y[~held_out]).tolist() == [2, 1, 1, 1]

    def test_impossible_strata_are_refused(self):
        with pytest.raises(InputError, match="smallest of 1 rows"):
            HoldOut(stratify=True).assign(5, [0, 0, 0, 0, 1])
        with pytest.raises(InputError, match="can not all be in both parts"):
            HoldOut(2, stratify=True).assign(9, [0, 0, 0, 1, 1, 1, 2, 2, 2])
        with pytest.raises(InputError, match="needs their labels"):
            HoldOut(stratify=True).assign(9)

    def test_without_shuffle_the_last_rows_are_held_out(self):
        (train, test), *rest = HoldOut(0.2, shuffle=False).split(range(10))
        assert not rest
        assert train.tolist() == list(range(8))
        assert test.tolist() == [8, 9]


class TestTrainTestSplit:
    def test_all_sources_are_cut_alike_and_keep_their_type(self):
        n = 20
        X = np.arange(2.0 * n).reshape(n, 2)
        sources = {
            "array": X,
            "csr": sparse.csr_array(X),
            "coo": sparse.coo_matrix(X),
            "pandas": pd.DataFrame(X, columns=["a", "b"], index=np.arange(n) + 50),
            "polars": pl.DataFrame(X, schema=["a", "b"]),
            "series": pd.Series(X[:, 0], index=np.arange(n)[::-1]),
            "polars series": pl.Series("a", X[:, 0]),
            "list": X[:, 0].tolist(),
        }
        found = train_test_split(*sources.values(), random_state=7)
        parts = dict(zip(sources, zip(found[::2], found[1::2])))
        train, test = parts["array"]
        assert len(test) == 6
        for name in ("csr", "coo"):
            assert sparse.issparse(parts[name][0])
            np.testing.assert_array_equal(parts[name][1].toarray(), test)
        assert isinstance(parts["pandas"][0], pd.DataFrame)
        assert parts["pandas"][1].index.tolist() == (test[:, 0] / 2 + 50).tolist()
        assert isinstance(parts["polars"][0], pl.DataFrame)
        np.testing.assert_array_equal(parts["pandas"][0], train)
        np.testing.assert_array_equal(parts["polars"][0].to_numpy(), train)
        assert isinstance(parts["series"][1], pd.Series)
        assert isinstance(parts["polars series"][1], pl.Series)
        np.testing.assert_array_equal(parts["series"][1], test[:, 0])
        np.testing.assert_array_equal(parts["polars series"][1].to_numpy(), test[:, 0])
        assert parts["list"] == (train[:, 0].tolist(), test[:, 0].tolist())

    def test_stratify_and_seed(self):
        y = np.repeat(["x", "y"], [30, 10])
        _, held = train_test_split(y, test_size=0.2, stratify=y, random_state=1)
        assert (held == "y").sum() == 2
        np.testing.assert_array_equal(held, train_test_split(y, test_size=0.2, stratify=y, random_state=1)[1])

    def test_wrong_arguments_are_refused(self):
        with pytest.raises(InputError, match="nothing to split"):
            train_test_split()
        with pytest.raises(InputError, match=r"\[3, 4\] rows"):
            train_test_split([1, 2, 3], [1, 2, 3, 4])
        with pytest.raises(InputError, match="no rows to count"):
            train_test_split(5)

    def test_take_rows_of_other_things(self):
        assert take_rows(range(10, 20), [1, 3]) == [11, 13]
        assert take_rows((1, 2, 3), np.array([0])) == [1]
        assert take_rows(pl.DataFrame({"a": [1, 2, 3]}).to_arrow(), [2, 0])["a"].to_pylist() == [3, 1]


class TestCheckCv:
    def test_numbers_mean_the_folds_of_sklearn(self):
        y = labels_of(4, 60, (0.4, 0.3, 0.3))
        X = np.zeros((60, 1))
        same_splits(check_cv(4, y, classifier=True).split(X, y), oracle.check_cv(4, y, classifier=True).split(X, y))
        same_splits(check_cv(None, y).split(X, y), oracle.check_cv(5, y).split(X, y))
        same_splits(check_cv(np.int64(3)).split(X), oracle.check_cv(3).split(X))
        assert type(check_cv(3, np.zeros((60, 2)), classifier=True)) is KFold

    def test_splitters_and_iterables(self):
        foreign = oracle.ShuffleSplit(3, random_state=0)
        assert check_cv(foreign) is foreign
        pairs = (pair for pair in [([0, 1], [2]), ([1, 2], [0])])
        given = check_cv(pairs)
        assert isinstance(given, GivenSplits)
        assert given.get_n_splits() == 2
        same_splits(given.split(), [([0, 1], [2]), ([1, 2], [0])])
        same_splits(given.split(), [([0, 1], [2]), ([1, 2], [0])])

    @pytest.mark.parametrize("cv", ["five", 2.5, [], [1, 2], [([0.5], [1])], [([0], [])], 1])
    def test_nonsense_is_refused(self, cv):
        with pytest.raises(ParameterError):
            check_cv(cv)


class TestFoldNumbers:
    def test_foreign_partitions_are_recognised(self):
        X, y = np.zeros((30, 1)), np.tile([0, 1, 2], 10)
        for ours, theirs in [
            (KFold(4, shuffle=False), oracle.KFold(4)),
            (StratifiedKFold(5, shuffle=False), oracle.StratifiedKFold(5)),
            (LeaveOneOut(), oracle.LeaveOneOut()),
        ]:
            np.testing.assert_array_equal(fold_numbers(ours, X, y), fold_numbers(theirs, X, y))

    def test_groups_are_passed_on(self):
        X, groups = np.zeros((12, 1)), np.repeat([0, 1, 2], 4)
        folds = fold_numbers(oracle.GroupKFold(3), X, groups=groups)
        assert all(len(set(folds[groups == g])) == 1 for g in range(3))

    @pytest.mark.parametrize(
        "splitter",
        [oracle.ShuffleSplit(5, random_state=0), oracle.RepeatedKFold(random_state=0), oracle.TimeSeriesSplit(3)],
    )
    def test_others_are_not(self, splitter):
        assert fold_numbers(splitter, np.zeros((30, 1))) is None

    def test_repeated_training_rows_are_no_partition(self):
        boot = GivenSplits(((np.array([0, 0, 1]), np.array([2])),))
        assert fold_numbers(boot, range(3)) is None
        masks = GivenSplits(((np.array([True, True, False]), np.array([False, False, True])),))
        np.testing.assert_array_equal(fold_numbers(masks, range(3)), [-1, -1, 0])

    def test_rows_out_of_range_are_named(self):
        with pytest.raises(InputError, match="names row 9"):
            fold_numbers(GivenSplits(((np.array([0]), np.array([9])),)), range(3))
