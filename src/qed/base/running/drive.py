"""Running an iterative method as those who watch want it: with their time budget, traces, progress bars and checkpoints."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from qed.base.certificate import Certificate
from qed.base.errors import ConvergenceWarning, level_of_user
from qed.base.running.steps import Ending, Reason, Rule, Step, Watcher, run
from qed.base.running.watch import watches


def drive(
    model: Any,
    steps: Callable[[Step | None], Iterator[Step]],
    rule: Rule,
    start: Step | None = None,
    watchers: Sequence[Watcher] = (),
    fingerprint: Any = None,
) -> Ending:
    """Run a method from the beginning, from a checkpoint, or from a step of an earlier run of the same problem.

    `steps` gives the steps, from the beginning (None) or from a step. The time budgets of those who watch are added to
    the rule. A step that a checkpoint holds is used where there is no `start`; the fingerprint, which knows
    ``difference``, tells its problem from others.
    """
    if not watches():
        return run(steps(start), rule, watchers, start)
    budgets = [seen.seconds for seen in watches() if seen.seconds is not None]
    if rule.seconds is not None:
        budgets.append(rule.seconds)
    rule = replace(rule, seconds=min(budgets, default=None))
    checkpoints = [checkpoint for seen in watches() for checkpoint in seen.checkpoints(model, fingerprint)]
    for checkpoint in checkpoints:
        start = start or checkpoint.load()
    with ExitStack() as stack:
        seeing = [w for seen in watches() for w in stack.enter_context(seen.of(model, rule))]
        ending = run(steps(start), rule, [*seeing, *checkpoints, *watchers], start)
    for checkpoint in checkpoints:
        checkpoint.write(ending.last)
    return ending


def warn_if_unproven(name: str, certificate: Certificate, ending: Ending, advice: str) -> None:
    """Warn when a certificate does not hold: why the run ended, which claim is furthest off, and what to change."""
    if certificate.failures:
        why = (
            "The steps ended where they should, but the data do not agree."
            if ending.reason is Reason.CERTIFIED
            else ending
        )
        said = f"{name}: {why} {certificate.shortfall} {'' if ending.advice else advice}"
        warnings.warn(said.strip(), ConvergenceWarning, stacklevel=level_of_user())


def usual_advice(ending: Ending, max_iter: int, go_on: str, otherwise: str) -> str:
    """Name what to change and a value to try, by the reason for which a run ended."""
    if ending.reason is Reason.MAX_ITER:
        return f"Try max_iter={10 * max_iter}."
    if ending.reason is Reason.TIME:
        return f"Allow more seconds, or {go_on}"
    if ending.reason is Reason.INTERRUPTED:
        return f"{go_on[0].upper()}{go_on[1:]}"
    if ending.reason is Reason.STALLED and ending.step.gap is not None and ending.step.gap < 0.1:
        return f"This is as far as floating-point numbers go; tol={ending.step.gap * 2:.1g} would be reached."
    return otherwise
