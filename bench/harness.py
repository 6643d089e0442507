"""How a benchmark is run: every contestant once to warm up, then round after round in turn, so that a noisy moment hits all alike.

A workload is a module of ``bench`` with a ``workload()`` that gives a `Workload`, or ``workloads()`` that gives several;
or it measures by itself, and its ``result()`` is a table. Times are medians over rounds; the ratio is the best peer's time
over ours, and counts only at an equal or better objective.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

# Threads of the one who ran before may go on spinning for a while, waiting for work; let them fall asleep.
PAUSE = 0.2
# What a processor says of its vector units, the widest first.
VECTORS = {"avx512f": " with AVX-512", "avx2": " with AVX2"}


@dataclass
class Contestant:
    """A way of doing the job.

    Attributes
    ----------
    name : str
        Who it is; ours starts with ``qed``.
    run : callable
        Does the whole job, certificate included, and returns its result.
    judge : callable
        Turns the result into the objective that is to be small.
    rounds : int, optional
        For slow peers: fewer rounds.
    peer : bool
        False for what is listed for reference only.
    """

    name: str
    run: Callable[[], Any]
    judge: Callable[[Any], float]
    rounds: int | None = None
    peer: bool = True


@dataclass
class Workload:
    """A job on given data, with those who can do it."""

    name: str
    says: str
    contestants: list[Contestant]
    rounds: int = 9
    tolerance: float = 1e-8
    notes: list[str] = field(default_factory=list)
    at_most: float | None = None  # where the other is no peer but a yardstick: so many times its time is allowed


@dataclass
class Grid:
    """Many small workloads in rows and columns, of which only the ratios are shown."""

    name: str
    says: str
    columns: tuple[str, ...]
    cells: Callable[[], Iterable[tuple[str, str, Workload]]]


# A cell of a grid is measured for about so many seconds, and each contestant at least three times, or once where that takes longer.
CELL_SECONDS = 3.0
# What takes less than so many seconds is run so often in a row: the first run pays for caches and spinning threads of the one before.
BRIEF, IN_A_ROW = 0.01, 3


def measure_grid(grid: Grid, show: Callable[[str], None] = print) -> dict[str, Any]:
    """Run the cells of a grid, and give the ratio of the best peer that is as good as ours to ours."""
    cells = []
    for row, column, workload in grid.cells():
        times, objective = _shortest(workload)
        ours = objective["qed"]
        allowed = ours + workload.tolerance * max(abs(ours), 1e-300)
        equal = {name: taken for name, taken in times.items() if name != "qed" and objective[name] <= allowed}
        best = min(equal, key=equal.__getitem__, default=None)
        least = min(value for name, value in objective.items() if name != "qed")
        good = ours <= least + workload.tolerance * max(abs(least), 1e-300)
        ratio = None if best is None else equal[best] / times["qed"]
        cell = {"row": row, "column": column, "ours": times["qed"], "peer": best, "ratio": ratio, "good": good}
        cells.append({**cell, "times": times, "objectives": objective})
        shown = "no peer as good" if ratio is None else f"{ratio:.2f} ({best} {equal[best]:.4f} s)"
        show(f"    {workload.name:<40}{times['qed']:>10.4f} s   {shown}{'' if good else '   WORSE OBJECTIVE'}")
    ratios = [cell["ratio"] for cell in cells if cell["ratio"] is not None]
    worst = min((cell for cell in cells if cell["ratio"] is not None), key=lambda cell: cell["ratio"])
    mean = statistics.geometric_mean(ratios)
    return {
        "workload": grid.name,
        "says": grid.says,
        "columns": grid.columns,
        "cells": cells,
        "geometric_mean": mean,
        "worst": f"{worst['row']}, {worst['column']}: {worst['ratio']:.2f}",
        "below": sum(ratio < 0.8 for ratio in ratios),
    }


def _shortest(workload: Workload) -> tuple[dict[str, float], dict[str, float]]:
    """Run every contestant once to warm up, then in turn; give shortest times and objectives."""
    times: dict[str, float] = {}
    objective: dict[str, float] = {}
    for contestant in workload.contestants:
        objective[contestant.name] = float(contestant.judge(contestant.run()))
    spent, rounds = 0.0, 0
    while rounds == 0 or (spent < CELL_SECONDS and rounds < 50):
        for contestant in workload.contestants:
            for _ in range(IN_A_ROW):
                began = time.perf_counter()
                contestant.run()
                taken = time.perf_counter() - began
                spent += taken
                times[contestant.name] = min(taken, times.get(contestant.name, taken))
                if taken > BRIEF:
                    break
        rounds += 1
    return times, objective


def measure(workload: Workload) -> dict[str, Any]:
    """Run a workload and give its times, objectives and ratio."""
    times: dict[str, list[float]] = {c.name: [] for c in workload.contestants}
    objective: dict[str, float] = {}
    for contestant in workload.contestants:
        objective[contestant.name] = float(contestant.judge(contestant.run()))
    for turn in range(workload.rounds):
        for contestant in workload.contestants:
            if contestant.rounds is not None and turn >= contestant.rounds:
                continue
            gc.collect()
            time.sleep(PAUSE)
            began = time.perf_counter()
            contestant.run()
            times[contestant.name].append(time.perf_counter() - began)
    rows = [
        {
            "name": name,
            "median": statistics.median(taken),
            "low": min(taken),
            "high": max(taken),
            "objective": objective[name],
        }
        for name, taken in times.items()
    ]
    return {
        "workload": workload.name,
        "says": workload.says,
        "rows": rows,
        "notes": workload.notes,
        **_verdict(rows, workload),
    }


def _verdict(rows: list[dict[str, Any]], workload: Workload) -> dict[str, Any]:
    ours = min((row for row in rows if row["name"].startswith("qed")), key=lambda row: row["median"])
    peers = [row for row, one in zip(rows, workload.contestants) if one.peer and not one.name.startswith("qed")]
    if not peers:
        return {"ratio": None, "verdict": "no peer"}
    best = min(peers, key=lambda row: row["median"])
    if workload.at_most is not None:
        cost = ours["median"] / best["median"]
        word = "met" if cost <= workload.at_most else "missed"
        return {"ratio": cost, "best_peer": best["name"], "verdict": f"target, at most {workload.at_most:g}: {word}"}
    ratio = best["median"] / ours["median"]
    allowed = best["objective"] + workload.tolerance * max(abs(best["objective"]), 1e-300)
    if not ours["objective"] <= allowed:
        return {"ratio": ratio, "best_peer": best["name"], "verdict": "loss: worse objective"}
    word = "win" if ratio >= 1.3 else "loss" if ratio <= 1 / 1.3 else "tie"
    return {"ratio": ratio, "best_peer": best["name"], "verdict": word}


def machine() -> dict[str, str]:
    """Say what was measured on."""
    packages = (
        "numpy",
        "scipy",
        "numba",
        "scikit-learn",
        "scikit-learn-intelex",
        "celer",
        "skglm",
        "statsmodels",
        "pyarrow",
    )
    versions = {}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {"python": platform.python_version(), "processor": _processor(), **versions}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            said = [line.split(":", 1) for line in lines if ":" in line]
        names = [words.strip() for name, words in said if name.strip() == "model name"]
        flags = next((words.split() for name, words in said if name.strip() == "flags"), [])
        widest = next((words for flag, words in VECTORS.items() if flag in flags), "")
        return f"{len(names)} x {names[0]}{widest}"
    except (OSError, IndexError):
        return platform.processor() or platform.machine()


def to_markdown(results: list[dict[str, Any]], where: dict[str, str]) -> str:
    """Write the results as the page of the documentation."""
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench`: every contestant on the same data in one process, alternating, with a pause of 0.2 s",
        "before each so that idle threads of the one before fall asleep; median of the rounds with",
        "their range, in seconds. A fit of ours is timed together with its certificate. The ratio is the best peer's time over",
        "ours; from 1.3 on we call it a win, below 1/1.3 a loss, and a win with a worse objective would be a loss.",
        "",
        ", ".join(f"{key} {value}" for key, value in where.items()) + ".",
        "",
    ]
    for result in results:
        write_one = (
            _grid_to_markdown if "cells" in result else _table_to_markdown if "lines" in result else _row_to_markdown
        )
        lines += write_one(result)
        if result.get("machine") != where:
            lines += ["*Of an earlier run, on another machine or with other versions.*", ""]
    return "\n".join(lines)


def _row_to_markdown(result: dict[str, Any]) -> list[str]:
    lines = [
        f"## {result['workload']}",
        "",
        result["says"],
        "",
        "| who | median s | range | objective |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row['name']} | {row['median']:.4f} | {row['low']:.4f} - {row['high']:.4f} | {row['objective']:.10g} |"
        for row in result["rows"]
    ]
    if result["ratio"] is not None:
        words = f"Ratio to the best peer ({result['best_peer']}): **{result['ratio']:.2f}** ({result['verdict']})."
        lines += ["", words]
    return [*lines, *(f"\n{note}" for note in result["notes"]), ""]


def _grid_to_markdown(result: dict[str, Any]) -> list[str]:
    columns = result["columns"]
    rows = list(dict.fromkeys(cell["row"] for cell in result["cells"]))
    found = {(cell["row"], cell["column"]): cell for cell in result["cells"]}
    lines = [f"## {result['workload']}", "", result["says"], ""]
    lines += ["| ratio | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for row in rows:
        lines.append(f"| {row} | " + " | ".join(_cell(found.get((row, column))) for column in columns) + " |")
    words = f"Geometric mean **{result['geometric_mean']:.2f}**; worst cell {result['worst']}; {result['below']} cells below 0.8."
    return [*lines, "", words, ""]


def _table_to_markdown(result: dict[str, Any]) -> list[str]:
    rows = [result["columns"], ["---"] * len(result["columns"]), *result["lines"]]
    table = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return [f"## {result['workload']}", "", result["says"], "", *table, ""]


def _cell(cell: dict[str, Any] | None) -> str:
    """Write a ratio; bold where it is a loss, and a dash where there is no peer."""
    if cell is None or cell["ratio"] is None:
        return "-"
    text = f"{cell['ratio']:.2f}" if cell["good"] else f"{cell['ratio']:.2f} (worse objective)"
    return f"**{text}**" if cell["ratio"] < 0.8 or not cell["good"] else text


def write(results: list[dict[str, Any]], json_path: str, markdown_path: str) -> None:
    """Write ``results.json`` and the documentation's page; what was not measured this time stays as it was."""
    where = machine()
    results = [{**result, "machine": where} for result in results]
    known: dict[str, dict[str, Any]] = {}
    if os.path.exists(json_path):
        with open(json_path, encoding="utf-8") as file:
            known = {result["workload"]: result for result in json.load(file)["results"]}
    merged = list({**known, **{result["workload"]: result for result in results}}.values())
    with open(json_path, "w", encoding="utf-8") as file:
        json.dump({"machine": where, "results": merged}, file, indent=1)
        file.write("\n")
    with open(markdown_path, "w", encoding="utf-8") as file:
        file.write(to_markdown(merged, where))
