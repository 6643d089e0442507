"""The one door: watching, checkpoints, resuming, interrupts, endings with advice, errors that help."""

import os
import signal
from itertools import islice

import numpy as np
import pytest

import qed
from qed.base.errors import ConvergenceWarning, InputError, ParameterError, SavingError
from qed.base.running.steps import Reason, Rule
from qed.optim import (
    Armijo,
    CoordinateDescent,
    Exact,
    GradientDescent,
    Grid,
    HeavyBall,
    LineSearch,
    Nesterov,
    Objective,
    StochasticGradient,
    Subgradient,
    minimize,
)
from qed.optim.minimize import METHODS, as_method
from tests.theory.fixtures import problem
from tests.theory.quadratics import quadratic, squares

START = np.array([1.0, -2.0, 0.5])
MIXED = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 40.0]])


def bowl():
    """A quadratic whose coordinates hang together."""
    return Objective(lambda w: w @ MIXED @ w / 2 - w.sum(), lambda w: MIXED @ w - 1, lambda w: MIXED)


RESUMABLE = [
    GradientDescent(0.01),
    GradientDescent(Armijo()),
    HeavyBall(),
    HeavyBall(0.01, lambda t: t / (t + 5)),
    Nesterov(),
    Nesterov(0.005, 0.7),
    LineSearch("random", Exact(), seed=3),
    LineSearch("random", Grid(0.1, 20)),
    LineSearch("coordinate", Exact()),
    CoordinateDescent("random"),
    CoordinateDescent(every=1),
    Subgradient(radius=3.0),
    Subgradient(radius=3.0, average="weighted"),
]


@pytest.mark.parametrize("method", RESUMABLE, ids=lambda m: f"{type(m).__name__}")
def test_a_method_goes_on_from_any_step_to_the_same_bits(method):
    whole = list(islice(method.steps(bowl(), START), 15))
    for place in (0, 1, 7):
        again = list(islice(method.steps(bowl(), START, start=whole[place]), 14 - place))
        for one, other in zip(whole[place + 1 :], again):
            np.testing.assert_array_equal(one.point, other.point)
            assert (one.objective, one.gap, one.number) == (other.objective, other.gap, other.number)


@pytest.mark.parametrize("method", RESUMABLE, ids=lambda m: f"{type(m).__name__}")
def test_a_run_goes_on_from_its_ending(method):
    with pytest.warns(ConvergenceWarning):
        half = minimize(bowl(), START, method=method, max_iter=5, tol=0)
    with pytest.warns(ConvergenceWarning):
        rest = minimize(bowl(), half.ending.last, method=method, max_iter=12, tol=0)
    with pytest.warns(ConvergenceWarning):
        whole = minimize(bowl(), START, method=method, max_iter=12, tol=0)
    np.testing.assert_array_equal(rest.point, whole.point)
    np.testing.assert_array_equal(rest.start, START)
    assert rest.ending.n_iter == whole.ending.n_iter == 12


def test_a_step_of_something_else_is_no_start():
    with pytest.raises(InputError, match="not of minimize"):
        minimize(quadratic(), qed.Step(1.0, point=START))


@pytest.mark.parametrize(
    "method", [HeavyBall(), GradientDescent(Armijo()), CoordinateDescent("random"), Subgradient(radius=3.0)], ids=str
)
def test_checkpoints_are_taken_up_to_the_same_bits(method, tmp_path):
    path = tmp_path / "run.qed"
    with qed.watch(checkpoint=path), pytest.warns(ConvergenceWarning):
        minimize(bowl(), START, method=method, max_iter=7, tol=0)
    calls = []

    def counted(w):
        calls.append(1)
        return bowl().value(w)

    again = Objective(counted, bowl().gradient, bowl().hessian)
    with qed.watch(checkpoint=path) as seen, pytest.warns(ConvergenceWarning):
        rest = minimize(again, START, method=method, max_iter=20, tol=0)
    with pytest.warns(ConvergenceWarning):
        whole = minimize(bowl(), START, method=method, max_iter=20, tol=0)
    np.testing.assert_array_equal(rest.point, whole.point)
    assert seen.trace.records[0]["number"] == 8, "it went on"


