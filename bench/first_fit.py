"""The first fit on a machine: fresh processes whose kernels have to be compiled, since the cache of Numba is empty."""

import os
import subprocess
import sys
import tempfile

from bench.harness import Contestant, Workload

TABLE = """
import numpy as np, qed
generator = np.random.default_rng(0)
X = generator.standard_normal(({n}, 20))
y = (X[:, 0] + generator.standard_normal(len(X)) > 0).astype(int)
qed.{model}.fit(X, y)
"""
FITS = {
    "SVC()": 400,
    "LogisticRegression()": 20_000,
    "LogisticRegression(l1_ratio=1.0)": 20_000,
    "LinearDiscriminantAnalysis()": 20_000,
    "GaussianNB()": 20_000,
    "Perceptron()": 2_000,
}


def workload() -> Workload:
    def fresh(program: str):
        def run():
            with tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
                subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment)

        return run

    contestants = [
        Contestant(f"qed: {model}, {n} rows", fresh(TABLE.format(model=model, n=n)), lambda done: 0.0)
        for model, n in FITS.items()
    ]
    bare = Contestant("bare: import qed, numba", fresh("import qed, numba"), lambda done: 0.0, peer=False)
    return Workload(
        "First fit, with an empty cache of kernels",
        "Fresh processes. Target: each below 5 s, starting up included. Objective: none.",
        [*contestants, bare],
        rounds=1,
    )
