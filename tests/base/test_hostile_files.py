"""Small files stay small: what a file makes of little is counted before it is made, and what it says of a model must hold together."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

import qed
from qed.base.errors import SavingError
from qed.base.saving.archive import TREE_LIMIT, read_archive, tree_cost, write_archive
from qed.base.saving.format import Packer
from tests.conformance.specimens import table

ROOT = Path(__file__).parent.parent.parent
X, NUMBER, LABEL = table(n=60)


def written(path: Path, tree: Any, arrays: list[np.ndarray] | None = None, kind: str = "model") -> Path:
    """Write a file whatever its tree is, as an enemy would."""
    write_archive(path, kind, None, arrays or [])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["model.json"])
    members["model.json"] = json.dumps({**header, "content": tree}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def refused_within(path: Path, megabytes: float, words: str) -> None:
    """Hold the memory of reading, which the counting of every allocation makes slow, to a limit."""
    tracemalloc.start()
    try:
        with pytest.raises(SavingError, match=words):
            read_archive(path, "model")
        assert tracemalloc.get_traced_memory()[1] < megabytes * 2**20
    finally:
        tracemalloc.stop()


COLLIDING = [k * (2**61 - 1) for k in range(1, 4001)]


@pytest.mark.parametrize(
    "node",
    [
        {"!": "dict", "items": [[key, 1] for key in COLLIDING]},
        {"!": "set", "items": COLLIDING},
        {"!": "frozenset", "items": COLLIDING},
        {"!": "dict", "items": [[{"!": "tuple", "items": [key]}, 1] for key in COLLIDING]},
        {"!": "set", "items": [1] * 4000},
    ],
    ids=["dict", "set", "frozenset", "tuples", "equal"],
)
def test_keys_that_collide_are_refused_before_they_meet(node: Any, tmp_path: Path) -> None:
    """Every one of them would be compared with all before it."""
    refused_within(written(tmp_path / "m.qed", node), 64, "made to collide")


def test_many_different_keys_are_no_collision(tmp_path: Path) -> None:
    labels = {k: float(k) for k in range(-5000, 5000)} | {f"{k}": 0.0 for k in range(5000)}
    packer = Packer()
    write_archive(tmp_path / "m.qed", "model", packer.pack(labels), packer.arrays)
    assert read_archive(tmp_path / "m.qed", "model") == labels


ARRAY = np.ones(1 << 17)
INDICES = np.arange(1 << 17, dtype=np.int32)
MULTIPLYING: dict[str, Any] = {
    "masked": {"!": "masked", "data": {"!": "array", "number": 0}, "mask": {"!": "array", "number": 1}},
    "sparse": {
        "!": "sparse",
        "class": "csr_array",
        "shape": [1, 1 << 17],
        "data": {"!": "array", "number": 0},
        "indices": {"!": "array", "number": 1},
        "indptr": {"!": "array", "number": 2},
    },
    "object": {
        "!": "object",
        "class": "Moments",
        "state": {
            "weight": 1.0,
            "count": 1,
            "mean": {"!": "array", "number": 0},
            "scatter": {"!": "array", "number": 0},
            "n_features": 1,
            "rest": 0.0,
        },
    },
}


@pytest.mark.parametrize("kind", ["masked", "sparse"])
def test_an_array_that_is_used_again_and_again_is_counted_each_time(kind: str, tmp_path: Path) -> None:
    arrays = [ARRAY, INDICES, np.array([0, 1 << 17], dtype=np.int32)]
    path = written(tmp_path / "m.qed", [MULTIPLYING[kind]] * 3000, arrays)
    assert path.stat().st_size < 4 << 20
    refused_within(path, 200, "so often")


def test_an_array_that_many_share_is_written_again(tmp_path: Path) -> None:
    packer = Packer()
    tree = packer.pack([ARRAY] * 100)
    write_archive(tmp_path / "m.qed", "model", tree, packer.arrays)
    assert len(packer.arrays) == 25
    again = read_archive(tmp_path / "m.qed", "model")
    assert len(again) == 100 and all((one == ARRAY).all() for one in again)


@pytest.mark.parametrize("piece", ["[]", "{}", '{"a":1}', "[[]]", "1", '""', "0.5", '{"!":"tuple","items":[]}'])
def test_a_tree_takes_no_more_than_it_was_said_to(piece: str, tmp_path: Path) -> None:
    """The bound on the memory of a tree is one, for whatever the tree is made of."""
    count = 4000
    path = written(tmp_path / "m.qed", json.loads(f"[{','.join([piece] * count)}]"))
    with zipfile.ZipFile(path) as archive:
        bound = tree_cost(archive.read("model.json"))
    tracemalloc.start()
    try:
        read_archive(path, "model")
        assert tracemalloc.get_traced_memory()[1] < bound + (1 << 18)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("piece", [b"[],", b"{},", b'{"a":1},'])
def test_a_tree_that_would_fill_the_memory_is_not_read(piece: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.qed"
    text = b'{"format":"qed","version":1,"kind":"model","content":[' + piece * (30_000_000 // len(piece)) + b"0]}"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", text)
    assert len(text) < TREE_LIMIT // 4 < tree_cost(text)
    refused_within(path, 80, "too large")


def test_an_empty_array_does_not_claim_axes_beyond_measure(tmp_path: Path) -> None:
    for array in (np.empty((0, 1 << 40)), np.empty(0, dtype="<U99999999")):
        write_archive(tmp_path / "m.qed", "model", {"!": "array", "number": 0}, [array])
        refused_within(tmp_path / "m.qed", 8, "not an array that a model has")


def changed(path: Path, model: Any, change: Callable[[dict[str, Any], list[np.ndarray]], Any]) -> Path:
    """Save a model with a change in the tree of what it learned, or in its arrays."""
    packer = Packer()
    tree = packer.pack_model(model)
    change(tree, packer.arrays)
    return written(path, tree, packer.arrays)


def array_of(tree: dict[str, Any], name: str) -> int:
    return int(tree["fitted"][name]["number"])


def with_array(
    name: str, value: Callable[[np.ndarray], np.ndarray]
) -> Callable[[dict[str, Any], list[np.ndarray]], None]:
    def change(tree: dict[str, Any], arrays: list[np.ndarray]) -> None:
        place = array_of(tree, name)
        arrays[place] = value(np.asarray(arrays[place]))

    return change


def with_value(name: str, value: Any) -> Callable[[dict[str, Any], list[np.ndarray]], None]:
    def change(tree: dict[str, Any], arrays: list[np.ndarray]) -> None:
        tree["fitted"][name] = value

    return change


@pytest.mark.parametrize(
    ("model", "change", "words"),
    [
        (qed.PolynomialFeatures(3), with_value("n_output_features_", 2), "n_output_features_ is 2, not 35"),
        (qed.PolynomialFeatures(3), with_value("n_output_features_", 10**9), "not 35"),
        (qed.StandardScaler(), with_array("scale_", lambda a: a[:1]), "scale_ has the shape"),
        (qed.StandardScaler(), with_array("scale_", np.negative), "scale_ must be above 0"),
        (qed.StandardScaler(), with_value("scale_", None), "otherwise"),
        (qed.MinMaxScaler(), with_array("data_min_", lambda a: a[:2]), "data_min_ has the shape"),
        (qed.KMeans(3, random_state=0), with_array("cluster_centers_", lambda a: a[:, :2]), "cluster_centers_ has"),
        (qed.KMeans(3, random_state=0), with_array("labels_", lambda a: a - 5), "labels_ must be at least 0"),
        (qed.KMeans(3, random_state=0), with_array("labels_", lambda a: a + 5), "labels_ must be below 3"),
        (qed.SimpleImputer(), with_array("statistics_", lambda a: a[:1]), "statistics_ has the shape"),
        (qed.Ridge(), with_array("coef_", lambda a: a[None]), "Ridge is not as it was saved"),
        (qed.Ridge(), with_array("coef_", lambda a: a * np.nan), "coef_ is not finite"),
        (qed.Ridge(), with_value("statistic_", {"a": 1}), "statistic_ must be a Moments or KeptRows"),
        (qed.Ridge(), with_value("certificate_", "all is well"), "certificate_ must be a Certificate"),
        (qed.Ridge(), lambda tree, arrays: tree["fitted"].pop("coef_"), "coef_ is missing"),
        (qed.Ridge(), lambda tree, arrays: tree["params"].update(alpha=-1.0), "alpha must be"),
        (qed.LogisticRegression(), with_array("classes_", lambda a: a[:1]), "1 classes"),
        (qed.LogisticRegression(), with_array("coef_", lambda a: np.vstack([a, a])), "intercept_ has the shape"),
        (qed.KernelRidge(), lambda tree, arrays: tree["fitted"].pop("coef_"), "coef_ has the shape"),
        (qed.OneHotEncoder(drop="first"), with_value("drop_idx_", [99, 0, 0, 0]), "drop_idx_ names a level"),
    ],
)
def test_what_does_not_hold_together_is_refused(
    model: Any, change: Callable[[dict[str, Any], list[np.ndarray]], Any], words: str, tmp_path: Path
) -> None:
    target = {"number": NUMBER, "label": LABEL, None: None}[model.target]
    path = changed(tmp_path / "m.qed", model.fit(X, target), change)
    with pytest.raises(SavingError, match=words):
        qed.load(path)


def test_statistics_are_held_to_their_shapes(tmp_path: Path) -> None:
    def shortened(tree: dict[str, Any], arrays: list[np.ndarray]) -> None:
        place = tree["fitted"]["statistic_"]["state"]["scatter"]["number"]
        arrays[place] = np.asarray(arrays[place])[:2, :2]

    with pytest.raises(SavingError, match="Moments: scatter has the shape"):
        qed.load(changed(tmp_path / "m.qed", qed.Ridge().fit(X, NUMBER), shortened))
    tree = {"!": "object", "class": "Gaussian", "state": {"mean": {"!": "array", "number": 0}, "covariance": 1.0}}
    # A covariance of one variance for 131072 components would be made into 128 GiB.
    refused_within(written(tmp_path / "m.qed", tree, [ARRAY]), 16, "covariance has the shape")


def test_a_search_from_a_file_can_not_set_a_memory(tmp_path: Path) -> None:
    pipeline = make_pipeline(qed.StandardScaler(), qed.Ridge())
    for grid in ({"memory": ["/tmp/x"]}, [{"ridge__alpha": [1.0]}, {"pipeline__memory": ["/tmp/x"]}]):
        search = qed.Search(pipeline, grid)
        with pytest.raises(SavingError, match="memory"):
            qed.save(search, tmp_path / "m.qed")
        qed.save(qed.Search(pipeline, {"ridge__alpha": [1.0]}), tmp_path / "m.qed")
        qed.load(tmp_path / "m.qed")
        packer = Packer()
        tree = packer.pack_model(qed.Search(pipeline, {"ridge__alpha": [1.0]}))
        tree["params"]["grid"] = packer.pack(grid)
        with pytest.raises(SavingError, match="memory"):
            qed.load(written(tmp_path / "m.qed", tree, packer.arrays))


@pytest.mark.parametrize("steps", [[], "x", [["a"]], [["a", 5], ["b", 5]], [[1, None]], None])
def test_a_pipeline_must_be_one(steps: Any, tmp_path: Path) -> None:
    tree = {"!": "model", "class": "Pipeline", "params": {"steps": steps}, "fitted": {}}
    with pytest.raises(SavingError, match="list of named steps"):
        qed.load(written(tmp_path / "m.qed", tree))


def test_a_sparse_matrix_is_made_of_arrays(tmp_path: Path) -> None:
    node = dict(MULTIPLYING["sparse"], data=[1.0], indices=[0], indptr=[0, 1], shape=[1, 1])
    with pytest.raises(SavingError, match="not made of arrays"):
        read_archive(written(tmp_path / "m.qed", node), "model")
    assert sparse.csr_array(np.eye(2)).nnz == 2


def attack(tool: str, *options: str) -> None:
    done = subprocess.run(
        [sys.executable, f"tools/{tool}.py", *options], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("tool", ["fuzz_load", "fuzz_csv"])
def test_some_mutated_files(tool: str) -> None:
    attack(tool, "--files", "100", "--seed", "1")


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["fuzz_load", "fuzz_csv"])
def test_a_minute_of_mutated_files(tool: str) -> None:
    attack(tool, "--seconds", "60", "--seed", "2")
