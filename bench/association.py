"""Frequent sets of 20 000 baskets of 60 items, by size and by a tree."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def baskets(n: int = 20_000, p: int = 60, patterns: int = 25) -> np.ndarray:
    """Give baskets in which some items like to be together."""
    lots = np.random.default_rng(0)
    liked = [lots.choice(p, size=lots.integers(2, 7), replace=False) for _ in range(patterns)]
    X = np.zeros((n, p), dtype=bool)
    for row in range(n):
        for one in lots.integers(0, patterns, size=lots.integers(1, 4)):
            X[row, liked[one]] |= lots.random(len(liked[one])) < 0.9
    return X


def workloads() -> list[Workload]:
    import pandas as pd
    from mlxtend.frequent_patterns import apriori, fpgrowth

    X = baskets()
    frame = pd.DataFrame(X)
    found = []
    for name, ours, theirs in (("Apriori", qed.Apriori, apriori), ("FPGrowth", qed.FPGrowth, fpgrowth)):
        for least in (0.02, 0.005):

            def run_ours(ours=ours, least=least):
                return len(ours(least).fit(X).supports_)

            def run_theirs(theirs=theirs, least=least):
                return len(theirs(frame, min_support=least))

            found.append(
                Workload(
                    f"{name}, 20 000 x 60, support {least:g}",
                    "All frequent sets; ours with the proof that none is missing. Objective: their number, with a minus.",
                    [
                        Contestant("qed", run_ours, lambda count: -float(count)),
                        Contestant("mlxtend", run_theirs, lambda count: -float(count)),
                    ],
                    rounds=3,
                )
            )
    return found
