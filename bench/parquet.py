"""Ridge on a Parquet file larger than we want to hold: 20 million x 20, and its peak memory in a fresh process."""

import json
import subprocess
import sys
from pathlib import Path

import qed
from bench.harness import Contestant, Workload

ROWS, COLUMNS = 20_000_000, 20
CACHE = Path(__file__).parent / "cache"

FIT = """
import json, sys
import qed
model = qed.Ridge(alpha=1.0).fit(qed.rows(sys.argv[1], target="y"))
with open("/proc/self/status") as status:  # not getrusage, which remembers the process that started this one
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 2**20
print(json.dumps({"gib": peak, "holds": bool(model.certificate_)}))
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


def read(path: Path) -> int:
    """Decode the file and drop it, by the fastest way we found that does not hold it all: both cores, large batches."""
    import pyarrow.parquet as pq

    batches = pq.ParquetFile(path, pre_buffer=False).iter_batches(batch_size=131_072)
    return sum(batch.num_rows for batch in batches)


def workload() -> Workload:
    path = CACHE / f"tall-{ROWS}.parquet"
    if not path.exists():
        make(path)
    done = subprocess.run([sys.executable, "-c", FIT, str(path)], check=True, capture_output=True, text=True)
    seen = json.loads(done.stdout)
    return Workload(
        "Ridge from a Parquet file, 20 million x 20",
        "The fit against merely reading the file (pyarrow, large batches, both cores). Targets: at least half the speed of "
        "reading, peak memory below 1 GiB. Objective: none.",
        [
            Contestant("qed", lambda: qed.Ridge(alpha=1.0).fit(qed.rows(path, target="y")), lambda done: 0.0),
            Contestant("reading the file", lambda: read(path), lambda done: 0.0),
        ],
        rounds=5,
        at_most=2.0,
        notes=[
            f"Peak memory of the fit in a fresh process: {seen['gib']:.2f} GiB; "
            f"the certificate {'holds' if seen['holds'] else 'DOES NOT HOLD'}."
        ],
    )
