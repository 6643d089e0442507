"""OneHotEncoder: scikit-learn's matrix from every kind of table, levels that are rare, left out, missing or unknown."""

import warnings

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import preprocessing

import qed
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.base.sources.rows import ArrayRows


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pandas.DataFrame(
        {
            "city": rng.choice(["rome", "oslo", "bern", "lima"], 400, p=[0.5, 0.3, 0.15, 0.05]),
            "size": rng.integers(1, 4, 400),
            "open": rng.random(400) < 0.5,
        }
    )


@pytest.mark.parametrize("drop", [None, "first", "if_binary", ["oslo", 2, True]])
@pytest.mark.parametrize("sparse_output", [True, False])
def test_the_matrix_of_scikit_learn(frame, drop, sparse_output):
    ours = qed.OneHotEncoder(drop=drop, sparse_output=sparse_output).fit(frame)
    theirs = preprocessing.OneHotEncoder(drop=drop, sparse_output=sparse_output).fit(frame)
    made, wanted = ours.transform(frame), theirs.transform(frame)
    assert sparse.issparse(made) == sparse_output
    dense = made.toarray() if sparse_output else made
    np.testing.assert_array_equal(dense, wanted.toarray() if sparse_output else wanted)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert [levels.tolist() for levels in ours.categories_] == [levels.tolist() for levels in theirs.categories_]
    assert (ours.drop_idx_ is None) == (theirs.drop_idx_ is None)
    assert ours.inverse_transform(made).tolist() == frame.to_numpy().tolist()
    assert ours.certificate_ and qed.certify(ours, frame)


@pytest.mark.parametrize("least", [0.2, 100])
def test_rare_levels_share_a_column(frame, least):
    ours = qed.OneHotEncoder(min_frequency=least, sparse_output=False, handle_unknown="infrequent_if_exist").fit(frame)
    theirs = preprocessing.OneHotEncoder(
        min_frequency=least, sparse_output=False, handle_unknown="infrequent_if_exist"
    ).fit(frame)
    np.testing.assert_array_equal(ours.transform(frame), theirs.transform(frame))
    assert ours.infrequent_categories_[0].tolist() == theirs.infrequent_categories_[0].tolist() == ["bern", "lima"]
    assert ours.get_feature_names_out()[:3].tolist() == ["city_oslo", "city_rome", "city_infrequent"]
    strange = frame.iloc[:1].assign(city="paris")
    assert ours.transform(strange)[0, :3].tolist() == [0, 0, 1]
    assert ours.inverse_transform(ours.transform(strange))[0, 0] == "infrequent"
    assert qed.certify(ours, frame)


def test_all_kinds_of_tables_give_the_same(frame, tmp_path):
    import dask.dataframe

    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    wanted = qed.OneHotEncoder().fit_transform(frame).toarray()
    tables = [
        polars.from_pandas(frame),
        pa.Table.from_pandas(frame),
        str(tmp_path / "t.parquet"),
        str(tmp_path / "t.csv"),
    ]
    tables += [frame.to_numpy(), frame.astype("category"), dask.dataframe.from_pandas(frame, npartitions=3)]
    for table in tables:
        encoder = qed.OneHotEncoder().fit(table)
        np.testing.assert_array_equal(encoder.transform(table).toarray(), wanted)
        assert qed.certify(encoder, table)
    numbers = frame[["size"]].to_numpy()
    assert qed.OneHotEncoder().fit(numbers).get_feature_names_out().tolist() == ["x0_1", "x0_2", "x0_3"]
    assert qed.OneHotEncoder().fit(numbers).categories_[0].dtype.kind == "i"


def test_blocks_and_threads(frame):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    rows = ArrayRows(table, feature_names=table.column_names, size=37)
    whole = qed.OneHotEncoder().fit(frame)
    with qed.threads(3):
        parts = qed.OneHotEncoder().fit(rows)
        np.testing.assert_array_equal(parts.transform(rows).toarray(), whole.transform(frame).toarray())


