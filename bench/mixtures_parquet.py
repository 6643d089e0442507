"""A Gaussian mixture from a Parquet file larger than we want to hold, its time for each pass, and its peak memory in a fresh process.

The file has 50 million rows of 10 columns; ``QED_BENCH_ROWS`` asks for fewer.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.parquet import read

ROWS, COLUMNS, K, ITERATIONS = int(os.environ.get("QED_BENCH_ROWS", 50_000_000)), 10, 5, 10
CACHE = Path(__file__).parent / "cache"

FIT = """
import json, sys, time
from bench.mixtures_parquet import fit
model = fit(sys.argv[1])
with open("/proc/self/status") as status:  # not getrusage, which remembers the process that started this one
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 2**20
print(json.dumps({"gib": peak, "seconds": time.process_time(), "passes": model.n_iter_ + 2, "bound": model.lower_bound_}))
"""


def centers() -> np.ndarray:
    return 2 * np.random.default_rng(1).standard_normal((K, COLUMNS))


def make(path: Path) -> None:
    """Write the file piece by piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    names = [f"x{j}" for j in range(COLUMNS)]
    generator = np.random.default_rng(0)
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for start in range(0, ROWS, 500_000):
            label = generator.integers(0, K, min(500_000, ROWS - start))
            X = centers()[label] + generator.standard_normal((len(label), COLUMNS))
            writer.write_table(pa.table([*X.T], names=names), row_group_size=250_000)


def fit(path):
    """Ten iterations from a start near the truth: twelve passes with those that summarise and prove."""
    start = {
        "weights_init": np.full(K, 1 / K),
        "means_init": centers() + 0.5,
        "precisions_init": np.stack([np.eye(COLUMNS)] * K),
    }
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return qed.GaussianMixture(K, max_iter=ITERATIONS, tol=0.0, **start).fit(qed.rows(path))


def workload() -> Workload:
    path = CACHE / f"mixture-{ROWS}.parquet"
    if not path.exists():
        make(path)
    done = subprocess.run([sys.executable, "-c", FIT, str(path)], check=True, capture_output=True, text=True)
    seen = json.loads(done.stdout)
    passes = seen["passes"]

    def read_often():
        for _ in range(passes):
            read(path)

    return Workload(
        f"GaussianMixture from a Parquet file, {ROWS / 1e6:g} million x 10",
        f"{ITERATIONS} iterations of EM, which take {passes} passes, against reading the file as often (pyarrow, both cores). Targets: at "
        "least half the speed of reading, peak memory below 1 GiB. Objective: none.",
        [
            Contestant("qed", lambda: fit(path), lambda done: 0.0),
            Contestant("reading the file", read_often, lambda done: 0.0),
        ],
        rounds=1,
        at_most=2.0,
        notes=notes(seen, path),
    )


def notes(seen, path):
    """Say what a fit in a fresh process took; seconds of the processor are the same whatever else the machine does."""
    began = time.process_time()
    read(path)
    reading = (time.process_time() - began) * seen["passes"]
    return [
        f"Peak memory of the fit in a fresh process: {seen['gib']:.2f} GiB.",
        f"Seconds of the processor in its {seen['passes']} passes and imports: {seen['seconds']:.1f}, of reading alone {reading:.1f}.",
    ]
