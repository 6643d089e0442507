"""scikit-learn's callbacks work on every model: a fit is a task, its iterations are tasks inside it, and True ends it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.pipeline import make_pipeline

import qed
from qed.base.errors import InputError, NotFittedError
from qed.base.running.steps import Reason

generator = np.random.default_rng(0)
X = generator.normal(size=(80, 4)) * [1.0, 2.0, 3.0, 1.5]
y = X @ np.ones(4) + generator.normal(size=80)


class Recorder:
    """A callback that writes down what it is told; with `stop_at` it ends the fit at that iteration."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at = stop_at
        self.calls: list[tuple[str, str]] = []
        self.fitted: list[Any] = []
        self.data: list[tuple[Any, Any, Any]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.calls.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.calls.append(("begin", context.task_name))

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any, y: Any, metadata: Any, fitted_estimator: Any
    ) -> bool:
        self.calls.append(("end", context.task_name))
        self.fitted.append(fitted_estimator)
        self.data.append((X, y, metadata))
        return context.task_name == f"iteration {self.stop_at}"

    def teardown(self, estimator: Any, context: Any) -> None:
        self.calls.append(("teardown", context.task_name))


class Spreading(Recorder):
    """The same, handed on to the steps of a pipeline."""

    max_propagation_depth = None


def iterative(**params: Any) -> Any:
    return qed.GradientRidge(**{"method": "steepest", "tol": 1e-8, **params})


def test_a_fit_tells_its_iterations_in_order() -> None:
    recorder = Recorder()
    model = iterative().set_callbacks(recorder).fit(X, y)
    inside = [(what, f"iteration {k}") for k in range(model.n_iter_ + 1) for what in ("begin", "end")]
    assert recorder.calls == [("setup", "fit"), ("begin", "fit"), *inside, ("end", "fit"), ("teardown", "fit")]
    assert all(told[0] is X and told[1] is y and told[2] == {} for told in recorder.data)
    assert not [name for name in vars(model) if "callback" in name and name != "_skl_callbacks"]


def test_callbacks_get_a_model_that_is_ready_to_predict() -> None:
    recorder = Recorder()
    model = iterative().set_callbacks(recorder).fit(X, y, sample_weight=np.full(80, 2.0))
    scores = [fitted.score(X, y) for fitted in recorder.fitted]
    assert scores[0] < scores[2] < scores[-1]
    assert np.array_equal(recorder.fitted[-1].predict(X), model.predict(X))
    assert all("sample_weight" in metadata for _, _, metadata in recorder.data)


def test_a_callback_leaves_no_trace_in_the_answer() -> None:
    plain, told = iterative().fit(X, y), iterative().set_callbacks(Recorder()).fit(X, y)
    assert np.array_equal(plain.coef_, told.coef_) and plain.n_iter_ == told.n_iter_


def test_a_callback_ends_the_fit() -> None:
    recorder = Recorder(stop_at=2)
    with pytest.warns(UserWarning, match="interrupted"):
        model = iterative().set_callbacks(recorder).fit(X, y)
    assert model.ending_.reason is Reason.INTERRUPTED and model.n_iter_ == 2 and not model.certificate_
    assert recorder.calls[-2:] == [("end", "fit"), ("teardown", "fit")]


def test_resuming_is_told_like_a_fit() -> None:
    with pytest.warns(UserWarning):
        model = iterative(max_iter=3).fit(X, y)
    recorder = Recorder()
    model.set_params(max_iter=1000).set_callbacks(recorder).resume(X, y)
    assert recorder.calls[:3] == [("setup", "fit"), ("begin", "fit"), ("begin", "iteration 4")]
    assert recorder.calls[-1] == ("teardown", "fit")


def test_a_closed_form_fit_is_one_task() -> None:
    recorder = Recorder()
    model = qed.Ridge().set_callbacks(recorder).fit(X, y)
    assert recorder.calls == [("setup", "fit"), ("begin", "fit"), ("end", "fit"), ("teardown", "fit")]
    assert np.array_equal(recorder.fitted[0].predict(X), model.predict(X))


@pytest.mark.parametrize("make", [iterative, qed.Ridge])
def test_teardown_comes_after_an_error_too(make: Any) -> None:
    recorder = Recorder()
    with pytest.raises(InputError):
        make().set_callbacks(recorder).fit(np.where(X > 3, np.nan, X), y)
    assert recorder.calls[-1] == ("teardown", "fit")


def test_a_fit_that_fails_half_way_leaves_no_model_behind() -> None:
    class Failing(Recorder):
        def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> None:  # type: ignore[override]
            if context.task_name == "iteration 2":
                assert fitted_estimator.predict(X).shape == y.shape
                raise ZeroDivisionError

    model = iterative().set_callbacks(Failing())
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_callbacks_of_a_pipeline_reach_its_steps() -> None:
    recorder = Spreading()
    pipeline = make_pipeline(qed.StandardScaler(), iterative()).set_callbacks(recorder)
    pipeline.fit(X, y)
    names = [name for what, name in recorder.calls if what == "end"]
    n_iter = pipeline[-1].n_iter_
    assert [name for name in names if name.startswith("iteration")] == [f"iteration {k}" for k in range(n_iter + 1)]
    assert [what for what, _ in recorder.calls].count("teardown") == 1
    assert not hasattr(pipeline[-1], "_skl_callbacks")


def test_a_callback_on_a_step_ends_that_step_only() -> None:
    with pytest.warns(UserWarning, match="interrupted"):
        pipeline = make_pipeline(qed.StandardScaler(), iterative().set_callbacks(Recorder(stop_at=1))).fit(X, y)
    assert pipeline[-1].n_iter_ == 1 and pipeline.predict(X).shape == y.shape


@pytest.mark.parametrize("make", [iterative, qed.Ridge, lambda: make_pipeline(qed.StandardScaler(), iterative())])
def test_the_progress_bar_of_scikit_learn_works(make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model = make().set_callbacks(ProgressBar())
    model.fit(X, y)
    shown = capsys.readouterr().out
    assert type(model).__name__ in shown and "100%" in shown


def test_the_scoring_monitor_of_scikit_learn_works() -> None:
    monitor = ScoringMonitor(scoring="r2")
    model = iterative().set_callbacks(monitor).fit(X, y)
    rows = [row for row in monitor.get_logs().data if row["task_name"].startswith("iteration")]
    assert len(rows) == model.n_iter_ + 1
    assert rows[0]["r2"] < rows[-1]["r2"] and rows[-1]["r2"] == pytest.approx(model.score(X, y))


def test_the_scoring_monitor_sees_frames_with_their_names() -> None:
    import pandas

    monitor = ScoringMonitor(scoring="r2")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    iterative().set_callbacks(monitor).fit(frame, y)
    assert len(monitor.get_logs().data) > 2


def test_clones_have_no_half_finished_context() -> None:
    model = iterative().set_callbacks(Recorder()).fit(X, y)
    assert np.array_equal(clone(model).fit(X, y).coef_, model.coef_)
