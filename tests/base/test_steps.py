"""The driver: it ends for the right reason, keeps the best state, tells the watchers, and goes on as if it had never stopped."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import signal
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.base.running.steps import Ending, Halt, Past, Reason, Rule, Step, run


def objectives(values: Iterable[float], gaps: Iterable[float] | None = None, halt: Any = None) -> Iterator[Step]:
    for index, (value, gap) in enumerate(zip(values, gaps if gaps is not None else itertools.repeat(None))):
        yield Step(value, gap, index=index)
    return halt


def halving(start: Step | None = None) -> Iterator[Step]:
    x = 8.0 if start is None else start.x / 2
    while True:
        yield Step(x, gap=x, x=x)
        x /= 2


def test_certified_as_soon_as_the_gap_is_small_enough() -> None:
    ending = run(halving(), Rule(tol=1.0))
    assert ending.reason is Reason.CERTIFIED
    assert (ending.n_iter, ending.step.objective, ending.step.number) == (3, 1.0, 3)
    assert [record["objective"] for record in ending.trace] == [8.0, 4.0, 2.0, 1.0]
    assert [record["gap"] for record in ending.trace] == [8.0, 4.0, 2.0, 1.0]
    assert [record["number"] for record in ending.trace] == [0, 1, 2, 3]
    assert str(ending) == "The certificate holds to the tolerance asked for."


def test_the_certified_step_is_the_answer_even_if_another_was_lower() -> None:
    ending = run(objectives([3.0, 1.0, 2.0], [1.0, 1.0, 0.0]), Rule(tol=1e-3))
    assert ending.reason is Reason.CERTIFIED and ending.step.objective == 2.0


@pytest.mark.parametrize("gap", [math.nan, math.inf, 1e-3 * (1 + 1e-9)])
def test_a_gap_that_proves_nothing_does_not_certify(gap: float) -> None:
    assert run(objectives([2.0, 1.0], [gap, gap]), Rule(tol=1e-3)).reason is not Reason.CERTIFIED


def test_max_iter_counts_from_the_step_before_the_first_iteration() -> None:
    ending = run(halving(), Rule(tol=0.0, max_iter=4))
    assert ending.reason is Reason.MAX_ITER and ending.n_iter == 4 and len(ending.trace) == 5


def test_stalled_without_a_gap_is_relative_to_the_tolerance() -> None:
    values = [100.0, 50.0, 49.9, 49.8, 49.75, 49.7, 10.0]
    ending = run(objectives(values), Rule(tol=1e-2, patience=3))
    assert ending.reason is Reason.STALLED and ending.n_iter == 4
    assert run(objectives(values), Rule(tol=1e-9)).n_iter == 6


def test_stalled_with_a_gap_needs_the_objective_to_stand_still() -> None:
    slow = (1.0 + 2.0 ** -(k + 3) for k in itertools.count())
    ending = run(objectives(slow, itertools.repeat(1.0)), Rule(tol=1e-3))
    assert ending.reason is Reason.STALLED and ending.n_iter > 40
    interrupted = run(objectives([1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25], [1.0] * 7), Rule(tol=1e-9))
    assert interrupted.n_iter == 6


def test_a_zero_objective_can_stand_still() -> None:
    assert run(objectives(itertools.repeat(0.0)), Rule()).n_iter == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_an_objective_that_is_not_finite_has_diverged_and_the_best_state_is_kept(value: float) -> None:
    seen: list[Step] = []
    ending = run(objectives([3.0, 2.0, 2.5, value, 1.0]), Rule(), [seen.append])
    assert ending.reason is Reason.DIVERGED and ending.step.objective == 2.0 and ending.n_iter == 3
    assert f"was {value} at iteration 3" in str(ending)
    assert len(seen) == 3 and ending.last is not None and ending.last.objective == 2.5


def test_the_first_step_may_diverge_already() -> None:
    ending = run(objectives([math.nan]), Rule())
    assert ending.reason is Reason.DIVERGED and math.isnan(ending.step.objective)


def test_growing_without_bound_is_diverging() -> None:
    ending = run(objectives(10.0**k for k in itertools.count()), Rule())
    assert ending.reason is Reason.DIVERGED and ending.n_iter == 7 and ending.step.objective == 1.0
    assert run(objectives([0.0] + [-(2.0**k) for k in range(40)]), Rule(max_iter=39)).reason is Reason.MAX_ITER


def test_rising_from_zero_is_not_yet_diverging() -> None:
    rising = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0]
    assert run(objectives(rising), Rule(max_iter=8)).reason is Reason.MAX_ITER


def test_the_best_step_is_kept() -> None:
    ending = run(objectives([5.0, 2.0, 3.0, 4.0, 2.0, 9.0]), Rule(max_iter=5))
    assert ending.step.index == 4 and ending.step.objective == 2.0
    assert ending.last is not None and ending.last.index == 5 and ending.n_iter == 5


def test_a_time_budget_ends_after_the_step_that_used_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr("qed.base.running.steps.perf_counter", lambda: float(next(clock)))
    ending = run(halving(), Rule(tol=0.0, seconds=3.0))
    assert ending.reason is Reason.TIME and ending.n_iter == 2
    assert "3 seconds were allowed" in str(ending) and ending.seconds > 3


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_watcher_that_returns_true_stops_the_run(answer: Any) -> None:
    ending = run(halving(), Rule(tol=0.0), [lambda step: None, lambda step: answer if step.number == 2 else False])
    assert ending.reason is Reason.INTERRUPTED and ending.n_iter == 2 and "watcher asked" in str(ending)


@pytest.mark.parametrize("answer", [None, 1, "yes", np.ones(3), [True], np.False_])
def test_other_answers_do_not_stop_it(answer: Any) -> None:
    assert run(halving(), Rule(tol=0.0, max_iter=3), [lambda step: answer]).reason is Reason.MAX_ITER


def test_watchers_see_every_step_in_order_with_its_number() -> None:
    seen: list[tuple[int, float]] = []
    run(halving(), Rule(tol=2.0), [lambda step: seen.append((step.number, step.x))])
    assert seen == [(0, 8.0), (1, 4.0), (2, 2.0)]


def test_an_error_in_a_watcher_or_a_method_is_raised() -> None:
    def broken(step: Step) -> None:
        raise OSError("watcher")

    with pytest.raises(OSError, match="watcher"):
        run(halving(), Rule(), [broken])

    def failing() -> Iterator[Step]:
        yield Step(1.0)
        raise ZeroDivisionError("method")

    with pytest.raises(ZeroDivisionError, match="method"):
        run(failing(), Rule())


def test_an_interrupt_keeps_the_best_state() -> None:
    def interrupted() -> Iterator[Step]:
        yield from objectives([3.0, 1.0, 2.0])
        raise KeyboardInterrupt

    ending = run(interrupted(), Rule())
    assert ending.reason is Reason.INTERRUPTED and ending.step.objective == 1.0 and ending.n_iter == 2
    assert "keeps the best state" in str(ending)


@pytest.mark.usefixtures("interruptible")
def test_a_real_signal_interrupts_a_step() -> None:
    def signalled() -> Iterator[Step]:
        yield Step(1.0)
        signal.raise_signal(signal.SIGINT)
        yield Step(0.0)

    assert run(signalled(), Rule()).reason is Reason.INTERRUPTED


def test_an_interrupt_before_the_first_step_is_raised() -> None:
    def interrupted() -> Iterator[Step]:
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        run(interrupted(), Rule())


def test_a_method_says_itself_why_it_ends() -> None:
    halt = Halt(Reason.DEGENERATE, "Columns 'a' and 'b' are collinear.", "Drop one of them.")
    ending = run(objectives([2.0, 1.0], halt=halt), Rule())
    assert ending.reason is Reason.DEGENERATE and ending.n_iter == 1 and ending.step.objective == 1.0
    assert str(ending).endswith("Columns 'a' and 'b' are collinear. Drop one of them.")
    assert run(objectives([2.0, 1.0]), Rule()).reason is Reason.STALLED


def test_a_method_without_steps_is_a_mistake() -> None:
    with pytest.raises(RuntimeError, match="at least one step"):
        run(iter(()), Rule())


# Going on from a step.


def wandering(start: Step | None = None) -> Iterator[Step]:
    """Give a sequence that falls, rises and stands still, told by its position alone."""
    position = 0 if start is None else start.position + 1
    while True:
        value = VALUES[min(position, len(VALUES) - 1)]
        yield Step(value, position=position, state=np.array([value, position]))
        position += 1


VALUES = [5.0, 1.0, 4.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 0.5]


def assert_same_ending(resumed: Ending, whole: Ending) -> None:
    assert (resumed.reason, resumed.n_iter, resumed.because) == (whole.reason, whole.n_iter, whole.because)
    for one, other in ((resumed.step, whole.step), (resumed.last, whole.last)):
        assert one is not None and other is not None
        assert (one.number, one.objective, one.gap) == (other.number, other.objective, other.gap)
        assert one.state.keys() == other.state.keys()


@pytest.mark.parametrize("at", range(10))
def test_a_run_goes_on_from_any_step_as_if_unbroken(at: int) -> None:
    whole = run(wandering(), Rule(tol=1e-6, patience=3))
    assert whole.reason is Reason.STALLED and whole.n_iter == 9 and whole.step.number == 1
    kept: list[Step] = []
    run(wandering(), Rule(tol=1e-6, patience=3), [kept.append])
    start = pickle.loads(pickle.dumps(kept[at]))
    resumed = run(wandering(start), Rule(tol=1e-6, patience=3), start=start)
    assert_same_ending(resumed, whole)
    assert [record["number"] for record in resumed.trace] == list(range(at, 10))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.0, 1e7, 1e8, 1e9]), min_size=2, max_size=14), st.data())
def test_breaks_never_change_how_a_run_ends(values: list[float], data: Any) -> None:
    def method(start: Step | None = None) -> Iterator[Step]:
        for index in range(0 if start is None else start.index + 1, len(values)):
            yield Step(values[index], gap=0.5, index=index)

    rule = Rule(tol=0.1, max_iter=12)
    kept: list[Step] = []
    whole = run(method(), rule, [kept.append])
    start = kept[data.draw(st.integers(0, len(kept) - 1))]
    assert_same_ending(run(method(start), rule, start=start), whole)


@pytest.mark.parametrize("at", range(7))
def test_a_run_that_runs_away_does_so_after_a_break_too(at: int) -> None:
    def growing(start: Step | None = None) -> Iterator[Step]:
        for power in itertools.count(0 if start is None else start.power + 1):
            yield Step(10.0**power, power=power)

    kept: list[Step] = []
    whole = run(growing(), Rule(), [kept.append])
    resumed = run(growing(kept[at]), Rule(), start=kept[at])
    assert resumed.reason is Reason.DIVERGED
    assert_same_ending(resumed, whole)


def test_a_finished_run_is_finished_at_once() -> None:
    for rule in (Rule(tol=1.0), Rule(tol=0.0, max_iter=4)):
        whole = run(halving(), rule)
        again = run(halving(whole.last), rule, [lambda step: pytest.fail("a step was made")], whole.last)
        assert_same_ending(again, whole)


def test_more_iterations_or_a_smaller_tolerance_go_on() -> None:
    first = run(halving(), Rule(tol=1.0))
    assert run(halving(first.last), Rule(tol=0.25), start=first.last).n_iter == 5
    stalled = run(wandering(), Rule(tol=0.5, patience=2))
    assert stalled.reason is Reason.STALLED
    more = run(wandering(stalled.last), Rule(tol=1e-6), start=stalled.last)
    assert more.n_iter > stalled.n_iter


def test_a_start_without_a_past_is_a_beginning_of_its_own() -> None:
    start = Step(4.0, gap=4.0, number=7, x=4.0)
    ending = run(halving(start), Rule(tol=1.0), start=start)
    assert ending.reason is Reason.CERTIFIED and ending.n_iter == 9
    exhausted = run(iter(()), Rule(), start=start)
    assert exhausted.step is start and exhausted.reason is Reason.STALLED


# Steps themselves.


def test_steps_hold_their_state_as_attributes() -> None:
    step = Step(np.float32(2.0), gap=1, centers=[1, 2])
    assert type(step.objective) is float and type(step.gap) is float and step.centers == [1, 2]
    assert repr(step) == "Step(number=0, objective=2, gap=1)"
    with pytest.raises(AttributeError, match=r"holds \['centers'\], not 'labels'"):
        _ = step.labels


def test_steps_are_copied_and_pickled_with_their_past() -> None:
    step = Step(2.0, 0.5, 3, w=np.arange(3.0))
    step.past = Past(Step(1.0, w=np.zeros(3)), 0, 1, 1.0, 1e-6)
    for twin in (
        pickle.loads(pickle.dumps(step)),
        copy.deepcopy(step),
        copy.copy(step),
        Step.from_dict(step.to_dict()),
    ):
        assert (twin.objective, twin.gap, twin.number) == (2.0, 0.5, 3)
        assert np.array_equal(twin.w, step.w) and twin.past is not None
        assert twin.past.best is not None and twin.past.best.objective == 1.0


def test_every_reason_is_a_sentence() -> None:
    for reason in Reason:
        assert reason.sentence[0].isupper() and reason.sentence.endswith(".")
