"""The right score: imbalance, names, second scores, ties, grids that were too short, time and groups."""

import numpy as np
import pyarrow as pa
import pytest

import qed
from qed.base.errors import InputError, ParameterError
from qed.selection.comparing.contenders import Contender
from qed.selection.comparing.extending import beyond, extended, extension, merged
from qed.selection.comparing.folding import folds_of
from qed.selection.comparing.judging import judging
from qed.selection.comparing.preparing import reading_of

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def anew():
    """Let each test draw the same, whatever came before it."""
    RANDOM.bit_generator.state = np.random.default_rng(1).bit_generator.state


@pytest.mark.parametrize(
    "asked, name",
    [
        ("rmse", "neg_root_mean_squared_error"),
        ("MAE", "neg_mean_absolute_error"),
        ("mse", "neg_mean_squared_error"),
        ("R2", "r2"),
        ("mape", "neg_mean_absolute_percentage_error"),
    ],
)
def test_common_names_of_scores_of_numbers(asked, name):
    found = judging("regression", RANDOM.random(20), asked, None)
    assert found.name == name and len(found.others) == 2 and name not in found.others


@pytest.mark.parametrize(
    "asked, name",
    [("auc", "roc_auc"), ("logloss", "neg_log_loss"), ("F1", "f1"), ("acc", "accuracy"), ("brier", "neg_brier_score")],
)
def test_common_names_of_scores_of_classes(asked, name):
    y = np.array(["Yes", "No"] * 10)
    found = judging("classification", y, asked, "Yes")
    assert found.name == name == qed.get_scorer(asked).name
    assert not found.scorer.has_positive or found.scorer.options["pos_label"] == "Yes"


def test_scores_of_one_of_two_classes_are_averaged_over_more():
    y = np.array(["a", "b", "c"] * 10)
    assert judging("classification", y, "f1", None).name == "f1_macro"
    assert judging("classification", y, "f2", None).name == "f2_macro"
    assert judging("classification", y, "auc", None).name == "roc_auc_ovr"
    with pytest.raises(ParameterError, match="for two classes"):
        judging("classification", y, "gini", None)
    with pytest.raises(ParameterError, match="does not score classification"):
        judging("classification", y, "rmse", None)
    with pytest.raises(ParameterError, match="no score"):
        judging("classification", y, "goodness", None)


def test_imbalance_is_looked_at_first():
    two, three = np.array(["no"] * 92 + ["yes"] * 8), np.array(["a"] * 90 + ["b"] * 5 + ["c"] * 5)
    found = judging("classification", two, None, None)
    assert found.name == "roc_auc" and "92 % of the rows are 'no'" in found.says[0]
    assert judging("classification", three, None, None).name == "neg_log_loss"
    assert judging("classification", np.array(["a", "b"] * 50), None, None).name == "accuracy"


def test_time_judges_later_rows_by_earlier_ones():
    time = RANDOM.permutation(100)
    folds = folds_of("regression", 4, 0, 100, None, time=time)
    assert folds.forward and folds.count == 4 and (folds.number == -1).sum() == 20
    for train, test in folds.pairs():
        assert time[train].max() < time[test].min()
    same = folds_of("regression", 3, 0, 100, None, time=np.repeat([1, 2, 3, 4], 25))
    assert [len(set(np.repeat([1, 2, 3, 4], 25)[test])) for _, test in same.pairs()] == [1, 1, 1]
    with pytest.raises(InputError, match="too few"):
        folds_of("regression", 3, 0, 100, None, time=np.zeros(100))


def test_groups_stay_together():
    group = RANDOM.integers(0, 17, 200)
    folds = folds_of("regression", 5, 0, 200, None, group=group)
    assert folds.count == 5
    for train, test in folds.pairs():
        assert not set(group[train]) & set(group[test])
    assert np.bincount(folds.number).min() > 20
    assert folds_of("regression", 5, 0, 200, None, group=group % 3).count == 3


