"""Shared settings of the tests.

Property tests draw the same examples every time, so that a change is judged by what it changed; set ``HYPOTHESIS_PROFILE=explore`` to draw
new ones.
"""

import os

import matplotlib
from hypothesis import settings
from hypothesis.internal.conjecture import providers

matplotlib.use("Agg")

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
settings.load_profile(PROFILE)

# Hypothesis also draws constants that it finds in the source of whatever modules are loaded at the time. That depends on which tests a
# worker has run before, so the examples of a steady run would not be the same from run to run.
if PROFILE == "steady" and hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants
