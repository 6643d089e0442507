"""The same in single precision, overlapping."""

import numpy as np

from bench.harness import Workload
from bench.kmeans import workload as near


def workload() -> Workload:
    return near(1.0, np.float32, ", float32", tolerance=1e-6)
