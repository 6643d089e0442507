"""One front door: ``fit(X, y)`` and ``fit(qed.rows(X, y))`` give the same model, or the same sentence, for every kind of input."""

import datetime
import decimal
import re
import warnings
from dataclasses import dataclass

import dask.array as dask_array
import dask.dataframe as dask_frame
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as dataset
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import qed
from qed.base.errors import InputError, QedError, SourceError
from qed.base.sources.block import as_dense

N = 40
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 2)).round(3)
NUMBER = X @ [1.0, -2.0] + 0.1 * RNG.standard_normal(N)
LABEL = np.where(X[:, 0] + RNG.standard_normal(N) > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b"])


def holed(value, row=3, column=1):
    found = X.copy()
    found[row, column] = value
    return found


class Streaming:
    """Something of which nothing is known but that it streams Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Sequence:
    """Something of which nothing is known but that it has rows."""

    def __len__(self):
        return N

    def __getitem__(self, row):
        return X[row].tolist()


class Arraylike:
    """Something of which nothing is known but that it becomes an array."""

    def __array__(self, dtype=None, copy=None):
        return X if dtype is None else X.astype(dtype)


def mapped(folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def csv(folder):
    FRAME.assign(y=NUMBER, label=LABEL).to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


def parquet(folder):
    path = folder / "t.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME), path, row_group_size=11)
    return path


def npy(folder):
    np.save(folder / "p.npy", X)
    return folder / "p.npy"


# What each kind of table is as a matrix, and whether its columns have names.
TAKEN = {
    "list": (lambda _: X.tolist(), X, False),
    "tuple": (lambda _: tuple(map(tuple, X.tolist())), X, False),
    "float64": (lambda _: X, X, False),
    "float32": (lambda _: X.astype(np.float32), X.astype(np.float32), False),
    "float16": (lambda _: X.astype(np.float16), X.astype(np.float16), False),
    "big-endian": (lambda _: X.astype(">f8"), X, False),
    "Fortran order": (lambda _: np.asfortranarray(X), X, False),
    "strided": (lambda _: np.repeat(X, 2, axis=0)[::2], X, False),
    "integers": (lambda _: (10 * X).astype(np.int32), (10 * X).astype(np.int32), False),
    "unsigned": (lambda _: (10 * np.abs(X)).astype(np.uint8), (10 * np.abs(X)).astype(np.uint8), False),
    "booleans": (lambda _: X > 0, X > 0, False),
    "objects that are numbers": (lambda _: X.astype(object), X, False),
    "array-like": (lambda _: Arraylike(), X, False),
    "np.matrix": (lambda _: np.asmatrix(X), X, False),
    "memory map": (mapped, X, False),
    "pandas": (lambda _: FRAME, X, True),
    "pandas without names": (lambda _: pd.DataFrame(X), X, False),
    "pandas mixed numbers": (lambda _: pd.DataFrame({"a": X[:, 0], "b": X[:, 1] > 0}), (X[:, 0], X[:, 1] > 0), True),
    "pandas nullable": (lambda _: FRAME.convert_dtypes(), X, True),
    "pandas on arrow": (lambda _: FRAME.convert_dtypes(dtype_backend="pyarrow"), X, True),
    "pandas objects": (lambda _: FRAME.astype(object), X, True),
    "pandas sparse": (lambda _: FRAME.astype(pd.SparseDtype(float, 0.0)), X, True),
    "polars": (lambda _: pl.DataFrame(X, schema=["a", "b"]), X, True),
    "polars lazy": (lambda _: pl.DataFrame(X, schema=["a", "b"]).lazy(), X, True),
    "arrow": (lambda _: pa.Table.from_pandas(FRAME), X, True),
    "record batch": (lambda _: pa.RecordBatch.from_pandas(FRAME), X, True),
    "record batch reader": (lambda _: pa.Table.from_pandas(FRAME).to_reader(), X, True),
    "stream": (lambda _: Streaming(pa.Table.from_pandas(FRAME)), X, True),
    "dictionary": (lambda _: {"a": X[:, 0], "b": X[:, 1].tolist()}, X, True),
    **{
        form: (lambda _, form=form: sparse.csr_array(X).asformat(form), X, False)
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr")
    },
    "sparse integers": (lambda _: sparse.csr_array((10 * X).astype(int)), (10 * X).astype(int), False),
    "dask array": (lambda _: dask_array.from_array(X, chunks=(15, 1)), X, False),
    "dask frame": (lambda _: dask_frame.from_pandas(FRAME, npartitions=3), X, True),
    "parquet": (parquet, X, True),
    "npy": (npy, X, False),
    "list of arrays": (lambda _: list(X), X, False),
    "sequence": (lambda _: Sequence(), X, False),
    "long floats": (lambda _: X.astype(np.longdouble), X, False),
    "decimals": (lambda _: np.vectorize(lambda v: decimal.Decimal(f"{v:.3f}"), otypes=[object])(X), X, False),
    "pandas numbers for names": (lambda _: FRAME.set_axis([5, 7], axis=1), X, False),
    "pandas tuples for names": (lambda _: FRAME.set_axis([("u", 1), ("u", 2)], axis=1), X, False),
    "polars decimals": (lambda _: pl.DataFrame(X, schema=["a", "b"]).cast(pl.Decimal(10, 3)), X, True),
    "dataset": (lambda _: dataset.dataset(pa.Table.from_pandas(FRAME)), X, True),
    "scanner": (lambda _: dataset.dataset(pa.Table.from_pandas(FRAME)).scanner(), X, True),
}


@dataclass
class Refused:
    """A table, and what is said of it."""

    words: str
    make: object
    kind: type = InputError


REFUSED = {
    "strings": Refused("'x0' holds text", lambda: X.astype(str)),
    "list of strings": Refused("'x0' holds text", lambda: X.astype(str).tolist()),
    "objects that are text": Refused("'x1' holds text", lambda: np.column_stack([X[:, 0].astype(object), LABEL])),
    "rows of numbers and text": Refused("'x1' holds text", lambda: [[1.5, "u"], [2.5, "v"]] * (N // 2)),
    "cells of several types": Refused(
        "argument must be a string or a number",
        lambda: np.array([[{"a": 1}, 1.0]] + [[1.0, 1.0]] * (N - 1), dtype=object),
        TypeError,
    ),
    "complex": Refused("Complex data not supported", lambda: X + 1j),
    "complex objects": Refused("Complex data not supported", lambda: (X + 1j).astype(object)),
    "pandas complex": Refused("Complex data not supported", lambda: FRAME + 1j),
    "dates": Refused("holds no numbers", lambda: np.full((N, 2), np.datetime64("2020-01-01"))),
    "pandas text": Refused("'c' holds text", lambda: FRAME.assign(c=LABEL)),
    "pandas categories": Refused("'c' holds categories", lambda: FRAME.assign(c=pd.Categorical(LABEL))),
    "pandas dates": Refused("'c' holds dates or times", lambda: FRAME.assign(c=datetime.datetime(2020, 1, 1))),
    "pandas mixed cells": Refused("can not be read", lambda: FRAME.assign(c=[1, "u"] * (N // 2))),
    "pandas mixed names": Refused(
        "Feature names are only supported if all are strings.*int.*str", lambda: FRAME.rename(columns={"b": 1})
    ),
    "pandas names twice": Refused("'a' occurs more than once", lambda: FRAME.set_axis(["a", "a"], axis=1)),
    "polars text": Refused("'c' holds text", lambda: pl.DataFrame({"a": X[:, 0], "c": LABEL})),
    "polars categories": Refused(
        "'c' holds categories", lambda: pl.DataFrame({"c": LABEL}).with_columns(pl.col("c").cast(pl.Categorical))
    ),
    "lazy text": Refused("'c' holds text", lambda: pl.DataFrame({"a": X[:, 0], "c": LABEL}).lazy()),
    "arrow lists": Refused("'c' holds nested", lambda: pa.table({"c": [[1, 2]] * N})),
    "text in a dictionary": Refused("'c' holds text", lambda: {"c": LABEL}),
    "ragged dictionary": Refused("can not be read", lambda: {"a": [1.0, 2.0], "b": [1.0]}),
    "empty": Refused("0 sample", lambda: X[:0]),
    "no columns": Refused(r"0 feature\(s\) \(shape=\(40, 0\)\) while a minimum of 1 is required", lambda: X[:, :0]),
    "empty list": Refused("Expected 2D array", list),
    "empty frame": Refused("0 sample", lambda: FRAME[:0]),
    "frame without columns": Refused("0 feature", lambda: FRAME[[]]),
    "vector": Refused("Expected 2D array, got 1D.*Reshape your data", lambda: X[:, 0]),
    "series": Refused("Expected 2D array, got 1D", lambda: FRAME["a"]),
    "cube": Refused("got 3D", lambda: X[None]),
    "number": Refused("got 0D", lambda: 3.0),
    "nothing": Refused("got 0D", lambda: None),
    "ragged list": Refused("differ in length", lambda: [[1.0, 2.0], [3.0]]),
    "sparse vector": Refused("got 1D", lambda: sparse.coo_array(X[:, 0])),
    "sparse complex": Refused("Complex data not supported", lambda: sparse.csr_array(X + 1j)),
    "huge integers": Refused("too large", lambda: [[10**400, 1]] * N),
    "huge integers among floats": Refused("too large", lambda: [[1.5, 10**400]] * N),
    "huge integers in a frame": Refused("too large", lambda: pd.DataFrame({"a": [10**400] * N}, dtype=object)),
    "NaN": Refused("contains NaN: column number 1, row 3", lambda: holed(np.nan)),
    "infinity": Refused("contains infinity: column number 1, row 3", lambda: holed(np.inf)),
    "NaN in a list": Refused("contains NaN: column number 1, row 3", lambda: holed(np.nan).tolist()),
    "None in a list": Refused(
        "contains NaN: column number 1, row 3", lambda: np.where(np.isnan(holed(np.nan)), None, X).tolist()
    ),
    "NaN in a frame": Refused(
        "contains NaN: column 'b', row 3", lambda: pd.DataFrame(holed(np.nan), columns=["a", "b"])
    ),
    "null in polars": Refused(
        "contains NaN: column 'b', row 3", lambda: pl.DataFrame(holed(np.nan), schema=["a", "b"]).fill_nan(None)
    ),
    "NaN in a sparse matrix": Refused("contains NaN: column number 1, row 3", lambda: sparse.csr_array(holed(np.nan))),
    "masked": Refused("contains NaN: column number 1, row 3", lambda: np.ma.masked_array(X, np.isnan(holed(np.nan)))),
    "generator": Refused("A generator can be gone through only once", lambda: (row for row in X.tolist())),
    "generator of batches": Refused(
        "RecordBatchReader.from_batches", lambda: iter(pa.Table.from_pandas(FRAME).to_batches(max_chunksize=10))
    ),
    "list of batches": Refused("join these 4 first", lambda: pa.Table.from_pandas(FRAME).to_batches(max_chunksize=10)),
    "list of frames": Refused("join these 2 first", lambda: [FRAME[:20], FRAME[20:]]),
    "list of dictionaries": Refused("rows are dictionaries", lambda: FRAME.to_dict("records")),
    "records": Refused("array of records", lambda: FRAME.to_records(index=False)),
    "set": Refused("got 0D", lambda: set(map(tuple, X.tolist()))),
    "bytes": Refused("'x0' holds nested or binary", lambda: X.astype("S8")),
    "durations": Refused("holds no numbers", lambda: np.full((N, 2), np.timedelta64(1, "s"))),
    "pandas periods": Refused("'c' holds nested or binary", lambda: FRAME.assign(c=pd.period_range("2020", periods=N))),
    "pandas durations": Refused("'c' holds dates or times", lambda: FRAME.assign(c=pd.Timedelta(1))),
    "pandas zones": Refused(
        "'c' holds dates or times", lambda: FRAME.assign(c=pd.date_range("2020", periods=N, tz="UTC"))
    ),
    "pandas numbers as text": Refused("'a' holds text", lambda: FRAME.astype(str)),
    "pandas missing flag": Refused(
        "contains NaN: column 'c', row 0", lambda: FRAME.assign(c=pd.array([None] + [True] * (N - 1), dtype="boolean"))
    ),
    "polars nothing": Refused("contains NaN: column 'c', row 0", lambda: pl.DataFrame({"a": X[:, 0], "c": [None] * N})),
    "polars records": Refused("'c' holds nested", lambda: pl.DataFrame({"c": [{"u": 1.0}] * N})),
    "arrow reader of text": Refused("'c' holds text", lambda: pa.table({"a": X[:, 0], "c": LABEL}).to_reader()),
    "arrow names twice": Refused("'a' occurs more than once", lambda: pa.table([X[:, 0], X[:, 1]], names=["a", "a"])),
    "no such file": Refused("There is no file", lambda: "nowhere.csv", SourceError),
    "no such format": Refused("There is no file", lambda: "sales", SourceError),
}


def doors(model, data, y, **more):
    """Fit through both doors."""
    yield lambda: model().fit(data(), y, **more)
    yield lambda: model().fit(qed.rows(data(), y, **more))


def answer(call):
    """Give a fitted model, or what was said in its place."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return call()
        except (QedError, ValueError, TypeError) as error:
            assert isinstance(error, QedError), f"not ours: {error!r}"
            return type(error), str(error)


@pytest.mark.parametrize("kind", TAKEN)
def test_what_is_taken_is_taken_by_both_doors(kind, tmp_path):
    make, matrix, named = TAKEN[kind]
    matrix = np.column_stack(matrix) if isinstance(matrix, tuple) else np.asarray(matrix)
    lazily = kind.startswith("dask")
    y = NUMBER
    if lazily:
        y = (
            dask_array.from_array(NUMBER, chunks=15)
            if "array" in kind
            else dask_frame.from_pandas(pd.Series(NUMBER, FRAME.index), npartitions=3)
        )
    expected = qed.Ridge(0.1).fit(
        np.asarray(matrix, dtype=np.float32 if matrix.dtype.itemsize < 4 and matrix.dtype.kind == "f" else None), NUMBER
    )
    for call in doors(lambda: qed.Ridge(0.1), lambda: make(tmp_path), y):
        model = answer(call)
        assert isinstance(model, qed.Ridge), model
        np.testing.assert_allclose(
            model.coef_, expected.coef_, rtol=1e-6 if expected.coef_.dtype == np.float32 else 1e-10
        )
        assert model.coef_.dtype == expected.coef_.dtype
        assert hasattr(model, "feature_names_in_") == named
        if named:
            assert model.feature_names_in_.tolist() == ["a", "b"]
        np.testing.assert_allclose(model.predict(make(tmp_path)), model.predict(qed.rows(make(tmp_path))), rtol=1e-12)
        found = answer(lambda model=model: qed.certify(model, make(tmp_path), y))
        assert found, found


@pytest.mark.parametrize("kind", [kind for kind in TAKEN if not kind.startswith("dask")])
def test_labels_give_the_same_classifier(kind, tmp_path):
    make, _, _ = TAKEN[kind]
    first, second = (
        answer(call) for call in doors(lambda: qed.LogisticRegression(C=0.5), lambda: make(tmp_path), LABEL)
    )
    assert first.classes_.tolist() == second.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-9, atol=1e-12)
    assert first.score(make(tmp_path), LABEL) == first.score(qed.rows(make(tmp_path), LABEL))


