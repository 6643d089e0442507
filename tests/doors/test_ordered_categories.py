"""Categories with an order are recognised, said, encoded as the numbers of their order, and overruled by whoever knows better."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import qed
from qed.base.errors import ParameterError
from qed.features.understanding.rules import understand

RANDOM = np.random.default_rng(0)


def column(values, n=60):
    return pa.table({"size": [values[k % len(values)] for k in RANDOM.permutation(n)], "x": RANDOM.standard_normal(n)})


KNOWN = {
    "degree": ["Low", "Medium", "High"],
    "clothes": ["XS", "S", "M", "L", "XL"],
    "diamonds": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
    "houses": ["Po", "Fa", "TA", "Gd", "Ex"],
    "places": ["1st", "2nd", "3rd"],
    "classes": ["First", "Second", "Third"],
    "answers": ["strongly disagree", "Disagree", "neutral", "Agree", "Strongly Agree"],
    "often": ["Never", "Rarely", "Sometimes", "Always"],
    "months": ["Jan", "Feb", "Mar", "Dec"],
    "weekdays": ["Monday", "Wednesday", "Sunday"],
    "ages": ["under 18", "18-25", "26-35", "36-64", "65+"],
    "money": ["<1000", "1000-2000", "2000-5000", ">5000"],
    "intervals": ["(0, 10]", "(10, 20]", "(20, 30]"],
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_scale_is_known(name):
    values = KNOWN[name]
    assert understand(column(values)).orders == {"size": tuple(values)}


@pytest.mark.parametrize(
    "values",
    [
        ["low", "high"],
        ["low", "high", "red"],
        ["a", "b", "c"],
        ["1-2", "1-3", "2-9"],
        ["10", "20", "30"],
        ["x1", "x2", "x3"],
    ],
)
def test_what_is_no_scale_has_no_order(values):
    assert understand(column(values)).orders == {}


def test_an_order_is_said_and_overruled():
    table = column(["low", "medium", "high", "n/a"])
    seen = understand(table)
    assert [one.words() for one in seen.read] == ["size (ordered categories: low < medium < high)"]
    assert understand(table, treat={"size": "category"}).orders == {}
    assert understand(table, treat={"size": "high < medium < low"}).orders == {"size": ("high", "medium", "low")}
    with pytest.raises(ParameterError, match="No order of the values of 'x' is known: write it out"):
        understand(table, treat={"x": "ordered"})


def test_a_type_with_an_order_is_taken_at_its_word():
    kinds = pd.Categorical(["cold", "lava", "ice"] * 20, categories=["ice", "cold", "lava"], ordered=True)
    frame = pd.DataFrame({"size": kinds, "x": RANDOM.standard_normal(60)})
    assert understand(pa.Table.from_pandas(frame)).orders == {"size": ("ice", "cold", "lava")}


def test_ordered_categories_are_numbers_for_every_model(tmp_path):
    table = column(["low", "medium", "high", None], 120)
    rank = np.array(
        [{"low": 0.0, "medium": 1.0, "high": 2.0, None: np.nan}[value] for value in table["size"].to_pylist()]
    )
    encoder = qed.ColumnEncoder(ordered={"size": ["low", "medium", "high"]}, impute=None).fit(table)
    np.testing.assert_array_equal(encoder.transform(table)[:, 0], rank)
    assert encoder.decisions_[0].startswith("'size': ordered categories as numbers, low < medium < high")
    y = np.where(np.isnan(rank), 1.0, rank) + 0.1 * RANDOM.standard_normal(120)
    found = qed.compare(table, y, models=["Ridge", "DecisionTreeRegressor"], cv=3)
    for entry in found.entries:
        assert entry.model.certificate_ and qed.certify(entry.model, table, y)
    qed.save(found.best.model, tmp_path / "m.qed")
    np.testing.assert_array_equal(qed.load(tmp_path / "m.qed").predict(table), found.best.model.predict(table))
    with pytest.raises(ParameterError):
        qed.ColumnEncoder(ordered={"size": "low"}).fit(table)
    with pytest.raises(ParameterError, match="holds no text"):
        qed.ColumnEncoder(ordered={"x": ["1", "2"]}).fit(table)


def test_values_that_an_order_does_not_name_are_said_and_an_order_of_none_is_refused():
    random = np.random.default_rng(0)
    table = {"size": random.choice(["S", "M", "L", "odd"], 60).tolist(), "x": random.standard_normal(60)}
    y = random.standard_normal(60)
    found = qed.compare(table, y, treat={"size": "S<M<L"}, models=["Ridge"])
    (read,) = [one for one in found.columns.read if one.column == "size"]
    assert read.says == "ordered categories: S < M < L; 'odd' not among them, and missing"
    with pytest.raises(ParameterError, match="None of 'small', 'large' is a value of 'size': it holds 'S', 'M'|'L'"):
        qed.compare(table, y, treat={"size": "small<large"}, models=["Ridge"])