def test_missing_values_are_a_level():
    table = pandas.DataFrame({"s": ["a", None, "b"], "f": [1.5, np.nan, 2.0]})
    encoder = qed.OneHotEncoder(sparse_output=False).fit(table)
    assert encoder.categories_[0].tolist() == ["a", "b", None]
    np.testing.assert_array_equal(encoder.categories_[1], [1.5, 2.0, np.nan])
    assert encoder.get_feature_names_out().tolist() == ["s_a", "s_b", "s_None", "f_1.5", "f_2.0", "f_nan"]
    assert encoder.transform(table)[1].tolist() == [0, 0, 1, 0, 0, 1]
    assert encoder.inverse_transform(encoder.transform(table))[1, 0] is None
    assert qed.certify(encoder, table)
    with pytest.raises(InputError, match=r"None in row 0"):
        qed.OneHotEncoder().fit(table[["s"]].dropna()).transform(pandas.DataFrame({"s": [None, "a"]}))


def test_unknown_levels(frame):
    strange = frame.iloc[:3].assign(city=["rome", "paris", "oslo"])
    with pytest.raises(InputError, match=r"'city': 'paris' in row 1"):
        qed.OneHotEncoder().fit(frame).transform(strange)
    ignoring = qed.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(frame)
    assert ignoring.transform(strange)[1, :4].tolist() == [0, 0, 0, 0]
    assert ignoring.inverse_transform(ignoring.transform(strange))[1, 0] is None
    with pytest.raises(InputError, match=r"'size' holds text where the model learned numbers: row 1 .* 'big'"):
        ignoring.transform(frame.iloc[:2].assign(size=["1", "big"]))
    with pytest.raises(InputError, match="can not be read back"):
        qed.OneHotEncoder().fit(frame).inverse_transform(np.zeros((1, 9)))
    with pytest.raises(InputError, match="Expected 9 columns"):
        qed.OneHotEncoder().fit(frame).inverse_transform(np.zeros((1, 3)))


def test_numbers_of_another_type_are_the_same_levels():
    encoder = qed.OneHotEncoder(sparse_output=False).fit(np.array([[1], [2]]))
    assert encoder.transform(np.array([[2.0]])).tolist() == [[0, 1]]
    flags = qed.OneHotEncoder(sparse_output=False).fit(np.array([[True], [False]]))
    assert flags.transform(np.array([[1]])).tolist() == [[0, 1]]
    zeros = qed.OneHotEncoder(sparse_output=False).fit(np.array([[0.0], [1.0]]))
    assert zeros.transform(np.array([[-0.0]])).tolist() == [[1, 0]]


def test_levels_that_the_user_gives(frame):
    lists = [["rome", "oslo", "bern", "lima", "bonn"], [3, 2, 1], [False, True]]
    encoder = qed.OneHotEncoder(categories=lists, sparse_output=False).fit(frame)
    assert encoder.get_feature_names_out()[:5].tolist() == [f"city_{name}" for name in lists[0]]
    assert encoder.certificate_ and qed.certify(encoder, frame)
    with pytest.raises(InputError, match=r"unknown categories \['bern', 'lima'\] in column 'city' during fit"):
        qed.OneHotEncoder(categories=[["rome", "oslo"], *lists[1:]]).fit(frame)
    assert qed.OneHotEncoder(categories=[["rome"], *lists[1:]], handle_unknown="ignore").fit(frame).certificate_
    with pytest.raises(ParameterError, match="lists for 1 columns"):
        qed.OneHotEncoder(categories=lists[:1]).fit(frame)
    with pytest.raises(ParameterError, match="different levels"):
        qed.OneHotEncoder(categories=[["rome", "rome"], *lists[1:]]).fit(frame)


def test_bad_parameters(frame):
    for parameters, word in [
        ({"drop": "last"}, "drop"),
        ({"drop": ["rome"]}, "drop names 1 levels"),
        ({"drop": ["paris", 1, True]}, "'paris'"),
        ({"handle_unknown": "guess"}, "handle_unknown"),
        ({"min_frequency": 1.5}, "min_frequency"),
        ({"min_frequency": 0}, "min_frequency"),
    ]:
        with pytest.raises(ParameterError, match=word):
            qed.OneHotEncoder(**parameters).fit(frame)


