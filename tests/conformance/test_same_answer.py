"""The same model from every source and with every engine: bit for bit across threads, to rounding across sources."""

import dataclasses
from functools import cache

import dask.dataframe as dask_frame
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.utils import get_tags

import qed
from tests.conformance.specimens import estimators, specimen, table, target_for

NAMES = sorted(estimators())
SOURCES = ["array", "float32", "memory map", "parquet", "dask"]
X, NUMBER, LABEL = table(n=1500)
COLUMNS = ["a", "b", "c", "d"]

# Other blocks add the same n terms in another order, which moves a sum by n u at most, and equations in X'X answer with the square of
# the condition of X. Rounding the table itself to single precision moves the answers by the condition of the table with a constant.
ROUNDING = len(X) * 2.0**-53 * np.linalg.cond(X - X.mean(axis=0)) ** 2
# Steps end where the objective is within 1e-10 of its minimum, relative, which leaves the root of that to coefficients: other rounding
# on the way ends elsewhere in there.
STOPPED = {"GradientRidge": 1e-5}
SINGLE = 2.0**-23 * np.linalg.cond(np.column_stack([np.ones(len(X)), X]))


# What was cut off means, how often sums were rounded, and what that may have cost, depends on the blocks.
ABOUT_ROUNDING = ("rest", "bulk", "roundings", "drift", "doubt", "lost")


def source(kind, X, y, folder):
    """Give ``(X, y)`` for fit from one kind of source."""
    if kind == "array":
        return X, y
    if kind == "float32":
        return X.astype(np.float32), y
    if kind == "memory map":
        path = folder / "X.npy"
        np.save(path, X)
        return np.load(path, mmap_mode="r"), y
    if kind == "parquet":
        frame = dict(zip(COLUMNS, X.T))
        path = folder / "table.parquet"
        pq.write_table(pa.table({**frame, **({} if y is None else {"y": y})}), path, row_group_size=350)
        return qed.rows(path, target=None if y is None else "y"), None
    frame = pandas.DataFrame(X, columns=COLUMNS)
    if y is not None:
        frame["y"] = y
    return qed.rows(dask_frame.from_pandas(frame, npartitions=3), target=None if y is None else "y"), None


def numbers(value, path=""):
    """List all numbers that a fitted model holds, with where they are."""
    if isinstance(value, (bool, str, type(None))):
        return {}
    if isinstance(value, (int, float, np.number)):
        return {path: np.asarray(float(value))}
    if isinstance(value, np.ndarray):
        return {path: value.astype(float)} if value.dtype.kind in "fiub" else {}
    if dataclasses.is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.name not in ABOUT_ROUNDING}
    if isinstance(value, dict):
        return {k: v for name, item in value.items() for k, v in numbers(item, f"{path}.{name}").items()}
    if isinstance(value, (list, tuple)):
        return {k: v for j, item in enumerate(value) for k, v in numbers(item, f"{path}[{j}]").items()}
    return {}


LEARNED = {"ending_", "certificate_", "cv_results_", "how_", "refit_time_"}


def learned(model):
    """Give the numbers in the public fitted attributes, without traces and times."""
    return numbers({name: value for name, value in model._attributes().items() if name not in LEARNED})


def fit(name, kind, folder):
    model = specimen(name)
    table = np.round(X) if get_tags(model).input_tags.categorical else X
    few = slice(
        400 if model.passes in ("as codes", "in memory") else len(X)
    )  # whose work grows with the square or the cube of the rows
    target = target_for(model, NUMBER[few], LABEL[few])
    return model.fit(*source(kind, table[few], target, folder))


@cache
def from_an_array(name):
    with qed.threads(1):
        return learned(fit(name, "array", None))


def check_source(name, kind, folder):
    """Give what two threads learn from a source, which is what one learns from an array, but for rounding."""
    with qed.threads(2):
        found = learned(fit(name, kind, folder))
    compare(from_an_array(name), found, rtol=SINGLE if kind == "float32" else STOPPED.get(name, ROUNDING))
    return found


def check_threads(name, kind, folder):
    """Another number of threads changes no bit."""
    two = check_source(name, kind, folder)
    with qed.threads(1):
        one = from_an_array(name) if kind == "array" else learned(fit(name, kind, folder))
    assert one.keys() == two.keys() and one
    for place in one:
        np.testing.assert_array_equal(one[place], two[place], err_msg=place)


@pytest.mark.parametrize("name", NAMES)
def test_sources_and_threads_give_the_same_model(name, tmp_path):
    """Each model from all sources, and with another number of threads from an array and from one of the others in turn."""
    others = SOURCES[1:]
    turn = others[NAMES.index(name) % len(others)]
    for kind in SOURCES:
        (check_threads if kind in ("array", turn) else check_source)(name, kind, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", NAMES)
def test_no_source_minds_the_number_of_threads(name, kind, tmp_path):
    check_threads(name, kind, tmp_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(3)
def test_a_cluster_gives_the_same_model(name, cluster, tmp_path):
    compare(from_an_array(name), learned(fit(name, "dask", tmp_path)), rtol=STOPPED.get(name, ROUNDING))


def compare(expected, found, rtol):
    assert expected.keys() == found.keys() and expected
    for place in expected:
        finite = expected[place][np.isfinite(expected[place])]
        scale = max(float(np.abs(finite).max(initial=0.0)), 1.0)
        np.testing.assert_allclose(found[place], expected[place], rtol=rtol, atol=rtol * scale, err_msg=place)
