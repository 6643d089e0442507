"""A budget of time: no model takes the time of others, what was left out comes last, and a report does without what there is no time for.

Time is what the tests say it is: their models move the clock that everything reads.
"""

from collections.abc import Iterator

import numpy as np
import pytest

import qed
from qed.base.threads import interrupts
from qed.base.threads.interrupts import moment
from qed.commands import compare as commands
from qed.commands.results import write_comparison
from qed.report.data import Data
from qed.report.diagnosis import diagnose
from qed.report.page import render
from qed.selection.comparing import budget, grouping, run, sharing
from qed.selection.comparing.budget import Clock, Forecast
from qed.selection.comparing.sharing import Sharing


class Time:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Iterator[Time]:
    made = Time()
    for module in (interrupts, budget, run, sharing):
        monkeypatch.setattr(module, "perf_counter", made)
    monkeypatch.setattr(grouping, "time", made)
    # Two threads would move it twice as fast.
    with qed.threads(1):
        yield made


def table() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(90, 3))
    return X, X @ [1.0, 2.0, 0.0] + np.abs(X[:, 2])


def slowed(monkeypatch: pytest.MonkeyPatch, time: Time, kind: type, seconds: float, steps: int = 1000) -> None:
    """Let every fit of a model take so long, in steps that can be ended."""
    solve = kind._solve  # type: ignore[attr-defined]

    def slow(self: object, problem: object) -> None:
        for _ in range(steps):
            time.now += seconds / steps
            moment()
        solve(self, problem)

    monkeypatch.setattr(kind, "_solve", slow)


def test_a_slow_model_is_left_out_and_takes_no_time_from_the_others(monkeypatch, time):
    slowed(monkeypatch, time, qed.DecisionTreeRegressor, 500.0)
    monkeypatch.setattr(qed.DecisionTreeRegressor, "_search", lambda self, question: None)
    began = time.now
    names = ["DecisionTreeRegressor", "LinearRegression", "Ridge", "Lasso", "KNeighborsRegressor"]
    found = qed.compare(*table(), budget=40.0, models=names)
    entries = {one.name: one for one in found.entries}
    assert "budget of 40" in entries["Decision tree"].failure
    assert found._table()[1][-1][:2] == ["Decision tree", "left out"]
    assert [one.name for one in found.entries if one.failure] == ["Decision tree"]
    assert time.now - began <= 1.2 * 40.0


def test_what_was_counted_too_dear_comes_last_if_there_is_time(monkeypatch, time):
    monkeypatch.setattr(qed.DecisionTreeRegressor, "_seconds_on", classmethod(lambda cls, *shape: 1.0))
    monkeypatch.setattr(qed.KNeighborsRegressor, "_seconds_on", classmethod(lambda cls, *shape: 100.0))
    found = qed.compare(*table(), budget=40.0, models=["DecisionTreeRegressor", "KNeighborsRegressor"])
    entries = {one.name: one for one in found.entries}
    assert not entries["Decision tree"].failure
    assert "too long for a budget" in entries["k nearest neighbours"].failure


def test_a_report_says_what_there_was_no_time_for(monkeypatch, time):
    X, y = table()
    data = Data("made.csv", qed.rows(X, y).table().array().X, "y", y)
    found = qed.compare(data.table, y, models=["Ridge"])
    slowed(monkeypatch, time, qed.Ridge, 5.0)
    page = render(data, found, clock=Clock(12.0))
    assert len(found.members) == 2 and len(found.predicted) == (found.folds < 2).sum()
    assert "looked at in 2 of 5 folds only, for want of time" in page and "left out for want of time" in page


def test_nobody_is_told_that_more_time_helps_where_it_does_not(monkeypatch):
    X, y = table()
    found = qed.compare(X, y, models=["Ridge"])
    monkeypatch.setattr(qed.Ridge, "_seconds_on", classmethod(lambda cls, *shape: 100.0))
    for seconds in (np.inf, 30.0):
        assert diagnose(found, Clock(seconds)).missing == "left out: its fits could take 495 seconds"
    monkeypatch.setattr(qed.Ridge, "_seconds_on", classmethod(lambda cls, *shape: 10.0))
    assert "--budget gives more" in diagnose(found, Clock(30.0)).missing


def test_clusters_are_tried_as_long_as_there_is_time(monkeypatch, time):
    slowed(monkeypatch, time, qed.KMeans, 1.0)
    began = time.now
    found = qed.compare(
        np.repeat([[0.0, 0.0], [5.0, 5.0], [0.0, 5.0]], 30, axis=0) + table()[0][:, :2] / 9, budget=30.0
    )
    kmeans = next(one for one in found.entries if one.name == "k-means")
    assert kmeans.setting["n_clusters"] < 10 and any(
        "clusters or more were tried in time" in words for words in kmeans.notes
    )
    assert time.now - began <= 1.2 * 30.0


def test_a_first_fit_that_loads_a_model_does_not_slow_the_forecast():
    known = Forecast(5, {"line": 0.06, "forest": 30.0})
    known.note("line", 0.9)
    assert known.pace == 1.0 and known.ahead("forest") == 30.0
    known.note("forest", 20.0)
    assert known.pace > 2.0


def test_a_table_of_classes_from_some_of_the_folds_says_so(monkeypatch, time, tmp_path, capsys):
    X, y = table()
    (tmp_path / "t.csv").write_text(
        "a,b,y\n" + "".join(f"{a},{b},{'nu'[c]}\n" for (a, b, _), c in zip(X, (y > 0).astype(int)))
    )
    monkeypatch.setattr(commands, "perf_counter", time)

    def slow_from_now(*given, **asked):
        found = qed.compare(*given, **{name: one for name, one in asked.items() if name != "budget"}, budget=None)
        slowed(monkeypatch, time, type(found.best.contender.model), 10.0)
        return found

    monkeypatch.setattr(commands, "run", slow_from_now)
    found = commands.compare(str(tmp_path / "t.csv"), "y", models=["LogisticRegression"], budget=25.0)
    assert sum(one.rows for one in found.classes) == (found.comparison.folds < 2).sum()
    assert "2 of 5 folds only" in found.to_dict()["says"][-1]
    write_comparison(found, json=False, quiet=False)
    assert "2 of 5 folds only" in capsys.readouterr().out


def test_time_kept_for_dear_models_is_not_taken_from_cheap_ones(time):
    task = Sharing(task="regression", table=None, y=None, folds=None, judged=None, progress=print, clock=Clock(60.0))
    task.later = (25.0, 2.0)
    assert task._left_for(10.0) == 58.0 and task._left_for(np.inf) == 33.0
    task.later = (50.0,)
    assert task._left_for(50.0) == 30.0
