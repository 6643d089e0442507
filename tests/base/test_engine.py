"""The fold: order of addition, threads, nesting, BLAS."""

import os
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

import qed
from qed.base.engine import add_pairwise, fitting, n_threads, one_blas_thread, threads, work
from qed.base.errors import ParameterError
from qed.base.sources.rows import ArrayRows

pytestmark = pytest.mark.usefixtures("two_blas_threads")


class Tree:
    """Remembers in which order it was added."""

    def __init__(self, words):
        self.words = words

    def __add__(self, other):
        return Tree(f"({self.words}{other.words})")


@pytest.mark.parametrize(
    ("count", "shape"), [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (4, "((ab)(cd))"), (7, "(((ab)(cd))((ef)g))")]
)
def test_addition_is_pairwise_in_order(count, shape):
    assert add_pairwise(Tree(letter) for letter in "abcdefg"[:count]).words == shape


@given(st.lists(st.integers(), min_size=1, max_size=200))
def test_addition_of_integers_is_their_sum(values):
    assert add_pairwise(values) == sum(values)


def test_nothing_to_add_is_an_error():
    with pytest.raises(ValueError, match="nothing to add"):
        add_pairwise([])


def test_error_grows_with_the_logarithm():
    values = np.full(100_000, 0.1, dtype=np.float32)
    exact = 0.1 * 100_000
    assert abs(add_pairwise(values) - exact) < abs(np.add.accumulate(values)[-1] - exact) / 50


@pytest.mark.parametrize("count", [1, 2, 5])
def test_any_number_of_threads_gives_the_same_bits(count):
    X = np.random.default_rng(0).standard_normal((10_001, 3))
    rows = ArrayRows(X, size=64)
    with threads(1):
        expected = rows.fold(lambda block: block.X.sum(axis=0))
    with threads(count):
        np.testing.assert_array_equal(rows.fold(lambda block: block.X.sum(axis=0)), expected)


def test_work_keeps_the_order_and_few_tasks_in_flight():
    started = []

    def tasks():
        for number in range(50):
            started.append(number)
            yield lambda number=number: number

    with threads(2):
        seen = []
        for result in work(tasks()):
            assert len(started) - len(seen) <= 6
            seen.append(result)
    assert seen == list(range(50))


def test_an_error_in_a_task_reaches_the_caller():
    def fail(block):
        raise ZeroDivisionError("in a block")

    with threads(2), pytest.raises(ZeroDivisionError, match="in a block"):
        ArrayRows(np.ones((100, 1)), size=10).fold(fail)


def test_folds_inside_folds_do_not_deadlock():
    inner = ArrayRows(np.ones((100, 1)), size=10)

    def outer(block):
        return inner.fold(lambda small: small.X.sum()) * len(block)

    with threads(2):
        assert ArrayRows(np.ones((8, 1)), size=1).fold(outer) == 800