def test_too_many_folds_are_fewer_and_said():
    folds = folds_of("regression", 500, 0, 400, None)
    assert folds.count == 200 and folds.says == (
        "500 folds are too many for 400 rows: there are 200, so that each holds out two rows",
    )


def test_a_grid_that_was_too_short_is_continued():
    one = Contender("Ridge", qed.Ridge(), 1, {"alpha": [0.1, 1.0, 10.0], "fit_intercept": [True, False]})
    scores = np.array(
        [[value * (2 - bias) + 0.01 * fold for fold in range(3)] for value in (1, 2, 3) for bias in (0, 1)]
    )
    name, more = extension(one, scores)
    assert (name, more) == ("alpha", [100.0, 1000.0, 10000.0])
    part, whole = extended(one, name, more)
    assert whole.grid["alpha"] == [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0] and part.grid["alpha"] == more
    both = merged(whole, [(one, scores), (part, np.full((6, 3), -1.0))])
    assert both.shape == (12, 3) and both[:6].tolist() == scores.tolist()
    assert extension(one, scores[::-1][:, ::-1])[1] == [0.01, 0.001, 0.0001]
    flat = np.array([[1.0, 2.0, 3.0]] * 6) + np.linspace(0, 1e-3, 6)[:, None]
    assert extension(one, flat)[1] == []
    assert beyond(["a", "b", "c"], True) == beyond([0.0, 1.0, 2.0], False) == beyond([True, False, True], True) == []


def test_a_grid_is_continued_in_a_comparison_and_said(few, monkeypatch):
    monkeypatch.setattr(qed.Ridge, "compare_grid", {"alpha": [0.01, 0.1, 1.0]})
    X = RANDOM.standard_normal((40, 30))
    found = qed.compare(X, X[:, 0] + 3 * RANDOM.standard_normal(40), cv=3)
    ridge = next(one for one in found.entries if one.name == "Ridge")
    assert ridge.setting["alpha"] > 1.0 and any("the grid was continued" in words for words in ridge.notes)
    assert ridge.scores.shape == (len(ridge.contender.candidates), 3)


def test_imbalanced_classes_are_compared_by_rank_and_shown_one_by_one(few, run, tmp_path):
    n = 300
    x = RANDOM.standard_normal(n)
    y = np.where(x + RANDOM.standard_normal(n) > 2.2, "Yes", "No")
    path = tmp_path / "t.csv"
    path.write_text("row,x,y\n" + "".join(f"{k + 1},{a:.4f},{b}\n" for k, (a, b) in enumerate(zip(x, y))))
    words = ("compare", path, "-t", "y", "--no-report", "--model", tmp_path / "m.qed")
    text = run(*words).stdout
    assert "left out    row: a row number, 1 to 300" in text and "AUC ± standard error" in text
    assert "guessing that is right so often and no use" in text and "precision" in text
    found = run.json(*words, "--force")
    assert found["scoring"] == "roc_auc" and found["leaderboard"][-1]["class"] == "MajorityClassifier"
    assert found["leaderboard"][-1]["score"] == 0.5 and found["columns"] == ["x"]
    assert sum(one["rows"] for one in found["classes"]) == n
    assert {"neg_log_loss", "accuracy"} == set(found["leaderboard"][0]["other_scores"])


