"""The command line as a process: what it imports, how it ends, and that a cold start works."""

import json
import os
import signal
import subprocess
import sys

import pytest

import qed

SLEEPER = """
import sys
import qed.cli
import qed.commands.datasets

def datasets():
    print("ready", flush=True)
    sys.stdin.readline()
    return []

qed.commands.datasets.datasets = datasets
sys.argv = ["qed", "datasets"]
qed.cli.main()
"""


def python(code, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def qed_process(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "qed.cli", *map(str, words)], capture_output=True, text=True, **options
    )


def test_help_needs_nothing_heavy():
    code = "import sys, qed.cli; print(*[name for name in sys.modules if '.' not in name])"
    loaded = set(python(code).communicate()[0].split())
    assert not loaded & {"numpy", "scipy", "numba", "sklearn", "pyarrow", "matplotlib", "jinja2", "pandas"}


def test_help_lists_the_commands():
    found = qed_process("--help")
    assert found.returncode == 0
    for command in ("compare", "predict", "certify", "explain", "datasets", "warmup"):
        assert f"  {command} " in found.stdout


@pytest.mark.slow
def test_a_cold_start(tmp_path):
    """Nothing is compiled yet, and there is a folder to write to that is not that of the sources."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    words = ("compare", "diabetes", "-t", "progression", "--json", "--quiet", "--no-report")
    found = qed_process(*words, cwd=tmp_path, env=environment)
    assert found.returncode == 0 and found.stderr == ""
    assert len(json.loads(found.stdout)["leaderboard"]) > 1 and (tmp_path / "best.qed").exists()
    assert list((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.slow
def test_the_demo_from_a_cold_start(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = qed_process("compare", "penguins", "-t", "species", "--json", cwd=tmp_path, env=environment)
    assert found.returncode == 0 and found.stderr == ""
    assert json.loads(found.stdout)["leaderboard"][0]["score"] > 0.97
    assert (tmp_path / "report.html").stat().st_size > 50_000 and (tmp_path / "best.qed").exists()
    refused = qed_process("predict", "best.qed", "iris", cwd=tmp_path)
    assert refused.returncode == 2 and refused.stdout == "" and refused.stderr.count("\n") == 1


def interrupted():
    """Start a command, wait until it is in the middle of its work, and interrupt it."""
    process = python(SLEEPER, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_process_with_one_line():
    process = interrupted()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130 and errors == "qed: interrupted.\n"


@pytest.mark.usefixtures("interruptible")
def test_a_command_in_the_background_of_a_script_is_not_interrupted():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process = interrupted()
    _, errors = process.communicate("go on\n", timeout=120)
    assert process.returncode == 0 and errors == ""


def test_a_reader_that_goes_away_is_no_reason_to_complain():
    process = python("import sys, qed.cli; sys.argv = ['qed', 'datasets', '--json']; qed.cli.main()")
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=120) == 141 and errors == ""


def test_a_terminal_without_the_letters_is_no_reason_to_fail(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    model = qed.TableModel(qed.Ridge()).fit(qed.rows(qed.data.load("engel").table, target="food_expenditure"))
    qed.save(model, tmp_path / "m.qed")
    found = qed_process("certify", tmp_path / "m.qed", "engel", env=environment)
    assert found.returncode == 0 and "Ridge" in found.stdout
