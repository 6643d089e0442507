"""Has a change cost speed? ``python -m bench.against TREE ols ridge`` runs our own contestants on this tree and on another one, in turn.

Two processes live side by side, one on each tree's ``src``, both with the workloads of this tree, and are asked for one run after
the other, so that a noisy moment hits both alike. What the other tree can not do yet is left out, and said.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.__main__ import WORKLOADS
from bench.harness import Contestant, Workload

HERE = Path(__file__).parent.parent
MOST_ROUNDS = 30
# A contestant is run for about so many seconds on either tree, and at least five times.
SECONDS = 4.0
FEWEST_ROUNDS = 5


class Tree:
    """A process that knows the library of one tree."""

    def __init__(self, root: Path, names: list[str]) -> None:
        paths = os.pathsep.join([str(root / "src"), str(HERE)])
        command = [sys.executable, "-W", "ignore", "-m", "bench.against", "--serve", str(root), *names]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
            cwd=HERE,
        )

    def ask(self, word: str) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("answer "):
                return json.loads(line.removeprefix("answer "))
        raise RuntimeError("the process of one tree has ended")


def _ours(name: str) -> Iterator[tuple[str, Contestant]]:
    """Our contestants in a module of workloads."""
    module = import_module(f"bench.{name}")
    if hasattr(module, "result"):
        return
    found: list[tuple[str, Workload]]
    if hasattr(module, "grid"):
        found = [(f"{row}, {column}", each) for row, column, each in module.grid().cells()]
    else:
        each = list(module.workloads()) if hasattr(module, "workloads") else [module.workload()]
        found = [(one.name, one) for one in each]
    for title, workload in found:
        for contestant in workload.contestants:
            if contestant.name.startswith("qed"):
                yield f"{title}: {contestant.name}", contestant


def serve(names: list[str]) -> None:
    """Answer ``next`` with the title of the next contestant, warmed up, and ``run`` with the seconds of one run."""

    def answer(what: Any) -> None:
        print("answer " + json.dumps(what), flush=True)

    contestants = ((title, one) for name in names for title, one in _ours(name))
    current: Contestant | None = None
    for word in sys.stdin:
        if word.strip() == "next":
            title, current = next(contestants, (None, None))
            able, why = True, ""
            if current is not None:
                try:
                    current.run()
                except Exception as error:
                    able, why = False, f"{type(error).__name__}: {error}"[:80]
            answer([title, able, why])
        else:
            assert current is not None
            began = time.perf_counter()
            current.run()
            answer(time.perf_counter() - began)


def compare(other: Path, names: list[str]) -> None:
    """Print for every contestant what both trees take, and how much faster this one is."""
    trees = {"other": Tree(other, names), "this": Tree(HERE, names)}
    while True:
        told = {who: tree.ask("next") for who, tree in trees.items()}
        title = told["this"][0]
        if title is None:
            return
        unable = [f"{who} tree: {why}" for who, (_, able, why) in told.items() if not able]
        if unable:
            print(f"{title:<70} {'; '.join(unable)}", flush=True)
            continue
        times: dict[str, list[float]] = {who: [] for who in trees}
        while len(times["this"]) < FEWEST_ROUNDS or (
            len(times["this"]) < MOST_ROUNDS and sum(times["this"]) + sum(times["other"]) < 2 * SECONDS
        ):
            for who, tree in trees.items():
                times[who].append(tree.ask("run"))
        middle = {who: statistics.median(taken) for who, taken in times.items()}
        least = {who: min(taken) for who, taken in times.items()}
        print(
            f"{title:<70} median {middle['other']:9.5f} -> {middle['this']:9.5f} s, x{middle['other'] / middle['this']:5.2f}; "
            f"least {least['other']:9.5f} -> {least['this']:9.5f} s, x{least['other'] / least['this']:5.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("tree", type=Path, help="the root of the other tree, with its src")
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS))
    given = parser.parse_args()
    if given.serve:
        serve(given.workloads)
    else:
        compare(given.tree.resolve(), given.workloads)


if __name__ == "__main__":
    main()
