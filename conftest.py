"""Shared settings of the tests and of the examples in docstrings.

Property tests draw the same examples every time, so that a change is judged by what it changed; set ``HYPOTHESIS_PROFILE=explore`` to draw
new ones. ``--shuffle SEED`` runs files, and the tests inside them, in another order. Whatever a test changed for the whole process it has
to put back; figures are closed for it.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import dask
import distributed
import matplotlib
import numpy as np
import pytest
from _pytest.doctest import DoctestItem
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from threadpoolctl import threadpool_limits
from xdist.scheduler import LoadScopeScheduling

from qed.base.engine import n_threads
from qed.base.running.watch import watches
from qed.selection.comparing import budget

matplotlib.use("Agg")
# What a comparison leaves out for want of time depends on what else the machine does in that hour: tests that name no budget have none.
budget.SECONDS = float("inf")

settings.register_profile("steady", derandomize=True, deadline=None, max_examples=30)
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=1000)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
settings.load_profile(PROFILE)

# Hypothesis also draws constants that it finds in the source of whatever modules are loaded at the time. That depends on which tests a
# worker has run before, so the examples of a steady run would not be the same from run to run.
if PROFILE != "explore" and hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in the random order of this seed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    seed = config.getoption("--shuffle")
    if seed is not None:
        terminalreporter.write_line(f"shuffled: --shuffle {seed} gives this order again")


REPEATED = ("-check_estimator_sparse_matrix]", "s_train(readonly_memmap=True)]")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave to the long run what a shorter one shows as well.

    Of a test marked ``sampled(k)`` a k-th of the combinations is run by ``make test``: those whose numbers add up to a multiple of k, among
    which is every value of every parameter where there are several (of a single list, which takes an odd k, every k-th is run). Of
    scikit-learn's checks it leaves out those that repeat another with a table of the same kind: sparse matrices after sparse arrays, and
    maps of files in double precision after single.
    """
    mark = item.get_closest_marker("sampled")
    if mark is not None and sum(item.callspec.indices.values()) % mark.args[0]:
        item.add_marker("slow")
    if item.name.endswith(REPEATED):
        item.add_marker("slow")


# The name of this process among several runners, such as gw1; empty where it is alone.
RUNNER = os.environ.get("PYTEST_XDIST_WORKER", "")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let every other runner read the files backwards: the byte code of asserts, long in the making, is then made once for both."""
    report = yield
    if isinstance(collector, pytest.Directory) and RUNNER[-1:] in tuple("13579"):
        report.result = report.result[::-1]
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put files that were read backwards in order; shuffle them, and the tests of each, which stay together and share what they make."""
    if RUNNER:
        root = config.rootpath / "src"
        items.sort(key=lambda item: (item.path.is_relative_to(root), item.path, isinstance(item, DoctestItem)))
    seed = config.getoption("--shuffle")
    if seed is None:
        return
    order = random.Random(seed)
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    order.shuffle(files)
    for file in files:
        order.shuffle(file)
    items[:] = [item for file in files for item in file]


# The word that a test has in its name, or its file in its own, when it needs the cluster; "clusters" and "clustering" are another matter.
CLUSTER = re.compile(r"(?<![a-z])cluster(?![a-z])")


class ByFile(LoadScopeScheduling):
    """Gives a file as a whole to one of the runners, so that what its tests share is made once; those with the cluster share that.

    The checks of scikit-learn share nothing, and go by estimator.
    """

    def _split_scope(self, nodeid: str) -> str:
        if CLUSTER.search(nodeid):
            return "cluster"
        return nodeid.partition("(" if "scikit_learn_check[" in nodeid else "::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


# What libraries set when they are first imported, and Dask when its workers are started, in whichever test that is.
SET_BY_LIBRARIES = {
    "PYTEST_CURRENT_TEST",
    "KMP_INIT_AT_FORK",
    "KMP_DUPLICATE_LIB_OK",
    "_RJEM_MALLOC_CONF",
    "__DASK_PARENT_PID",
    "PYTHONHASHSEED",
}


def state() -> dict[str, Any]:
    """Give what belongs to the whole process, and so to no test."""
    return {
        "the environment": {name: value for name, value in os.environ.items() if name not in SET_BY_LIBRARIES},
        "the working directory": os.getcwd(),
        "the search path of modules": [place for place in sys.path if "dask-scratch-space" not in place],
        "the handler of interrupts": signal.getsignal(signal.SIGINT),
        "NumPy's handling of floating-point errors": np.geterr(),
        "matplotlib's settings": dict(dict.items(matplotlib.rcParams)),
        "the watchers of fits": watches(),
        "the number of threads": n_threads(),
    }


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    # Who draws from the global generators, as some checks of scikit-learn do, draws the same in any order of the tests.
    random.seed(0)
    np.random.seed(0)
    before = state()
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    after = state()
    left = [name for name, value in before.items() if value != after[name]]
    assert not left, f"the test changed {', '.join(left)} and did not put it back"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let interrupts interrupt, here and in new processes: a runner in the background ignores them, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def two_blas_threads() -> Iterator[None]:
    """Give BLAS a second thread, also where the runner left it but one: that it is taken and given back can then be seen."""
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A folder that everybody may read."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@contextmanager
def being_nobody() -> Iterator[None]:
    """Be someone to whom things can be forbidden, which to root nothing is."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def nobody() -> Callable[[], AbstractContextManager[None]]:
    return being_nobody


# The environment is left as it is, and nobody looks at the health of the cluster, which it would ask for fifty times a second.
QUIET = {
    "distributed.nanny.pre-spawn-environ": {},
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    # A worker on a busy machine is given time to come.
    "distributed.comm.timeouts.connect": "120s",
}


@pytest.fixture(scope="session")
def workers() -> Iterator[distributed.Client]:
    """Two worker processes, started once."""
    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        ) as running,
        distributed.Client(running, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def cluster(request: pytest.FixtureRequest, workers: distributed.Client) -> Iterator[distributed.Client]:
    """Let the workers do what Dask has to do; tests that ask for this have the word in their name, so that one runner has them all."""
    assert CLUSTER.search(request.node.nodeid), "say cluster in the name of the test"
    # One that never came, or went for good, is started anew; nobody waits for ever.
    workers.cluster.scale(2)
    workers.wait_for_workers(2, timeout=120)
    with workers.as_current():
        yield workers
