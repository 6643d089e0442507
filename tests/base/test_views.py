"""Views: they state what their source states, change blocks as they are read, and are kept when they are read often."""

import gc
import subprocess
import sys
from collections import Counter
from dataclasses import fields, replace

import dask.dataframe as dask_frame
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import qed
from qed.base.engine import threads, work
from qed.base.errors import InputError, SourceError
from qed.base.sources import readers
from qed.base.sources.block import Block
from qed.base.sources.facts import Facts
from qed.base.sources.rows import ArrayRows, Rows, View
from qed.base.sources.spill import MappedLabels, MappedMatrix
from qed.features.stream import changed, with_columns
from qed.stats.parts import Part

N = 500
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
LABEL = np.where(X[:, 0] > 0, "yes", "no")
COUNTED = (
    "n_features",
    "dtype",
    "feature_names",
    "is_sparse",
    "target_names",
    "target_dtype",
    "target_ndim",
    "target_is_number",
)
STATED = (*COUNTED, "has_target", "has_weight", "in_memory")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("QED_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def table(tmp_path):
    """A file of numbers, words and holes."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(pet=RNG.choice(["cat", "dog", "eel"], N), label=LABEL)
    frame["w"] = np.linspace(0, 2, N)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=120)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return frame


def doubled(block):
    return replace(block, X=2 * block.X)


def starts(block):
    return [(block.start, len(block))]


def blocks_of(rows):
    return rows.fold(lambda block: [block])


def sources(tmp_path, table):
    numbers = table[["a", "b", "c", "label", "w"]]
    numbers.to_parquet(tmp_path / "n.parquet", row_group_size=120)
    named = {"target": "label", "sample_weight": "w", "block_size": 64}
    return {
        "array": qed.rows(X, LABEL, block_size=64),
        "weights": qed.rows(X.astype(np.float32), X[:, :2], sample_weight=np.ones(N), block_size=64),
        "sparse": qed.rows(sparse.csr_array(X), X[:, 0], block_size=64),
        "pandas": qed.rows(numbers, **named),
        "parquet": qed.rows(tmp_path / "n.parquet", **named),
        "dask": qed.rows(dask_frame.from_pandas(numbers, npartitions=3), **named),
    }


def test_facts_are_true_of_every_source_and_view(tmp_path, table):
    for kind, source in sources(tmp_path, table).items():
        everything = np.ones(N, dtype=bool)
        for rows in (
            source,
            source.through(doubled),
            Part(source, everything),
            Part(source, everything).through(doubled),
        ):
            assert {name: getattr(rows, name) for name in STATED} == {name: getattr(source, name) for name in STATED}
            for block in blocks_of(rows):
                assert sparse.issparse(block.X) == rows.is_sparse and block.X.dtype == rows.dtype, kind
                assert block.X.shape[1] == rows.n_features
                assert (block.y is not None) == rows.has_target and (block.weight is not None) == rows.has_weight
                assert block.y.ndim == rows.target_ndim
                assert block.y.dtype == rows.target_dtype or block.y.dtype.kind == rows.target_dtype.kind == "O"
                assert rows.target_is_number == (block.y.dtype.kind in "biuf")


def test_a_fact_has_one_place():
    forwarded = {name for name in dir(Rows) if isinstance(getattr(Rows, name), property)}
    assert forwarded >= {field.name for field in fields(Facts)} - {"schema", "is_mapped"}
    assert set(STATED) <= forwarded


def test_through_states_what_it_changes():
    source = qed.rows(pd.DataFrame(X, columns=["a", "b", "c"]), LABEL)
    rows = source.through(lambda block: replace(block, X=block.X[:, :1]), feature_names=["only"])
    assert rows.n_features == 1 and rows.feature_names == ("only",) and rows.target_dtype == source.target_dtype
    assert rows.array().X.shape == (N, 1) and rows.count() == N and rows.known_count() == N
    bare = with_columns(source, lambda block: np.hstack([block.X] * 2), count=6, dtype=np.float32)
    assert (bare.n_features, bare.feature_names, bare.dtype) == (6, None, np.float32)
    assert bare.array().X.dtype == np.float32


def test_views_of_views_apply_in_order():
    rows = qed.rows(X, block_size=64).through(lambda block: replace(block, X=block.X + 1)).through(doubled)
    np.testing.assert_array_equal(rows.array().X, 2 * (X + 1))
    part = Part(rows, np.arange(N) % 3 == 0)
    np.testing.assert_array_equal(part.array().X, 2 * (X[::3] + 1))
    np.testing.assert_array_equal(part.through(doubled).map(lambda block: block.X[:, 0]), 4 * (X[::3, 0] + 1))


def test_blocks_without_rows_are_not_there(tmp_path, table):
    """Nothing that is folded, listed or joined ever sees a part's empty blocks, whatever lies between."""
    chosen = np.zeros(N, dtype=bool)
    chosen[[70, 71, 300, 301, 302]] = True
    for kind, source in sources(tmp_path, table).items():
        for rows in (
            Part(source, chosen),
            Part(source.through(doubled), chosen),
            Part(source, chosen).through(doubled),
        ):
            assert None not in list(work(rows.tasks(len))), kind
            assert sum(work(rows.tasks(len))) == rows.fold(len) == rows.count() == 5
            first, *_ = rows.each(starts)
            assert first == [(0, 2)] and len(rows.array()) == 5
            assert sum(rows.fold(starts)[-1]) == 5


def test_a_fold_never_goes_past_a_view():
    class Halved(View):
        """Every second block."""

        def pieces(self):
            return (piece for k, piece in enumerate(self.source.pieces()) if k % 2 == 0)

    rows = Halved(qed.rows(X, block_size=100))
    assert rows.fold(starts) == [(0, 100), (200, 100), (400, 100)]
    assert list(rows.each(starts)) == [[(0, 100)], [(200, 100)], [(400, 100)]]


class TestCached:
    """``cached()``: what was decoded and changed once is not decoded and changed again."""

    def test_in_memory_where_the_source_is(self, cache):
        calls = Counter()

        def change(block):
            calls["blocks"] += 1
            return replace(block, X=2 * block.X)

        rows = qed.rows(X, LABEL, sample_weight=np.ones(N), block_size=100).through(change)
        kept = rows.cached()
        assert kept is rows.cached() and isinstance(kept, ArrayRows) and calls["blocks"] == 5
        assert kept.in_memory and not kept.facts.is_mapped and not cache.exists()
        np.testing.assert_array_equal(kept.array().X, 2 * X)
        assert kept.array().y.tolist() == LABEL.tolist() and kept.has_weight

    @pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
    @pytest.mark.parametrize("count", [1, 2])
    def test_on_disk_where_it_is_not(self, name, count, cache, table, tmp_path):
        source = qed.rows(tmp_path / name, target="label", sample_weight="w", columns=["a", "b", "c"], block_size=64)
        with threads(count):
            kept = source.through(doubled).cached()
        assert isinstance(kept.X, np.memmap) and kept.facts.is_mapped and kept.cached() is kept
        np.testing.assert_array_equal(kept.array().X, source.through(doubled).array().X)
        assert isinstance(kept.y, MappedLabels) and kept.array().y.tolist() == LABEL.tolist()
        np.testing.assert_array_equal(kept.array().weight, table["w"])
        assert (
            kept.target_dtype == np.dtype(object)
            and not kept.target_is_number
            and kept.feature_names == ("a", "b", "c")
        )
        files = {file.name for file in cache.glob("*/*")}
        assert files == {"X.npy", "y.bin", "weight.bin"}
        del kept, source
        gc.collect()
        assert list(cache.iterdir()) == []

    @pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
    def test_tables_on_disk(self, name, cache, table, tmp_path, parses):
        table.assign(day=pd.Timestamp("2020-01-01"), kind=pd.Categorical(table["pet"])).to_parquet(
            tmp_path / "t.parquet"
        )
        source = qed.rows(tmp_path / name, target="label", sample_weight="w", block_size=64)
        kept = source.table().cached()
        before = parses["passes"]
        assert kept is source.table().cached() and kept.is_table and kept.cached() is kept
        assert kept.fold(starts) == source.table().fold(starts)
        whole, wanted = kept.array(), source.table().array()
        assert whole.X.equals(wanted.X) and whole.y.tolist() == wanted.y.tolist()
        np.testing.assert_array_equal(whole.weight, wanted.weight)
        assert kept.facts.schema == source.facts.schema and parses["passes"] <= before + 2
        del kept, source
        gc.collect()
        assert list(cache.iterdir()) == []

    def test_sparse_blocks_on_disk(self, cache, table, tmp_path):
        source = qed.rows(tmp_path / "t.csv", target="a", columns=["pet", "label"], block_size=64)
        encoder = qed.OneHotEncoder().fit(source)
        lazy = changed(encoder, source)
        kept = lazy.cached()
        assert lazy.is_sparse and kept.is_sparse and isinstance(kept.X, MappedMatrix)
        wanted = encoder.transform(source)
        assert (wanted != kept.array().X).nnz == 0 and sparse.issparse(kept.array().X)
        assert all(sparse.issparse(block.X) and block.X.dtype == np.float64 for block in kept.blocks())
        model, again = qed.Ridge().fit(kept), qed.Ridge().fit(wanted, table["a"])
        np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-10)
        order = RNG.permutation(N)[:50]
        assert (kept.X[order] != wanted[order]).nnz == 0
        once_more = kept.through(doubled).cached()
        assert isinstance(once_more.X, MappedMatrix) and (2 * wanted != once_more.array().X).nnz == 0
        del lazy, kept, once_more, model
        gc.collect()
        assert list(cache.iterdir()) == []

    def test_only_the_target_is_changed(self, cache, table, tmp_path):
        def coded(block):
            return replace(block, y=(block.y == "yes").astype(np.int64))

        arrays = qed.rows(X, LABEL, block_size=64)
        kept = arrays.through(coded, target_only=True, target_dtype=np.dtype(np.int64)).cached()
        assert kept.X is X and kept.y.tolist() == (LABEL == "yes").tolist()
        source = qed.rows(tmp_path / "t.parquet", target="label", columns=["a", "b", "c"], block_size=64)
        kept = source.through(coded, target_only=True, target_dtype=np.dtype(np.int64)).cached()
        assert kept.X is source.cached().X and isinstance(kept.y, np.memmap)
        assert kept.y.tolist() == (LABEL == "yes").tolist() and kept.target_is_number

    def test_whole_numbers_with_a_hole_that_comes_late(self, cache, tmp_path):
        numbers = pa.array([1, 2, 3, 4, None, 6], pa.int64())
        pq.write_table(pa.table({"x": np.arange(6.0), "y": numbers}), tmp_path / "t.parquet")
        kept = qed.rows(tmp_path / "t.parquet", target="y", block_size=2).cached()
        np.testing.assert_array_equal(kept.y, [1, 2, 3, 4, np.nan, 6])

    def test_several_targets_and_labels_of_many_kinds(self, cache, tmp_path):
        frame = pd.DataFrame({"x": np.arange(5.0), "u": ["p", None, "q", "p", "q"], "v": ["1", "2", "1", None, "é"]})
        frame.to_parquet(tmp_path / "t.parquet")
        kept = qed.rows(tmp_path / "t.parquet", target=["u", "v"], block_size=2).cached()
        assert kept.target_ndim == 2
        assert kept.array().y.tolist() == [["p", "1"], [None, "2"], ["q", "1"], ["p", None], ["q", "é"]]
        mixed = np.array([True, 1, 1.0, "1", None], dtype=object)
        again = qed.rows(tmp_path / "t.parquet", mixed, columns=["x"], block_size=2).cached().array().y.tolist()
        assert again == mixed.tolist() and [type(label) for label in again] == [type(label) for label in mixed]

    def test_an_error_leaves_nothing_behind(self, cache, table, tmp_path):
        def fails(block):
            if block.start > 100:
                raise ZeroDivisionError("late")
            return block

        source = qed.rows(tmp_path / "t.parquet", columns=["a", "b"], block_size=64)
        for count in (1, 2):
            with threads(count), pytest.raises(ZeroDivisionError, match="late"):
                source.through(fails).cached()
        gc.collect()
        assert list(cache.iterdir()) == []

    def test_a_disk_without_room_is_said_to_be_one(self, cache, table, tmp_path):
        import resource

        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        wide = qed.rows(tmp_path / "t.csv", columns=["a"], block_size=64)
        rows = with_columns(wide, lambda block: np.ones((len(block), 1000)), count=1000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
        try:
            with pytest.raises(SourceError, match=r"need more room in .*cache.*File too large.*QED_CACHE_DIR"):
                rows.cached()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        gc.collect()
        assert list(cache.iterdir()) == []

    def test_memory_stays_bounded(self, tmp_path):
        """A spilled view of a table of 153 MiB needs memory for the blocks at work only."""
        rng = np.random.default_rng(3)
        large = pa.table(
            {f"x{j}": rng.standard_normal(2_500_000) for j in range(8)} | {"y": np.tile(["u", "v"], 1_250_000)}
        )
        for name, part in (("small", large.slice(0, 312_500)), ("large", large)):
            pq.write_table(part, tmp_path / f"{name}.parquet", compression="none")
        script = """
import resource, sys, qed
from dataclasses import replace
def change(block):
    return replace(block, X=block.X + 1)
def kept(path):
    with qed.threads(2):
        return qed.rows(path, target="y").through(change).cached()
kept(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = kept(sys.argv[2])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, found.count())
"""
        call = [sys.executable, "-c", script, str(tmp_path / "small.parquet"), str(tmp_path / "large.parquet")]
        grown, count = map(int, subprocess.run(call, capture_output=True, text=True, check=True).stdout.split())
        assert count == 2_500_000 and grown < 100


@pytest.fixture
def parses(monkeypatch):
    """Count how often a .csv file is read from its beginning to its end, besides the look at its first lines."""
    found = Counter()
    plain = readers.CsvReader._open

    def counted(self, kinds, size, *more, **named):
        found["passes" if kinds else "samples"] += 1
        return plain(self, kinds, size, *more, **named)

    monkeypatch.setattr(readers.CsvReader, "_open", counted)
    return found


@pytest.mark.parametrize(
    "model",
    [
        qed.TableModel(qed.LogisticRegression()),
        qed.TableModel(qed.LogisticRegression(), degree=2),
        qed.TableModel(qed.KMeans(3, random_state=0)),
        qed.TableModel(qed.MajorityClassifier()),
    ],
    ids=["logistic", "products", "k-means", "majority"],
)
def test_a_table_is_parsed_once(model, parses, cache, table, tmp_path):
    """However often the encoder, what comes behind it and the proof read it."""
    model.fit(tmp_path / "t.csv", "label")
    assert dict(parses) == {"samples": 1, "passes": 1}
    assert qed.certify(model, tmp_path / "t.csv", "label")
    assert dict(parses) == {"samples": 2, "passes": 2}
    gc.collect()
    assert not cache.exists() or list(cache.iterdir()) == []


def test_a_cross_validation_parses_once(parses, cache, table, tmp_path):
    scores = qed.cross_validate(qed.TableModel(qed.LogisticRegression()), tmp_path / "t.csv", "label", cv=3)
    assert dict(parses) == {"samples": 1, "passes": 1}
    frame = table.drop(columns="label")
    again = qed.cross_validate(qed.TableModel(qed.LogisticRegression()), frame, table["label"], cv=3)
    np.testing.assert_allclose(scores["test_score"], again["test_score"], rtol=1e-12)


@pytest.mark.parametrize("model", [qed.LogisticRegression(), qed.KMeans(3, random_state=0), qed.MajorityClassifier()])
def test_numbers_are_parsed_once(model, parses, cache, table, tmp_path):
    model.fit(qed.rows(tmp_path / "t.csv", "label", columns=["a", "b", "c"]))
    assert dict(parses) == {"samples": 1, "passes": 1}


def test_a_hole_behind_a_view_is_named_by_its_row(tmp_path):
    for kind, value, words in (
        (qed.PolynomialFeatures, np.nan, "NaN"),
        (qed.PolynomialFeatures, np.inf, "infinity"),
        (qed.StandardScaler, np.inf, "infinity"),
    ):
        bad = X.copy()
        bad[333, 1] = value
        transformer = kind().fit(X)
        for source in (
            qed.rows(bad, block_size=64),
            Part(qed.rows(np.vstack([X, bad]), block_size=64), np.arange(2 * N) >= N),
        ):
            said = f"Input X of {kind.__name__} contains {words}: column number 1, row 333"
            with pytest.raises(InputError, match=said):
                changed(transformer, source).array()
            with pytest.raises(InputError, match=said):
                transformer.transform(source)


def test_a_hole_in_a_row_of_weight_zero_does_not_matter_behind_a_scaler():
    bad, weight = X.copy(), np.ones(N)
    bad[7, 1], weight[7] = np.inf, 0.0
    rows = qed.rows(bad, X[:, 0], sample_weight=weight)
    scaler = qed.StandardScaler().fit(rows)
    assert np.isfinite(scaler.mean_).all()


def test_tables_of_numbers_can_be_encoded_behind_views():
    rows = qed.rows(np.round(X), block_size=64)
    wanted = qed.OneHotEncoder().fit(np.round(X)).get_feature_names_out().tolist()
    for view in (rows.through(_whole), Part(rows, np.ones(N, dtype=bool))):
        assert qed.OneHotEncoder().fit(view).get_feature_names_out().tolist() == wanted
    with pytest.raises(InputError, match="sparse matrix can not be read as a table"):
        qed.rows(sparse.csr_array(X)).through(_whole).table()


def _whole(block: Block) -> Block:
    return block


def test_no_module_of_the_sources_waits_for_another():
    """Every file of ours is imported at the top, and dask, an extra, is not imported by that."""
    code = "import sys, qed.base.sources.open; print('dask' in sys.modules, 'polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
