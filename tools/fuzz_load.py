"""Attack ``qed.load``: mutate saved models of every estimator, load them, and use what came of it.

Run it from the root of the project:

    python tools/fuzz_load.py --files 100000 --seed 7
    python tools/fuzz_load.py --seconds 60

Every estimator of the registry is fitted and saved on a few kinds of data. A mutation changes bytes, nodes of the tree, or
the shapes, types and values of arrays. What is loaded is asked to predict, transform, certify, print and explain itself. Whatever happens
has to be a success or an error of qed, within two seconds of processor time and 256 MiB. The draws depend on the seed and the number
of the file alone: ``--only NUMBER`` repeats one (with ``--files`` as it was, since few files are made from fewer models). A long run that
is told to end (``kill``) tells what it has found so far. The exit status is 1 when something else happened.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import itertools
import json
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

sys.path.insert(0, str(Path(__file__).parent.parent))

import qed
from qed.base.errors import QedError
from qed.report.explanation import explanation_of
from tests.conformance.specimens import estimators, specimen, table, target_for

SECONDS, MEGABYTES = 2.0, 256
MOST_MEMORY = 8 << 30
# So few files are not worth fitting every estimator on every kind of data: of the pairs a fifth is, with each estimator and each kind.
FEW_FILES, SHARE = 100, 5
UNSAVABLE = ("FeatureMap", "NonlinearLeastSquares")
NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**31, -(2**31), 2**63, 10**30, 0.5, -1e300, 5e-324, 1e308)
WORDS = ("", "x", "Ridge", "primal", "dual", "\x1b[31m", "a" * 3000, "memory", "None", "number")


class Seed:
    """One saved model, and the data it is used with."""

    def __init__(self, name: str, model: Any, X: Any, y: Any, folder: Path) -> None:
        self.name, self.X, self.y = name, X, y
        path = folder / "seed.qed"
        qed.save(model, path)
        self.bytes = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            self.members = {member: archive.read(member) for member in archive.namelist()}


def seeds(folder: Path, share: int) -> Iterator[Seed]:
    """Fit and save every estimator on several kinds of data, of these pairs one in `share`, and a few models made of others."""
    X, number, label = table(n=24)
    many = np.column_stack([number, -number, number**2])
    mixed = pd.DataFrame({"size": X[:, 0], "kind": np.array(["u", "v", "w"])[np.arange(24) % 3]})
    mixed.loc[3, "size"] = np.nan
    kinds = [
        (X, number, label),
        (X, many, np.digitize(number, [-2.0, 0.0, 2.0])),
        (sparse.csr_array(X), number, np.array(["no", "yes"])[label]),
        (pd.DataFrame(X, columns=list("abcd")), number, label),
        (X[:3], number[:3], np.array([0, 1, 0])),
        (mixed, number, label),
    ]
    savable = [name for name in estimators() if name not in UNSAVABLE]
    for name, (X, number, label) in itertools.islice(itertools.product(savable, kinds), 0, None, share):
        model = specimen(name)
        y = target_for(model, number, label)
        try:
            yield Seed(name, model.fit(X, y), X, y, folder)
        except ValueError:
            continue
    X, number, label = kinds[0]
    yield Seed("Pipeline", make_pipeline(qed.StandardScaler(), qed.Ridge()).fit(X, number), X, number, folder)
    for kernel in ("rbf", "poly", qed.kernels.RBF(0.5) + 2 * qed.kernels.Polynomial(2)):
        yield Seed("KernelRidge", qed.KernelRidge(kernel=kernel).fit(X, number), X, number, folder)
    inner = qed.Search(qed.TableModel(qed.LogisticRegression()), {"degree": [1, 2]}, cv=2)
    yield Seed("Search", inner.fit(kinds[5][0], label), kinds[5][0], label, folder)


def places(node: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """Give every place of a tree, as a container and a key."""
    found = [] if found is None else found
    for key, item in node.items() if isinstance(node, dict) else enumerate(node):
        found.append((node, key))
        if isinstance(item, (dict, list)):
            places(item, found)
    return found


def mutated_bytes(seed: Seed, random: Random) -> bytes:
    content = bytearray(seed.bytes)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        at = random.randrange(len(content))
        kind = random.randrange(4)
        if kind == 0:
            content[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            content[at : at + random.randrange(1, 64)] = random.randbytes(random.randrange(32))
        elif kind == 2:
            del content[at : at + random.randrange(1, 256)]
        else:
            other = random.randrange(len(content))
            content[at:at] = content[other : other + random.randrange(64)]
        if not content:
            break
    return bytes(content)


def value_for(random: Random, tree: list[tuple[Any, Any]]) -> Any:
    """Draw what to put in the place of a node: a number, a word, something else of the same tree, a node of our own."""
    holder, key = random.choice(tree)
    nodes: list[Callable[[], Any]] = [
        lambda: random.choice(NUMBERS),
        lambda: random.choice(WORDS),
        lambda: random.choice((None, True, False, [], {}, [[]], [1, 2, 3])),
        lambda: json.loads(json.dumps(holder[key])),
        lambda: {"!": "array", "number": random.randrange(12)},
        lambda: {"!": "float", "value": random.choice(("nan", "inf", "-inf"))},
        lambda: {"!": "tuple", "items": [random.choice(NUMBERS)] * random.randrange(4)},
        lambda: {"!": "objects", "shape": [2], "items": [random.choice(WORDS), None]},
        lambda: {"!": "scalar", "dtype": random.choice(("<f8", "<i8", "<U3")), "value": random.choice(NUMBERS)},
        lambda: {"!": "dtype", "value": random.choice(("<f4", "|S9", "f8,f8", "<U1000"))},
        lambda: {"!": "type", "value": random.choice(("float", "int", "str"))},
    ]
    return random.choice(nodes)()


def mutate_tree(tree: Any, random: Random) -> None:
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        every = places(tree["content"])
        holder, key = random.choice(every)
        kind = random.randrange(6)
        if kind == 0 and isinstance(holder[key], (int, float)):
            holder[key] = random.choice((holder[key] + 1, holder[key] - 1, -holder[key], holder[key] * 1000))
        elif kind == 1:
            del holder[key]
        elif kind == 2 and isinstance(holder, dict):
            holder[random.choice(("coef_", "classes_", "thing_", str(key) + "_", "!"))] = holder.pop(key)
        elif kind == 3 and isinstance(holder, list):
            holder.insert(key, json.loads(json.dumps(holder[key])))
        else:
            holder[key] = value_for(random, every)


def mutate_array(data: bytes, random: Random) -> bytes:
    array = np.load(io.BytesIO(data), allow_pickle=False)
    kind = random.randrange(9)
    if kind == 0:
        array = array[: random.randrange(len(array) + 1)] if array.ndim else array[None]
    elif kind == 1:
        array = array[..., None] if random.random() < 0.5 else array[None]
    elif kind == 2:
        array = array.T if array.ndim > 1 else np.concatenate([array, array]) if array.ndim else array
    elif kind == 3:
        array = array.reshape(-1)
    elif kind == 4 and array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            array = array.astype(random.choice(("f4", "f2", "i8", "u1", "?", "c16", "U5", "S3", ">f8", "M8[s]")))
    elif kind == 5:
        array = np.zeros(random.choice(((0,), (0, 4), (4, 0), (), (1, 1, 1), (0, 1 << 20))), array.dtype)
    elif kind == 6 and array.dtype.kind in "iu":
        array = array + np.array(random.choice((1, -1, 100, 2**31 - 1)), dtype=array.dtype)
    elif array.size and array.dtype.kind in "fiu":
        array = array.copy()
        draws = (np.nan, np.inf, -1.0, 0.0, 1e308, 1e-308, 5e5) if array.dtype.kind == "f" else (-1, 0, 1, 99, 127)
        array.reshape(-1)[random.randrange(array.size)] = random.choice(draws)
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def mutated(seed: Seed, random: Random) -> bytes:
    """Draw one hostile file."""
    kind = random.random()
    if kind < 0.15:
        return mutated_bytes(seed, random)
    members = dict(seed.members)
    arrays = [name for name in members if name.endswith(".npy")]
    if kind < 0.6 or not arrays:
        tree = json.loads(members["model.json"])
        mutate_tree(tree, random)
        members["model.json"] = json.dumps(tree).encode()
    if kind >= 0.5 and arrays:
        name = random.choice(arrays)
        members[name] = mutate_array(members[name], random)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def uses(model: Any, seed: Seed) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Give what is done with a model that was loaded."""
    yield "repr", lambda: (repr(model), str(model))
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        yield name, lambda name=name: getattr(model, name)(seed.X)
    yield "names", lambda: model.get_feature_names_out()
    yield "certify", lambda: str(qed.certify(model, seed.X, seed.y))
    yield "explain", lambda: (explanation_of(model), str(getattr(model, "certificate_", "")))
    yield "inference", lambda: str(model.inference_)
    yield "ending", lambda: (str(model.ending_), str(model.fingerprint_))


