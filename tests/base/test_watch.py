"""Watching: traces, budgets, progress and checkpoints belong to the context, and change nothing in the model."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

import qed
from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError, SavingError, SourceError
from qed.base.models.estimator import Iterative
from qed.base.models.roles import Regressor
from qed.base.running.steps import Reason, Step
from qed.base.running.watch import Trace, watches
from qed.base.saving.known import savable
from qed.base.sources.block import Block

generator = np.random.default_rng(0)
X = generator.normal(size=(200, 6)) * np.logspace(0, 0.5, 6)
y = X @ np.ones(6) + generator.normal(size=200)


def slow(**params: Any) -> Any:
    return qed.GradientRidge(**{"alpha": 1.0, "method": "steepest", "tol": 1e-8, "max_iter": 10_000, **params})


def assert_same_model(first: Any, second: Any) -> None:
    assert np.array_equal(first.coef_, second.coef_) and first.intercept_ == second.intercept_
    assert first.n_iter_ == second.n_iter_ and first.ending_.reason is second.ending_.reason
    assert first.certificate_.to_dict() == second.certificate_.to_dict()


def test_watching_changes_nothing_and_leaves_nothing_behind() -> None:
    plain = slow().fit(X, y)
    with qed.watch(states=True) as seen:
        assert watches() == (seen,)
        watched = slow().fit(X, y)
    assert watches() == ()
    assert_same_model(watched, plain)
    assert seen.trace.model == "GradientRidge"
    assert [record["number"] for record in seen.trace.records] == list(range(plain.n_iter_ + 1))
    assert seen.trace.objectives == [record["objective"] for record in plain.ending_.trace]
    assert [step.number for step in seen.trace.steps] == list(range(plain.n_iter_ + 1))
    assert np.array_equal(seen.trace.steps[-1].coef, plain.ending_.step.coef)


def test_a_watch_ends_with_its_block_even_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), qed.watch():
        raise ZeroDivisionError
    assert watches() == ()


def test_watches_nest_and_each_fit_has_its_trace() -> None:
    with qed.watch() as outer:
        slow().fit(X, y)
        with qed.watch() as inner:
            slow(alpha=5.0).fit(X, y)
    assert len(outer.traces) == 2 and len(inner.traces) == 1
    assert outer.trace.objectives == inner.trace.objectives


def test_closed_form_models_have_nothing_to_trace() -> None:
    with qed.watch() as seen:
        qed.Ridge().fit(X, y)
    with pytest.raises(InputError, match="closed-form"):
        _ = seen.trace


def test_a_call_that_returns_true_stops_the_fit() -> None:
    with qed.watch(call=lambda step: step.number == 3), pytest.warns(UserWarning, match="interrupted.*watcher asked"):
        model = slow().fit(X, y)
    assert model.ending_.reason is Reason.INTERRUPTED and model.n_iter_ == 3
    assert not model.certificate_ and model.predict(X).shape == y.shape
    assert_same_model(model.resume(X, y), slow().fit(X, y))


def test_the_smallest_time_budget_counts() -> None:
    with qed.watch(seconds=100), qed.watch(seconds=1e-9), pytest.warns(UserWarning, match="time budget.*resume"):
        model = slow().fit(X, y)
    assert model.ending_.reason is Reason.TIME and model.ending_.n_iter == 0 and not model.certificate_


def test_the_warning_names_the_parameter_and_the_line_of_the_user() -> None:
    with pytest.warns(UserWarning, match=r"GradientRidge: .*Try max_iter=20") as caught:
        slow(max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    model = slow(max_iter=2)
    with pytest.warns(UserWarning):
        model.fit(X, y)
    with pytest.warns(UserWarning) as caught:
        model.resume(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seconds": -1}, "seconds must be"),
        ({"seconds": 0}, "seconds"),
        ({"every": -2}, "every"),
        ({"every": "1"}, "every"),
    ],
)
def test_options_are_checked(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words), qed.watch(**options):
        pass
    with pytest.raises(InputError, match="string or a Path"), qed.watch(checkpoint=5):  # type: ignore[arg-type]
        pass


def test_the_progress_bar_shows_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    with qed.watch(progress=True):
        slow().fit(X, y)
    assert "GradientRidge" in capsys.readouterr().out


def test_a_trace_is_drawn() -> None:
    with qed.watch() as seen:
        slow().fit(X, y)
    axes = seen.trace.plot()
    assert axes.get_title(loc="left") == "GradientRidge"
    assert list(axes.lines[0].get_ydata()) == seen.trace.objectives
    # qed.plots draws the same, in its own colours.
    again = qed.plots.trace(seen.trace)
    for one, other in zip((axes, *axes.figure.axes[1:]), (again, *again.figure.axes[1:]), strict=True):
        assert one.get_ylabel() == other.get_ylabel() and one.lines[0].get_linestyle() == other.lines[0].get_linestyle()
        assert (one.lines[0].get_xydata() == other.lines[0].get_xydata()).all()
    plt.close(axes.figure)
    plt.close(again.figure)


def test_an_empty_trace_is_not_drawn() -> None:
    with pytest.raises(InputError, match="no iteration to draw"):
        Trace("nothing").plot(Figure().subplots())


def test_watches_reach_into_pipelines_but_not_into_other_threads() -> None:
    with qed.watch() as seen:
        make_pipeline(qed.StandardScaler(), slow()).fit(X, y)
        thread = threading.Thread(target=lambda: slow().fit(X, y))
        thread.start()
        thread.join()
    assert len(seen.traces) == 1


# Resuming a model in memory.


def test_resume_goes_on_bit_for_bit() -> None:
    whole = slow().fit(X, y)
    with pytest.warns(UserWarning):
        model = slow(max_iter=5).fit(X, y)
    assert model.ending_.reason is Reason.MAX_ITER
    assert_same_model(model.set_params(max_iter=10_000).resume(X, y), whole)
    assert_same_model(model.resume(X, y), whole)


@savable
class RollingBall(Regressor, Iterative):
    """The mean of y found with so much momentum that the objective goes up and down."""

    def __init__(self, tol: float = 1e-6, max_iter: int = 500) -> None:
        self.tol, self.max_iter = tol, max_iter

    def _steps(self, problem: Any, start: Step | None = None) -> Iterator[Step]:
        mean = float(problem.rows.array().y.mean())
        place, speed = (0.0, 0.0) if start is None else (start.next_place, start.next_speed)
        while True:
            next_speed = 0.9 * speed - 0.2 * (place - mean)
            state = {"next_place": place + next_speed, "next_speed": next_speed}
            yield Step((place - mean) ** 2 + 1, abs(place - mean) + abs(speed), place=place, **state)
            place, speed = state["next_place"], next_speed

    def _finish(self, problem: Any, step: Step) -> None:
        self.coef_, self.intercept_ = np.zeros(1), step.place

    def _predict(self, block: Block) -> np.ndarray:
        return np.full(len(block), self.intercept_)

    def _prove(self, problem: Any) -> list[Claim]:
        return [Claim("intercept_ is the mean", abs(self.intercept_ - problem.rows.array().y.mean()), self.tol)]


@pytest.mark.parametrize("stop", range(0, 40, 3))
def test_resume_goes_on_from_the_last_step_and_remembers_the_best(stop: int, tmp_path: Path) -> None:
    whole = RollingBall().fit(X, y)
    values = [record["objective"] for record in whole.ending_.trace]
    assert whole.certificate_ and values != sorted(values, reverse=True)
    path = tmp_path / "fit.qed"
    with qed.watch(checkpoint=path, call=lambda step: step.number == stop), pytest.warns(UserWarning):
        model = RollingBall().fit(X, y)
    assert model.ending_.step.objective == min(values[: stop + 1])
    assert_same_model(qed.resume(path, X, y), whole)
    qed.save(model, tmp_path / "model.qed")
    assert_same_model(model.resume(X, y), whole)
    assert model.ending_.trace[0]["number"] == stop
    assert_same_model(qed.load(tmp_path / "model.qed").resume(X, y), whole)


def test_resume_refuses_other_data() -> None:
    model = slow().fit(X, y)
    before = model.coef_.copy()
    for other, words in [
        ((X[:-1], y[:-1]), "200 rows then, 199 now"),
        ((2 * X, y), "other values"),
        ((X, y[::-1]), "another target"),
    ]:
        with pytest.raises(InputError, match=words):
            model.resume(*other)
    assert np.array_equal(model.coef_, before) and qed.certify(model, X, y)


# Checkpoints.


def test_a_checkpoint_is_written_and_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "fit.qed"
    whole = slow().fit(X, y)
    with qed.watch(checkpoint=path, every=0, call=lambda step: step.number == 4), pytest.warns(UserWarning):
        slow().fit(X, y)
    with qed.watch(checkpoint=path) as seen:
        model = slow().fit(X, y)
    assert seen.trace.records[0]["number"] == 5
    assert_same_model(model, whole)
    with qed.watch(checkpoint=path) as seen:
        model = slow().fit(X, y)
    assert seen.trace.records == []
    assert_same_model(model, whole)


def test_checkpoints_are_written_every_so_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    clock = iter(range(10**9))
    monkeypatch.setattr("qed.base.saving.checkpoint.monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(
        "qed.base.saving.checkpoint.save_checkpoint", lambda path, model, data, step: written.append(step.number)
    )
    with qed.watch(checkpoint=tmp_path / "fit.qed", every=5), pytest.warns(UserWarning):
        slow(max_iter=12, tol=0).fit(X, y)
    assert written == [4, 9, 12]


def test_every_fit_of_a_block_has_a_checkpoint_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        with qed.watch(checkpoint=tmp_path / "fit.qed"):
            models = [slow(alpha=alpha).fit(X, y) for alpha in (1.0, 2.0, 3.0)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit-2.qed", "fit-3.qed", "fit.qed"]
    assert_same_model(models[2], slow(alpha=3.0).fit(X, y))


def test_what_would_fail_later_fails_before_the_first_step(tmp_path: Path) -> None:
    with qed.watch(checkpoint=tmp_path / "no" / "fit.qed"), pytest.raises(SourceError, match="create the directory"):
        slow().fit(X, y)

    class Mine(qed.GradientRidge):
        pass

    with qed.watch(checkpoint=tmp_path / "fit.qed"), pytest.raises(SavingError, match=r"Mine.*savable"):
        Mine().fit(X, y)


def test_a_disk_that_fills_up_does_not_lose_the_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise SourceError("Could not write fit.qed: No space left on device.")

    monkeypatch.setattr("qed.base.saving.checkpoint.save_checkpoint", full)
    with qed.watch(checkpoint=tmp_path / "fit.qed", every=0), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        model = slow().fit(X, y)
    assert model.certificate_ and any("goes on without a new checkpoint" in str(one.message) for one in caught)


def test_a_loop_over_steps_ends_where_a_fit_would_and_next_goes_on() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2)) * [[1.0, 3.0]]
    model = qed.GaussianMixture(2, random_state=0, max_iter=9, tol=0.0)
    walk = qed.steps(model, X)
    whole = list(walk)
    assert whole[-1].number == 9 and not list(walk)
    assert next(walk).number == 10
    place = next(place for place, step in enumerate(whole) if step.number == 3)
    rest = list(qed.steps(model, X, start=whole[place]))
    assert [step.objective for step in rest] == [step.objective for step in whole[place + 1 :]]
