"""A file larger than what may be held: bounded memory, the same answer, also on a cluster that loses a worker."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import dask.dataframe as dask_frame
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import qed

GROUP, COLUMNS = 25_000, 20
SCHEMA = pa.schema([(name, pa.float64()) for name in (*(f"x{j}" for j in range(COLUMNS)), "y")])

FIT = """
import json, sys
import qed

def peak():
    with open("/proc/self/status") as status:  # not getrusage, which remembers the process that started this one
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

qed.Ridge(alpha=1.0).fit(qed.rows(sys.argv[1], target="y"))
before = peak()
model = qed.Ridge(alpha=1.0).fit(qed.rows(sys.argv[2], target="y"))
found = {"grown": peak() - before, "coef": model.coef_.tolist(), "rows": model.statistic_.count}
print(json.dumps(found | {"holds": bool(model.certificate_)}))
"""


def write(path, groups):
    """Write a table of the same rows again and again, and give the coefficients of the rows with that weight."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((GROUP, COLUMNS))
    y = X @ np.arange(1.0, COLUMNS + 1) + generator.standard_normal(GROUP)
    with pq.ParquetWriter(path, SCHEMA, compression="none", use_dictionary=False) as writer:
        for _ in range(groups):
            writer.write_table(pa.table([*X.T, y], schema=SCHEMA))
    return qed.Ridge(alpha=1.0).fit(X, y, sample_weight=np.full(GROUP, float(groups))).coef_


def allowed(groups):
    """Sums of n terms in another order differ by n u at most, and the columns are as good as orthogonal."""
    return 2 * groups * GROUP * 2.0**-53


def test_ridge_streams_a_file_in_bounded_memory(tmp_path):
    """After half a million rows, four times as many need little more memory: not half of the 252 megabytes that they are longer."""
    few, many = tmp_path / "few.parquet", tmp_path / "many.parquet"
    write(few, 20)
    expected = write(many, 80)
    done = subprocess.run([sys.executable, "-c", FIT, few, many], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["rows"] == 80 * GROUP and found["holds"]
    np.testing.assert_allclose(found["coef"], expected, rtol=allowed(80))
    assert found["grown"] < 0.5 * 60 * GROUP * 8 * len(SCHEMA), f"{found['grown'] / 2**20:.0f} MiB"


def strike(part, folder, partition_info=None):
    """Kill the first of the workers that gets to the fourth part."""
    if partition_info is not None and partition_info["number"] == 3 and not Path(folder, "struck").exists():
        Path(folder, "struck").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_a_worker_of_a_cluster_killed_in_the_middle_changes_nothing(cluster, tmp_path):
    """Fit ridge on a cluster of two processes, kill one while it works, and compare the bits."""
    expected = write(tmp_path / "table.parquet", 8)
    frame = dask_frame.read_parquet(tmp_path / "table.parquet", split_row_groups=True)
    calm = qed.Ridge(alpha=1.0).fit(qed.rows(frame, target="y")).coef_
    mined = frame.map_partitions(strike, str(tmp_path), meta=frame._meta)
    struck = qed.Ridge(alpha=1.0).fit(qed.rows(mined, target="y")).coef_
    assert (tmp_path / "struck").exists()
    np.testing.assert_array_equal(struck, calm)
    np.testing.assert_allclose(calm, expected, rtol=allowed(8))
