"""The same with clusters that hardly touch."""

from bench.harness import Workload
from bench.kmeans import workload as near


def workload() -> Workload:
    return near(3.0, what=", separated")
