"""A file larger than what may be held: bounded memory, the same answer, also on a cluster that loses a worker."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qed

ROWS, COLUMNS = 2_000_000, 20

FIT = """
import json, sys
import qed
model = qed.Ridge(alpha=1.0).fit(qed.rows(sys.argv[1], target="y"))
with open("/proc/self/status") as status:  # not getrusage, which remembers the process that started this one
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps({"peak": peak * 1024, "coef": model.coef_.tolist(), "rows": model.statistic_.count, "holds": bool(model.certificate_)}))
"""


@pytest.fixture(scope="module")
def tall(tmp_path_factory):
    """Write 2 million rows of 20 columns, 336 megabytes decoded, and give the path with the exact coefficients."""
    path = tmp_path_factory.mktemp("tall") / "tall.parquet"
    generator = np.random.default_rng(0)
    truth = np.arange(1.0, COLUMNS + 1)
    names = [*(f"x{j}" for j in range(COLUMNS)), "y"]
    total = qed.Ridge(alpha=1.0)
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for _ in range(ROWS // 200_000):
            X = generator.standard_normal((200_000, COLUMNS))
            y = X @ truth + generator.standard_normal(len(X))
            writer.write_table(pa.table([*X.T, y], names=names), row_group_size=100_000)
            total.partial_fit(X, y)
    return path, total.coef_


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak of memory is read from /proc")
def test_ridge_streams_a_file_in_bounded_memory(tall):
    path, expected = tall
    done = subprocess.run([sys.executable, "-c", FIT, str(path)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["rows"] == ROWS and found["holds"]
    np.testing.assert_allclose(found["coef"], expected, rtol=1e-10)
    assert found["peak"] < 2**30, f"{found['peak'] / 2**20:.0f} MiB"


@pytest.mark.xdist_group("cluster")
def test_a_worker_killed_in_the_middle_changes_nothing(tall):
    """Fit ridge on a cluster of two processes, kill one while it works, and compare the bits."""
    dask_frame = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    path, expected = tall
    frame = dask_frame.read_parquet(path, split_row_groups=True)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        data = qed.rows(frame, target="y")
        calm = qed.Ridge(alpha=1.0).fit(data).coef_
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
        killer.start()
        struck = qed.Ridge(alpha=1.0).fit(data).coef_
        killer.join()
    np.testing.assert_array_equal(struck, calm)
    np.testing.assert_allclose(calm, expected, rtol=1e-10)
