"""Starting up: ``import qed`` and ``qed --help`` in fresh processes."""

import subprocess
import sys

from bench.harness import Contestant, Workload


def workload() -> Workload:
    def fresh(*words: str):
        return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True)

    return Workload(
        "Start-up in a fresh process",
        "Targets: `import qed` adds less than 0.15 s to a bare interpreter, `qed --help` takes less than 0.5 s. Objective: none.",
        [
            Contestant("qed: import qed", fresh("-c", "import qed"), lambda done: 0.0),
            Contestant("qed: qed --help", fresh("-m", "qed.cli", "--help"), lambda done: 0.0),
            Contestant("bare interpreter", fresh("-c", ""), lambda done: 0.0, peer=False),
            Contestant(
                "scikit-learn: import sklearn.linear_model",
                fresh("-c", "import sklearn.linear_model"),
                lambda done: 0.0,
            ),
        ],
        rounds=7,
    )