def test_checkpoints_of_stochastic_runs(tmp_path):
    X, y, _ = problem(n=30, p=3)
    method = StochasticGradient(0.02, batch=4, seed=5, average=True)
    path = tmp_path / "run.qed"
    with qed.watch(checkpoint=path), pytest.warns(ConvergenceWarning):
        minimize(squares(X, y), np.zeros(3), method=method, max_iter=3, tol=0)
    with qed.watch(checkpoint=path), pytest.warns(ConvergenceWarning):
        rest = minimize(squares(X, y), np.zeros(3), method=method, max_iter=8, tol=0)
    with pytest.warns(ConvergenceWarning):
        whole = minimize(squares(X, y), np.zeros(3), method=method, max_iter=8, tol=0)
    np.testing.assert_array_equal(rest.point, whole.point)


def test_a_checkpoint_of_another_problem_is_refused(tmp_path):
    path = tmp_path / "run.qed"
    with qed.watch(checkpoint=path):
        minimize(quadratic(), START, method="nesterov")
    for other, start, method, words in (
        (quadratic([1.0, 1.0, 1.0]), START, "nesterov", "the function was"),
        (quadratic(), START + 1, "nesterov", "it began at"),
        (quadratic(), START, HeavyBall(), "method was Nesterov"),
    ):
        with qed.watch(checkpoint=path), pytest.raises(InputError, match=words):
            minimize(other, start, method=method)
    with pytest.raises(InputError, match="call minimize again"):
        qed.resume(path, np.zeros((3, 2)))


def test_a_method_with_a_function_inside_can_not_be_checkpointed(tmp_path):
    with qed.watch(checkpoint=tmp_path / "run.qed"), pytest.raises(SavingError, match="function"):
        minimize(quadratic(), START, method=HeavyBall(lambda t: 0.01, 0.5))


def test_watching():
    with qed.watch(states=True) as seen:
        found = minimize(quadratic(), START, method="nesterov")
    assert seen.trace.model == "Nesterov"
    assert [step.number for step in seen.trace.steps] == list(range(found.ending.n_iter + 1))
    assert seen.trace.objectives == [record["objective"] for record in found.ending.trace]


def test_progress_is_shown(capsys):
    with qed.watch(progress=True):
        minimize(quadratic(), START, method="nesterov")
    assert "Nesterov" in capsys.readouterr().out


def test_a_time_budget():
    with (
        qed.watch(seconds=0.05),
        pytest.warns(ConvergenceWarning, match="Allow more seconds, or give minimum.ending.last"),
    ):
        found = minimize(quadratic(), START, method=GradientDescent(1e-9), tol=0, max_iter=10**9)
    assert found.ending.reason is Reason.TIME
    with pytest.warns(ConvergenceWarning):
        found = minimize(
            quadratic(), START, method=GradientDescent(1e-9), stop=Rule(tol=0, max_iter=10**9, seconds=0.05)
        )
    assert found.ending.reason is Reason.TIME


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_keeps_the_best():
    def value(w):
        seen.append(float(w @ w))
        if len(seen) == 30:
            os.kill(os.getpid(), signal.SIGINT)
        return seen[-1]

    seen = []
    with pytest.warns(ConvergenceWarning, match="interrupted.*Give minimum.ending.last"):
        found = minimize(value, [1.0, 1.0], gradient=lambda w: 2 * w, method=GradientDescent(0.01))
    assert found.ending.reason is Reason.INTERRUPTED and 0 < found.value < 2


def test_the_certificate_is_of_the_point_not_of_the_solver():
    class Liar(GradientDescent):
        def advance(self, objective, step):
            after = super().advance(objective, step)
            after.gap = 0.0
            return after

    with pytest.warns(ConvergenceWarning, match="gradient, relative to that at the start"):
        found = minimize(quadratic(), START, method=Liar(0.001))
    assert found.ending.reason is Reason.CERTIFIED and not found.certificate


def test_moving_the_point_breaks_the_certificate():
    shifted = Objective(lambda w: (w - 1) @ (w - 1), lambda w: 2 * (w - 1), strong_convexity=2.0, smoothness=2.0)
    found = minimize(shifted, np.zeros(3), method="nesterov")
    assert found.certificate
    claims = found.method.claims(shifted, found.start, found.point * [1.001, 1, 1], 1e-6)
    assert not all(claim.holds for claim in claims)