def test_noise_is_no_better_than_guessing_and_the_headline_says_so(few, run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{a:.5f},{b:.5f},{c:.5f}\n" for a, b, c in RANDOM.standard_normal((80, 3))))
    found = run("compare", path, "-t", "y", "--no-report", "--model", tmp_path / "m.qed")
    assert "No model beats guessing y: " in found.stdout


def test_second_scores_and_the_simplest_of_the_best(few):
    X = RANDOM.standard_normal((120, 4))
    found = qed.compare(X, 10 * X[:, 0] + RANDOM.standard_normal(120))
    assert found.others == ("neg_root_mean_squared_error", "neg_mean_absolute_error")
    assert 0.8 < -found.best.other("neg_root_mean_squared_error") < 1.3
    assert found.best in found.ties and found.simplest in found.ties and found.simplest.contender.degree == 1
    assert found.beats_guessing and not found.best.is_baseline and found.baseline.is_baseline


def test_time_and_groups_in_a_comparison(few):
    n = 90
    table = pa.table(
        {
            "when": [f"2020-{1 + k // 28:02}-{1 + k % 28:02}" for k in range(n)],
            "who": [f"person {k % 9}" for k in range(n)],
            "x": RANDOM.standard_normal(n),
        }
    )
    y = np.asarray(table["x"]) + 0.1 * RANDOM.standard_normal(n)
    found = qed.compare(table, y, cv=4, time="when")
    assert (
        found.forward
        and found.n_folds == 4
        and len(found.predicted) == len(found.judged) == 72
        and found.best.score > 0.5
    )
    assert "order of time" in found.says[0]
    found = qed.compare(table, y, cv=3, group="who")
    assert "who" not in found.columns.used and len({*zip(table["who"].to_pylist(), found.folds)}) == 9
    with pytest.raises(InputError, match="not both"):
        qed.compare(table, y, time="when", group="who")
    with pytest.raises(ParameterError, match="no column 'wen'"):
        qed.compare(table, y, time="wen")


def test_scores_in_time_are_those_of_models_of_what_came_before(few):
    table = pa.table(
        {"t": np.arange(60) % 30 + np.arange(60) / 100, "x": RANDOM.standard_normal(60), "c": ["a", "b", None] * 20}
    )
    y = np.asarray(table["x"]) + RANDOM.standard_normal(60)
    found = qed.compare(table, y, cv=3, time="t", scoring="rmse")
    entry = next(one for one in found.entries if one.name == "Linear regression")
    block = found.rows.array()
    for fold, (train, test) in enumerate(found.pairs):
        model = entry.contender.table_model(entry.setting).fit(block.X.take(train), y[train])
        off = y[test] - model.predict(block.X.take(test))
        assert entry.scores[entry.chosen, fold] == pytest.approx(-np.sqrt(np.mean(off**2)), rel=1e-8)


def test_the_columns_of_a_comparison(few):
    n = 60
    x = RANDOM.standard_normal(n)
    table = pa.table(
        {
            "id": np.arange(n),
            "x": x,
            "note": [f"n{k}" for k in range(n)],
            "same": np.ones(n),
            "zip": [f"{k % 4}" for k in range(n)],
        }
    )
    found = qed.compare(table, x + RANDOM.standard_normal(n), cv=3, treat={"zip": "category"}, drop=["same"])
    assert found.columns.used == ["x", "zip"] and found.rows.feature_names == ("x", "note", "zip")
    assert {one.column for one in found.columns.left_out} == {"id", "same", "note"}
    assert found.best.model.changes_[0].reading_.kinds[2] == "levels"
    kept = qed.compare(table, x, cv=3, use=["id"])
    assert "id" in kept.columns.used
    assert reading_of(found.columns) == {"categorical": ("zip",)}


def test_a_report_in_the_order_of_time(few, run, tmp_path):
    path, page = tmp_path / "t.csv", tmp_path / "r.html"
    lines = [f"{2000 + k // 12}-{1 + k % 12:02}-01,{k % 12},{np.sin(k):.4f}\n" for k in range(72)]
    path.write_text("month,season,sales\n" + "".join(lines))
    words = ("compare", path, "-t", "sales", "--time", "month", "--report", page, "--model", tmp_path / "m.qed")
    found = run(*words)
    assert found.exit_code == 0, found.output
    text = page.read_text(encoding="utf-8")
    assert "The columns" in text and "rows are judged in the order of time" in text and "--time month" in text


def test_a_class_of_one_row_is_judged_without_its_probability(few):
    y = np.array(["none"] * 70 + ["some"] * 9 + ["many"])
    found = qed.compare(RANDOM.standard_normal((80, 2)), y)
    assert found.scoring == "balanced_accuracy" and not any(one.failure for one in found.entries)
    assert folds_of("classification", 5, 0, 80, y).have_all_classes(np.where(y == "many", "some", y))
