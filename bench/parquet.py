"""Ridge on a Parquet file larger than we want to hold: 20 million x 20, in a fresh process, with its peak memory."""

import json
import subprocess
import sys
from pathlib import Path

from bench.harness import Contestant, Workload

ROWS, COLUMNS = 20_000_000, 20
CACHE = Path(__file__).parent / "cache"

FIT = """
import json, resource, sys, time
import qed
began = time.perf_counter()
model = qed.Ridge(alpha=1.0).fit(qed.rows(sys.argv[1], target="y"))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"seconds": time.perf_counter() - began, "gib": peak, "coef": model.coef_[0], "holds": bool(model.certificate_)}))
"""

READ = """
import json, sys, time
import pyarrow.parquet as pq
began = time.perf_counter()
rows = sum(batch.num_rows for batch in pq.ParquetFile(sys.argv[1]).iter_batches(batch_size=32768))
print(json.dumps({"seconds": time.perf_counter() - began, "rows": rows}))
"""


def make(path: Path) -> None:
    """Write the file piece by piece."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    names = [*(f"x{j}" for j in range(COLUMNS)), "y"]
    generator = np.random.default_rng(0)
    truth = generator.standard_normal(COLUMNS)
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for _ in range(ROWS // 500_000):
            X = generator.standard_normal((500_000, COLUMNS))
            y = X @ truth + generator.standard_normal(len(X))
            writer.write_table(pa.table([*X.T, y], names=names), row_group_size=250_000)


def run(code: str, path: Path) -> dict:
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def workload() -> Workload:
    path = CACHE / f"tall-{ROWS}.parquet"
    if not path.exists():
        make(path)
    fit, read = run(FIT, path), run(READ, path)
    return Workload(
        "Ridge from a Parquet file, 20 million x 20",
        "The fit, in a fresh process, against merely reading the file (pyarrow, batch by batch), imports included. Targets: peak "
        "memory below 1 GiB, at least half the speed of reading. Objective: none.",
        [
            Contestant("qed", lambda: run(FIT, path), lambda done: 0.0),
            Contestant("reading the file", lambda: run(READ, path), lambda done: 0.0),
        ],
        rounds=3,
        at_most=2.0,
        notes=[
            f"Inside the processes: fit {fit['seconds']:.2f} s, reading {read['seconds']:.2f} s; "
            f"peak memory of the fit {fit['gib']:.2f} GiB; the certificate {'holds' if fit['holds'] else 'DOES NOT HOLD'}."
        ],
    )