@pytest.mark.parametrize("kind", TAKEN)
def test_clusterers_and_transformers_see_the_same_rows(kind, tmp_path):
    make, _, named = TAKEN[kind]
    for model, attribute in (
        (lambda: qed.KMeans(2, random_state=0), "labels_"),
        (lambda: qed.StandardScaler(with_mean=False), "scale_"),
    ):
        first, second = (
            answer(lambda opened=opened, model=model: model().fit(opened(make(tmp_path))))
            for opened in (_as_it_is, qed.rows)
        )
        np.testing.assert_array_equal(getattr(first, attribute), getattr(second, attribute))
        assert hasattr(first, "feature_names_in_") == hasattr(second, "feature_names_in_") == named
        asked = "transform" if attribute == "scale_" else "predict"
        given = [as_dense(getattr(first, asked)(opened(make(tmp_path)))) for opened in (_as_it_is, qed.rows)]
        np.testing.assert_array_equal(*given)


def _as_it_is(data):
    return data


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_is_refused_in_the_same_words(kind):
    refused = REFUSED[kind]
    for model, y in (
        (lambda: qed.Ridge(), NUMBER),
        (lambda: qed.LogisticRegression(), LABEL),
        (lambda: qed.KMeans(2, random_state=0), None),
        (lambda: qed.PCA(1), None),
    ):
        answers = [answer(call) for call in doors(model, refused.make, y)]
        for found in answers:
            assert isinstance(found, tuple), found
            assert issubclass(found[0], refused.kind) and re.search(refused.words, found[1], re.S), found
        assert answers[0] == answers[1]


