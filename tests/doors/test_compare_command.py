"""``qed compare``: the leaderboard for people, the JSON for machines, and what it leaves behind."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qed

KEYS = {
    "qed",
    "data",
    "rows",
    "rows_without_target",
    "columns",
    "target",
    "task",
    "why",
    "scoring",
    "says",
    "beats_guessing",
    "simplest_of_the_best",
    "understood",
    "classes",
    "coverage",
    "folds",
    "seed",
    "leaderboard",
    "report",
    "model",
    "seconds",
}
LINE = {
    "rank",
    "name",
    "class",
    "degree",
    "score",
    "standard_error",
    "fold_scores",
    "other_scores",
    "setting",
    "seconds",
    "rows_learned_from",
    "certificate",
    "notes",
    "judged",
    "failure",
}


def test_the_leaderboard_says_what_people_want_to_know(compared):
    folder, text = compared
    lines = text.splitlines()
    assert lines[0] == "penguins: 344 rows, 7 columns; classification of 'species' (the target holds text)"
    assert lines[1].startswith("columns     7 used: island, bill_length_mm")
    assert lines[2].startswith("5 folds, seed 0; accuracy ± standard error")
    assert lines[4].split() == ["#", "model", "accuracy", "log-loss", "settings", "fit", "proof"]
    best, *_, baseline = [line for line in lines if line.endswith("∎")]
    assert "90 % sets of classes hold " in " ".join(text.split())
    assert best.lstrip().startswith("1  ") and "=" in best and " ± " in best and "Logistic regression" in text
    assert "Majority class (baseline)" in baseline and "0.44" in baseline
    assert f"report      {folder / 'report.html'}" in lines and f"best model  {folder / 'best.qed'}" in lines
    assert all(line == line.rstrip() for line in lines)


def test_the_best_model_is_saved_and_predicts_from_raw_tables(compared):
    folder, _ = compared
    model = qed.load(folder / "best.qed")
    table = qed.data.load("penguins").table
    assert model.target_name_ == "species" and model.certificate_
    right = model.predict(table.drop(["species"])) == np.array(table["species"].to_pylist())
    assert right.mean() > 0.97


def test_json_is_all_there_is_on_the_standard_output(run, tmp_path):
    found = run.json("compare", "diabetes", "-t", "progression", "--no-report", "--model", tmp_path / "m.qed")
    assert set(found) == KEYS
    assert found["task"] == "regression" and found["scoring"] == "r2" and found["report"] is None
    assert [line["rank"] for line in found["leaderboard"]] == list(range(1, len(found["leaderboard"]) + 1))
    classes = {"Ridge", "Lasso", "KNeighborsRegressor", "RandomForestRegressor", "GradientBoostingRegressor"}
    assert classes <= {line["class"] for line in found["leaderboard"]}
    for line in found["leaderboard"]:
        assert set(line) == LINE
        assert len(line["fold_scores"]) == found["folds"] == 5
        assert line["score"] == pytest.approx(np.mean(line["fold_scores"]))
        assert line["certificate"]["holds"] is True
    scores = [line["score"] for line in found["leaderboard"]]
    assert scores == sorted(scores, reverse=True)
    assert found["leaderboard"][-1]["class"] == "MeanRegressor"


def test_the_seed_decides_everything_but_the_time(run, tmp_path):
    def scores(seed):
        words = (
            "compare",
            "stackloss",
            "-t",
            "stack_loss",
            "--no-report",
            "--model",
            tmp_path / "m.qed",
            "--seed",
            seed,
        )
        return [(line["name"], line["score"]) for line in run.json(*words)["leaderboard"]]

    assert scores(1) == scores(1)
    assert scores(1) != scores(2)


def test_options_reach_the_comparison(few, run, tmp_path):
    words = ("compare", "diabetes", "-t", "progression", "--no-report", "--model", tmp_path / "m.qed")
    found = run.json(*words, "--cv", 3, "--drop", "age", "--drop", "sex", "--scoring", "neg_mean_absolute_error")
    assert found["folds"] == 3 and "age" not in found["columns"] and len(found["columns"]) == 8
    assert all(line["score"] < 0 for line in found["leaderboard"])
    text = run(*words, "--scoring", "neg_mean_absolute_error").stdout
    assert "MAE ± standard error, lower is better" in text and " -4" not in text
    found = run.json(
        "compare", "iris", "-t", "petal_width", "--task", "regression", "--no-report", "--model", tmp_path / "m"
    )
    assert found["task"] == "regression"


def test_rows_without_a_target_are_left_out_and_counted(few, run, tmp_path):
    path, model = tmp_path / "holes.csv", tmp_path / "m.qed"
    generator = np.random.default_rng(0)
    rows = [f"{a:.3f},{'' if i % 5 == 0 else int(a > 0)}" for i, a in enumerate(generator.standard_normal(60))]
    path.write_text("a,y\n" + "\n".join(rows))
    found = run("compare", path, "-t", "y", "--no-report", "--model", model)
    assert "note: 12 rows without a target left out." in found.stderr
    assert "48 rows" in found.stdout and "2 different whole numbers" in found.stdout
    assert run.json("compare", path, "-t", "y", "--no-report", "--model", model)["rows_without_target"] == 12
    checked = run("certify", model, path)
    assert checked.exit_code == 0 and "the data it was fitted on" in checked.stdout
    assert qed.load(model).classes_.dtype.kind == "i"


def test_no_target_means_clusters(run, tmp_path):
    found = run("compare", "iris", "--no-report", "--model", tmp_path / "m.qed")
    assert found.exit_code == 0
    assert (
        "clustering (no target was given)" in found.stdout and "silhouette by number of clusters: 2: " in found.stdout
    )
    assert "add --target species" in found.stderr
    out = tmp_path / "clusters.csv"
    assert run("predict", tmp_path / "m.qed", "iris", "-o", out, "--keep", "species").exit_code == 0
    assert out.read_text().startswith('"species","cluster","distance"\n')
    assert run("certify", tmp_path / "m.qed", "iris").exit_code == 0


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
@pytest.mark.sampled(3)
def test_every_kind_of_file_gives_the_same_leaderboard(few, run, tmp_path, ending):
    path = tmp_path / f"iris.{ending}"
    assert run("datasets", "iris", "-o", path).exit_code == 0
    words = ("-t", "petal_width", "--no-report", "--model", tmp_path / "m.qed", "--drop", "sepal_width", "--cv", 3)
    from_file, bundled = (run.json("compare", data, *words)["leaderboard"] for data in (path, "iris"))
    assert [line["score"] for line in from_file] == pytest.approx([line["score"] for line in bundled], abs=1e-12)


def test_mixed_columns_are_no_trouble(run, tmp_path):
    generator = np.random.default_rng(3)
    n = 120
    size = generator.standard_normal(n)
    table = pa.table(
        {
            "number": pa.array(np.where(size > 1.5, np.nan, size), from_pandas=True),
            "word": generator.choice(["red", "green", None], n).tolist(),
            "flag": pa.array((size > 0).tolist()),
            "when": pa.array(np.datetime64("2024-01-01") + np.arange(n)),
            "same": ["x"] * n,
            "id": [f"row {i}" for i in range(n)],
            "y": size * 2 + generator.standard_normal(n),
        }
    )
    pq.write_table(table, tmp_path / "mixed.parquet")
    words = ("compare", tmp_path / "mixed.parquet", "-t", "y", "--model", tmp_path / "m.qed")
    found = run.json(*words, "--report", tmp_path / "r.html")
    assert found["leaderboard"][0]["score"] > 0.5 and found["leaderboard"][0]["certificate"]["holds"]
    explained = run.json("explain", tmp_path / "m.qed")
    how = {one["column"]: one["how"] for one in explained["decisions"]}
    assert "left out" in how["id"] and "left out" in how["same"] and how["when"].startswith("a date")


def test_a_model_that_fails_is_last_and_says_why(few, run, tmp_path, monkeypatch):
    from qed.regression.linear.ridge import Ridge

    monkeypatch.setattr(Ridge, "compare_grid", {"alpha": [-1.0]})
    text = run("compare", "engel", "-t", "food_expenditure", "--no-report", "--model", tmp_path / "m.qed").stdout
    assert "failed: " in text and "alpha" in text
    found = run.json(
        "compare", "engel", "-t", "food_expenditure", "--report", tmp_path / "r", "--model", tmp_path / "m"
    )
    last = found["leaderboard"][-1]
    assert (
        last["class"] == "Ridge"
        and last["score"] is None
        and "alpha" in last["failure"]
        and last["certificate"] is None
    )
    assert "failed: " in (tmp_path / "r").read_text(encoding="utf-8")


def test_json_has_no_numbers_that_json_does_not_know(run, tmp_path):
    found = run("compare", "longley", "-t", "total_employment", "--no-report", "--model", tmp_path / "m", "--json")
    json.loads(found.stdout, parse_constant=lambda name: pytest.fail(name))
