"""Large tables are encoded once and folded over, what has to hold its rows learns from a sample, and a budget of time is kept."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import qed
from qed.base.errors import ParameterError
from qed.base.sources.rows import ArrayRows, kept
from qed.commands import source
from qed.commands.using.calibrate import calibrate
from qed.report.explanation import explanation_of
from qed.selection.comparing import run, sharing, unseen
from qed.selection.searching.candidates import fresh


@pytest.fixture
def small_is_large(monkeypatch):
    for name, value in {"MANY_ROWS": 100, "MANY_CELLS": 400, "HELD_CELLS": 400, "SHOWN_ROWS": 150}.items():
        monkeypatch.setattr(sharing, name, value)


def table(n=400):
    random = np.random.default_rng(0)
    columns = {
        "a": random.standard_normal(n),
        "b": random.standard_normal(n) * 100,
        "kind": random.choice(list("xyz"), n),
    }
    y = columns["a"] + columns["b"] / 50 + (columns["kind"] == "x") + random.standard_normal(n)
    return pa.table(columns), y


MODELS = ["Ridge", "LinearRegression", "decision tree"]


def test_a_table_that_is_encoded_once_has_the_leaderboard_of_one_in_memory(small_is_large, monkeypatch):
    X, y = table()
    streamed = qed.compare(X, y, models=MODELS, cv=3)
    monkeypatch.setattr(sharing, "MANY_ROWS", 10**6)
    held = qed.compare(X, y, models=MODELS, cv=3)
    assert run.ONCE in streamed.says and run.ONCE not in held.says
    assert [one.name for one in streamed.entries] == [one.name for one in held.entries]
    for one, other in zip(streamed.entries, held.entries):
        # Without holes and rare levels a fold's own encoding is that of all rows: only scales differ, which least squares do not see,
        # and of which a penalty sees a relative difference of a few parts in the root of the number of rows.
        if one.sample is None:
            allowed = 1e-9 if not one.contender.grid else 1.0 / np.sqrt(len(y))
            assert one.score == pytest.approx(other.score, rel=allowed, abs=1e-12)
        assert one.model.certificate_


def test_what_holds_its_rows_learns_from_a_sample_which_is_said(small_is_large):
    X, y = table()
    found = qed.compare(X, np.where(y > 1, "high", "low"), models=["DecisionTreeClassifier", "GaussianNB"], cv=3)
    tree = next(one for one in found.entries if one.name == "Decision tree")
    assert 150 <= tree.sample.sum() <= 150 + 2 * 3
    assert any("sample of" in words and "Decision tree" in words for words in found.says)
    # Every class and every fold gives its share.
    shares = [np.mean(found.folds[tree.sample] == fold) for fold in range(3)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.02)
    others = [one for one in found.entries if one is not tree]
    assert all(one.sample is None for one in others)


def test_a_model_of_a_sample_is_certified_and_calibrated_by_the_whole_table(small_is_large, tmp_path):
    X, y = table()
    whole = X.append_column("y", pa.array(y))
    pa.csv.write_csv(whole, tmp_path / "t.csv")
    found = qed.compare(X, y, models=["DecisionTreeRegressor", "KNeighborsRegressor"], cv=3)
    for one in (one for one in found.entries if not one.is_baseline):
        assert one.sample is not None
        qed.save(one.model, tmp_path / "m.qed")
        model = qed.load(tmp_path / "m.qed")
        assert np.array_equal(model.sample_, np.flatnonzero(one.sample))
        certificate = qed.certify(model, X, y)
        assert certificate and certificate.difference == ""
        assert qed.certify(model, X, y + (np.arange(len(y)) == 7)).difference == "another target"
        assert "rows then" in qed.certify(model, X.slice(0, 300), y[:300]).difference
        assert explanation_of(model).rows == one.sample.sum()
        assert one.learned_from == f"a sample of {one.sample.sum()} rows"
    made = calibrate(str(tmp_path / "m.qed"), str(tmp_path / "t.csv"), str(tmp_path / "c.qed"), target="y")
    assert made.rows == (~one.sample).sum()


def test_a_budget_that_is_used_up_leaves_the_guess_and_says_so():
    X, y = table(60)
    found = qed.compare(X, y, budget=1e-6)
    assert found.best.is_baseline and found.best.model is not None
    assert all("budget" in one.failure for one in found.entries if not one.is_baseline)
    with pytest.raises(ParameterError, match="seconds above 0"):
        qed.compare(X, y, budget=-1)


def test_models_are_chosen_by_name():
    X, y = table(60)
    found = qed.compare(X, y, models=["ridge"])
    assert {type(one.contender.model).__name__ for one in found.entries} == {"MeanRegressor", "Ridge"}
    with pytest.raises(ParameterError, match="'Rige' takes part in this comparison. Did you mean 'Ridge'"):
        qed.compare(X, y, models=["Rige"])


def test_large_files_are_mapped_and_rows_without_a_target_left_out(small_is_large, monkeypatch, tmp_path):
    X, y = table()
    whole = X.append_column("y", pa.array(np.where(np.arange(len(y)) % 40 == 3, np.nan, y)))
    pa.csv.write_csv(whole, tmp_path / "t.csv")
    held = source.read(str(tmp_path / "t.csv"), "y")
    monkeypatch.setattr(source, "LARGE", 100)
    mapped = source.read(str(tmp_path / "t.csv"), "y")
    assert mapped.mapped and not held.mapped and mapped.n_lost == held.n_lost == 10
    assert mapped.table.equals(held.table) and np.array_equal(mapped.y, held.y)
    rows = ArrayRows(mapped.table, mapped.y, None, mapped.table.column_names, mapped=True)
    found = qed.compare(rows, models=["LinearRegression", "KNeighborsRegressor"], cv=3)
    assert all(one.model.certificate_ for one in found.entries)


@pytest.mark.parametrize("name", ["Ridge", "GaussianNB", "DecisionTreeClassifier"])
def test_what_is_said_of_rows_held_out_of_a_large_table_comes_from_one_encoding(small_is_large, monkeypatch, name):
    X, y = table()
    y = y if name == "Ridge" else np.where(y > 1, "high", "low")
    made = []
    monkeypatch.setattr(unseen, "kept", lambda rows, **how: made.append(how) or kept(rows, **how))
    found = qed.compare(X, y, models=[name], cv=3)
    assert found.once and len(found.members) == 3
    assert made == [{"on_disk": True}]  # once for all folds, and not in memory
    best, encoded = found.best, found.best.model.encoded(qed.rows(X)).array().X
    for fold, (train, test) in enumerate(found.pairs):
        train = train if best.sample is None else train[best.sample[train]]
        again = fresh(best.model.model).fit(encoded[train], y[train])
        said = found.members[fold].predict(X.take(test))
        if name == "Ridge":
            # The same least squares from statistics of other blocks: their rounding, times the condition of scaled columns.
            assert said == pytest.approx(again.predict(encoded[test]), rel=1e-9)
            assert found.predicted[test] == pytest.approx(said, rel=1e-9)
        else:
            assert np.array_equal(found.predicted[test], again.predict(encoded[test]))
            assert np.array_equal(found.predicted[test], said)
            assert found.chances[test].sum(axis=1) == pytest.approx(np.ones(len(test)))


def test_folds_of_wide_tables_are_not_encoded_side_by_side(monkeypatch):
    X, y = table(60)
    calls = []
    monkeypatch.setattr(unseen, "work", lambda tasks: calls.append("work") or (task() for task in tasks))
    held = qed.compare(X, y, models=["Ridge"], cv=3).predicted
    assert calls == ["work"]
    monkeypatch.setattr(unseen, "SIDE_BY_SIDE", 10)
    assert np.array_equal(qed.compare(X, y, models=["Ridge"], cv=3).predicted, held)
    assert calls == ["work"]


def test_where_encodings_would_take_the_time_there_is_one_for_all_folds(monkeypatch):
    X, y = table()
    usual = qed.compare(X, y, models=["LinearRegression"], cv=3)
    monkeypatch.setattr(run, "MOST_ENCODING", 1e-12)
    hurried = qed.compare(X, y, models=["LinearRegression"], cv=3, budget=60.0)
    assert run.HURRIED in hurried.says and hurried.once and not usual.once
    assert run.HURRIED not in usual.says and run.ONCE not in hurried.says
    # Least squares do not see scales, and there are no holes or rare levels: the scores are those of encodings for each fold.
    for one, other in zip(usual.entries, hurried.entries):
        assert one.name == other.name and one.score == pytest.approx(other.score, rel=1e-9, abs=1e-12)
    assert len(hurried.members) == 3 and all(one.model.certificate_ for one in hurried.entries)