@pytest.mark.parametrize("kind", REFUSED)
def test_predict_refuses_in_the_same_words(kind):
    refused = REFUSED[kind]
    model = qed.Ridge().fit(FRAME if "frame" in kind or "polars" in kind or "pandas" in kind else X, NUMBER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        first, second = (
            answer(lambda: model.predict(refused.make())),
            answer(lambda: model.predict(qed.rows(refused.make()))),
        )
    assert isinstance(first, tuple) and first == second


TARGETS = {
    "list": NUMBER.tolist(),
    "float32": NUMBER.astype(np.float32),
    "integers": (10 * NUMBER).astype(int),
    "booleans": NUMBER > 0,
    "objects": NUMBER.astype(object),
    "column": NUMBER[:, None],
    "two columns": np.column_stack([NUMBER, -NUMBER]),
    "series": pd.Series(NUMBER, name="price"),
    "nullable": pd.Series(NUMBER).convert_dtypes(),
    "frame": pd.DataFrame({"u": NUMBER, "v": -NUMBER}),
    "polars": pl.Series("price", NUMBER),
    "arrow": pa.array(NUMBER),
    "chunks": pa.chunked_array([NUMBER[:7], NUMBER[7:]]),
    "text": LABEL,
    "categories": pd.Series(LABEL, dtype="category"),
    "numbers as text": NUMBER.astype(str),
    "complex": NUMBER + 1j,
    "dates": np.full(N, np.datetime64("2020-01-01")),
    "NaN": np.where(np.arange(N) == 5, np.nan, NUMBER),
    "infinity": np.where(np.arange(N) == 5, np.inf, NUMBER),
    "None": [None, *NUMBER[1:].tolist()],
    "too short": NUMBER[:7],
    "cube": NUMBER[None, None],
    "ragged": [[1.0, 2.0], [1.0]] * (N // 2),
    "sparse": sparse.csr_array(NUMBER[:, None]),
    "huge": [10**400] * N,
    "nothing": None,
    "a name": "price",
    "cells of several types": [{"a": 1}, *NUMBER[1:].tolist()],
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", ["Ridge", "HuberRegressor", "LogisticRegression", "MajorityClassifier", "KMeans"])
def test_targets_are_the_same_through_both_doors(name, kind):
    def model():
        return qed.KMeans(2, random_state=0) if name == "KMeans" else getattr(qed, name)()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = (answer(call) for call in doors(model, lambda: X, TARGETS[kind]))
    if isinstance(first, tuple) or isinstance(second, tuple):
        if name != "KMeans":
            assert first == second
        return
    attribute = {"MajorityClassifier": "class_prior_", "KMeans": "cluster_centers_"}.get(name, "coef_")
    np.testing.assert_array_equal(getattr(first, attribute), getattr(second, attribute))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("text", "target of Ridge must be numbers.*classifier"),
        ("numbers as text", "target of Ridge must be numbers"),
        ("complex", "Complex data not supported"),
        ("dates", "must be numbers or labels"),
        ("NaN", "target of Ridge contains NaN: row 5"),
        ("infinity", "target of Ridge contains infinity: row 5"),
        ("None", "target of Ridge contains NaN: row 0"),
        ("too short", "inconsistent numbers of samples: 40 and 7"),
        ("cube", "vector or a matrix"),
        ("ragged", "inconsistent numbers of samples|predicts"),
        ("sparse", "sparse matrix"),
        ("huge", "must be numbers|too large"),
        ("nothing", "requires y to be passed.*second argument of fit"),
        ("a name", "target='price' names columns, but the columns of this data have no names"),
    ],
)
def test_what_is_said_of_targets(kind, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in doors(lambda: qed.Ridge(), lambda: X, TARGETS[kind]):
            if kind == "ragged":
                continue
            found = answer(call)
            assert isinstance(found, tuple) and re.search(words, found[1]), found


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.zeros(N), "All weights are zero"),
        (np.full(N, 1e-290), "All weights are zero.*none above 1e-100 counts as none"),
        (np.r_[np.ones(N - 1), 1e200], "weight of row 39 .* is 1e\\+200.*divide all weights by the largest"),
        (-np.ones(N), "weight of row 0 .* is -1"),
        (np.full(N, np.nan), "weight of row 0 .* is nan"),
        (np.ones(3), "sample_weight have inconsistent numbers of samples: 40 and 3"),
        (np.ones((N, 1)), "must be a vector"),
        (["u"] * N, "must be numbers"),
        ("w", "sample_weight='w' names columns, but the columns of this data have no names"),
    ],
)
def test_weights_are_refused_in_the_same_words(weight, words):
    answers = [answer(call) for call in doors(lambda: qed.Ridge(), lambda: X, NUMBER, sample_weight=weight)]
    assert answers[0] == answers[1] and re.search(words, answers[0][1]), answers


