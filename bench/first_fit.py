"""The first fit on a machine: what a model waits for kernels in a fresh process, since the cache of compiled ones is empty.

Every public estimator has two tables: a small one, for which nothing should have to be compiled, and one of its own usual size. Processor
time is measured, not that of the clock, so that other work on the machine does not count. ``python -m bench.first_fit`` tells every fit as
it ends, ``python -m bench.first_fit quick`` those of a few models, and ``python -m bench.first_fit SVC`` every kernel of those named.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

QUICK = ("GaussianNB", "LogisticRegression", "LogisticRegression, L1", "Ridge", "SVC")
OTHERS = {"LogisticRegression, L1": ("LogisticRegression", {"l1_ratio": 1.0})}
SMALL, USUAL, IN_MEMORY = (60, 4), (20_000, 20), (1_000, 20)
# In memory as codes alone: any number of rows.
CODED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
# So many seconds may the kernels of one fit take.
TARGET = 5.0


def names() -> list[str]:
    """List the models that ``qed warmup`` fits, and those of `OTHERS`."""
    from qed.commands.warmup import models

    return [*(name for name, _ in models()), *OTHERS]


def named(name: str) -> Any:
    """Make one model, and import no others if its class is called so."""
    import qed
    from qed.commands.warmup import models

    kind, settings = OTHERS.get(name, (name, {}))
    return getattr(qed, kind)(**settings) if hasattr(qed, kind) else dict(models())[name]


def fit(name: str, size: str) -> dict[str, Any]:
    """Fit one model here, and say how many seconds it took, and each kernel without those that it calls."""
    from numba.core import event

    from qed.base.errors import QedError
    from qed.commands.warmup import table

    model = named(name)
    usual = IN_MEMORY if model.passes == "in memory" and name not in CODED else USUAL
    X, y = table(model, *(SMALL if size == "small" else usual), np.dtype(float))
    kernels: list[tuple[str, float]] = []
    running: list[float] = []

    class Listener(event.Listener):
        def on_start(self, told: Any) -> None:
            running.append(time.process_time())

        def on_end(self, told: Any) -> None:
            taken = time.process_time() - running.pop()
            running[:] = [start + taken for start in running]
            kernels.append((told.data["dispatcher"].py_func.__name__, taken))

    began = time.process_time()
    with event.install_listener("numba:compile", Listener()), warnings.catch_warnings(), suppress(QedError):
        warnings.simplefilter("ignore")
        model.fit(X) if y is None else model.fit(X, y)
    kernels.sort(key=lambda one: -one[1])
    return {"seconds": time.process_time() - began, "kernels": kernels}


def fresh(name: str, size: str) -> dict[str, Any]:
    """Do so in a process of its own, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        words = [sys.executable, "-m", "bench.first_fit", "--here", name, size]
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found = json.loads(done.stdout.splitlines()[-1])
    return {"name": name, "table": size, "compiled": sum(seconds for _, seconds in found["kernels"]), **found}


def measured(chosen: list[str]) -> Iterator[dict[str, Any]]:
    """Fit models to both tables, and tell what each took as it ends."""
    for name in chosen:
        for size in ("small", "usual"):
            found = fresh(name, size)
            print(f"    {_line(found)}", flush=True)
            yield found


def result(chosen: list[str] | None = None) -> dict[str, Any]:
    """Measure all models, or those named, and sort them by what they cost."""
    found = sorted(measured(chosen or names()), key=lambda one: -one["compiled"])
    return {
        "workload": "First fit, with an empty cache of kernels",
        "says": f"Every estimator in a process of its own, on {SMALL[0]} x {SMALL[1]} and on {USUAL[0]} x {USUAL[1]} "
        f"({IN_MEMORY[0]} x {IN_MEMORY[1]} where it works in memory): seconds of the processor for compiling, which should be none "
        f"for the first and at most {TARGET:g} for the second, and for the whole fit.",
        "columns": ("model", "table", "kernels", "compiling", "fit"),
        "lines": [
            (one["name"], one["table"], len(one["kernels"]), round(one["compiled"], 2), round(one["seconds"], 2))
            for one in found
        ],
    }


def _line(found: dict[str, Any]) -> str:
    counted = f"{found['compiled']:>6.2f} s for {len(found['kernels']):>2} kernels, fit {found['seconds']:>6.2f} s"
    return f"{found['name']:<28}{found['table']:<8}{counted}"


def main(words: list[str]) -> None:
    if words[:1] == ["--here"]:
        print(json.dumps(fit(*words[1:])))
    elif words in ([], ["quick"]):
        lines = result(list(QUICK) if words else None)["lines"]
        print("sorted by seconds of compiling")
        for name, size, kernels, compiled, seconds in lines:
            print(f"    {name:<28}{size:<8}{kernels:>3} kernels{compiled:>8.2f} s, fit {seconds:.2f} s")
    else:
        for found in measured(words):
            for kernel, seconds in found["kernels"]:
                print(f"        {kernel:<28}{seconds:>6.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
