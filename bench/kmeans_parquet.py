"""k-means from a Parquet file larger than we want to hold: its time for each pass, and its peak memory in a fresh process.

The file is that of the mixtures, 50 million rows of 10 columns; ``QED_BENCH_ROWS`` asks for fewer.
"""

import json
import subprocess
import sys
import warnings

import qed
from bench.harness import Contestant, Workload
from bench.mixtures_parquet import CACHE, ROWS, K, centers, make, notes
from bench.parquet import read

ITERATIONS = 10
FIT = """
import json, sys, time
from bench.kmeans_parquet import fit
model = fit(sys.argv[1])
with open("/proc/self/status") as status:  # not getrusage, which remembers the process that started this one
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 2**20
print(json.dumps({"gib": peak, "seconds": time.process_time(), "passes": model.n_iter_ + 2}))
"""


def fit(path):
    """Ten iterations from a start near the truth: twelve passes with those that summarise and prove."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return qed.KMeans(K, init=centers() + 0.5, max_iter=ITERATIONS, tol=0.0).fit(qed.rows(path))


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
        f"KMeans from a Parquet file, {ROWS / 1e6:g} million x 10",
        f"At most {ITERATIONS} iterations of Lloyd, which take {passes} passes, against reading the file as often (pyarrow, both cores). "
        "Targets: at least half the speed of reading, peak memory below 1 GiB. Objective: none.",
        [
            Contestant("qed", lambda: fit(path), lambda done: 0.0),
            Contestant("reading the file", read_often, lambda done: 0.0),
        ],
        rounds=1,
        at_most=2.0,
        notes=notes(seen, path),
    )
