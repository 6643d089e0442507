"""Comparing models: the rule that decides the task, who takes part, and scores that are those of honest fits."""

import sys
from types import ModuleType
from typing import ClassVar

import numpy as np
import pandas
import pytest

import qed
from qed.base import lazy
from qed.base.errors import InputError, ParameterError
from qed.base.sources.rows import ArrayRows
from qed.features.tables.inspection import Inspection
from qed.selection.comparing.comparison import compare
from qed.selection.comparing.contenders import contenders
from qed.selection.comparing.encoding import FoldEncoder, inspect_folds
from qed.selection.comparing.folding import Folds
from qed.selection.comparing.task import check_task, task_of
from qed.stats.parts import Part
from qed.trees.boosting.model import BOOSTING_GRID


@pytest.mark.parametrize(
    "y, task",
    [
        (np.array(["a", "b"] * 5), "classification"),
        (np.array(["a", "b"] * 5, dtype=object), "classification"),
        (np.array([True, False] * 5), "classification"),
        (np.array([0, 1] * 3), "classification"),
        (np.array([1.0, 2.0] * 3), "classification"),
        (np.arange(10).repeat(10), "classification"),
        (np.arange(10).repeat(9), "regression"),
        (np.arange(21).repeat(50), "regression"),
        (np.arange(100), "regression"),
        (np.array([0.5, 1.0] * 50), "regression"),
    ],
)
def test_the_rule_that_decides_the_task(y, task):
    assert task_of(y)[0] == task


@pytest.mark.parametrize("name", [n for n in qed.data.names() if n != "linnerud"])
def test_the_rule_is_right_about_the_bundled_sets(name):
    data = qed.data.load(name)
    assert task_of(np.array(data.table[data.target].to_pylist()))[0] == data.task


def test_the_task_can_be_asked_for_where_it_makes_sense():
    assert check_task("regression", np.array([0, 1, 1]))[0] == "regression"
    assert check_task(None, None)[0] == "clustering"
    with pytest.raises(InputError, match="holds text"):
        check_task("regression", np.array(["a", "b"]))
    with pytest.raises(InputError, match="too many to be classes: ask for regression"):
        check_task("classification", np.arange(20.0))


def test_whoever_has_a_grid_takes_part_and_baselines_come_first():
    names = [one.name for one in contenders("regression", 500, 4)]
    assert names[:2] == ["Mean (baseline)", "Linear regression"] and names[-1] == "Ridge on squares and products"
    rest = ["Lasso", "Ridge", "k nearest neighbours", "Decision tree", "Gradient boosting", "Random forest"]
    assert names[2:4] == rest[:2] and sorted(names[2:-1]) == sorted(rest)
    assert "Ridge on squares and products" not in [one.name for one in contenders("regression", 10, 4)]
    assert set(rest[2:]) <= {one.name for one in contenders("classification", 500, 4)}
    assert contenders("classification", 500, 4)[0].name == "Majority class (baseline)"
    assert {one.model.random_state for one in contenders("clustering", 500, 4, seed=7)} == {7}


class Stump(qed.MajorityClassifier):
    """A classifier that lives in a room of its own."""

    compare_grid: ClassVar = {}
    compare_name: ClassVar = "Stump"


@pytest.fixture
def room_of_stumps(monkeypatch):
    """Open a room that no task is named after."""
    room = ModuleType("qed.stumps")
    room.Stump, room.__all__ = Stump, ["Stump"]
    monkeypatch.setitem(sys.modules, "qed.stumps", room)
    monkeypatch.setattr(lazy, "ROOMS", (*lazy.ROOMS, "stumps"))


def test_whoever_has_the_role_takes_part_whatever_room_it_lives_in(room_of_stumps):
    assert "Stump" in [one.name for one in contenders("classification", 500, 4)]
    assert "Stump" not in [one.name for one in contenders("regression", 500, 4)]
    X, y = qed.data.load("iris").Xy()
    found = compare(X, y, cv=2)
    assert next(entry for entry in found.entries if entry.name == "Stump").model.certificate_


