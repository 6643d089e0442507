"""The same bad input gives the same sentence: for every model, from every source, through every door.

An array says what is to be said; a frame, rows, files, a cluster and a sparse matrix say the same. The fast test takes another source for
each kind of bad input in turn, through doors in turn, the slow one takes all of them.
"""

import copy
import inspect
import re
import warnings
from functools import partial

import dask.array as dask_array
import dask.dataframe as dask_frame
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import get_tags

import qed
from qed.base.errors import InputError, QedError
from tests.conformance.specimens import estimators, specimen, table, target_for

X, NUMBER, LABEL = table(n=60)
COLUMNS = ["a", "b", "c", "d"]
NAMES = sorted(estimators())
LABELLING = [name for name in NAMES if getattr(get_tags(specimen(name)).classifier_tags, "multi_label", False)]
SEVERAL = [name for name in NAMES if estimators()[name].target and get_tags(specimen(name)).target_tags.multi_output]
# A scaler of ranges can not forget, and says so.
FORGETFUL = [name for name in NAMES if name != "MinMaxScaler" and hasattr(specimen(name), "forget")]
SOURCES = ["rows", "frame", "rows of a frame", "npy", "parquet", "csv", "dask", "dask array", "sparse"]
DOORS = ["fit", "partial_fit", "forget", "resume", "score", "certify", "predict", "transform"]
# What they search with may speak for them.
SEARCHES = ("RandomSearch", "Search")
# Their own business: holes are what they are for, or they see words where others see numbers.
TAKE_HOLES = {"ColumnEncoder", "OneHotEncoder", "SimpleImputer", "TableModel"}
# What the model inside refuses is said in its name.
SEARCHES = [name for name in NAMES if issubclass(estimators()[name], qed.Search)]


def put(values, place, value):
    found = np.array(values, dtype=float)
    found[place] = value
    return found


# What is bad, and what is said of it; `target` says which models are concerned.
FEATURES = {
    "NaN": (put(X, (7, 1), np.nan), "X of NAME contains NaN: column number 1, row 7"),
    "infinity": (put(X, (7, 1), np.inf), "X of NAME contains infinity: column number 1, row 7"),
}
TARGETS = {
    "NaN": ("number", put(NUMBER, 7, np.nan), "target of NAME contains NaN: row 7"),
    "infinity": ("number", put(NUMBER, 7, np.inf), "target of NAME contains infinity: row 7"),
    "text": ("number", np.array(["u", "v"] * 30, dtype=object), "target of NAME must be numbers"),
    "NaN label": ("label", put(LABEL, 7, np.nan), "target of NAME contains NaN: row 7"),
    "missing label": ("label", np.array(["u", "v", None] * 20, dtype=object), "target of NAME has missing labels"),
    "amounts": ("label", put(LABEL, 7, 0.5), "Unknown label type: continuous.*NAME.*0.5"),
    "two columns": ("label", np.column_stack([LABEL, LABEL]), "NAME predicts one column, but y has 2"),
    "nothing": ("number", None, "NAME requires y to be passed"),
}
WEIGHTS = {
    "zero": (np.zeros(60), "All weights are zero"),
    "negative": (put(np.ones(60), 7, -1), "weight of row 7 .* is -1"),
    "NaN": (put(np.ones(60), 7, np.nan), "weight of row 7 .* is nan"),
    "infinite": (put(np.ones(60), 7, np.inf), "weight of row 7 .* is inf"),
}


def given(source, X, y, weight, folder):
    """Give what a door takes, from one source."""
    named = {} if weight is None else {"sample_weight": weight}
    if source == "array":
        return (X, y), named
    if source == "sparse":
        return (sparse.csr_array(X), y), named
    if source == "frame":
        return (pd.DataFrame(X, columns=COLUMNS), y), named
    if source == "rows":
        return (qed.rows(X, y, **named),), {}
    if source == "npy":
        np.save(folder / "X.npy", X)
        return (qed.rows(folder / "X.npy", y, **named),), {}
    if source == "dask array":
        y, weight = (None if part is None else dask_array.from_array(part, chunks=20) for part in (y, weight))
        return (qed.rows(dask_array.from_array(X, chunks=(20, 4)), y, sample_weight=weight),), {}
    frame, target = pd.DataFrame(X, columns=COLUMNS), None
    if y is not None:
        target = ["y", "z"] if y.ndim == 2 else "y"
        frame[target] = y
    if weight is not None:
        frame["w"], weight = weight, "w"
    if source == "parquet":
        frame.to_parquet(folder / "t.parquet", index=False)
        frame = folder / "t.parquet"
    elif source == "csv":
        frame.to_csv(folder / "t.csv", index=False)
        frame = folder / "t.csv"
    elif source == "dask":
        frame = dask_frame.from_pandas(frame, npartitions=3)
    return (qed.rows(frame, target=target, sample_weight=weight),), {}


