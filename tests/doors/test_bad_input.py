"""Whatever is wrong with what was given: one clear sentence on the standard error, exit code 2, no traceback."""

import pytest

import qed


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of one number that predicts another."""
    path = tmp_path_factory.mktemp("model") / "m.qed"
    qed.save(
        qed.TableModel(qed.Ridge()).fit(qed.rows({"area": [1.0, 2.0, 3.0], "price": [1.0, 2.0, 4.0]}, target="price")),
        path,
    )
    return path


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


HOUSES = "area,price\n" + "".join(f"{i},{2 * i + i % 3}\n" for i in range(1, 13))
FILES = {
    "no such file": (None, "There is no file"),
    "nothing in it": ("", "is empty: it has 0 bytes"),
    "no rows": ("area,price\n", "has no rows"),
    "ragged": ("area,price\n1,2\n1,2,3\n", "line 3: the row has 3 values for 2 columns"),
    "a column twice": ("price,area,area\n1,2,3\n2,3,4\n", "'area' occurs more than once"),
    "no target anywhere": ("area,price\n1,\n2,\n", "'price' is missing in all rows"),
    "one value only": ("area,price\n" + "1,5\n" * 8, "the same value in all 8 rows"),
    "too few rows": ("area,price\n1,2.5\n2,3.5\n3,1.5\n", "too few to hold some out"),
    "only names": ("area,price\n" + "".join(f"{i},name {i}\n" for i in range(8)), "too many to be classes"),
    "other column names": ("aera,prize\n1,2\n", "no column 'price'. Did you mean 'prize'?"),
    "nothing but the target": ("price\n1\n2\n", "No column"),
    "constant columns": ("area,price\n" + "".join(f"7,{i}.5\n" for i in range(8)), "No column is left to learn from"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file(run, tmp_path, case):
    text, words = FILES[case]
    path = tmp_path / "houses.csv" if text is None else written(tmp_path, "houses.csv", text)
    assert words in run.refused("compare", path, "-t", "price", "--no-report", "--model", tmp_path / "m.qed")
    assert not (tmp_path / "m.qed").exists()


@pytest.mark.parametrize("name", ["junk.parquet", "junk.feather", "junk.csv"])
def test_a_damaged_file(run, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(bytes(range(256)) * 8)
    assert name in run.refused("compare", path, "-t", "price", "--no-report", "--model", tmp_path / "m.qed")


OPTIONS = {
    "target that is not there": (["-t", "prise"], "no column 'prise'. Did you mean 'price'?"),
    "drop that is not there": (["-t", "price", "--drop", "aera"], "no column 'aera'. Did you mean 'area'?"),
    "target dropped": (["-t", "price", "--drop", "price"], "both the target and dropped"),
    "all dropped": (["-t", "price", "--drop", "area"], "No column of"),
    "unknown task": (["-t", "price", "--task", "guessing"], "task must be one of"),
    "task without target": (["--task", "regression"], "Regression needs a target"),
    "clusters with target": (["-t", "price", "--task", "clustering"], "Clustering has no target"),
    "unknown score": (["-t", "price", "--scoring", "r3"], "There is no score 'r3'"),
    "score of classes": (["-t", "price", "--scoring", "accuracy"], "'accuracy' does not score regression"),
    "report to nowhere": (["-t", "price", "--report", "nowhere/r.html"], "there is no folder 'nowhere'"),
    "model to nowhere": (["-t", "price", "--model", "nowhere/m.qed", "--no-report"], "there is no folder 'nowhere'"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_a_bad_option(run, tmp_path, case):
    options, words = OPTIONS[case]
    path = written(tmp_path, "houses.csv", HOUSES)
    others = [] if "--report" in options or "--model" in options else ["--no-report", "--model", tmp_path / "m.qed"]
    assert words in run.refused("compare", path, *options, *others)


def test_an_unknown_data_set_is_answered_with_the_nearest(run):
    assert "Did you mean 'penguins'?" in run.refused("compare", "pinguins", "-t", "species")
    assert "'qed datasets' lists" in run.refused("compare", "zzzz", "-t", "species")
    assert "Did you mean 'iris'?" in run.refused("datasets", "irys", "-o", "x.csv")


def test_text_where_the_model_learned_a_number(run, tmp_path, model):
    path = written(tmp_path, "new.csv", "area\n12\nlarge\n")
    words = run.refused("predict", model, path)
    assert "Column 'area'" in words and "text" in words
    path = written(tmp_path, "old.csv", "area,price\nsmall,1\nlarge,2\n")
    assert "Column 'area'" in run.refused("certify", model, path)


def test_a_missing_column_is_named_with_the_nearest(run, tmp_path, model):
    path = written(tmp_path, "new.csv", "aera,other\n1,2\n")
    assert "lacks the column 'area'" in run.refused("predict", model, path)
    assert "Did you mean 'aera'?" in run.refused("predict", model, path)
    assert "'price'" in run.refused("certify", model, written(tmp_path, "x.csv", "area\n1\n2\n"))


def test_requests_that_the_model_can_not_fulfil(run, tmp_path, model):
    path = written(tmp_path, "new.csv", "area\n1\n")
    assert "gives no probabilities" in run.refused("predict", model, path, "--proba")
    assert "has no column 'id' to keep" in run.refused("predict", model, path, "--keep", "id")
    assert "must end in one of" in run.refused("predict", model, path, "-o", tmp_path / "out.docx")
    assert "no folder" in run.refused("predict", model, path, "-o", tmp_path / "nowhere" / "out.csv")
    assert "has no rows" in run.refused("predict", model, written(tmp_path, "none.csv", "area\n"))


@pytest.mark.parametrize("command", ["explain", "predict", "certify"])
def test_an_unreadable_model(run, tmp_path, command):
    broken, data = written(tmp_path, "broken.qed", "not a model"), written(tmp_path, "houses.csv", HOUSES)
    more = [] if command == "explain" else [data]
    assert "broken.qed" in run.refused(command, broken, *more)
    assert "absent.qed" in run.refused(command, tmp_path / "absent.qed", *more)
    assert "houses.csv" in run.refused(command, data, *more)


def test_places_that_may_not_be_written(run, public_path, nobody):
    path = written(public_path, "houses.csv", HOUSES)
    run.refused("compare", path, "-t", "price", "--report", public_path)
    public_path.chmod(0o555)
    with nobody():
        assert "permission denied" in run.refused("compare", path, "-t", "price", "--report", public_path / "r.html")


def test_wrong_arguments_end_with_code_2_and_say_which(run):
    for words, expected in {
        ("nonsense",): "No such command 'nonsense'",
        ("compare",): "Missing argument",
        ("compare", "iris", "--cv", "1"): "--cv",
        ("predict", "m.qed", "iris", "--json"): "--json needs --output",
    }.items():
        found = run(*words)
        assert found.exit_code == 2 and expected in found.stderr and "Traceback" not in found.stderr


def test_a_fault_of_ours_is_told_shortly_with_code_70(run, monkeypatch):
    def broken():
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("qed.commands.datasets.datasets", broken)
    found = run("datasets")
    assert (
        found.exit_code == 70
        and "ZeroDivisionError: division by zero" in found.stderr
        and "QED_DEBUG=1" in found.stderr
    )
    monkeypatch.setenv("QED_DEBUG", "1")
    assert isinstance(run("datasets").exception, ZeroDivisionError)


def test_an_interrupt_ends_with_code_130(run, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("qed.commands.datasets.datasets", interrupted)
    found = run("datasets")
    assert found.exit_code == 130 and found.stderr == "qed: interrupted.\n"


def test_infinity_is_named_by_its_row_in_the_table(run, tmp_path):
    lines = [f"{i},{i * i % 7},{2 * i + i % 3}.5" for i in range(40)]
    lines[5] = "inf,1,3.5"
    path = written(tmp_path, "t.csv", "area,rooms,price\n" + "\n".join(lines))
    words = run.refused("compare", path, "-t", "price", "--no-report", "--model", tmp_path / "m.qed")
    assert "Column 'area' holds infinity in row 5 (counted from 0)" in words
