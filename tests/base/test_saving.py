"""Saved models come back as they were; whatever is not a saved model is refused, and nothing in a file can run code."""

from __future__ import annotations

import json
import math
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.linear_model import LinearRegression as ForeignRegression
from sklearn.pipeline import Pipeline, make_pipeline

import qed
from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError, SavingError, SourceError
from qed.base.models.fingerprint import Fingerprint
from qed.base.running.steps import Ending, Past, Reason, Step
from qed.base.saving.archive import FORMAT, read_archive, write_archive
from qed.base.saving.format import Packer, Unpacker
from qed.base.saving.known import find_class, savable
from qed.base.summary import Summary


def there_and_back(value: Any) -> Any:
    packer = Packer()
    text = json.dumps(packer.pack(value), allow_nan=False)
    return Unpacker(packer.arrays.__getitem__).unpack(json.loads(text))


def assert_same(first: Any, second: Any) -> None:
    """Compare values, their types, and the bits of their numbers."""
    assert type(first) is type(second)
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype and first.shape == second.shape
        if first.dtype == object:
            assert_same(first.ravel().tolist(), second.ravel().tolist())
        else:
            assert first.tobytes() == second.tobytes()
    elif sparse.issparse(first):
        assert (first != second).nnz == 0 and first.shape == second.shape and first.dtype == second.dtype
    elif isinstance(first, (list, tuple)):
        assert len(first) == len(second)
        for one, other in zip(first, second):
            assert_same(one, other)
    elif isinstance(first, dict):
        assert_same([*first.items()], [*second.items()])
    elif isinstance(first, float):
        assert struct.pack("d", first) == struct.pack("d", second) or (math.isnan(first) and math.isnan(second))
    elif isinstance(first, np.generic):
        lost = first != first and second != second  # a NaN has a sign, which no one relies on
        assert first.dtype == second.dtype and (lost or first.tobytes() == second.tobytes())
    elif hasattr(first, "get_params"):
        assert_same({**first.get_params(deep=False)}, {**second.get_params(deep=False)})
        assert_same(learned(first), learned(second))
    elif isinstance(first, Enum):
        assert first is second
    elif isinstance(first, (Step, Summary, Fingerprint, Ending, Past)) or hasattr(first, "__dataclass_fields__"):
        names = first.__slots__ if isinstance(first, Step) else first.__dataclass_fields__
        for name in names:
            assert_same(getattr(first, name), getattr(second, name))
    else:
        assert first == second


def learned(model: Any) -> dict[str, Any]:
    return {name: value for name, value in sorted(vars(model).items()) if name.endswith("_") and name[0] != "_"}


floats = st.floats(allow_nan=True, allow_infinity=True)
keys = st.one_of(st.text(max_size=4), st.integers(), st.booleans(), st.none())
scalars = st.one_of(
    hnp.from_dtype(np.dtype("f4")),
    hnp.from_dtype(np.dtype("f8")),
    hnp.from_dtype(np.dtype("f2")),
    hnp.from_dtype(np.dtype("u8")),
    hnp.from_dtype(np.dtype("i1")),
    hnp.from_dtype(np.dtype("?")),
    hnp.from_dtype(np.dtype("<U5")),
    hnp.from_dtype(np.dtype("<M8[s]")),
)
arrays = st.sampled_from(["f4", "f8", ">f8", "i8", "u1", "?", "c16", "<U3", "<M8[D]", "S4"]).flatmap(
    lambda name: hnp.arrays(np.dtype(name), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
)
plain = st.one_of(st.none(), st.booleans(), st.integers(), floats, st.text(max_size=5))
object_arrays = hnp.arrays(object, hnp.array_shapes(min_dims=1, max_dims=2, max_side=3), elements=plain)
leaves = st.one_of(plain, scalars, arrays, object_arrays)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["a", "!", "b"]), inner, max_size=2),
        st.dictionaries(keys, inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(values)
def test_every_value_comes_back_with_its_type_and_its_bits(value: Any) -> None:
    assert_same(there_and_back(value), value)


@pytest.mark.parametrize("value", [{"b", "a", "c"}, frozenset({3, 1}), np.dtype("f4"), np.float32, float, (), [[]]])
def test_sets_dtypes_and_types_come_back(value: Any) -> None:
    assert there_and_back(value) == value and type(there_and_back(value)) is type(value)


def test_equal_sets_give_equal_trees() -> None:
    first, second = {0, 8}, {8, 0}
    assert [*first] != [*second] and Packer().pack(first) == Packer().pack(second)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix])
