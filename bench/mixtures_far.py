"""The same mixture a million units away from zero."""

from bench.harness import Workload
from bench.mixtures import workload as near


def workload() -> Workload:
    return near(1e6, ", far from zero")
