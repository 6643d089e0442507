"""The fold: order of addition, threads, nesting, BLAS."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

import qed
from qed.base.engine import add_pairwise, n_threads, one_blas_thread, threads, work
from qed.base.errors import ParameterError
from qed.base.sources.rows import ArrayRows


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
