"""What goes wrong with files and caches is said in our words, and never gives a wrong answer."""

import os
import resource
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from qed.base.engine import threads
from qed.base.errors import InputError, QedError, SourceError
from qed.base.sources import readers
from qed.base.sources.open import rows


def gram(block):
    return block.X.T @ block.X


def some_table(n=3000):
    rng = np.random.default_rng(0)
    return pa.table({name: rng.standard_normal(n) for name in ("a", "b")})


def parquet(path, table=None, **options):
    pa.parquet.write_table(some_table() if table is None else table, path, **options)
    return str(path)


@pytest.mark.parametrize("name", ["sales.parquet", "sales.csv", "sales.feather", "sales.npy"])
def test_missing_file(name, tmp_path):
    (tmp_path / ("sale" + name[5:])).write_text("x")
    with pytest.raises(SourceError, match=f"There is no file .*{name}.*Did you mean .*sale"):
        rows(tmp_path / name)
    with pytest.raises(SourceError, match="no folder"):
        rows(tmp_path / "nowhere" / name)
    with pytest.raises(OSError):
        rows([tmp_path / name])


def test_files_that_can_not_be_meant(tmp_path):
    with pytest.raises(SourceError, match="No file matches"):
        rows(str(tmp_path / "*.parquet"))
    with pytest.raises(SourceError, match="holds no files"):
        rows(tmp_path)
    (tmp_path / "t.docx").write_text("x")
    with pytest.raises(InputError, match=r"t.docx' is of no format .*\.parquet"):
        rows(tmp_path / "t.docx")
    parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="several formats"):
        rows(tmp_path)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.tsv", "t.feather", "t.arrow"])