class Outcomes:
    """What came of all files."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.slowest = 0.0

    def attempt(self, stage: str, label: str, action: Callable[[], Any]) -> Any:
        """Do something; count a success or an error of qed, and keep all else."""
        began = time.process_time()
        found = None
        try:
            found = action()
            self.counts[f"{stage}: done"] += 1
        except (QedError, NotFittedError):
            self.counts[f"{stage}: refused"] += 1
        except MemoryError as error:
            self._fault(stage, label, f"MemoryError {error}")
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self._fault(
                stage, label, f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {error}"[:200]
            )
        seconds = time.process_time() - began
        self.slowest = max(self.slowest, seconds)
        if seconds > SECONDS:
            self._fault(stage, label, f"took {seconds:.1f} s")
        return found

    def _fault(self, stage: str, label: str, what: str) -> None:
        self.counts[f"{stage}: fault"] += 1
        self.faults.append(f"{label} {stage}: {what}")
        print(self.faults[-1], file=sys.stderr, flush=True)


def lacks(model: Any, stage: str) -> bool:
    """Say whether a model of that class simply does not offer this."""
    if stage == "names":
        return not hasattr(model, "get_feature_names_out") or hasattr(model, "steps")
    if stage in ("inference", "ending"):
        return not hasattr(type(model), "inference_" if stage == "inference" else "_steps") or not hasattr(model, "fit")
    return stage.startswith(("predict", "decision", "transform")) and not hasattr(model, stage)


def attack(seed: Seed, content: bytes, path: Path, label: str, outcomes: Outcomes) -> None:
    """Load one file and use what it holds."""
    path.write_bytes(content)
    model = outcomes.attempt("load", label, lambda: qed.load(path))
    if model is None:
        return
    for stage, action in uses(model, seed):
        if stage == "certify" and not hasattr(model, "_check_fitted"):
            continue
        if stage == "ending" and not hasattr(model, "ending_"):
            continue
        if not lacks(model, stage):
            outcomes.attempt(stage, label, action)


def megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def fuzz(files: int, seconds: float, first: int, only: int | None) -> Outcomes:
    """Attack until so many files, or so many seconds, are through."""
    outcomes, warmup = Outcomes(), Outcomes()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        every = list(seeds(folder, SHARE if files <= FEW_FILES else 1))
        for seed in every:
            attack(seed, seed.bytes, folder / "m.qed", seed.name, warmup)
        # Compiling takes its time, once.
        broken = [fault for fault in warmup.faults if "took" not in fault]
        if broken:
            raise SystemExit("models that nobody changed fail:\n" + "\n".join(broken))
        for number, random in each_file(files, seconds, first, only, outcomes):
            seed = random.choice(every)
            attack(seed, mutated(seed, random), folder / "m.qed", f"{number} {seed.name}", outcomes)
    return outcomes


def each_file(
    files: int, seconds: float, first: int, only: int | None, outcomes: Outcomes
) -> Iterator[tuple[int, Random]]:
    """Number the files, with the draws of each, and see to it that none takes too much memory or never ends."""
    began, base = time.monotonic(), megabytes()
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    for number in range(files) if only is None else [only]:
        if time.monotonic() - began > seconds or stopped:
            break
        faulthandler.dump_traceback_later(120, exit=True)
        yield number, Random(f"{first}/{number}")
        outcomes.counts["files"] += 1
        if megabytes() > base + MEGABYTES:
            outcomes.faults.append(f"{number}: {megabytes() - base} MiB more")
            base = megabytes()
    faulthandler.cancel_dump_traceback_later()


def run(title: str | None, fuzz: Callable[[int, float, int, int | None], Outcomes]) -> int:
    """Read the command line, attack, and tell what came of it."""
    parser = argparse.ArgumentParser(description=(title or "").split("\n")[0])
    parser.add_argument("--files", type=int, default=10**9, help="how many files")
    parser.add_argument("--seconds", type=float, default=1e9, help="for how long")
    parser.add_argument("--seed", type=int, default=0, help="what the draws depend on")
    parser.add_argument("--only", type=int, help="the number of a single file")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    outcomes = fuzz(given.files, given.seconds, given.seed, given.only)
    for name, count in sorted(outcomes.counts.items()):
        print(f"{name:24}{count:>10}")
    print(f"slowest call {outcomes.slowest:.2f} s, memory of the whole process {megabytes()} MiB")
    print("\n".join(outcomes.faults[:200]))
    return 1 if outcomes.faults else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, fuzz))
