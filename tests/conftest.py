"""Shared settings of the tests.

Property tests draw the same examples every time, so that a change is judged by what it changed; set ``HYPOTHESIS_PROFILE=explore`` to draw
new ones.
"""

import os

import matplotlib
from hypothesis import settings

matplotlib.use("Agg")

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