def test_empty_file(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(SourceError, match="is empty: it has 0 bytes"):
        rows(tmp_path / name)


def test_no_rows_or_columns(tmp_path):
    parquet(tmp_path / "t.parquet", some_table().slice(0, 0))
    (tmp_path / "t.csv").write_text("a,b\n")
    for name in ("t.parquet", "t.csv"):
        found = rows(tmp_path / name)
        assert found.count() == 0
        with pytest.raises(InputError, match="0 sample"):
            found.fold(gram)
        with pytest.raises(InputError, match="0 sample"):
            found.cached()
    (tmp_path / "blank.csv").write_text("\n\n\n")
    with pytest.raises(SourceError, match=r"blank\.csv"):
        rows(tmp_path / "blank.csv")
    parquet(tmp_path / "n.parquet", pa.table({}))
    with pytest.raises(InputError, match="0 feature"):
        rows(tmp_path / "n.parquet")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_cut_short_at_any_place(kind, tmp_path):
    path = str(tmp_path / f"t.{kind}")
    if kind == "parquet":
        parquet(path, row_group_size=500)
    else:
        pa.feather.write_feather(some_table(), path, chunksize=500)
    whole = Path(path).read_bytes()
    for part in (1, 4, 10, len(whole) // 3, len(whole) - 9, len(whole) - 1):
        with open(path, "wb") as file:
            file.write(whole[:part])
        with pytest.raises(SourceError, match=r"t.*damaged, cut short or of another format"):
            rows(path).fold(gram)


def test_damage_inside_is_found_by_checksums(tmp_path):
    path = parquet(tmp_path / "t.parquet", write_page_checksum=True, compression="none", use_dictionary=False)
    expected = rows(path).fold(gram)
    whole = bytearray(Path(path).read_bytes())
    for place in range(200, len(whole) * 3 // 4, len(whole) // 7):
        damaged = whole.copy()
        damaged[place] ^= 0xFF
        with open(path, "wb") as file:
            file.write(damaged)
        with pytest.raises(SourceError, match="can not be read"):
            rows(path).fold(gram)
    with open(path, "wb") as file:
        file.write(whole)
    assert np.array_equal(rows(path).fold(gram), expected)


def test_damaged_npy(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.ones((50, 2)))
    whole = path.read_bytes()
    for part in (0, 5, 100, 300):
        path.write_bytes(whole[:part])
        with pytest.raises(SourceError, match="damaged, cut short"):
            rows(path)
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(SourceError, match="objects"):
        rows(path)
    np.save(path, np.ones(3))
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        rows(path)
    np.save(path, np.ones((0, 2)))
    with pytest.raises(InputError, match="no rows"):
        rows(path)
    np.save(path, np.ones((3, 2)))
    np.save(tmp_path / "u.npy", np.ones((3, 4)))
    with pytest.raises(InputError, match=r"u.npy.*with 2 columns"):
        rows(tmp_path / "*.npy")
    with pytest.raises(InputError, match="no names"):
        rows(path, target="a")
    with pytest.raises(InputError, match="inconsistent"):
        rows(path, [1, 2])


@pytest.mark.parametrize("count", [1, 2])
def test_a_file_that_goes_or_changes_between_passes(count, tmp_path):
    paths = [parquet(tmp_path / f"{i}.parquet") for i in range(2)]
    found = rows(tmp_path / "*.parquet")
    with threads(count):
        found.fold(gram)
        os.remove(paths[1])
        with pytest.raises(SourceError, match=r"There is no file .*1.parquet"):
            found.fold(gram)
        parquet(paths[1], some_table(10))
        with pytest.raises(SourceError, match=r"1.parquet' was changed"):
            found.fold(gram)
        assert rows(tmp_path / "*.parquet").fold(len) == 3010


def test_permission_denied(public_path, nobody):
    path = parquet(public_path / "t.parquet")
    rows(path)
    os.chmod(path, 0)
    with nobody(), pytest.raises(SourceError, match="permission denied"):
        rows(path)


def test_schemas_that_do_not_agree(tmp_path):
    parquet(tmp_path / "0.parquet", pa.table({"a": [1.0], "price": [1.0]}))
    second = tmp_path / "1.parquet"
    parquet(second, pa.table({"a": [1.0], "prize": [1.0]}))
    with pytest.raises(InputError, match=r"1.parquet' has no column 'price', .*0.parquet.*Did you mean 'prize'"):
        rows(tmp_path)
    assert rows(tmp_path, columns=["a"]).count() == 2
    with pytest.raises(InputError, match=r"1.parquet' has no column 'price'"):
        rows(tmp_path, columns=["a"], target="price")
    parquet(second, pa.table({"a": [1.0], "price": [1.0], "c": [1.0]}))
    with pytest.raises(InputError, match=r"1.parquet' has a column 'c' that .*0.parquet' has not"):
        rows(tmp_path)
    parquet(second, pa.table({"a": ["u"], "price": [1.0]}))
    with pytest.raises(InputError, match=r"Column 'a' is double in .*0.parquet' but string in .*1.parquet'"):
        rows(tmp_path)
    with pytest.raises(InputError, match=r"no column 'prise'\. Did you mean 'price'"):
        rows(tmp_path / "0.parquet", target="prise")
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(InputError, match=r"'a' occurs more than once in .*t.csv"):
        rows(tmp_path / "t.csv")


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("start", "late", "message"),
    [
        ("1,u", "x,u", r"line 1002: column 'a' is double .* invalid value 'x'"),
        ("1.5,u", "1;5,u", r"line 1002: column 'a' is double"),
        ("2020-01-01,u", "soon,u", r"line 1002: column 'a' is timestamp.* invalid value 'soon'"),
        ("true,u", "maybe,u", r"line 1002: column 'a' is bool"),
        (",u", "word,u", r"line 1002: column 'a' is double"),
        ("1,u", "1", r"line 1002: the row has 1 values for 2 columns"),
        ("1,u", "1,u,v", r"line 1002: the row has 3 values for 2 columns"),
    ],
)
def test_csv_that_changes_later(start, late, message, count, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "SAMPLE_BYTES", 1000)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + f"{start}\n" * 1000 + f"{late}\n" + f"{start}\n" * 1000)
    with threads(count), pytest.raises(InputError, match=r"t\.csv', " + message):
        rows(path, block_size=100).table().fold(len)


def test_csv_that_is_no_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,caf\xe9\n")
    assert rows(path).table().array().X.column("b").to_pylist() == ["café"]
    with pytest.raises(InputError, match=r"t.csv': column 'b' is not UTF-8"):
        rows(path, encoding="utf-8")
    path.write_bytes(np.random.default_rng(4).bytes(5000))
    with pytest.raises(QedError, match=r"t\.csv|no column|more than once|feature"):
        rows(path).fold(gram)
    (tmp_path / "t.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"t\.csv\.gz' can not be read"):
        rows(tmp_path / "t.csv.gz").fold(gram)


def test_csv_with_an_endless_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,u\n" + '2,"' + "x\n" * 5_000_000)
    with pytest.raises(InputError, match=r"t\.csv': a row is longer than 4 MiB"):
        rows(path).table().fold(len)


def test_bad_weights_in_a_file_have_a_row(tmp_path):
    weight = np.ones(3000)
    weight[2345] = -1
    path = parquet(tmp_path / "t.parquet", some_table().append_column("w", pa.array(weight)))
    with pytest.raises(InputError, match="weight of row 2345"):
        rows(path, sample_weight="w", block_size=100).fold(gram)


def test_no_room_for_the_cache(tmp_path, monkeypatch):
    path = parquet(tmp_path / "t.parquet", some_table(100_000))
    folder = tmp_path / "cache"
    monkeypatch.setenv("QED_CACHE_DIR", str(folder))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda where: usage._replace(free=2**20))
    with pytest.raises(SourceError, match=r"need 1\.5 MiB in .*cache.*1\.0 MiB are free.*QED_CACHE_DIR"):
        rows(path).cached()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("count", [1, 2])
def test_the_disk_fills_up_while_the_cache_is_written(count, tmp_path, monkeypatch):
    path = parquet(tmp_path / "t.parquet", some_table(200_000))
    folder = tmp_path / "cache"
    monkeypatch.setenv("QED_CACHE_DIR", str(folder))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with threads(count), pytest.raises(SourceError, match=r"need 3\.1 MiB in .*cache.*File too large"):
            rows(path, block_size=1000).cached()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(folder.iterdir()) == []


def test_a_cache_folder_that_can_not_be(tmp_path, monkeypatch):
    path = parquet(tmp_path / "t.parquet")
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("QED_CACHE_DIR", str(tmp_path / "taken"))
    with pytest.raises(SourceError, match="taken"):
        rows(path).cached()


def test_an_error_of_the_work_passes_through_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("QED_CACHE_DIR", str(tmp_path / "cache"))
    path = parquet(tmp_path / "t.parquet")

    def fail(block):
        raise ZeroDivisionError(f"in block {block.start}")

    found = rows(path, block_size=100)
    for count in (1, 2):
        with threads(count), pytest.raises(ZeroDivisionError, match="in block 0"):
            found.fold(fail)
    with pytest.raises(SourceError):
        os.truncate(path, os.path.getsize(path) - 1)
        found.cached()
    assert not (tmp_path / "cache").exists() or list((tmp_path / "cache").iterdir()) == []
    parquet(path)
    assert rows(path).fold(len) == 3000
