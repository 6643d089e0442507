"""Shared settings of the tests."""

import matplotlib

matplotlib.use("Agg")