def test_with_strong_convexity_the_claim_bounds_the_value():
    w0 = np.array([3.0, 3.0, 3.0])
    offset = quadratic(strong_convexity=1.0, smoothness=100.0)
    objective = Objective(lambda w: offset.value(w) + 7, offset.gradient, strong_convexity=1.0, smoothness=100.0)
    for tol in (1e-2, 1e-4, 1e-8):
        found = minimize(objective, w0, method="gradient", tol=tol, max_iter=10_000)
        assert found.certificate["value above its minimum"].value <= tol
        assert found.value - 7 <= tol * found.value


def test_the_value_above_the_start_is_claimed():
    class Climber(GradientDescent):
        def advance(self, objective, step):
            return objective.at(step.point * 2, after=step)

    method = Climber(0.1)
    claims = method.claims(quadratic(), START, 2 * START, 1e-6)
    assert not claims[0].holds and claims[0].value == pytest.approx(0.75)


def test_names():
    for name in ("gradient", "heavy ball", "nesterov", "line search", "coordinate", "subgradient", "stochastic"):
        assert as_method(name).steps
    with pytest.raises(ParameterError, match=r"no method called 'nestrov'. Did you mean 'nesterov'"):
        minimize(quadratic(), START, method="nestrov")
    for bad in (GradientDescent, 3, None):
        with pytest.raises(ParameterError, match="must be a name or a method"):
            minimize(quadratic(), START, method=bad)
    assert all(hasattr(as_method(name), "steps") for name in METHODS)


def test_starts():
    with pytest.raises(InputError, match="entry 1 is not"):
        minimize(quadratic(), [0.0, np.nan, 1.0])
    with pytest.raises(InputError, match="W.ravel"):
        minimize(quadratic(), np.ones((3, 1)))
    with pytest.raises(InputError, match="is inf at the start"):
        minimize(lambda w: np.inf, [1.0])
    with pytest.raises(InputError, match="is nan at the start"):
        minimize(lambda w: np.log(w[0]), [-1.0])
    np.testing.assert_allclose(minimize(lambda w: (w[0] - 2) ** 2, 0, method="gradient").point, [2.0], atol=1e-5)


def test_gradients():
    with pytest.raises(InputError, match=r"gradient must give real numbers of shape \(3,\)"):
        minimize(lambda w: w @ w, START, gradient=lambda w: w[:2], method="gradient")
    with pytest.raises(InputError, match="gradient contradicts the function"):
        minimize(lambda w: w @ w, START, gradient=lambda w: 3 * w, method="gradient", check=True)
    assert minimize(lambda w: w @ w, START, gradient=lambda w: 2 * w, method="gradient", check=True).certificate
    with pytest.raises(ParameterError, match="brings its derivatives"):
        minimize(quadratic(), START, gradient=lambda w: w)
    with pytest.warns(ConvergenceWarning, match=r"No step along the direction lowers.*check=True"):
        minimize(lambda w: w @ w, START, gradient=lambda w: -2 * w, method="gradient")


def test_rules():
    with pytest.raises(ParameterError, match="stop must be a Rule"):
        minimize(quadratic(), START, stop=3)
    with pytest.raises(ParameterError, match="tol"):
        minimize(quadratic(), START, tol=-1.0)
    with pytest.raises(ParameterError, match="max_iter"):
        minimize(quadratic(), START, max_iter=0)


@pytest.mark.parametrize(
    "method, words",
    [
        (GradientDescent(0.03), r"0.03 is not below 2 / M = 0.02"),
        (HeavyBall(0.05, 0.5), r"0.05 is not below 2 \(1 \+ momentum\) / M = 0.03"),
        (Nesterov(0.05, 0.5), r"0.05 is not below .* = 0.015"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_divergence_comes_with_a_step_to_try(method, words):
    with pytest.warns(ConvergenceWarning, match=words + r"\d*, where M .* try 0.01"):
        found = minimize(quadratic(), START, method=method)
    assert found.ending.reason is Reason.DIVERGED and np.isfinite(found.value)


def test_a_start_at_the_minimum():
    found = minimize(quadratic(), np.zeros(3), method="nesterov")
    assert found.ending.n_iter == 0 and found.certificate


def test_the_printed_minimum():
    text = str(minimize(quadratic(), START, method=Nesterov(0.01, 9 / 11)))
    assert "steps of Nesterov(step=0.01" in text and "∎" in text