def test_sparse_matrices_come_back(kind: Callable[..., Any]) -> None:
    assert_same(
        there_and_back(kind(np.array([[0.0, 1.5], [0.0, 0.0], [2.0, -1.0]]))), kind([[0, 1.5], [0, 0], [2, -1.0]])
    )


def test_fortran_order_stays() -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    packer = Packer()
    packer.pack(array)
    assert packer.arrays[0].flags.f_contiguous


def test_an_array_is_stored_once_and_shared_again(tmp_path: Path) -> None:
    array = np.arange(4.0)
    packer = Packer()
    tree = packer.pack([array, {"again": array}])
    write_archive(tmp_path / "f.qed", "model", tree, packer.arrays)
    first, second = read_archive(tmp_path / "f.qed", "model")
    assert len(packer.arrays) == 1 and first is second["again"]


@savable
class Pair(NamedTuple):
    left: float
    right: np.ndarray


@savable
class Homemade:
    def __init__(self, content: Any) -> None:
        self.content = content

    def to_dict(self) -> dict[str, Any]:
        return {"content": self.content}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Homemade:
        return cls(content["content"])


@dataclass(frozen=True)
class Unmarked:
    value: int


def test_objects_of_qed_come_back() -> None:
    rows = qed.rows(np.arange(12.0).reshape(4, 3))
    summary = rows.fold(Summary.of)
    best = Step(1.0, None, 3, w=np.ones(2))
    last = Step(math.pi, 0.25, 4, w=np.zeros(2), seed=7)
    last.past = Past(best, 0, 1, 9.0, 1e-6)
    certificate = Certificate([Claim("a", 1.0, math.inf), Claim("b", math.nan, 0.0)], source="statistics")
    ending = Ending(best, Reason.TIME, 4, 0.5, [{"number": 0, "gap": None}], "because", "advice", last)
    for value in [
        summary,
        summary.fingerprint(),
        last,
        certificate,
        Reason.CERTIFIED,
        ending,
        rows.fold(qed.stats.Moments.of_features),
    ]:
        assert_same(there_and_back(value), value)


def test_marked_classes_come_back_and_others_are_refused() -> None:
    assert_same(there_and_back(Pair(1.0, np.ones(2))), Pair(1.0, np.ones(2)))
    assert there_and_back(Homemade((1, 2))).content == (1, 2)
    with pytest.raises(SavingError, match="Unmarked"):
        Packer().pack(Unmarked(1))
    with pytest.raises(SavingError, match="Two savable classes"):
        savable(type("Pair", (), {"__module__": "elsewhere"}))


X = np.abs(np.random.default_rng(0).normal(size=(60, 4))) + 0.1
TARGETS = {
    "number": X @ [1.0, -2.0, 0.5, 0.0] + np.sin(37 * X[:, 0]),
    "label": np.where(X[:, 0] > X[:, 1], "yes", "no"),
    None: None,
}


