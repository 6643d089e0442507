"""Ctrl-C at any line of a fit: BLAS has its threads back, the model is as it was or whole and proven, and the next fit works."""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import qed
from qed.base.certificate import Certificate
from qed.base.engine import work
from qed.base.errors import NotFittedError
from qed.base.threads.blas import _depth as holds
from qed.base.threads.interrupts import deferred, interruptible, moment
from tests.conformance.specimens import estimators, specimen, table, target_for

pytestmark = pytest.mark.usefixtures("interruptible", "two_blas_threads")

X, NUMBER, LABEL = table(n=60)
NAMES = ["Lasso", "LogisticRegression", "KMeans", "GradientRidge", "HuberRegressor", "Ridge", "KernelRidge", "Search"]
POINTS = 12


class Interrupter:
    """Sends Ctrl-C to this process at the n-th line of qed that the main thread runs, and counts the lines."""

    def __init__(self, at: int | None) -> None:
        self.at, self.lines = at, 0

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_globals.get("__name__", "").startswith("qed."):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                signal.raise_signal(signal.SIGINT)
        return self.trace


@contextmanager
def interrupting(at: int | None) -> Iterator[Interrupter]:
    found, before = Interrupter(at), sys.gettrace()
    sys.settrace(found.trace)
    try:
        yield found
    finally:
        sys.settrace(before)


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def all_given_back(threads: list[int]) -> bool:
    """Nobody holds BLAS any more, once helpers have come to the next moment of what they were doing for the fit that is gone."""
    patience = time.monotonic() + 60
    while holds and time.monotonic() < patience:
        time.sleep(0.001)
    return not holds and blas_threads() == threads


def state(model: Any) -> set[str]:
    return set(vars(model))


def check_whole(name: str, model: Any, before: set[str]) -> None:
    """The model has what it had, or all that a fit gives, with a certificate that is one."""
    if state(model) == before:
        with pytest.raises(NotFittedError):
            qed.certify(model, X, target_for(model, NUMBER, LABEL))
        return
    assert isinstance(model.certificate_, Certificate) and len(list(model.certificate_))
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_at_any_line_leaves_a_whole_state(name: str) -> None:
    y = target_for(specimen(name), NUMBER, LABEL)
    threads, handler = blas_threads(), signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = specimen(name).fit(X, y)
        with interrupting(None) as counter:
            specimen(name).fit(X, y)
        for at in np.linspace(1, counter.lines, POINTS).astype(int).tolist():
            model = specimen(name)
            before = state(model)
            with interrupting(at), suppress(KeyboardInterrupt):
                model.fit(X, y)
            assert signal.getsignal(signal.SIGINT) is handler and all_given_back(threads), at
            check_whole(name, model, before)
        np.testing.assert_array_equal(specimen(name).fit(X, y).predict(X), whole.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(estimators()))
def test_an_interrupt_of_every_model_at_many_lines(name: str) -> None:
    y = target_for(specimen(name), NUMBER, LABEL)
    threads = blas_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = np.round(X) if name == "OneHotEncoder" else X
        specimen(name).fit(table, y)
        with interrupting(None) as counter:
            specimen(name).fit(table, y)
        for at in np.linspace(1, counter.lines, 60).astype(int).tolist():
            model = specimen(name)
            before = state(model)
            with interrupting(at), suppress(KeyboardInterrupt):
                model.fit(table, y)
            assert all_given_back(threads), at
            assert state(model) == before or isinstance(model.certificate_, Certificate), at
        specimen(name).fit(table, y)


@pytest.mark.parametrize("method", ["partial_fit", "forget"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_update_that_fails_leaves_the_model_as_it_was(
    method: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = qed.Ridge().fit(X[:40], NUMBER[:40])
    before = dict(vars(model))

    def fail(self: Any, problem: Any) -> Any:
        raise error

    monkeypatch.setattr(qed.Ridge, "_prove", fail)
    with pytest.raises(error):
        getattr(model, method)(X[20:40], NUMBER[20:40])
    monkeypatch.undo()
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
    assert qed.certify(model, X[:40], NUMBER[:40])


def test_an_interrupt_while_centres_are_drawn_says_that_there_is_no_model() -> None:
    class Drawn(qed.KMeans):
        def _steps(self, problem: Any, start: Any = None) -> Any:
            signal.raise_signal(signal.SIGINT)
            return super()._steps(problem, start)

    with pytest.raises(KeyboardInterrupt, match="before the first step"):
        Drawn(3, random_state=0).fit(X)


def test_an_interrupt_during_the_proof_waits_for_it() -> None:
    class Proven(qed.Lasso):
        def _prove(self, problem: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            return super()._prove(problem)

    model = Proven(alpha=0.1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, NUMBER)
    assert model.certificate_ and qed.certify(qed.Lasso(alpha=0.1).fit(X, NUMBER), X, NUMBER)


def test_a_search_is_ended_as_a_whole() -> None:
    search = qed.Search(qed.GradientRidge(tol=1e-10), {"alpha": [0.1, 1.0, 10.0]}, cv=3)

    def call(step: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    with qed.threads(1), qed.watch(call=call), pytest.raises(KeyboardInterrupt):
        search.fit(X, NUMBER)
    assert not hasattr(search, "cv_results_")


def test_what_helpers_do_for_a_fold_that_failed_ends_at_its_next_moment() -> None:
    begun, ended = threading.Event(), threading.Event()

    def long() -> None:
        begun.set()
        try:
            while True:
                moment()
        finally:
            ended.set()

    def tasks() -> Iterator[Callable[[], None]]:
        yield long
        yield long
        assert begun.wait(60)
        raise ZeroDivisionError

    with qed.threads(2), pytest.raises(ZeroDivisionError):
        list(work(tasks()))
    assert ended.wait(60)


def test_the_second_interrupt_is_raised_at_once() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), deferred(moments=False):
        signal.raise_signal(signal.SIGINT)
        moment()
        reached.append("after the first")
        signal.raise_signal(signal.SIGINT)
        reached.append("after the second")
    assert reached == ["after the first"]


def test_moments_and_long_moments() -> None:
    with pytest.raises(KeyboardInterrupt), deferred():
        signal.raise_signal(signal.SIGINT)
        with deferred(moments=False):
            moment()
        moment()
        pytest.fail("a moment raises what was noted")
    with pytest.raises(KeyboardInterrupt), deferred(), interruptible():
        signal.raise_signal(signal.SIGINT)
        pytest.fail("a long moment lets it through")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_is_called_at_the_end() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    with deferred():
        signal.raise_signal(signal.SIGINT)
        assert not heard
    assert heard == [signal.SIGINT]


def test_other_threads_are_left_alone() -> None:
    found = []

    def work() -> None:
        with deferred():
            found.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]