def mixed_table(n=400):
    """Give columns with holes, with a level at the edge of being rare, with dates as text, and without anything special."""
    generator = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + generator.integers(0, 300, n)
    rare = np.where(
        np.arange(n) % 50 == 0, np.where(np.arange(n) % 100 == 0, "rare", "odd"), generator.choice(["a", "b"], n)
    )
    holes = np.where(generator.random(n) < 0.1, np.nan, generator.standard_normal(n))
    columns = {
        "level": rare.tolist(),
        "hole": holes,
        "when": [str(day) for day in days],
        "number": generator.standard_normal(n),
        "flag": (generator.random(n) < 0.3).tolist(),
    }
    return qed.rows(columns).table()


@pytest.mark.parametrize("full_rank", [False, True])
def test_a_table_is_encoded_for_each_fold_as_if_it_were_the_only_one(full_rank):
    rows = mixed_table()
    table = ArrayRows(rows.array().X, feature_names=rows.feature_names)
    folds = np.arange(400) % 4
    # Without fold 0 two rows of each rare level are left, which are not enough for a column of their own; without others there are three.
    folds[np.arange(0, 400, 50)] = [0, 0, 0, 0, 1, 1, 2, 3]
    usual = qed.ColumnEncoder(full_rank=full_rank)
    cut = Folds(folds)
    shared = FoldEncoder(table, cut, usual, inspect_folds(table, cut, usual))
    shapes = set()
    for fold in [*range(4), None]:
        training = table if fold is None else Part(table, folds != fold)
        alone = qed.ColumnEncoder(full_rank=full_rank).fit(training)
        encoder = shared.fitted(fold)
        assert encoder.decisions_ == alone.decisions_ and encoder.certificate_
        np.testing.assert_allclose(shared.matrix(encoder), alone.transform(table), rtol=1e-12)
        shapes.add(shared.matrix(encoder).shape)
    assert len(shapes) == 2


def test_all_folds_are_inspected_in_one_pass(monkeypatch):
    X, y = qed.data.load("penguins").table.select(["island", "bill_length_mm"]), np.arange(344.0)
    seen = []
    of = Inspection.of

    def counted(block, reading, names):
        seen.append(len(block))
        return of(block, reading, names)

    monkeypatch.setattr(Inspection, "of", counted)
    compare(X, y, cv=5)
    assert sum(seen) == 344


EVERY = 4


def honest(comparison, entry, scoring):
    """Score some settings by fitting a whole `TableModel` to the raw training rows of every fold."""
    block = comparison.rows.array()
    scorer = qed.get_scorer(scoring)
    settings = entry.contender.candidates[::EVERY]
    found = np.empty((len(settings), comparison.n_folds))
    for fold in range(comparison.n_folds):
        held_out = comparison.folds == fold
        train, test = block.X.filter(~held_out), block.X.filter(held_out)
        for number, setting in enumerate(settings):
            model = entry.contender.table_model(setting)
            model.fit(train, block.y[~held_out])
            found[number, fold] = scorer(model, test, block.y[held_out])
    return found


@pytest.mark.parametrize(
    "name, target, scoring",
    [
        ("penguins", "body_mass_g", "r2"),
        ("penguins", "body_mass_g", "neg_mean_absolute_error"),
        ("penguins", "species", "neg_log_loss"),
    ],
)
@pytest.mark.sampled(3)
def test_scores_are_those_of_fitting_everything_anew(name, target, scoring):
    table = qed.data.load(name).table
    table = table.filter(table[target].is_valid())
    found = compare(qed.rows(table, target=target), cv=3, scoring=scoring, seed=1)
    for entry in found.entries:
        if target == "body_mass_g" and entry.contender.degree == 2:
            continue
        if entry.failure:  # such as margins where probabilities are scored
            assert "predict_proba" in entry.failure
            continue
        np.testing.assert_allclose(
            entry.scores[::EVERY], honest(found, entry, scoring), rtol=1e-6, atol=1e-7, err_msg=entry.name
        )


def test_nothing_leaks_from_the_rows_held_out():
    """Columns that tell rows apart and a target that is noise: an encoding that saw all rows would seem to help."""
    generator = np.random.default_rng(0)
    n = 90
    table = {"level": generator.choice([f"level {i}" for i in range(30)], n).tolist(), "noise": generator.random(n)}
    found = compare(table, generator.choice(["a", "b"], n))
    assert found.best.score < 0.75