def said(call):
    """Give what is said, in words that do not tell whether columns have names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except QedError as error:
            assert isinstance(error, InputError), repr(error)
            return re.sub(r"[cC]olumn 'b'", "column number 1", str(error))
    return None


def through(door, name, fitted, arguments, named):
    """Go through one door."""
    if door == "certify":
        return qed.certify(fitted, *arguments, **named)
    if door in ("predict", "transform"):
        return getattr(fitted, door)(arguments[0])
    return getattr(specimen(name) if door == "fit" else fitted, door)(*arguments, **named)


def attempt(door, name, fitted, *what):
    """Make what a source gives, and go through one door with it."""
    return through(door, name, copy.deepcopy(fitted), *given(*what))


def cases(name):
    """List what can be wrong for one model: kind, table, target, weights and words."""
    model = specimen(name)
    y = target_for(model, NUMBER, LABEL)
    if name not in TAKE_HOLES:
        refused = [kind for kind in FEATURES if kind != "NaN" or not model.missing]
        yield from ((f"{kind} in X", FEATURES[kind][0], y, None, FEATURES[kind][1]) for kind in refused)
    yield from (
        (f"{kind} in y", X, bad, None, words)
        for kind, (target, bad, words) in TARGETS.items()
        if target == model.target and (kind != "two columns" or name not in LABELLING)
    )
    if name != "SimpleImputer" and name not in SEARCHES and "sample_weight" in inspect.signature(model.fit).parameters:
        yield from ((f"{kind} weights", X, y, bad, words) for kind, (bad, words) in WEIGHTS.items())


def check(name, sources, folder):
    """Compare what sources say with what an array says, for all that can be wrong."""
    data = np.round(X) if name == "OneHotEncoder" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = specimen(name).fit(data, target_for(specimen(name), NUMBER, LABEL))
    who = f"(Ridge|{name})" if name in (*SEARCHES, "Conformal") else name
    for number, (kind, bad, y, weight, words) in enumerate(cases(name)):
        doors = [door for door in DOORS if door == "certify" or hasattr(fitted, door)]
        doors = [door for door in doors if "X" in kind.split() or door not in ("predict", "transform")]
        for door in doors:
            # A scaler of ranges can not forget; a search scores with metrics, which have words of their own.
            if (name, door) == ("MinMaxScaler", "forget") or (name in SEARCHES and door == "score"):
                continue
            for source in ("array", *sources(number, doors.index(door))):
                if source == "sparse" and (not get_tags(fitted).input_tags.sparse or name in TAKE_HOLES):
                    continue
                found = said(partial(attempt, door, name, fitted, source, bad, y, weight, folder))
                where = f"{name}.{door} from {source}, {kind}: {found}"
                assert found is not None and re.search(words.replace("NAME", who), found), where


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_refused_in_the_same_words(name, tmp_path):
    first = NAMES.index(name)
    # Each kind of bad input comes from a source in turn, through two of the doors in turn; the array goes through all of them.
    check(name, lambda kind, door: [SOURCES[(first + kind) % len(SOURCES)]] * ((door - kind) % 4 == 0), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_refused_in_the_same_words_by_every_source(name, tmp_path):
    check(name, lambda kind, door: SOURCES, tmp_path)


@pytest.mark.parametrize("name", [name for name in (*SEVERAL, *LABELLING) if name not in (*SEARCHES, "TableModel")])
def test_a_target_of_other_columns_than_in_fit_is_refused(name):
    model = specimen(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = target_for(model, NUMBER, LABEL)
        model.fit(X, y)
        for door in ("score", "partial_fit", "forget", "resume", "certify"):
            if door == "certify" or hasattr(model, door):
                words = said(partial(through, door, name, model, (X, np.column_stack([y, y])), {}))
                assert words is not None and "another number of target columns than y has: 1 and 2" in words


@pytest.mark.parametrize("name", FORGETFUL)
def test_forgetting_every_row_is_refused_and_changes_nothing(name):
    model = specimen(name)
    y = target_for(model, NUMBER, LABEL)
    model.fit(X, y)
    before = dict(vars(model))
    with pytest.raises(InputError, match=f"{name} can not forget all the rows"):
        model.forget(X, y)
    assert all(vars(model)[key] is before[key] for key in before)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_whose_square_overflows_is_refused_or_taken_whole(name):
    """No NaN comes out, and no warning or error of NumPy's, wherever the value stands in the range of numbers."""
    for value in (1e160, 1e300, -1e308):
        model = specimen(name)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", UserWarning)
            try:
                model.fit(put(X, (3, 1), value), target_for(model, NUMBER, LABEL))
                found = [getattr(model, door)(X) for door in ("predict", "transform") if hasattr(model, door)]
            except InputError:
                continue
        for values in found:
            values = values.toarray() if sparse.issparse(values) else np.asarray(values)
            assert values.dtype.kind != "f" or np.isfinite(values).all()