@pytest.mark.parametrize("name", ["GradientRidge", "LinearRegression", "Ridge", "StandardScaler"])
@pytest.mark.filterwarnings("ignore")
def test_models_come_back_to_the_last_bit(name: str, tmp_path: Path) -> None:
    model = getattr(qed, name)()
    model.fit(X, TARGETS[model.target])
    first, second = tmp_path / "first.qed", tmp_path / "second.qed"
    qed.save(model, first)
    again = qed.load(first)
    qed.save(again, second)
    assert first.read_bytes() == second.read_bytes()
    assert_same(learned(again), learned(model))
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            assert_same(getattr(again, method)(X), getattr(model, method)(X))


@pytest.fixture
def model() -> Any:
    return qed.Ridge(alpha=2.0).fit(X, TARGETS["number"])


@pytest.fixture
def saved(model: Any, tmp_path: Path) -> Path:
    qed.save(model, tmp_path / "model.qed")
    return tmp_path / "model.qed"


def test_a_loaded_model_goes_on_learning(model: Any, saved: Path) -> None:
    y = TARGETS["number"]
    again = qed.load(saved)
    assert bool(again.certificate_) and qed.certify(again, X, y)
    assert again.fingerprint_.matches(model.fingerprint_)
    assert_same(again.partial_fit(X[:5], y[:5]).coef_, model.partial_fit(X[:5], y[:5]).coef_)
    assert_same(again.forget(X[:5], y[:5]).coef_, model.forget(X[:5], y[:5]).coef_)


def test_names_and_unfitted_models_come_back(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    path = tmp_path / "m.qed"
    qed.save(qed.Ridge().fit(frame, TARGETS["number"]), path)
    assert list(qed.load(path).feature_names_in_) == ["a", "b", "c", "d"]
    qed.save(qed.Ridge(alpha=7.5), path)
    assert qed.load(path).alpha == 7.5 and not hasattr(qed.load(path), "coef_")
    qed.save(qed.StandardScaler().set_output(transform="pandas").fit(frame), path)
    assert isinstance(qed.load(path).transform(frame), pandas.DataFrame)


def test_a_pipeline_of_models_is_saved(tmp_path: Path) -> None:
    pipeline = make_pipeline(qed.StandardScaler(), "passthrough", qed.Ridge(alpha=0.5)).fit(X, TARGETS["number"])
    qed.save(pipeline, tmp_path / "p.qed")
    again = qed.load(tmp_path / "p.qed")
    assert type(again) is Pipeline and [name for name, _ in again.steps] == [name for name, _ in pipeline.steps]
    assert_same(again.predict(X), pipeline.predict(X))


def test_equal_models_give_equal_bytes(model: Any, saved: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.qed"
    qed.save(qed.Ridge(alpha=2.0).fit(X, TARGETS["number"]), twin)
    assert twin.read_bytes() == saved.read_bytes()


class Stranger(qed.Ridge):
    pass


def shout() -> None: ...


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (shout, ["'alpha' of Ridge", "'shout'", "set_params"]),
        (lambda x: x, ["'alpha' of Ridge", "lambda"]),
        ([1, {"a": shout}], ["'alpha' of Ridge", "'shout'"]),
        (np.random.default_rng(0), ["'alpha' of Ridge", "whole number"]),
        (ForeignRegression(), ["'alpha' of Ridge", "LinearRegression", "not a model of qed"]),
        (Stranger(), ["'alpha' of Ridge", "Stranger", "savable"]),
        (np.array([1, shout], dtype=object), ["'alpha' of Ridge", "'shout'"]),
        (np.array([(1, None)], dtype=[("a", int), ("b", object)]), ["ndarray"]),
        (np.longdouble(1), ["'alpha' of Ridge", "longdouble"]),
        (os, ["'alpha' of Ridge", "module"]),
        (object(), ["'alpha' of Ridge", "object", "NumPy arrays"]),
        (qed.Ridge, ["'alpha' of Ridge", "Ridge"]),
        (qed.Ridge(alpha=qed.Ridge(alpha=print)), ["'alpha' of Ridge", "'print'"]),
    ],
)
def test_what_can_not_be_stored_is_named(value: Any, words: list[str], tmp_path: Path) -> None:
    with pytest.raises(SavingError) as caught:
        qed.save(qed.Ridge(alpha=value), tmp_path / "m.qed")
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert not list(tmp_path.iterdir())


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(SavingError, match="contains itself"):
        qed.save(qed.Ridge(alpha=loop), tmp_path / "m.qed")
    with pytest.raises(SavingError, match="Only models can be saved, not a dict"):
        qed.save({}, tmp_path / "m.qed")
    with pytest.raises(SavingError, match="The model is a Stranger"):
        qed.save(Stranger(), tmp_path / "m.qed")
    with pytest.raises(SavingError, match="memory"):
        qed.save(make_pipeline(qed.Ridge(), memory=str(tmp_path)), tmp_path / "m.qed")
    with pytest.raises(InputError, match="string or a Path"):
        qed.save(qed.Ridge(), 5)  # type: ignore[arg-type]