def test_the_best_is_the_best_and_fitted_to_all_rows(few):
    X, y = qed.data.load("diabetes").Xy()
    found = compare(X, y, seed=3)
    scores = [entry.score for entry in found.entries]
    assert scores == sorted(scores, reverse=True) and found.best.score == max(scores)
    best = found.best
    assert best.score == pytest.approx(best.scores.mean(axis=1).max())
    assert best.model.fingerprint_.count == len(X) and best.model.certificate_
    assert found.n_folds == 5 and set(np.bincount(found.folds)) <= {88, 89}


def test_progress_is_told_and_rises():
    X, y = qed.data.load("stackloss").Xy()
    told = []
    compare(X, y, progress=lambda share, words: told.append((share, words)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[0] == 0.0 and told[-1] == (1.0, "done")


def test_what_models_warn_of_becomes_a_note(few):
    generator = np.random.default_rng(0)
    a = generator.standard_normal(50)
    found = compare({"a": a, "twice a": 2 * a}, a + generator.standard_normal(50), use=["twice a"])
    entry = next(one for one in found.entries if one.name == "Linear regression")
    assert any("follow from the others" in words for words in entry.notes)


def test_a_class_that_is_rare_is_no_reason_to_give_up():
    generator = np.random.default_rng(0)
    y = np.array(["common"] * 40 + ["other"] * 38 + ["rare"] * 2)
    found = compare(generator.standard_normal((80, 2)), y)
    assert len(found.entries) >= 2 and not found.best.failure


@pytest.mark.parametrize("name", ["MeanRegressor", "MajorityClassifier"])
def test_baselines_learn_and_forget(name):
    generator = np.random.default_rng(0)
    X, number = generator.standard_normal((30, 2)), generator.standard_normal(30)
    y = number if name == "MeanRegressor" else number > 0.3
    kind = getattr(qed, name)

    def answer(model):
        return model.predict(X[:3]).astype(float)

    whole = kind().fit(X, y)
    np.testing.assert_allclose(answer(kind().partial_fit(X[:10], y[:10]).partial_fit(X[10:], y[10:])), answer(whole))
    np.testing.assert_allclose(answer(whole.forget(X[20:], y[20:])), answer(kind().fit(X[:20], y[:20])))
    assert whole.certificate_


def test_baselines_say_what_they_should():
    model = qed.MeanRegressor().fit([[0.0], [1.0]], [[1.0, 10.0], [3.0, 30.0]], sample_weight=[3.0, 1.0])
    np.testing.assert_allclose(model.predict([[5.0]]), [[1.5, 15.0]])
    model = qed.MajorityClassifier().fit([[0.0], [1.0], [2.0]], ["b", "a", "a"], sample_weight=[3.0, 1.0, 1.0])
    assert model.predict([[9.0]]).tolist() == ["b"]
    np.testing.assert_allclose(model.predict_proba([[9.0]]), [[0.4, 0.6]])
    with pytest.raises(InputError, match="missing labels"):
        qed.MajorityClassifier().fit(qed.rows({"a": [1.0, 2.0], "y": ["x", None]}, target="y"))


def test_models_for_some_columns_contend_on_these_only():
    generator = np.random.default_rng(0)

    def names(X):
        return {one.name for one in contenders("classification", *X.shape, X=X)}

    flags, counts = generator.integers(0, 2, (50, 4)).astype(float), generator.poisson(0.4, (50, 4)).astype(float)
    bernoulli, multinomial = "Bernoulli naive Bayes", "Multinomial naive Bayes"
    assert names(flags) & {bernoulli, multinomial} == {bernoulli}
    assert names(counts) & {bernoulli, multinomial} == {multinomial}
    assert not names(generator.standard_normal((50, 4))) & {bernoulli, multinomial}
    assert not names(np.c_[flags, 20 + flags[:, 0] / 2]) & {bernoulli, multinomial}


def test_categories_are_numbered_for_the_model_that_takes_levels():
    generator = np.random.default_rng(0)
    level = generator.integers(0, 4, (400, 3))
    words = np.array(["north", "east", "south", "west"], dtype=object)[level]
    # Each class has levels of its own in the third column, so that codes taken for amounts would not tell the classes apart.
    y = np.where(level[:, 2] % 2 == 0, "even", "odd")
    table = pandas.DataFrame(words, columns=["a", "b", "c"])
    found = compare(table, y, cv=3)
    entry = next(one for one in found.entries if one.name == "Categorical naive Bayes")
    assert entry.score == 1.0
    encoder = qed.ColumnEncoder(coded=True).fit(table)
    assert qed.certify(encoder, table)
    numbered = encoder.transform(table)
    assert numbered.shape == (400, 3)
    direct = qed.CategoricalNB(**entry.setting).fit(numbered, y)
    np.testing.assert_array_equal(entry.model.predict(table), direct.predict(numbered))


def test_whatever_goes_wrong_in_one_model_the_others_are_compared(room_of_stumps, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("no luck")

    monkeypatch.setattr(Stump, "_solve", fail)
    X, y = qed.data.load("iris").Xy()
    found = compare(X, y, cv=2)
    last = found.entries[-1]
    assert last.name == "Stump" and last.failure.startswith("ZeroDivisionError") and "no luck" in last.failure
    assert found.best.model is not None


def test_a_score_of_one_class_knows_which(few):
    X, y = (np.asarray(part)[::4] for part in qed.data.load("breast_cancer").Xy())
    scores = {name: compare(X, y, cv=2, scoring="f1", positive=name).best.score for name in ("benign", "malignant")}
    assert scores["benign"] != scores["malignant"]
    assert compare(X, y, cv=2, scoring="f1").best.score == scores["malignant"]
    with pytest.raises(ParameterError, match="one of two, not 'bening': the target has 'benign', 'malignant'"):
        compare(X, y, positive="bening", scoring="f1")


@pytest.mark.parametrize("positive", ["Yes", None])
def test_the_command_line_names_the_positive_class(few, run, tmp_path, positive):
    X, y = qed.data.load("iris").Xy()
    table = pandas.DataFrame(np.asarray(X)).add_prefix("x").assign(two=np.where(np.asarray(y) == y[0], "No", "Yes"))
    table.to_csv(tmp_path / "table.csv", index=False)
    words = ["compare", tmp_path / "table.csv", "-t", "two", "--no-report", "--scoring", "f1", "--cv", 2]
    done = run(*words, "--model", tmp_path / "m.qed", *(["--positive", positive] if positive else []))
    assert done.exit_code == 0 and "Logistic regression" in done.output


def test_settings_follow_the_size_of_the_table_and_share_their_fits(monkeypatch):
    def boosting(n, task="regression", outputs=1):
        return next(one for one in contenders(task, n, 5, outputs) if one.name == "Gradient boosting")

    small, middle, large = (boosting(n).grid for n in (300, 5_000, 200_000))
    assert max(small["max_leaf_nodes"]) < max(middle["max_leaf_nodes"]) and len(large["max_leaf_nodes"]) == 1
    assert boosting(300).n_fits == 1 and len(boosting(300).candidates) > 1  # all rounds come from one fit
    monkeypatch.setitem(BOOSTING_GRID, "max_iter", [15, 200])
    assert max(boosting(300, "classification", 5).grid["max_iter"]) == 15  # more classes leave fewer of them
    neighbours = next(one for one in contenders("regression", 21, 3) if one.name == "k nearest neighbours")
    assert neighbours.n_fits == 2 and max(neighbours.grid["n_neighbors"]) <= 10


def test_what_could_take_too_long_is_left_out_before_it_begins(monkeypatch):
    monkeypatch.setattr("qed.trees.boosting.model.TREE_SECONDS", 100.0)
    X, y = qed.data.load("stackloss").Xy()
    found = compare(X, y, cv=2, budget=60.0)
    boosting = next(entry for entry in found.entries if entry.name == "Gradient boosting")
    assert boosting.failure.startswith("left out: 3 fits to 21 rows") and boosting.model is None
