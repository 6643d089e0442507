"""What people expect of a command line: nothing lost, hints that help, help that fits a screen, bad values in one sentence."""

import numpy as np
import pytest

from qed.base.sources.layout import did_you_mean
from qed.commands.compare import free


@pytest.fixture
def path(tmp_path):
    random = np.random.default_rng(0)
    lines = [f"{a:.4f},{a + b:.4f}\n" for a, b in random.standard_normal((40, 2))]
    (tmp_path / "t.csv").write_text("income,spent\n" + "".join(lines))
    return tmp_path / "t.csv"


def test_nothing_is_overwritten_unless_asked_for(few, run, path, tmp_path):
    model = tmp_path / "best.qed"
    model.write_text("dear to me")
    assert free(str(model)) == str(tmp_path / "best-2.qed")
    words = ("compare", path, "-t", "spent", "--no-report", "--model", model)
    found = run(*words)
    assert model.read_text() == "dear to me" and (tmp_path / "best-2.qed").exists()
    assert "was there already and is left as it is; --force overwrites it" in found.stderr
    assert f"best model  {tmp_path / 'best-2.qed'}" in found.stdout
    assert run(*words, "--force").exit_code == 0 and model.read_bytes()[:2] == b"PK"
    assert not (tmp_path / "best-3.qed").exists()


def test_quiet_is_quiet(few, run, path, tmp_path):
    found = run("compare", path, "-t", "spent", "--no-report", "--model", tmp_path / "m.qed", "-q")
    assert found.stderr == "" and "columns" not in found.stdout.split("\n", 1)[1]


def test_help_fits_a_screen_and_has_three_examples(run):
    text = run("compare", "--help").stdout
    assert len(text.splitlines()) <= 45 and text.count("  qed compare ") == 3
    assert "Exit codes: 0 done, 1 a proof does not hold, 2 something is wrong" in run("--help").stdout
    assert "--install-completion" in run("--help").stdout


@pytest.mark.parametrize(
    "word, hint",
    [("incme", "Did you mean 'income'?"), ("INCOME", "Did you mean 'income'?"), ("inc", "Did you mean 'income'?")],
)
def test_a_near_name_is_a_hint(word, hint):
    assert did_you_mean(word, ["income", "spent"]) == hint


@pytest.mark.parametrize("word", ["nope", "x", "colour", "outcome of it"])
def test_a_far_name_is_none(word):
    assert did_you_mean(word, ["income", "spent"]) == "There are: 'income', 'spent'."


@pytest.mark.parametrize(
    "words, says",
    [
        (("--target", "nope"), "no column 'nope'. There are: 'income', 'spent'."),
        (("-t", "spent", "--as", "income"), "--as takes column=kind"),
        (("-t", "spent", "--as", "income=money"), "not as 'money'"),
        (("-t", "spent", "--use", "incme"), "Did you mean 'income'?"),
        (("-t", "spent", "--time", "when"), "no column 'when'"),
        (("-t", "spent", "--group", "who"), "no column 'who'"),
        (("-t", "spent", "--scoring", "f1"), "does not score regression"),
        (("-t", "spent", "--scoring", "goodness"), "no score 'goodness'"),
        (("-t", "spent", "--encoding", "klingon"), "no encoding 'klingon'"),
        (("-t", "spent", "--decimal", "x"), "a point or a comma"),
        (("-t", "spent", "--drop", "income"), "No column of"),
    ],
)
def test_bad_values_are_one_sentence(few, run, path, tmp_path, words, says):
    assert says in run.refused("compare", path, *words, "--no-report", "--model", tmp_path / "m.qed")


@pytest.mark.parametrize(
    "cells, says",
    [
        ("1,inf\n2,3.5\n3,1.5\n4,2.5\n", "infinite in row 0"),
        ("1,\n2,\n", "missing in all rows"),
        ("1,5\n2,5\n3,5\n4,5\n5,5\n", "nothing to predict"),
        ("1,2.5\n2,3.5\n", "too few"),
    ],
)
def test_bad_targets_are_one_sentence(few, run, tmp_path, cells, says):
    path = tmp_path / "bad.csv"
    path.write_text("x,y\n" + cells)
    assert says in run.refused("compare", path, "-t", "y", "--no-report", "--model", tmp_path / "m.qed")