def test_a_target_is_named_by_a_string(tmp_path):
    path, expected = csv(tmp_path), qed.Ridge().fit(FRAME, NUMBER)
    frame = FRAME.assign(y=NUMBER)
    for data in (
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        frame.to_dict("list"),
        dask_frame.from_pandas(frame, npartitions=2),
    ):
        for model in (
            qed.Ridge().fit(data, "y"),
            qed.Ridge().fit(qed.rows(data, "y")),
            qed.Ridge().fit(qed.rows(data, target="y")),
        ):
            np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
            assert model.feature_names_in_.tolist() == ["a", "b"]
    named = qed.Ridge().fit(qed.rows(path, "y", columns=["a", "b"]))
    np.testing.assert_allclose(named.coef_, expected.coef_, rtol=1e-12)
    both = qed.TableModel(qed.Ridge()).fit(path, "y")
    assert both.target_name_ == "y" and "label" in both.feature_names_in_
    found = qed.KMeans(2, random_state=0).fit(frame, "y")
    assert found.feature_names_in_.tolist() == ["a", "b"]
    scores = qed.cross_validate(qed.Ridge(), frame, "y", cv=3)["test_score"]
    np.testing.assert_allclose(scores, qed.cross_validate(qed.Ridge(), FRAME, NUMBER, cv=3)["test_score"], rtol=1e-10)


