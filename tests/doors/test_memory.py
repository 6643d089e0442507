"""A comparison, with its report, holds a large table about once: what is encoded lies on disk, and no fold has a copy of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import qed
from qed.base.sources.readers import PIECE_BYTES, SAMPLE_BYTES
from qed.stats.moments import Moments

MIB = 1 << 20
RUN = """
import sys
from qed.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def made(path, n):
    """Write a table of numbers with a level and holes, and give its size in memory."""
    random = np.random.default_rng(0)
    columns = {f"x{k}": random.standard_normal(n).round(4) for k in range(9)}
    columns["kind"] = random.choice(["red", "green", "blue"], n)
    columns["holed"] = pa.array(random.standard_normal(n).round(3), mask=random.random(n) < 0.1)
    y = columns["x0"] - 2 * columns["x1"] + (columns["kind"] == "red") + random.standard_normal(n)
    table = pa.table({**columns, "y": y.round(3)})
    pa.csv.write_csv(table, path)
    return table.nbytes


def peak(folder, data):
    """Compare in a fresh process, with a report, and give the most memory that it held, in bytes."""
    models = ["--models", "LinearRegression", "--models", "Ridge", "--models", "Lasso"]
    out = ["--report", folder / f"{data.stem}.html", "--model", folder / f"{data.stem}.qed", "--budget", "0", "-q"]
    words = [sys.executable, "-c", RUN, "compare", data, "-t", "y", *models, *out]
    threads = {"QED_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env={**os.environ, **threads})
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1]) * 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_a_report_on_a_large_table_holds_the_table_about_once(tmp_path):
    small = peak(tmp_path, (made(tmp_path / "small.csv", 400), tmp_path / "small.csv")[1])
    table = made(tmp_path / "large.csv", 220_000)
    large = peak(tmp_path, tmp_path / "large.csv")
    # Of more than 200 000 rows no learning curve is drawn, whose fits hold copies of their rows.
    # Above what the interpreter, its imports and a small comparison take: the table, once as it is read and once without rows that lack a
    # target; a target, its predictions, folds and residuals, which are fewer columns than the table has; what reading holds of the file
    # (the megabytes by which its types are told, and two pieces); a block of each of two threads in its three encodings.
    reading = SAMPLE_BYTES + 2 * PIECE_BYTES
    blocks = 2 * 3 * 8 * MIB
    assert large - small < 3 * table + reading + blocks, (small / MIB, large / MIB, table / MIB)


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge", "Lasso", "ElasticNet"])
def test_of_a_wide_table_no_products_of_all_columns_are_collected(monkeypatch, name):
    """The products of 1 100 columns are more than sixty rows of them, and there would be as many for every fold."""
    widths, of = [], Moments.of
    monkeypatch.setattr(Moments, "of", lambda block, *more: widths.append(block.X.shape[1]) or of(block, *more))
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 1100))
    y = X[:, 0] + 0.1 * random.standard_normal(60)
    qed.Search(getattr(qed, name)(), {"fit_intercept": [True]}, cv=3, refit=False).fit(X, y)
    assert all(width <= 60 for width in widths), widths


def test_of_a_tall_table_products_are_collected_once_for_all_folds(monkeypatch):
    calls, of = [], Moments.of
    monkeypatch.setattr(Moments, "of", lambda block, *more: calls.append(len(block.X)) or of(block, *more))
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 5))
    qed.Search(qed.Ridge(), {"alpha": [0.1, 1.0]}, cv=3, refit=False).fit(X, X[:, 0] + random.standard_normal(600))
    assert sum(calls) == 600  # every row once
