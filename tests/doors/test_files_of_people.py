"""Files as people have them: letters, separators, decimal marks, formats, the standard input, several files at once."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import qed
from qed.base.errors import ParameterError, QedError
from qed.base.sources import readers
from qed.base.sources.formats.dialect import Dialect
from qed.commands import source
from qed.commands.source import read, spooled

TEXT = "größe,preis\n" + "".join(f"{k},{k + 0.5}\n" for k in range(30))


def table_of(path, **options):
    return qed.rows(path, **options).table().array().X


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le"])
def test_letters_are_found_and_said(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode(encoding))
    found = read(str(path), "preis")
    assert found.table.column_names == ["größe"] and found.y[1] == 1.5
    assert bool(found.says) == (not encoding.startswith("utf-8"))


def test_letters_beyond_the_beginning_are_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 1_500_000 + "2,é\n".encode("latin-1"))
    assert qed.rows(path).readers[0].dialect.encoding == "cp1252"


@pytest.mark.parametrize("sep, words", [(";", "semicolons"), ("|", "bars"), ("\t", ""), (",", "")])
def test_separators_are_found_and_said(tmp_path, sep, words):
    path = tmp_path / "t.txt"
    path.write_text(TEXT.replace(",", sep))
    found = read(str(path), "preis")
    assert found.table.column_names == ["größe"] and words in " ".join(found.says)


def test_blanks_separate_columns_of_a_plain_text_file(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("a    b   y\n" + "".join(f"{k}  {k * k}    {k + 0.5}\n" for k in range(9)))
    found = read(str(path), "y")
    assert found.table.column_names == ["a", "b"] and found.y[2] == 2.5


def test_decimal_commas_are_found_and_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n" + "".join(f"{k},25;{k};x,y\n" for k in range(20)))
    found = read(str(path))
    assert found.table.column("a").to_pylist()[3] == 3.25
    assert found.says == ("columns are separated by semicolons", "numbers have decimal commas")
    assert read(str(path), dialect=Dialect.of(decimal="point")).table.column("a").to_pylist()[3] == "3,25"


def test_what_the_user_says_counts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a;b|c\nä;1|2\n".encode("cp437"))
    assert table_of(path, encoding="cp437", sep="|").column_names == ["a;b", "c"]
    assert table_of(path, encoding="cp437", sep="|").column("a;b").to_pylist() == ["ä;1"]
    for options, says in (
        ({"encoding": "klingon"}, "no encoding 'klingon'"),
        ({"sep": "::"}, "single letter"),
        ({"decimal": ";"}, "a point or a comma"),
        ({"sep": ",", "decimal": ","}, "can not both"),
    ):
        with pytest.raises(ParameterError, match=says):
            qed.rows(path, **options)
    with pytest.raises(QedError, match="give the path"):
        qed.rows(np.eye(3), sep=";")


def test_formats(tmp_path):
    table = pa.table({"a": [1.5, None, 3.0], "b": ["x", "y", "z"]})
    rows = table.to_pylist()
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    pa.feather.write_feather(table, tmp_path / "t.feather")
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (tmp_path / "t.json").write_text(json.dumps(rows))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1.5,x\n,y\n3.0,z\n"))
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress(b"a\tb\n1.5\tx\n-\ty\n3.0\tz\n"))
    for ending in ("parquet", "feather", "jsonl", "json", "csv.gz", "txt.gz"):
        assert table_of(tmp_path / f"t.{ending}").to_pylist() == rows, ending
    (tmp_path / "bad.json").write_text("[1, 2]")
    with pytest.raises(QedError, match="list of objects"):
        table_of(tmp_path / "bad.json")


def test_excel_when_its_reader_is_there_and_a_sentence_when_not(tmp_path):
    path = tmp_path / "t.xlsx"
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        path.write_bytes(b"PK")
        with pytest.raises(QedError, match="pip install pandas openpyxl"):
            table_of(path)
        return
    import pandas as pd

    pd.DataFrame({"a": [1, "n/a", 3], "b": ["x", "y", "z"]}).to_excel(path, index=False)
    assert table_of(path).column("b").to_pylist() == ["x", "y", "z"]


def test_several_files_are_one_table(tmp_path):
    for k in range(3):
        (tmp_path / f"part-{k}.csv").write_text(f"a,y\n{k},1.5\n{k + 10},2.5\n")
    paths = [str(tmp_path / f"part-{k}.csv") for k in range(3)]
    assert read(paths, "y").table.column("a").to_pylist() == [0, 10, 1, 11, 2, 12]
    assert read(str(tmp_path / "part-*.csv"), "y").table.num_rows == 6


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl"])
def test_the_standard_input_is_a_file_of_the_format_it_is_of(tmp_path, ending, monkeypatch):
    content = {"csv": b"a,y\n1,2.5\n", "csv.gz": gzip.compress(b"a,y\n1,2.5\n"), "jsonl": b'{"a": 1, "y": 2.5}\n'}
    if ending == "parquet":
        pa.parquet.write_table(pa.table({"a": [1], "y": [2.5]}), tmp_path / "t.parquet")
    given = content.get(ending) or (tmp_path / "t.parquet").read_bytes()
    assert spooled(io.BytesIO(given)).endswith(f".{ending}")
    monkeypatch.setattr(source.sys, "stdin", type("Pipe", (), {"buffer": io.BytesIO(given)}))
    found = read("-", "y")
    assert found.name == "standard input" and found.y.tolist() == [2.5]
    with pytest.raises(QedError, match="empty"):
        spooled(io.BytesIO(b""))


def test_a_column_that_changes_late_is_read_as_text(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "SAMPLE_BYTES", 1000)
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1.5,2.5\n" * 2000 + "about 3,2.5\n")
    found = read(str(path), "y")
    assert found.table.column("a").to_pylist()[-1] == "about 3" and found.y.dtype == np.float64


def test_a_target_in_words_of_money_is_a_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,price\n" + "".join(f'{k},"${1000 + k:,}"\n' for k in range(40)) + "1,unknown\n")
    found = read(str(path), "price")
    assert found.y.tolist() == [1000.0 + k for k in range(40)] and found.n_lost == 1
    assert found.says == ("price is written as text like 1,234.5 or 42%, and read as numbers",)


def test_columns_without_a_name_are_called_by_their_place(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",, size ,y\n" + "".join(f"{k * k % 7},{k}.5,{k},{k}\n" for k in range(9)))
    found = read(str(path), "y")
    assert found.table.column_names == ["unnamed 1", "unnamed 2", "size"] and not found.says
    path.write_text('"new\nline", y\n' + "".join(f"{k},{k}\n" for k in range(9)))
    assert read(str(path), "y").table.column_names == ["new\nline"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (" age,town\n31,1\n45,1\n27,2\n", ("age", "town")),
        ('""\n1\n2\n', ("unnamed 1",)),
        ("\n\r\n, age \n5,1\n5,2\n", ("unnamed 1", "age")),
        ('\n"a\nb","y"\n"1",5,1\n"2",7,2\n', ("a\nb", "y")),
    ],
)
def test_first_lines_with_blanks_breaks_and_nothing_before_them(tmp_path, text, names):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert qed.rows(path).feature_names == names
    assert {column.type for column in table_of(path).columns} <= {pa.int64(), pa.string()}
    assert table_of(path).column(names[-1]).to_pylist()[:2] in ([1, 1], [1, 2])


@pytest.mark.parametrize("text", [",a,y\n0,5,1\n1,7,2\n2,6,3\n", '"a","y"\n"1",5,1\n"2",7,2\n"3",6,3\n'])
def test_an_index_without_a_name_is_left_out_and_said(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = read(str(path), "y")
    assert found.table.column_names == ["a"] and found.y.tolist() == [1, 2, 3]
    assert found.says == ("the first column has no name and numbers the rows: it is left out",)
    path.write_text(text.replace(",", " ").lstrip(" "))
    assert qed.rows(path).feature_names == ("a", "y")


def test_names_of_rows_that_have_no_name_above_them_are_a_column(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text('"a b" "y"\n"my car" 5 1\n"his" 7 2\n"hers" 6 3\n')
    assert table_of(path).to_pydict() == {"unnamed 1": ["my car", "his", "hers"], "a b": [5, 7, 6], "y": [1, 2, 3]}


def test_json_as_people_have_it(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": {"b": 1, "c": {"d": 2}}, "l": [1], "y": 3}\n' * 3)
    assert set(table_of(path).column_names) == {"a.b", "a.c.d", "l", "y"}
    path.write_text('{"a": 1, "y": 1}\n{"a": "none", "y": 2}\n')
    assert table_of(path).to_pydict() == {"a": ["1", "none"], "y": [1, 2]}
    path.write_text(f'[{{"a": {10**30}}}, {{"a": 2}}]')
    assert table_of(path).to_pydict() == {"a": [str(10**30), "2"]}
    for bad in ("[" * 100_000, "3", "[1, 2]", '{"a": 1}\nx', "[{}]"):
        path.write_text(bad)
        with pytest.raises(QedError):
            qed.rows(path)


def test_lists_in_a_table_are_left_out(few):
    table = pa.table({"l": [[k] for k in range(40)], "a": np.arange(40) % 7 + np.arange(40) / 100})
    found = qed.compare(table, np.arange(40) % 7 + 0.5 * np.arange(40))
    assert "nested" in found.columns.left_out[0].says and found.columns.used == ["a"]


def test_a_column_that_is_text_in_one_of_several_files_is_text(tmp_path):
    for name, cell in (("a.csv", "7"), ("b.csv", "about 7")):
        (tmp_path / name).write_text("a,y\n" + f"{cell},1\n2,2\n3,3\n")
    found = read([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], "y")
    assert found.table.column("a").to_pylist() == ["7", "2", "3", "about 7", "2", "3"]


def test_more_letters_and_marks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode("utf-32"))
    assert read(str(path), "preis").table.column_names == ["größe"]
    for sep in ('"', "\n"):
        with pytest.raises(ParameterError, match="neither a quote"):
            Dialect.of(sep=sep)
    path.write_text("y\n1\n2\n")
    with pytest.raises(QedError, match="but the target 'y' is there"):
        read(str(path), "y")