@pytest.mark.parametrize(
    ("data", "target", "words"),
    [
        ("t.csv", "z", "There is no column 'z'. There are: 'a', 'b', 'y', 'label'"),
        ("t.csv", "lable", "Did you mean 'label'"),
        ("t.csv", None, "'label' holds text"),
        ("t.csv", np.ones(3), "inconsistent numbers of samples: 40 and 3"),
        ("t.csv", 7, "vector or a matrix"),
        ("frame", "z", "There is no column 'z'"),
        ("array", "y", "the columns of this data have no names: give y"),
    ],
)
def test_names_that_make_no_sense(data, target, words, tmp_path):
    path = csv(tmp_path)
    given = {"t.csv": path, "frame": FRAME, "array": X}[data]
    answers = [answer(call) for call in doors(lambda: qed.Ridge(), lambda: given, target)]
    assert answers[0] == answers[1] and re.search(words, answers[0][1]), answers


@pytest.mark.parametrize("kind", TAKEN)
def test_encoders_see_the_same_table(kind, tmp_path):
    make, _, _ = TAKEN[kind]
    answers = []
    for opened in (lambda data: data, qed.rows):
        answers.append(answer(lambda opened=opened: qed.OneHotEncoder().fit(opened(make(tmp_path)))))
    if isinstance(answers[0], tuple):
        assert answers[0] == answers[1] and "sparse" in answers[0][1]
    else:
        assert answers[0].get_feature_names_out().tolist() == answers[1].get_feature_names_out().tolist()


