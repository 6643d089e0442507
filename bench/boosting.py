"""Gradient boosting: a fit of 200 trees with 31 leaves, what it says of a million rows, and a fit to a file of five million rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import qed
from bench.harness import Contestant, Workload

SETTINGS = {"learning_rate": 0.1, "random_state": 0}
TALL, TREES = 5_000_000, 50
CACHE = Path(__file__).parent / "cache"
FIT = """
import json, sys
import qed
settings = {"learning_rate": 0.1, "random_state": 0, "max_iter": int(sys.argv[2]), "early_stopping": False}
model = qed.GradientBoostingClassifier(**settings).fit(qed.rows(sys.argv[1], target="y"))
with open("/proc/self/status") as status:  # not getrusage, which remembers the process that started this one
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 2**20
print(json.dumps({"gib": peak}))
"""


def workloads() -> list[Workload]:
    return [fit(), predict(), from_a_file()]


def classes(n: int, p: int, seed: int = 0):
    """Two classes on both sides of a bent surface, blurred."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    score = (
        X[:, 0]
        + 0.5 * X[:, 1] * X[:, 2]
        + np.sin(2 * X[:, 3])
        - 0.3 * X[:, 4] ** 2
        + 0.2 * X[:, 5 : p // 2].sum(axis=1)
    )
    return X, (score + 0.5 * generator.standard_normal(n) > 0).astype(int)


def _models():
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier
    from xgboost import XGBClassifier

    many = {**SETTINGS, "n_estimators": 200, "n_jobs": 2}
    shape = {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "max_bin": 255, "tree_method": "hist"}
    return {
        "qed": qed.GradientBoostingClassifier(**SETTINGS, max_iter=200, early_stopping=False),
        "LightGBM": LGBMClassifier(**many, num_leaves=31, min_child_samples=20, verbose=-1),
        "XGBoost": XGBClassifier(**many, **shape, min_child_weight=1e-3, reg_lambda=0.0),
        "scikit-learn": HistGradientBoostingClassifier(**SETTINGS, max_iter=200, early_stopping=False),
    }


def _log_loss(shares: np.ndarray, y: np.ndarray) -> float:
    own = np.where(y == 1, shares[:, 1], shares[:, 0])
    return float(-np.log(np.maximum(own, 1e-300)).mean())


def fit() -> Workload:
    X, y = classes(250_000, 30)
    (X, Q), (y, truth) = np.split(X, [200_000]), np.split(y, [200_000])
    return Workload(
        "GradientBoostingClassifier, 200 000 x 30, 200 trees of 31 leaves",
        "float64, 255 bins, rows of a leaf at least 20 (no such rule in XGBoost). Objective: log-loss of 50 000 other rows.",
        [
            Contestant(
                name, lambda model=model: model.fit(X, y), lambda model: _log_loss(model.predict_proba(Q), truth)
            )
            for name, model in _models().items()
        ],
        rounds=3,
        tolerance=0.005,
    )


def predict() -> Workload:
    X, y = classes(1_050_000, 30)
    (X, Q), (y, truth) = np.split(X, [50_000]), np.split(y, [50_000])
    fitted = {name: model.fit(X, y) for name, model in _models().items()}
    return Workload(
        "GradientBoostingClassifier, probabilities of 1 000 000 rows",
        "The models of 200 trees of 31 leaves, fitted to 50 000 rows. Objective: log-loss.",
        [
            Contestant(name, lambda model=model: model.predict_proba(Q), lambda shares: _log_loss(shares, truth))
            for name, model in fitted.items()
        ],
        rounds=3,
        tolerance=0.005,
    )


def make(path: Path, rows: int = TALL) -> None:
    """Write the file piece by piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    names = [*(f"x{j}" for j in range(30)), "y"]
    kinds = [*([pa.float64()] * 30), pa.int64()]
    with pq.ParquetWriter(path, pa.schema(list(zip(names, kinds)))) as writer:
        for seed in range(rows // 250_000):
            X, y = classes(250_000, 30, seed)
            writer.write_table(pa.table([*X.T, y], names=names))


def from_a_file() -> Workload:
    import pyarrow.parquet as pq
    from lightgbm import LGBMClassifier

    path = CACHE / f"classes-{TALL}.parquet"
    if not path.exists():
        make(path)
    done = subprocess.run([sys.executable, "-c", FIT, str(path), "5"], check=True, capture_output=True, text=True)
    table = pq.read_table(path)
    X, y = np.column_stack([table.column(j).to_numpy() for j in range(30)]), table.column(30).to_numpy()
    del table
    Q, truth = classes(100_000, 30, seed=TALL)
    ours = qed.GradientBoostingClassifier(**SETTINGS, max_iter=TREES, early_stopping=False)
    peer = LGBMClassifier(**SETTINGS, n_estimators=TREES, n_jobs=2, num_leaves=31, min_child_samples=20, verbose=-1)
    return Workload(
        f"GradientBoostingClassifier from a Parquet file, 5 million x 30, {TREES} trees of 31 leaves",
        "float64, 255 bins. LightGBM has the table in memory. Objective: log-loss of 100 000 other rows.",
        [
            Contestant(
                "qed",
                lambda: ours.fit(qed.rows(path, target="y")),
                lambda model: _log_loss(model.predict_proba(Q), truth),
            ),
            Contestant("LightGBM", lambda: peer.fit(X, y), lambda model: _log_loss(model.predict_proba(Q), truth)),
        ],
        rounds=2,
        tolerance=0.005,
        at_most=2.0,
        notes=[
            f"Peak memory of a fit in a fresh process: {json.loads(done.stdout)['gib']:.2f} GiB; wanted below 1.5 GiB."
        ],
    )