def test_threads_of_the_user_do_not_disturb_each_other():
    X, y = np.random.default_rng(0).standard_normal((2000, 4)), np.arange(2000.0)
    expected = qed.Ridge().fit(X, y).coef_
    found = []
    workers = [threading.Thread(target=lambda: found.append(qed.Ridge().fit(X, y).coef_)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(coef, expected) for coef in found) and len(found) == 4


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_is_held_and_given_back():
    before = blas_threads()
    with one_blas_thread:
        with one_blas_thread:
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def in_child(function):
    """Run a function in a forked child; give the status that it exits with, 0 when it raised nothing."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Stopped(BaseException):
    """What an interrupt is like: no Exception."""


def test_a_fit_holds_blas_once_for_all_folds_inside():
    before = blas_threads()
    rows = ArrayRows(np.ones((40, 1)), size=10)
    with fitting():
        assert set(blas_threads()) == {1}
        with fitting():
            assert rows.fold(lambda block: block.X.sum()) == 40
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, Stopped])
@pytest.mark.parametrize("hold", [fitting, lambda: one_blas_thread])
def test_blas_is_given_back_after_any_error(error, hold):
    before = blas_threads()
    with pytest.raises(error), fitting(), hold():
        raise error
    assert blas_threads() == before


def test_blas_is_held_while_any_thread_fits():
    before, wrong = blas_threads(), []
    start = threading.Barrier(4)

    def fit(seed):
        start.wait()
        for _ in range(50):
            with fitting(), fitting():
                wrong.extend(count for count in blas_threads() if count != 1)

    workers = [threading.Thread(target=fit, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong and blas_threads() == before


def test_a_generator_of_results_may_be_closed_by_another_thread():
    before = blas_threads()
    results = work(lambda k=k: k for k in range(8))
    assert next(results) == 0
    closing = threading.Thread(target=results.close)
    closing.start()
    closing.join()
    assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_forgets_the_holds_and_helpers_of_its_parent():
    before = blas_threads()
    rows = ArrayRows(np.ones((80, 1)), size=10)
    arrived, leave = threading.Event(), threading.Event()

    def other():
        with fitting():
            arrived.set()
            leave.wait(30)

    def child():
        assert blas_threads() == before
        with threads(3):
            assert rows.fold(lambda block: block.X.sum()) == 80
        assert blas_threads() == before

    def child_inside_a_fit():
        assert set(blas_threads()) == {1}

    with threads(3):
        rows.fold(lambda block: block.X.sum())
    thread = threading.Thread(target=other)
    thread.start()
    arrived.wait(10)
    try:
        assert in_child(child) == 0
        with fitting():
            assert in_child(child_inside_a_fit) == 0
    finally:
        leave.set()
        thread.join()
    assert blas_threads() == before


def test_tasks_see_the_context_of_the_fold_and_leave_none_behind():
    word = ContextVar("word", default="outside")

    def task():
        seen = word.get()
        word.set("inside")
        return seen

    word.set("fold")
    with threads(3):
        assert set(work(task for _ in range(20))) <= {"fold", "inside"}
    assert word.get() == "fold"


def test_after_an_error_no_further_task_begins():
    begun = []

    def task(number):
        begun.append(number)
        if number == 3:
            raise ZeroDivisionError
        time.sleep(0.001)

    with threads(2), pytest.raises(ZeroDivisionError):
        for _ in work(lambda number=number: task(number) for number in range(1000)):
            continue
    count = len(begun)
    assert count <= 3 + 1 + 2 * 2 + 1
    time.sleep(0.05)
    assert len(begun) <= count + 1


def test_an_interrupt_in_a_task_reaches_the_caller():
    def task(number):
        if number == 2:
            raise KeyboardInterrupt
        return number

    before = blas_threads()
    with threads(2), pytest.raises(KeyboardInterrupt):
        for _ in work(lambda number=number: task(number) for number in range(50)):
            continue
    assert blas_threads() == before


def test_threads_of_the_user_share_the_helpers():
    counts = []

    def count(block):
        counts.append(sum(thread.name.startswith("qed-fold") for thread in threading.enumerate()))
        return 1

    def folds():
        with threads(3):
            for _ in range(20):
                assert ArrayRows(np.ones((16, 1)), size=1).fold(count) == 16

    before = sum(thread.name.startswith("qed-fold") for thread in threading.enumerate())
    workers = [threading.Thread(target=folds) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert max(counts) <= max(before, 2)


def test_a_fold_at_exit_needs_no_helper():
    code = """
import atexit, numpy as np
from qed.base.engine import threads
from qed.base.sources.rows import ArrayRows

def fold():
    with threads(2):
        print(ArrayRows(np.ones((40, 1)), size=4).fold(lambda block: block.X.sum()))

atexit.register(fold)
fold()
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.stdout.split() == ["40.0", "40.0"] and found.stderr == "" and found.returncode == 0


def test_number_of_threads_comes_from_the_context_then_the_environment(monkeypatch):
    monkeypatch.setenv("QED_THREADS", "3")
    assert n_threads() == 3
    with threads(2):
        assert n_threads() == 2
    monkeypatch.setenv("QED_THREADS", "many")
    with pytest.raises(ParameterError, match="QED_THREADS"):
        n_threads()
    with pytest.raises(ParameterError, match="at least 1"), threads(0):
        pass