def test_warnings_about_names_come_from_both_doors():
    model, bare = qed.Ridge().fit(FRAME, NUMBER), qed.Ridge().fit(X, NUMBER)
    for opened in (lambda data: data, qed.rows):
        with pytest.warns(UserWarning, match="X does not have valid feature names, but Ridge was fitted with"):
            model.predict(opened(X))
        with pytest.warns(UserWarning, match="X has feature names, but Ridge was fitted without"):
            bare.predict(opened(FRAME))
        with pytest.raises(InputError, match="Feature names must be in the same order as they were in fit"):
            model.predict(opened(FRAME[["b", "a"]]))
        with pytest.raises(
            InputError, match=r"unseen at fit time:\n- c\nFeature names seen at fit time, yet now missing:\n- b"
        ):
            model.predict(opened(FRAME.rename(columns={"b": "c"})))
        with pytest.raises(InputError, match="X has 1 features, but Ridge is expecting 2 features as input"):
            bare.predict(opened(X[:, :1]))


def test_one_weight_for_all_rows():
    X, y = np.arange(12.0).reshape(6, 2) ** 2, np.arange(6.0)
    for table in (X, pd.DataFrame(X, columns=["a", "b"])):
        weighted = qed.Ridge().fit(table, y, sample_weight=2)
        np.testing.assert_array_equal(weighted.coef_, qed.Ridge().fit(table, y, sample_weight=np.full(6, 2.0)).coef_)
