"""The rules about columns: what each finds, what it leaves alone, and that it can be overruled."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

import qed
from qed.base.errors import ParameterError
from qed.features.tables.writing import MAIL, moments_in
from qed.features.understanding.rules import understand

N = 60
RANDOM = np.random.default_rng(0)
NOISE = RANDOM.standard_normal(N)
Y = NOISE + RANDOM.standard_normal(N)


@pytest.fixture(autouse=True)
def anew():
    """Let each test draw the same, whatever came before it."""
    RANDOM.bit_generator.state = np.random.default_rng(1).bit_generator.state


def left_out(y=None, *, is_number=True, names=None, **columns):
    seen = understand(pa.table({"noise": NOISE, **columns}), y, "y", is_number=is_number, **(names or {}))
    return {one.column: one.says for one in seen.left_out}, seen


@pytest.mark.parametrize(
    "name, values, says",
    [
        ("a", np.arange(1, N + 1), "a row number, 1 to 60"),
        ("a", np.arange(N), "a row number, 0 to 59"),
        ("a", RANDOM.permutation(np.arange(1, N + 1)), "a row number, 1 to 60, shuffled"),
        ("a", np.sort(RANDOM.permutation(np.arange(5, 100))[:N]), "a row number with gaps"),
        ("rownames", np.arange(1000, 1000 + 37 * N, 37), "an identifier, all 60 values differ"),
        ("customer_id", RANDOM.permutation(10**6)[:N], "an identifier, all 60 values differ"),
        (
            "patientID",
            np.repeat(RANDOM.permutation(10**6)[: N // 2], 2),
            "an identifier of 30 things; --group patientID",
        ),
    ],
)
def test_what_only_names_rows_is_left_out(name, values, says):
    found, _ = left_out(**{name: values})
    assert list(found) == [name] and found[name].startswith(says)


@pytest.mark.parametrize(
    "name, values",
    [
        ("year", np.arange(1950, 1950 + N)),
        ("count", RANDOM.poisson(30.0, N)),
        ("price", RANDOM.permutation(10**5)[:N]),
        ("group_id", np.arange(N) % 4),
        ("paid", np.arange(N) % 7),
    ],
)
def test_what_measures_stays(name, values):
    assert left_out(**{name: values})[0] == {}


def test_row_numbers_are_left_out_of_a_table_sorted_by_its_target():
    found, _ = left_out(np.sort(Y), rownames=np.arange(1, N + 1), x=RANDOM.standard_normal(N))
    assert list(found) == ["rownames"]


def test_copies_of_columns():
    sex = RANDOM.choice(["female", "male"], N)
    minutes = np.round(RANDOM.random(N) * 300, 1)
    found, _ = left_out(
        sex=sex,
        code=(sex == "male").astype(int),
        celsius=10 * NOISE,
        fahrenheit=32 + 18 * NOISE,
        again=NOISE,
        minutes=minutes,
        charge=np.round(0.17 * minutes, 2),
        other=RANDOM.choice(["a", "b"], N),
    )
    assert found == {
        "celsius": "it is 10 noise",
        "fahrenheit": "it is 18 noise + 32",
        "again": "a copy of noise",
        "charge": "it is 0.17 minutes, rounded",
        "code": "sex in other words: each value goes with one of sex",
    }


def test_copies_and_functions_of_a_number():
    wage = np.exp(3 + 0.5 * RANDOM.standard_normal(N))
    found, seen = left_out(
        wage,
        logwage=np.log(wage).round(6),
        monthly=wage * 160 + 20,
        squared=wage**2,
        rank=np.argsort(np.argsort(wage)) * 3.0 + 7000,
        close=wage + 0.5 * RANDOM.standard_normal(N),
        honest=wage + 5 * RANDOM.standard_normal(N),
    )
    assert found == {
        "logwage": "the logarithm of y",
        "monthly": "y in other units",
        "squared": "the square of y",
        "rank": "it rises with y without exception",
    }
    assert [one.column for one in seen.suspicious] == ["close"]


def test_copies_of_a_class_and_what_tells_it_alone():
    y = RANDOM.choice(["yes", "no"], N)
    found, seen = left_out(
        y,
        is_number=False,
        outcome=np.where(y == "yes", 3, 9),
        reason=np.where(y == "yes", RANDOM.choice(["a", "b"], N), "none"),
        amount=np.where(y == "yes", 100.0, 0.0) + RANDOM.random(N),
    )
    assert found == {"outcome": "y in other words: each value goes with one class"}
    assert [one.column for one in seen.suspicious] == ["reason", "amount"]


def test_sums_are_said_once_with_names():
    a, b = RANDOM.random(N), RANDOM.random(N)
    _, seen = left_out(2 * a + b, a=a, b=b, total=a + b)
    assert "total follows from other columns: it is a + b" in seen.notes
    assert any("y follows from columns without error: it is 2 a + b" in words for words in seen.notes)
    assert not left_out(Y, a=a, b=b)[1].notes


def test_codes_and_counted_dates():
    days = [date(2020, 1, 1) + timedelta(days=int(k)) for k in RANDOM.integers(0, 900, N)]
    _, seen = left_out(
        zip=RANDOM.choice([10115, 20095, 80331, 50667], N),
        day=[int(one.strftime("%Y%m%d")) for one in days],
        created_at=1_600_000_000 + RANDOM.integers(0, 10**7, N),
        amount=RANDOM.integers(10**8, 10**9, N),
    )
    assert seen.treated == {"zip": "category", "day": "date", "created_at": "date"}
    assert all(words for words in (one.says for one in seen.read))


def test_dates_are_a_reason_for_caution():
    days = [str(date(2020, 1, 1) + timedelta(days=k)) for k in range(N)]
    assert "--time when" in left_out(Y, when=days)[1].notes[0]
    assert left_out(Y, when=days, names={"time": "when"})[1].notes == ()


def test_rules_are_overruled():
    number = np.arange(1, N + 1)
    assert left_out(number=number, names={"use": ["number"]})[0] == {}
    assert left_out(number=number, names={"treat": {"number": "category"}})[1].treated == {"number": "category"}
    assert left_out(number=number, names={"drop": ["noise"]})[0] == {
        "noise": "as asked",
        "number": "a row number, 1 to 60",
    }
    for names, says in (
        ({"use": ["numbr"]}, "Did you mean 'number'"),
        ({"drop": ["number"], "use": ["number"]}, "both used and left out"),
        ({"treat": {"number": "money"}}, "not as 'money'"),
    ):
        with pytest.raises(ParameterError, match=says):
            left_out(number=number, names=names)


MONEY = [f"${1000 + 7 * k:,}.50" for k in range(N)]


@pytest.mark.parametrize(
    "cells, first",
    [
        (MONEY, 1000.5),
        ([*MONEY[:-3], "n/a", "unknown", "?"], 1000.5),
        ([f"{k},5" for k in range(N)], 0.5),
        ([f"1.{k:03},25 €" for k in range(N)], 1000.25),
        ([f"{k + 1}%" for k in range(N)], 1.0),
        ([f"({k + 1})" for k in range(N)], -1.0),
    ],
)
def test_numbers_are_read_as_people_write_them(cells, first):
    encoder = qed.ColumnEncoder().fit(pa.table({"price": cells}))
    assert encoder.get_feature_names_out()[0] == "price" and "written as text" in encoder.decisions_[0]
    made = encoder.transform(pa.table({"price": cells}))
    assert made[0, 0] == first and made.shape[1] == 1 + ("n/a" in cells)
    if "n/a" in cells:
        assert made[-3:, 1].tolist() == [1.0, 1.0, 1.0]
    assert qed.certify(encoder, pa.table({"price": cells}))


@pytest.mark.parametrize("cells", [["01234", "00501", "90210"] * 20, [f"{k} km" for k in range(5)] * 12])
def test_codes_stay_categories(cells):
    assert "levels" in qed.ColumnEncoder().fit(pa.table({"code": cells})).decisions_[0]


@pytest.mark.parametrize(
    "pattern",
    [
        *("%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%m/%d/%y", "%d.%m.%Y", "%b %d %Y", "%b %d, %Y", "%d-%b-%Y"),
        *("%d-%b-%y", "%Y%m%d", "%B %d, %Y %H:%M", "%a, %d %b %Y %H:%M:%S +0000"),
    ],
)
def test_dates_are_read_in_the_usual_ways(pattern):
    days = [date(2019, 12, 20) + timedelta(days=k) for k in range(N)]
    table = pa.table({"when": [one.strftime(pattern) for one in days]})
    encoder = qed.ColumnEncoder().fit(table)
    assert encoder.decisions_[0].startswith("'when': a date"), encoder.decisions_
    names = encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(encoder.transform(table)[:, names.index("when_days")], np.arange(N))
    np.testing.assert_array_equal(encoder.transform(table)[:, names.index("when_month")], [one.month for one in days])


def test_years_of_two_digits_before_a_zone_are_not_years_of_antiquity():
    text = pa.array(["Mon, 01 Jan 07 10:00:00 +0100", "Mon, 01 Jan 2007 10:00:00 -0100"])
    found = moments_in(text, MAIL).to_pylist()
    assert found[0] is None and (found[1].year, found[1].hour) == (2007, 11)


def test_truth_in_words_is_one_column_of_zeros_and_ones():
    table = pa.table({"married": ["Yes", "no", "YES", "unknown"] * 15})
    encoder = qed.ColumnEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == ["married", "married_missing"]
    assert encoder.transform(table)[:3, 0].tolist() == [1.0, 0.0, 1.0]


def test_a_model_of_dirty_cells_is_saved_and_reads_clean_ones(tmp_path):
    dirty = pa.table({"price": [*MONEY[:-1], "n/a"], "noise": NOISE})
    model = qed.TableModel(qed.Ridge()).fit(dirty, Y)
    qed.save(model, tmp_path / "m.qed")
    again = qed.load(tmp_path / "m.qed")
    clean = pa.table({"price": [*(1000.5 + 7 * np.arange(N - 1)), None], "noise": NOISE})
    np.testing.assert_allclose(again.predict(clean), model.predict(dirty), rtol=1e-12)


def test_numbers_that_are_all_different_are_no_copies_of_each_other():
    """Each value of one goes with one of the other, as with anything."""
    draws = np.random.default_rng(0)
    table = pa.table({name: draws.standard_normal(30) for name in "abc"})
    assert understand(table).used == ["a", "b", "c"]
    assert understand(table, np.arange(30) % 3).used == ["a", "b", "c"]


def test_what_knows_the_target_is_kept_where_there_is_nothing_else():
    x = np.linspace(0, 1, 40) ** 2
    found = understand(pa.table({"x": x}), 3 * x + 2, "y", is_number=True)
    assert found.used == ["x"] and "other units" in found.suspicious[0].says


def test_a_column_cut_from_the_target_is_left_out():
    random = np.random.default_rng(0)
    weight = random.normal(7.3, 1.0, 300).round(2)
    table = pa.table(
        {"low": (weight <= 5.5), "week": random.normal(38, 2, 300), "size": np.digitize(weight, [6, 7, 8])}
    )
    seen = understand(table, weight, "weight", is_number=True)
    assert {one.column for one in seen.left_out} == {"low", "size"}
    # A wide gap may be the effect of the column itself.
    apart = weight + np.where(np.arange(300) % 2, 40.0, 0.0)
    seen = understand(pa.table({"odd": np.arange(300) % 2, "x": random.normal(size=300)}), apart, is_number=True)
    assert not seen.left_out


def test_dates_with_a_zone_are_dates():
    texts = [f"2012-01-{1 + k % 28:02d}T06:{k % 60:02d}:41Z" for k in range(200)]
    mixed = [text.replace("Z", "+02:00") if k % 2 else text for k, text in enumerate(texts)]
    for given in (texts, mixed):
        encoder = qed.ColumnEncoder().fit(pa.table({"when": given, "x": np.arange(200) % 7}))
        assert "date" in encoder.decisions_[0]


def test_free_text_is_said_to_be_read_as_its_words():
    random = np.random.default_rng(0)
    words = ["red", "big", "old", "new", "house", "car", "fine", "poor"]
    table = {"desc": [" ".join(random.choice(words, 6)) for _ in range(80)], "x": random.standard_normal(80)}
    found = qed.compare(table, random.standard_normal(80), models=["Ridge"])
    (read,) = [one for one in found.columns.read if one.column == "desc"]
    assert read.says.startswith("free text, as its ")


@pytest.mark.parametrize("bins", [2, 3, 5, 10])
def test_bands_of_the_target_are_pointed_at_with_holes_and_with_gaps_between_them(bins):
    random = np.random.default_rng(bins)
    y = np.exp(2 * random.standard_normal(400))
    by_rank = (np.argsort(np.argsort(y)) * bins // 400).astype(float)
    by_width = np.minimum((y / y.max() * bins).astype(int), bins - 1)
    holed = pa.array(by_rank, mask=random.random(400) < 0.1)
    words = pa.array([f"band {'zyxwvutsrq'[int(k)]}" for k in by_rank])
    noisy = np.where(random.random(400) < 0.1, 0, by_rank)
    columns = {"x": random.standard_normal(400), "ranked": by_rank, "wide": by_width, "holed": holed, "words": words}
    table = pa.table({**columns, "noisy": noisy})
    seen = understand(table, y, "y", is_number=True)
    found = {one.column: one.action for one in seen.findings}
    assert {found.get(name) for name in ("ranked", "holed", "words")} == {"left out"}
    assert "wide" in found
    assert not {"x", "noisy"} & set(found)


def test_numbers_whose_squares_overflow_are_left_out(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 4))
    single, text = X[:, 1].copy(), [f"${value:,.2f}" for value in X[:, 3]]
    single[7], text[9] = -1e300, "1e200"
    table = pa.table({"x": X[:, 0], "single": single, "all": 1e290 * X[:, 2], "text": text, "holed": [None, *X[1:, 1]]})
    y = X[:, 0] + random.standard_normal(120)
    seen = understand(table, y, "y", is_number=True)
    assert {one.column for one in seen.left_out} >= {"single", "all"} and {"x", "holed"} <= set(seen.used)
    assert "as large as 1e+300" in next(one.says for one in seen.left_out if one.column == "single")
    found = qed.compare(table, y, models=["LinearRegression"])
    assert not found.best.failure and [one.failure for one in found.entries] == ["", ""]
