"""SimpleImputer: every strategy, numbers and text, weights, files, and columns of which nothing is there."""

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn import impute

import qed
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.base.sources.rows import ArrayRows

STRATEGIES = ["mean", "median", "most_frequent", "constant"]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(401, 4)) * [1, 10, 0.1, 3] + [50, 5, -2, 0]).round(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("add_indicator", [False, True])
def test_the_answers_of_scikit_learn(X, strategy, add_indicator):
    ours = qed.SimpleImputer(strategy=strategy, add_indicator=add_indicator).fit(X)
    theirs = impute.SimpleImputer(strategy=strategy, add_indicator=add_indicator).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-13)
    np.testing.assert_allclose(ours.statistics_.astype(float), theirs.statistics_.astype(float), rtol=1e-13)
    names = [f"c{j}" for j in range(4)]
    assert ours.get_feature_names_out(names).tolist() == theirs.get_feature_names_out(names).tolist()
    assert ours.certificate_ and qed.certify(ours, X)
    if add_indicator:
        np.testing.assert_array_equal(ours.inverse_transform(ours.transform(X)), X)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights_blocks_threads_float32(X, strategy):
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = qed.SimpleImputer(strategy=strategy).fit(X, sample_weight=weight)
    repeated = qed.SimpleImputer(strategy=strategy).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.statistics_, repeated.statistics_, rtol=1e-13)
    assert qed.certify(weighted, X, sample_weight=weight)
    with qed.threads(3):
        blocks = qed.SimpleImputer(strategy=strategy).fit(ArrayRows(X, size=50))
    np.testing.assert_allclose(blocks.statistics_, qed.SimpleImputer(strategy=strategy).fit(X).statistics_, rtol=1e-13)
    single = qed.SimpleImputer(strategy=strategy).fit(X.astype(np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_files_and_dask(X, strategy, tmp_path):
    import dask.array

    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.to_parquet(tmp_path / "t.parquet")
    path = str(tmp_path / "t.parquet")
    wanted = qed.SimpleImputer(strategy=strategy).fit(X)
    for source in (path, dask.array.from_array(X, chunks=(100, 4))):
        found = qed.SimpleImputer(strategy=strategy).fit(source)
        np.testing.assert_allclose(found.statistics_, wanted.statistics_, rtol=1e-13)
        np.testing.assert_allclose(found.transform(source), wanted.transform(X), rtol=1e-13)
        assert qed.certify(found, source)


@pytest.mark.parametrize("strategy", STRATEGIES[:3])
def test_a_moved_value_breaks_the_claim(X, strategy):
    for factor in (1.001, 0.999):
        imputer = qed.SimpleImputer(strategy=strategy).fit(X)
        imputer.statistics_[0] *= factor
        assert not qed.certify(imputer, X)


def test_the_middle_of_two_values_is_proven():
    X = np.array([[1.0], [2.0], [10.0], [20.0], [np.nan]])
    imputer = qed.SimpleImputer(strategy="median").fit(X)
    assert imputer.statistics_.tolist() == [6.0] and qed.certify(imputer, X)
    imputer.statistics_[0] = 6.006
    assert not qed.certify(imputer, X)


def test_text():
    frame = pandas.DataFrame({"s": ["b", None, "a", "b", "a"], "n": [1.0, 2.0, 2.0, np.nan, 3.0]})
    imputer = qed.SimpleImputer(strategy="most_frequent").fit(frame)
    assert imputer.statistics_.tolist() == ["a", 2.0]
    made = imputer.transform(frame)
    assert made[1].tolist() == ["a", 2.0] and made[3].tolist() == ["b", 2.0]
    assert imputer.certificate_ and qed.certify(imputer, frame)
    imputer.statistics_[0] = "b"
    assert not qed.certify(imputer, frame)
    constant = qed.SimpleImputer(strategy="constant").fit(frame)
    assert constant.transform(frame)[1, 0] == "missing_value" and constant.transform(frame)[3, 1] == 0
    assert qed.certify(constant, frame)
    marked = qed.SimpleImputer(strategy="most_frequent", add_indicator=True).fit(frame[["s"]])
    assert marked.transform(frame[["s"]])[1].tolist() == ["a", True]
    with pytest.raises(InputError, match=r"'s' holds no numbers, so it has no mean"):
        qed.SimpleImputer().fit(frame)
    with pytest.raises(ParameterError, match=r"fill_value='x' does not go with column 'n'"):
        qed.SimpleImputer(strategy="constant", fill_value="x").fit(frame)
    with pytest.raises(InputError, match=r"'n' holds text where the model learned numbers: row 1 .*'many'"):
        imputer.transform(frame.assign(n=["1", "many", "2", "3", "4"]))
    for several in ([1, 2], (), {"a": 1}, {1}, b"a"):
        with pytest.raises(ParameterError, match="must be a single number, text or missing value"):
            qed.SimpleImputer(fill_value=several).fit(frame[["n"]])


def test_text_in_arrays_and_files(tmp_path):
    array = np.array([["a", 1], [None, 2], ["a", np.nan]], dtype=object)
    assert qed.SimpleImputer(strategy="most_frequent").fit_transform(array).tolist() == [["a", 1], ["a", 2], ["a", 1]]
    pandas.DataFrame({"s": ["x", None, "x"], "n": [1, 2, 3]}).to_parquet(tmp_path / "t.parquet")
    made = qed.SimpleImputer(strategy="most_frequent").fit_transform(str(tmp_path / "t.parquet"))
    assert made.tolist() == [["x", 1], ["x", 2], ["x", 3]]


def test_other_signs_for_missing_values():
    X = np.array([[1.0, -1.0], [3.0, 4.0], [-1.0, 6.0]])
    imputer = qed.SimpleImputer(missing_values=-1).fit(X)
    assert imputer.transform(X).tolist() == [[1, 5], [3, 4], [2, 6]] and qed.certify(imputer, X)
    words = qed.SimpleImputer(missing_values="?", strategy="most_frequent").fit([["a"], ["?"], ["a"], ["b"]])
    assert words.transform([["?"]]).tolist() == [["a"]]
    with pytest.raises(InputError, match=r"contains NaN.* but missing_values=-1"):
        imputer.fit([[np.nan], [1.0]])


def test_columns_of_which_nothing_is_there(X):
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(b=np.nan)
    with pytest.warns(DegenerateWarning, match="all values are missing in column 'b'"):
        imputer = qed.SimpleImputer().fit(frame)
    assert imputer.transform(frame).shape == (401, 3)
    assert imputer.get_feature_names_out().tolist() == ["a", "c", "d"]
    assert np.isnan(imputer.statistics_[1]) and qed.certify(imputer, frame)
    kept = qed.SimpleImputer(keep_empty_features=True).fit(frame)
    assert (kept.transform(frame)[:, 1] == 0).all() and qed.certify(kept, frame)
    with pytest.raises(InputError, match="nothing can be learned"):
        qed.SimpleImputer().fit(frame[["b"]])


def test_bad_input(X):
    X[3, 1] = np.inf
    with pytest.raises(InputError, match="infinity: column number 1, row 3"):
        qed.SimpleImputer().fit(X)
    with pytest.raises(ParameterError, match="strategy"):
        qed.SimpleImputer(strategy="mode").fit(X)
    with pytest.raises(InputError, match="only with add_indicator"):
        qed.SimpleImputer().fit([[1.0]]).inverse_transform([[1.0]])


def test_too_many_values_to_count(monkeypatch, X):
    from qed.features.missing import fills

    monkeypatch.setattr(fills, "MOST_VALUES", 10)
    with pytest.raises(InputError, match="more than 10 different values"):
        qed.SimpleImputer(strategy="most_frequent").fit(X)


def test_missing_values_of_another_kind_are_refused():
    with pytest.raises(ParameterError, match="missing_values='-1' is text, but the columns hold numbers"):
        qed.SimpleImputer(missing_values="-1").fit([[1.0], [-1.0]])
    with pytest.raises(ParameterError, match="missing_values=-1 is numbers, but the columns hold text"):
        qed.SimpleImputer(missing_values=-1, strategy="most_frequent").fit([["a"], ["-1"]])


@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
def test_an_empty_column_among_text_is_filled_with_text(strategy):
    X = np.array([["a", None], ["b", None]], dtype=object)
    imputer = qed.SimpleImputer(strategy=strategy, keep_empty_features=True).fit(X)
    assert imputer.transform(X).tolist() == [["a", "missing_value"], ["b", "missing_value"]]
    assert bool(imputer.certificate_) and bool(qed.certify(imputer, X))


def test_holes_in_lists_of_mixed_rows():
    found = qed.SimpleImputer(strategy="most_frequent").fit_transform([["a", "b"], ["c", np.nan]])
    assert found.tolist() == [["a", "b"], ["c", "b"]]


@pytest.mark.parametrize("strategy", [*STRATEGIES, np.max], ids=[*STRATEGIES, "function"])
@pytest.mark.parametrize("indicator", [False, True])
def test_sparse_tables_are_filled_like_dense_ones(strategy, indicator):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 7)) * (rng.random((60, 7)) < 0.5).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    dense = qed.SimpleImputer(strategy=strategy, add_indicator=indicator).fit(X)
    table = sparse.csr_array(X)
    model = qed.SimpleImputer(strategy=strategy, add_indicator=indicator).fit(table)
    # Means of the same numbers, added in another order.
    np.testing.assert_allclose(model.statistics_, dense.statistics_, rtol=1e-14)
    found = model.transform(sparse.csc_array(X))
    assert sparse.issparse(found) and found.dtype == np.float64
    np.testing.assert_allclose(found.toarray(), dense.transform(X), rtol=1e-14)
    assert model.certificate_ and qed.certify(model, table) and qed.certify(dense, X)
    model.statistics_[1] += 1e-3
    assert not qed.certify(model, table)


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
def test_weights_of_sparse_rows_mean_repetition(strategy):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(40, 5)) * (rng.random((40, 5)) < 0.6).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    weight = rng.integers(0, 3, size=40)
    found = qed.SimpleImputer(strategy=strategy).fit(qed.rows(sparse.csr_array(X), sample_weight=weight))
    again = qed.SimpleImputer(strategy=strategy).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(found.statistics_, again.statistics_, rtol=1e-14)


def test_sparse_holes_empty_columns_and_what_is_refused():
    X = sparse.csr_array(np.array([[-1.0, np.nan, 0.0], [2.0, np.nan, 3.0]]))
    with pytest.warns(DegenerateWarning, match="number 1"):
        model = qed.SimpleImputer().fit(X)
    assert model.transform(X).toarray().tolist() == [[-1.0, 0.0], [2.0, 3.0]]
    assert qed.SimpleImputer(keep_empty_features=True).fit_transform(X).toarray()[:, 1].tolist() == [0.0, 0.0]
    with pytest.raises(InputError, match="Provide a dense array"):
        qed.SimpleImputer(missing_values=0).fit(X)
    with pytest.raises(InputError, match="row 0"):
        qed.SimpleImputer(missing_values=-1).fit(X)
    with pytest.raises(InputError, match="holds no numbers"):
        qed.SimpleImputer(strategy=np.max).fit([["a"], ["b"]])
    with pytest.raises(InputError, match="not told of weights"):
        qed.SimpleImputer(strategy=np.max).fit(qed.rows([[1.0], [2.0]], sample_weight=[1.0, 2.0]))