def test_files_that_can_not_be_reached(model: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.qed", tmp_path):
        with pytest.raises(SourceError, match="Check the path"):
            qed.load(path)
    with pytest.raises(SourceError, match="there is no folder"):
        qed.save(model, tmp_path / "no" / "m.qed")
    with pytest.raises(SourceError, match="Could not write"):
        qed.save(model, tmp_path)


def test_a_failed_write_leaves_the_old_file(model: Any, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(*args: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(SourceError, match=r"model.qed: No space left on device.*Free some space"):
        qed.save(model, saved)
    monkeypatch.setattr(np.lib.format, "write_array", lambda *args, **options: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        qed.save(model, saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_the_new_file_has_the_usual_rights_and_a_link_stays_a_link(model: Any, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "m.qed", tmp_path / "real" / "m.qed"
    link.symlink_to(real)
    mask = os.umask(0o022)
    try:
        qed.save(model, link)
    finally:
        os.umask(mask)
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o644


# Files that are no model, or that someone tampered with.


def rebuilt(path: Path, change: Callable[[dict[str, Any]], Any] | None = None, **members: bytes | None) -> Path:
    """Write the file anew with a changed tree and with members added, replaced or (None) left out."""
    with zipfile.ZipFile(path) as archive:
        content: dict[str, bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(content["model.json"] or b"")
    if change is not None:
        tree = change(tree) or tree
    content["model.json"] = json.dumps(tree).encode()
    content.update(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)
    return path


def assert_refused(path: Path, words: str | None = None) -> None:
    with pytest.raises(SavingError, match=words) as caught:
        qed.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all", b"\x93NUMPY", b"{}", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_zip_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.qed"
    path.write_bytes(content)
    assert_refused(path)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "random.qed"
    path.write_bytes(content)
    assert_refused(path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_flipped_bytes_are_refused_or_change_nothing(data: Any, model: Any, saved: Path) -> None:
    if not hasattr(test_flipped_bytes_are_refused_or_change_nothing, "content"):
        test_flipped_bytes_are_refused_or_change_nothing.content = saved.read_bytes()  # type: ignore[attr-defined]
    content = bytearray(test_flipped_bytes_are_refused_or_change_nothing.content)  # type: ignore[attr-defined]
    places = data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=3))
    for place in places:
        content[place] ^= data.draw(st.integers(1, 255))
    path = saved.with_name("flipped.qed")
    path.write_bytes(content)
    try:
        again = qed.load(path)
    except SavingError:
        return
    assert_same(learned(again), learned(model))


def test_every_truncation_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    path = saved.with_name("short.qed")
    for length in {*range(0, len(content), 61), len(content) - 1}:
        path.write_bytes(content[:length])
        assert_refused(path)


def test_a_newer_format_is_named(saved: Path) -> None:
    rebuilt(saved, lambda tree: {**tree, "version": FORMAT + 1, "made_by": {"qed-learn": "9.1"}})
    assert_refused(saved, r"written by qed 9\.1.*Install a newer qed")


@pytest.mark.parametrize("version", [0, -1, "1", None, True, 1.0])
def test_versions_that_never_were(saved: Path, version: Any) -> None:
    assert_refused(rebuilt(saved, lambda tree: {**tree, "version": version}))


def test_a_checkpoint_is_not_a_model(saved: Path) -> None:
    assert_refused(rebuilt(saved, lambda tree: {**tree, "kind": "checkpoint"}), "holds a checkpoint.*qed.resume")


def test_strange_members_are_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for name in ("../../etc/passwd", "evil.py", "arrays/99.npy"):
        saved.write_bytes(content)
        assert_refused(rebuilt(saved, None, **{name: b"x"}), "members that qed did not write")
    saved.write_bytes(content)
    assert_refused(rebuilt(saved, None, **{"arrays/0.npy": None}))
    saved.write_bytes(content)
    assert_refused(rebuilt(saved, None, **{"model.json": None}), "holds no model.json")
    saved.write_bytes(content)
    with zipfile.ZipFile(saved, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("arrays/0.npy", b"second")
    assert_refused(saved, "some twice")


def test_bombs_are_refused_before_they_are_read(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = saved.read_bytes()
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b" " * (1 << 24))
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *args: pytest.fail("it was read"))
    assert_refused(saved, "compressed or too large")
    monkeypatch.undo()
    saved.write_bytes(content)
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        number = len(archive.namelist()) - 1
        archive.writestr(f"arrays/{number}.npy", bytes(1 << 24))
    assert_refused(saved, "compressed members")


def test_compressed_or_long_trees_are_not_read(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(saved) as archive:
        tree = archive.read("model.json")
    small = saved.with_name("small.qed")
    with zipfile.ZipFile(small, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", tree)
    assert_refused(small, "compressed or too large")
    monkeypatch.setattr("qed.base.saving.archive.TREE_LIMIT", len(tree) - 1)
    assert_refused(saved, "compressed or too large")
    with pytest.raises(SavingError, match="Keep large data in NumPy arrays"):
        qed.save(qed.Ridge(alpha=list(range(len(tree)))), small)


def npy(header: str, body: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


@pytest.mark.parametrize(
    "array",
    [
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", bytes(16)),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"cos\nsystem\n(S'false'\ntR."),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (__import__('os').getpid(),)}", bytes(8)),
        npy("{'descr': '<f8'}", bytes(8)),
        b"\x93NUMPY\x03\x00" + bytes(100),
        b"nothing",
        b"",
    ],
)
def test_hostile_arrays_are_refused_before_they_are_read(
    saved: Path, array: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuilt(saved, None, **{"arrays/0.npy": array})
    monkeypatch.setattr(np.lib.format, "read_array", lambda *args, **options: pytest.fail("it was read"))
    assert_refused(saved)


def set_fitted(name: str, node: Any) -> Callable[[dict[str, Any]], None]:
    def change(tree: dict[str, Any]) -> None:
        tree["content"]["fitted"][name] = node

    return change


@pytest.mark.parametrize(
    "node",
    [
        {"!": "pickle", "value": "x"},
        {"!": "model", "class": "os.system", "params": {}, "fitted": {}},
        {"!": "model", "class": "Popen", "params": {"args": "true"}, "fitted": {}},
        {"!": "model", "class": "train_test_split", "params": {}, "fitted": {}},
        {"!": "model", "class": "Claim", "params": {}, "fitted": {}},
        {"!": "model", "class": ["Ridge"], "params": {}, "fitted": {}},
        {"!": "model", "class": "Ridge", "params": {"beta": 1}, "fitted": {}},
        {"!": "model", "class": "Ridge", "params": {}, "fitted": {"predict": 1}},
        {"!": "model", "class": "Ridge", "params": {}, "fitted": {"__class__": 1}},
        {"!": "model", "class": "Ridge", "params": {}, "fitted": {"inference_": 1}},
        {"!": "model", "class": "Ridge", "params": {}, "fitted": {"not a name_": 1}},
        {"!": "model", "class": "Pipeline", "params": {"steps": [], "memory": "/tmp/x"}, "fitted": {}},
        {"!": "model", "class": "Ridge", "params": {}},
        {"!": "object", "class": "Ridge", "state": {}},
        {"!": "object", "class": "Reason", "state": "WHATEVER"},
        {"!": "object", "class": "Claim", "state": {"says": "x"}},
        {"!": "object", "class": "Fingerprint", "state": 3},
        {"!": "array", "number": 10**6},
        {"!": "array", "number": "0"},
        {"!": "array"},
        {"!": "dtype", "value": "no such"},
        {"!": "type", "value": "eval"},
        {"!": "scalar", "dtype": "|O", "value": 1},
        {"!": "scalar", "dtype": "<i2", "value": 10**9},
        {"!": "objects", "shape": [10**12], "items": []},
        {"!": "objects", "shape": [-1, -1], "items": [1]},
        {"!": "sparse", "class": "system", "shape": [1, 1], "data": [], "indices": [], "indptr": []},
        {"!": "tuple", "items": 3},
        {"!": {}, "items": []},
        {"!": "set", "items": [[]]},
    ],
)
def test_hostile_trees_are_refused(saved: Path, node: Any) -> None:
    assert_refused(rebuilt(saved, set_fitted("solver_", node)))


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b'"qed"', b"{", b"[" * 100_000, b"\xff\xfe", b"9" * 100_000])
def test_hostile_json_is_refused(saved: Path, text: bytes) -> None:
    assert_refused(rebuilt(saved, None, **{"model.json": text}))


def test_sparse_indices_are_checked_to_the_last(tmp_path: Path) -> None:
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[2] = 1000
    packer = Packer()
    tree = packer.pack(matrix)
    with pytest.raises(ValueError, match="indices"):
        Unpacker(packer.arrays.__getitem__).unpack(tree)


def test_rows_of_a_sparse_matrix_do_not_end_before_they_begin() -> None:
    """SciPy does not look at them where the last one ends at nothing, and its products then read and write out of range."""
    packer = Packer()
    tree = packer.pack(sparse.csr_array(np.eye(3)))
    packer.arrays = [np.array([0, 2, 3, 0]) if len(array) == 4 else array[:0] for array in packer.arrays]
    with pytest.raises(SavingError, match="end before they begin"):
        Unpacker(packer.arrays.__getitem__).unpack(tree)


def test_a_content_that_is_no_model_is_refused(tmp_path: Path) -> None:
    write_archive(tmp_path / "m.qed", "model", {"alpha": 1}, [])
    assert_refused(tmp_path / "m.qed", "holds no model")


def test_an_unknown_class_is_named(saved: Path) -> None:
    node = {"!": "object", "class": "FutureThing", "state": {}}
    assert_refused(rebuilt(saved, set_fitted("solver_", node)), "'FutureThing'.*savable")


def test_only_classes_of_the_house_are_found() -> None:
    assert find_class("Ridge") is qed.Ridge and find_class("Pipeline") is Pipeline
    assert find_class("LogisticRegressionCV") is None and find_class("numpy.ndarray") is None
    savable(type("Ridge", (qed.Ridge,), {"__module__": "elsewhere"}))
    assert find_class("Ridge") is qed.Ridge


def test_names_in_files_are_not_ambiguous():
    """A file names classes by their bare names, so no two public classes may share one."""
    from qed.base.saving.known import PARTS

    homes: dict[str, set[str]] = {}
    for room in (*qed._ROOMS, *PARTS):
        package = getattr(qed, room)
        for name in package.__all__:
            item = getattr(package, name)
            if isinstance(item, type):
                homes.setdefault(item.__name__, set()).add(f"{item.__module__}.{item.__qualname__}")
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