def test_an_identifier_is_refused(monkeypatch, frame):
    from qed.features.tables import one_hot

    monkeypatch.setattr(one_hot, "MOST_LEVELS", 3)
    with pytest.raises(InputError, match=r"'city' has more than 3 different values"):
        qed.OneHotEncoder().fit(frame)


def test_a_moved_level_breaks_the_claim(frame):
    encoder = qed.OneHotEncoder().fit(frame)
    encoder.categories_[1] = np.array([1, 2, 4])
    encoder.handle_unknown = "ignore"
    assert not qed.certify(encoder, frame)


def test_dtype_and_frames_out(frame):
    assert qed.OneHotEncoder(dtype=np.float32).fit_transform(frame).dtype == np.float32
    made = qed.OneHotEncoder(sparse_output=False).set_output(transform="pandas").fit_transform(frame)
    assert made.columns[0] == "city_bern"


def test_saving(frame, tmp_path):
    encoder = qed.OneHotEncoder(drop="first", min_frequency=0.1).fit(frame)
    qed.save(encoder, tmp_path / "e.qed")
    loaded = qed.load(tmp_path / "e.qed")
    np.testing.assert_array_equal(loaded.transform(frame).toarray(), encoder.transform(frame).toarray())


def test_lists_of_mixed_rows_keep_their_types():
    encoder = qed.OneHotEncoder().fit([["x", 2], ["y", 12]])
    assert [levels.tolist() for levels in encoder.categories_] == [["x", "y"], [2, 12]]


def test_zeros_that_stand_for_two_things_are_said():
    encoder = qed.OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False).fit([["a"], ["b"]])
    with pytest.warns(DegenerateWarning, match="such as 'z': their columns are zeros, as are those of 'a'"):
        assert encoder.transform([["z"]]).tolist() == [[0.0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = qed.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit([["a"], ["b"]])
        assert plain.transform([["z"]]).tolist() == [[0.0, 0.0]]


def test_unknown_levels_join_the_infrequent_and_are_said():
    X = [["a"]] * 5 + [["b"]]
    encoder = qed.OneHotEncoder(handle_unknown="warn", min_frequency=2, sparse_output=False).fit(X)
    with pytest.warns(DegenerateWarning, match="'z': their columns are those of the infrequent levels"):
        assert encoder.transform([["z"], ["a"]]).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_the_reference_level_is_a_frequent_one():
    X = [["a"]] * 2 + [["b"]] * 5 + [["c"]] * 4
    encoder = qed.OneHotEncoder(drop="first", min_frequency=3).fit(X)
    assert encoder.drop_idx_.tolist() == [1]
    assert encoder.get_feature_names_out().tolist() == ["x0_c", "x0_infrequent"]
    with pytest.raises(ParameterError, match="'a', which has too few rows"):
        qed.OneHotEncoder(drop=["a"], min_frequency=3).fit(X)


@pytest.mark.parametrize(
    "most, names", [(1, ["infrequent"]), (2, ["b", "infrequent"]), (3, ["a", "b", "c"]), (9, ["a", "b", "c"])]
)
def test_max_categories(most, names):
    X = [["a"]] * 2 + [["b"]] * 5 + [["c"]] * 4
    encoder = qed.OneHotEncoder(max_categories=most).fit(X)
    assert encoder.get_feature_names_out().tolist() == [f"x0_{name}" for name in names]
    assert bool(encoder.certificate_) and bool(qed.certify(encoder, X))
    weighted = [["a"]] * 2 + [["b"]] + [["c"]] * 4
    both = qed.OneHotEncoder(max_categories=2, min_frequency=2).fit(weighted)
    assert both.infrequent_categories_[0].tolist() == ["a", "b"]


def test_names_of_new_columns_by_a_function():
    encoder = qed.OneHotEncoder(feature_name_combiner=lambda name, level: f"{name}={level}").fit([["a"], ["b"]])
    assert encoder.get_feature_names_out(["letter"]).tolist() == ["letter=a", "letter=b"]
