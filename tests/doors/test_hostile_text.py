"""Text from strangers: names that command a terminal, cells that a spreadsheet would run, letters in other encodings."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

import qed
from qed.base.errors import NoMemoryError
from qed.base.numbers import room
from qed.base.visible import visible
from qed.commands.files import csv_printer, defused, write_table

BAD = "area\x1b[2J\x1b]0;owned\x07"
COMMANDS = ["\x1b", "\x07", "\x9b", "\u202e", "\r", "\x00"]


@pytest.fixture
def model(tmp_path):
    table = pa.table(
        {BAD: [1.0, 2.0, 3.0, 5.0], "colour\x9b31m": ["r\x1b[0m", "g", "g", "r\x1b[0m"], "price": [1.0, 2.0, 4.0, 4.0]}
    )
    path = tmp_path / "model.qed"
    qed.save(qed.TableModel(qed.Ridge()).fit(qed.rows(table, target="price")), path)
    return path


@pytest.mark.parametrize("letter", COMMANDS)
def test_commands_are_written_out(letter):
    assert letter not in visible(f"a{letter}b") and visible(f"a{letter}b").startswith("a\\")


def test_letters_of_all_languages_stay():
    for text in ("größe", "ценa", "长度", "a\u00a0b", "emoji 🎉", "two\nlines\tand a tab"):
        assert visible(text) == text


def test_explain_shows_no_commands(run, model):
    for more in ([], ["--json"]):
        found = run("explain", model, *more)
        assert found.exit_code == 0 and not any(letter in found.stdout for letter in COMMANDS)
    assert BAD in json.loads(found.stdout)["columns"]


def test_errors_show_no_commands(run, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("a\x1b[2J,b\n1,2\n")
    words = run.refused("predict", model, path)
    assert not any(letter in words for letter in COMMANDS)


def test_tables_of_inference_show_no_commands():
    X = pa.table({BAD: [1.0, 2.0, 3.0, 5.0, 8.0]})
    words = str(qed.LinearRegression().fit(X, [1.0, 2.0, 2.5, 4.0, 9.0]).inference_)
    assert "\x1b" not in words and "area\\x1b[2J" in words


CELLS = ["=1+1", "+cmd", "-2+3", "@sum", "\tx", "-2.5", "+3", "1e-3", "-1e9", "plain", "a=b", "", None]
SAFE = ["'=1+1", "'+cmd", "'-2+3", "'@sum", "'\tx", "-2.5", "+3", "1e-3", "-1e9", "plain", "a=b", "", None]


def test_what_a_spreadsheet_would_run_is_defused():
    found = defused(pa.table({"=name": CELLS, "n": range(-6, 7)}))
    assert found.column_names == ["'=name", "n"]
    assert found.column(0).to_pylist() == SAFE and found.column(1).to_pylist() == list(range(-6, 7))
    coded = pa.table({"a": pa.array(CELLS).dictionary_encode()})
    assert defused(coded).column(0).to_pylist() == SAFE


@pytest.mark.parametrize(
    ("name", "exact"), [("t.csv", False), ("t.tsv", False), ("t.parquet", True), ("t.feather", True)]
)
def test_files_for_spreadsheets_only(tmp_path, name, exact):
    table = pa.table({"text": ["=1+1", "plain"], "number": [-1.0, 2.0]})
    write_table(table, str(tmp_path / name))
    found = qed.rows(tmp_path / name).table().array().X
    assert found.column("text").to_pylist() == (["=1+1", "plain"] if exact else ["'=1+1", "plain"])
    assert found.column("number").to_pylist() == [-1.0, 2.0]
    with csv_printer(stream := io.BytesIO(), table.schema) as write:
        write(table)
    assert b"'=1+1" in stream.getvalue() and b"-1" in stream.getvalue()


def test_a_fraction_late_in_a_long_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("qed.base.sources.readers.SAMPLE_BYTES", 1 << 12)
    monkeypatch.setattr("qed.base.sources.readers.PIECE_BYTES", 1 << 12)
    path = tmp_path / "late.csv"
    for place in (500, 900, 2999):
        values = [str(i % 100) for i in range(3000)]
        values[place] = "0.5"
        path.write_text("a,y\n" + "".join(f"{value},{i % 7}\n" for i, value in enumerate(values)))
        found = qed.rows(path, target="y").array()
        assert len(found) == 3000 and found.X[place, 0] == 0.5


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16"])
def test_names_in_another_encoding_are_read(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,y\n1,2\n3,4\n".encode(encoding))
    assert qed.Ridge().fit(path, "y").feature_names_in_.tolist() == ["größe"]


def test_a_table_without_room_is_told_with_its_size():
    with pytest.raises(NoMemoryError, match=r"1,000,000,000 x 1,000,000,000 values: it takes [0-9,.]+ GiB"):
        room((10**9, 10**9))
    with pytest.raises(MemoryError, match="no memory for a table"):
        room((2**40, 2**20), np.float32)
