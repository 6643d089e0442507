"""Importance by shuffling, and partial dependence: of arrays and tables, with what theory says of linear models."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.inspection import partial_dependence as their_dependence
from sklearn.linear_model import Ridge as TheirRidge

import qed
from qed.base.errors import InputError
from qed.selection.diagnosis import importance


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    n = 240
    kind = random.choice(["a", "b", "c", "d"], n)
    size, noise = random.standard_normal((2, n))
    when = np.datetime64("2020-01-01") + random.integers(0, 900, n)
    y = 3 * size + np.select([kind == "a", kind == "b"], [4.0, -4.0], 0.0) + 0.3 * random.standard_normal(n)
    return pa.table({"size": size, "kind": kind, "noise": noise, "when": when.astype("datetime64[D]"), "y": y})


@pytest.fixture(scope="module")
def fitted(table):
    return qed.TableModel(qed.Ridge(alpha=0.1)).fit(qed.rows(table[:160], target="y"))


def test_the_loss_of_a_linear_model_is_what_theory_says():
    """Shuffling column j adds about 2 b_j² Var(x_j) to the squared error, and takes nothing where b_j is zero."""
    random = np.random.default_rng(1)
    X = random.standard_normal((4000, 3))
    y = X @ [1.0, 2.0, 0.0]
    found = qed.permutation_importance(qed.LinearRegression().fit(X, y), X, y, scoring="neg_mean_squared_error")
    # The mean over five shuffles of 4000 rows: the relative error of such a sum is near 2 / sqrt(4000).
    assert found.importances_mean == pytest.approx([2.0, 8.0, 0.0], rel=0.1, abs=1e-12)
    assert found.score == pytest.approx(0.0, abs=1e-20)
    assert [found.names[j] for j in found.order] == ["x1", "x0", "x2"]


def test_dummies_of_one_column_count_as_one(table, fitted):
    rows = qed.rows(table[160:], target="y")
    found = qed.permutation_importance(fitted, rows, n_repeats=3)
    mean = dict(zip(found.names, found.importances_mean))
    assert set(mean) == {"size", "kind", "noise", "when"}
    assert min(mean["size"], mean["kind"]) > 0.3 > 0.05 > abs(mean["noise"])
    assert "score lost" in str(found) and "<table" in found._repr_html_()


def test_shuffling_what_is_encoded_is_shuffling_the_table(table, fitted, monkeypatch):
    X, y = table[160:].drop_columns(["y"]), table[160:]["y"].to_numpy()
    quick = qed.permutation_importance(fitted, X, y, n_repeats=2)
    monkeypatch.setattr(importance, "_encoded", lambda model, X: None)
    slow = qed.permutation_importance(fitted, X, y, n_repeats=2)
    # The same numbers in the same rows, up to the rounding of a product of a row with some ten coefficients.
    np.testing.assert_allclose(quick.importances, slow.importances, rtol=1e-10, atol=1e-12)
    products = qed.TableModel(qed.Ridge(), degree=2).fit(qed.rows(table[:160], target="y"))
    assert qed.permutation_importance(products, X, y, n_repeats=1).importances[0, 0] > 0.3


def test_any_container_gives_the_same():
    X, y = qed.data.load("stackloss").Xy()
    names = ["a", "b", "c"]
    # Columns that lie otherwise in memory are summed in another order: rounding of sums of 21 rows.
    close = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-12)
    model = qed.LinearRegression().fit(X, y)
    wanted = qed.permutation_importance(model, X, y).importances
    named = qed.LinearRegression().fit(pd.DataFrame(X, columns=names), y)
    for given in (pd.DataFrame(X, columns=names), pa.table(dict(zip(names, X.T)))):
        close(qed.permutation_importance(named, given, y).importances, wanted)
    close(qed.permutation_importance(model, qed.rows(X, y)).importances, wanted)
    close(qed.permutation_importance(model, sparse.csr_array(X), y).importances, wanted)
    theirs = qed.permutation_importance(TheirRidge().fit(X, y), X, y)
    assert theirs.order[0] == 0 and theirs.importances.shape == (3, 5)


def test_seeds_and_threads():
    X, y = qed.data.load("stackloss").Xy()
    model = qed.LinearRegression().fit(X, y)
    with qed.threads(1):
        one = qed.permutation_importance(model, X, y, random_state=3).importances
    with qed.threads(4):
        many = qed.permutation_importance(model, X, y, random_state=3).importances
    assert np.array_equal(one, many)
    assert not np.array_equal(one, qed.permutation_importance(model, X, y, random_state=4).importances)
    part = qed.permutation_importance(model, X, y, random_state=3, columns=[2]).importances
    assert np.array_equal(part, one[[2]])
    assert qed.permutation_importance(model, X, y, max_samples=0.5).score != pytest.approx(model.score(X, y))


def test_weights_count_as_repetition():
    X, y = qed.data.load("stackloss").Xy()
    model = qed.LinearRegression().fit(X, y)
    weight = np.arange(len(y)) % 3
    found = qed.permutation_importance(model, X, y, sample_weight=weight.astype(float))
    repeated = model.score(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert found.score == pytest.approx(repeated, rel=1e-12)


def test_dependence_of_a_linear_model_is_its_line():
    X, y = qed.data.load("diabetes").Xy()
    model = qed.LinearRegression().fit(X, y)
    found = qed.partial_dependence(model, X, 2, n_values=8)
    slope = np.diff(found.average[:, 0]) / np.diff(found.places)
    # Differences of means of values near 1e2: eight digits remain of sixteen in any case.
    assert slope == pytest.approx(model.coef_[2], rel=1e-8)
    assert found.places[0] == X[:, 2].min() and found.places[-1] == X[:, 2].max()
    theirs = their_dependence(TheirRidge(alpha=1e-9).fit(X, y), X, [2], custom_values={2: found.places})
    assert found.average[:, 0] == pytest.approx(theirs["average"][0], rel=1e-5)


def test_dependence_of_columns_of_all_kinds(table, fitted):
    rows = qed.rows(table, target="y")
    kinds = qed.partial_dependence(fitted, rows, "kind")
    assert kinds.places is None and set(kinds.values) == {"a", "b", "c", "d"}
    mean = dict(zip(kinds.values, kinds.average[:, 0]))
    assert mean["a"] - mean["b"] == pytest.approx(8.0, abs=0.3)  # four standard errors of the fit
    dates = qed.partial_dependence(fitted, rows, "when", n_values=5, max_samples=50)
    assert dates.is_date and dates.each.shape == (50, 5, 1) and dates.outputs == ("y",)
    assert dates.plot().get_xlabel() == "when" and kinds.plot().get_xlabel() == "y"
    assert "when" in str(dates)


def test_dependence_of_classes_is_their_probability():
    rows = qed.rows(qed.data.load("penguins").table, target="species")
    model = qed.TableModel(qed.GaussianNB()).fit(rows)
    found = qed.partial_dependence(model, rows, "flipper_length_mm", n_values=6)
    assert found.outputs == ("Adelie", "Chinstrap", "Gentoo")
    assert found.average.sum(axis=1) == pytest.approx(np.ones(6), rel=1e-12)
    assert qed.permutation_importance(model, rows, scoring="neg_log_loss", n_repeats=1).importances.shape == (7, 1)


def test_written_numbers_and_holes():
    price = ["$1,000", "$2,000", None, "$3,000", "n/a"] * 12
    y = [1.0, 2.0, 1.5, 3.0, 1.5] * 12
    table = pa.table({"price": price, "odd": [None] * 59 + [1.0]})
    model = qed.TableModel(qed.Ridge(0.01)).fit(table, y)
    found = qed.partial_dependence(model, table, "price")
    assert found.places.tolist() == [1000.0, 2000.0, 3000.0] and (np.diff(found.average[:, 0]) > 0).all()
    assert len(qed.partial_dependence(model, table, "odd").values) == 1


def test_bad_questions():
    X, y = qed.data.load("stackloss").Xy()
    model = qed.LinearRegression().fit(X, y)
    with pytest.raises(InputError, match="no column 'ag'"):
        qed.partial_dependence(model, X, "ag")
    with pytest.raises(InputError, match="no column 7"):
        qed.permutation_importance(model, X, y, columns=[7])
    with pytest.raises(InputError, match="but y has 3"):
        qed.permutation_importance(model, X, y[:3])
