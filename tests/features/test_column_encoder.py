"""ColumnEncoder: what it decides about each kind of column, what it refuses, and that every source gives the same."""

import dataclasses
import datetime

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import qed
from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.base.sources.rows import ArrayRows

N = 600


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    day = pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 900, N), "D")
    iso = [str(datetime.date(2021, 1, 1) + datetime.timedelta(days=int(d))) for d in rng.integers(0, 300, N)]
    return pandas.DataFrame(
        {
            "id": [f"u{i}" for i in range(N)],
            "age": np.where(rng.random(N) < 0.1, np.nan, rng.normal(40, 10, N)),
            "children": rng.integers(0, 5, N),
            "city": rng.choice(["rome", "oslo", "bern", "lima", "bonn"], N, p=[0.6, 0.3, 0.09, 0.005, 0.005]),
            "member": rng.random(N) < 0.3,
            "joined": day,
            "seen": iso,
            "planet": "earth",
            "nothing": [None] * N,
            "grade": np.where(rng.random(N) < 0.1, None, rng.choice(["a", "b"], N)),
            "code": rng.integers(100, 103, N),
        }
    )


def decision(encoder, name):
    return next(line for line in encoder.decisions_ if line.startswith(f"'{name}'"))


def column(encoder, matrix, name):
    return matrix[:, encoder.get_feature_names_out().tolist().index(name)]


def test_decisions_and_numbers(frame):
    encoder = qed.ColumnEncoder(categorical=["code"]).fit(frame)
    made = encoder.transform(frame)
    assert len(encoder.decisions_) == frame.shape[1] and made.shape == (N, len(encoder.get_feature_names_out()))
    holes = frame["age"].isna()
    assert decision(encoder, "age").startswith(f"'age': a number; {holes.sum()} missing, filled with the mean")
    np.testing.assert_allclose(column(encoder, made, "age"), frame["age"].fillna(frame["age"].mean()))
    np.testing.assert_array_equal(column(encoder, made, "age_missing"), holes)
    np.testing.assert_array_equal(column(encoder, made, "children"), frame["children"])
    np.testing.assert_array_equal(column(encoder, made, "member"), frame["member"])
    assert "identifier" in decision(encoder, "id")
    assert decision(encoder, "planet") == "'planet': left out, it is always 'earth'"
    assert decision(encoder, "nothing") == "'nothing': left out, all values are missing"
    assert decision(encoder, "city") == "'city': 3 levels, one column each; 2 rare ones together as 'other'"
    np.testing.assert_array_equal(column(encoder, made, "city_other"), frame["city"].isin(["lima", "bonn"]))
    assert decision(encoder, "grade") == "'grade': 2 levels, one column each; missing values as one more"
    np.testing.assert_array_equal(column(encoder, made, "grade_missing"), frame["grade"].isna())
    np.testing.assert_array_equal(column(encoder, made, "code_101"), frame["code"] == 101)
    assert encoder.certificate_ and qed.certify(encoder, frame)


def test_dates(frame):
    encoder = qed.ColumnEncoder().fit(frame)
    made, joined = encoder.transform(frame), frame["joined"]
    first = joined.min()
    for name, wanted in {
        "year": joined.dt.year,
        "month": joined.dt.month,
        "weekday": joined.dt.day_of_week,
        "yearday": joined.dt.day_of_year,
        "days": (joined - first).dt.days,
    }.items():
        np.testing.assert_array_equal(column(encoder, made, f"joined_{name}"), wanted)
    assert decision(encoder, "seen") == f"'seen': a date, as month, weekday, yearday, days since {frame['seen'].min()}"
    np.testing.assert_array_equal(column(encoder, made, "seen_month"), pandas.to_datetime(frame["seen"]).dt.month)
    holes = frame[["joined"]].copy()
    holes.loc[::7, "joined"] = pandas.NaT
    marked = qed.ColumnEncoder().fit(holes)
    assert np.isfinite(marked.transform(holes)).all()
    np.testing.assert_array_equal(column(marked, marked.transform(holes), "joined_missing"), holes["joined"].isna())
    assert qed.certify(marked, holes)
    later = frame.iloc[:1].assign(joined=first + pandas.Timedelta(days=5000, hours=12))
    assert column(encoder, encoder.transform(later), "joined_days")[0] == 5000.5


def test_durations_and_times_of_the_day():
    table = pa.table(
        {
            "took": pa.array([datetime.timedelta(hours=12), datetime.timedelta(days=2), None]),
            "at": pa.array([datetime.time(6), datetime.time(18, 30), datetime.time(0)]),
        }
    )
    made = qed.ColumnEncoder().fit_transform(table)
    np.testing.assert_allclose(made, [[0.5, 0, 6], [2, 0, 18.5], [1.25, 1, 0]])


@pytest.mark.parametrize("impute", ["mean", "median"])
@pytest.mark.parametrize("scale", [False, True])
def test_filling_and_scaling(frame, impute, scale):
    encoder = qed.ColumnEncoder(impute=impute, scale=scale).fit(frame)
    certificate = qed.certify(encoder, frame)
    assert certificate, str(certificate)
    age = frame["age"].fillna(getattr(frame["age"], impute)())
    wanted = (age - age.mean()) / age.std(ddof=0) if scale else age
    np.testing.assert_allclose(column(encoder, encoder.transform(frame), "age"), wanted, rtol=1e-10, atol=1e-12)


def test_every_source_gives_the_same(frame, tmp_path):
    import dask.dataframe

    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    wanted = qed.ColumnEncoder().fit(frame)
    made = wanted.transform(frame)
    sources = [str(tmp_path / "t.parquet"), str(tmp_path / "t.csv"), polars.from_pandas(frame)]
    sources += [pa.Table.from_pandas(frame, preserve_index=False), dask.dataframe.from_pandas(frame, npartitions=3)]
    table = pa.Table.from_pandas(frame, preserve_index=False)
    sources.append(ArrayRows(table, feature_names=table.column_names, size=64))
    for source in sources:
        encoder = qed.ColumnEncoder().fit(source)
        assert encoder.get_feature_names_out().tolist() == wanted.get_feature_names_out().tolist()
        np.testing.assert_allclose(encoder.transform(source), made, rtol=1e-13)
        assert qed.certify(encoder, source)


def test_object_arrays():
    table = np.array([["a", 1.5, True], ["b", None, False], ["a", 2.5, True]], dtype=object)
    encoder = qed.ColumnEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == ["x0_a", "x0_b", "x1", "x1_missing", "x2"]
    assert encoder.transform(table)[1].tolist() == [0, 1, 2, 1, 0]
    assert encoder.decisions_[0] == "number 0: 2 levels, one column each"


def test_weights_are_repetitions(frame):
    weight = np.random.default_rng(5).integers(0, 3, N)
    weighted = qed.ColumnEncoder(impute="median", scale=True).fit(frame, sample_weight=weight)
    repeated = qed.ColumnEncoder(impute="median", scale=True).fit(frame.loc[frame.index.repeat(weight)])
    np.testing.assert_allclose(weighted.transform(frame), repeated.transform(frame), rtol=1e-9, atol=1e-10)
    assert qed.certify(weighted, frame, sample_weight=weight)


def test_threads_change_nothing(frame):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    rows = ArrayRows(table, feature_names=table.column_names, size=32)
    with qed.threads(1):
        one = qed.ColumnEncoder(scale=True).fit(rows)
    with qed.threads(4):
        four = qed.ColumnEncoder(scale=True).fit(rows)
    np.testing.assert_array_equal(one.transform(frame), four.transform(frame))


def test_the_user_overrules(frame):
    encoder = qed.ColumnEncoder(categorical=["children", "id"], drop=["age", 3], min_frequency=1).fit(frame)
    assert decision(encoder, "children") == "'children': 5 levels, one column each"
    assert decision(encoder, "age") == decision(encoder, "city").replace("city", "age") == "'age': left out, as asked"
    assert decision(encoder, "id").startswith("'id': 50 levels, one column each; 550 rare ones")
    text = frame[["age"]].fillna(1.0).astype(str).assign(other=frame["children"])
    read = qed.ColumnEncoder(numeric=["age"]).fit(text)
    np.testing.assert_allclose(read.transform(text)[:, 0], frame["age"].fillna(1.0))
    stay = qed.ColumnEncoder(categorical=["seen"], min_frequency=0.0).fit(frame[["seen"]])
    assert stay.get_feature_names_out()[0].startswith("seen_2021-")


def test_rare_levels_and_limits(frame):
    assert "4 levels" not in decision(qed.ColumnEncoder(max_levels=2).fit(frame), "city")
    limited = qed.ColumnEncoder(max_levels=2).fit(frame)
    assert [n for n in limited.get_feature_names_out() if n.startswith("city")] == [
        "city_oslo",
        "city_rome",
        "city_other",
    ]
    words = pandas.DataFrame({"word": [f"w{i % 250}" for i in range(1000)], "x": np.arange(1000.0)})
    assert "each of its 250 levels is rare" in decision(qed.ColumnEncoder().fit(words), "word")
    assert qed.ColumnEncoder(full_rank=True).fit(frame).transform(frame).shape[1] == len(
        [n for n in qed.ColumnEncoder().fit(frame).get_feature_names_out() if n not in ("city_bern", "grade_a")]
    )


def test_levels_are_bounded_while_counting(monkeypatch, frame):
    from qed.features.tables import inspection, plan

    monkeypatch.setattr(inspection, "MOST_LEVELS", 100)
    monkeypatch.setattr(plan, "MOST_LEVELS", 100)
    assert "more than 100 levels" in decision(qed.ColumnEncoder().fit(frame), "id")
    with pytest.raises(InputError, match=r"'id' has more than 100 different values"):
        qed.ColumnEncoder(categorical=["id"]).fit(frame)


@pytest.mark.parametrize("unknown", ["other", "zeros", "error"])
def test_unknown_levels(frame, unknown):
    encoder = qed.ColumnEncoder(unknown=unknown).fit(frame)
    new = frame.iloc[:2].assign(city=["paris", "rome"])
    if unknown == "error":
        with pytest.raises(InputError, match=r"'city' holds the level 'paris' in row 0"):
            encoder.transform(new)
        return
    made = encoder.transform(new)
    assert column(encoder, made, "city_other").tolist() == [float(unknown == "other"), 0.0]
    assert column(encoder, made, "city_rome").tolist() == [0.0, 1.0]


@pytest.mark.parametrize("unknown", ["other", "zeros", "error"])
def test_levels_can_be_numbered(unknown):
    table = pandas.DataFrame({"pet": ["cat", "dog", None, "cat", "emu"], "age": [1.0, 2.0, 3.0, 4.0, 5.0]})
    encoder = qed.ColumnEncoder(coded=True, full_rank=True, min_frequency=2, unknown=unknown).fit(table)
    assert encoder.decisions_[0] == (
        "'pet': 1 level, numbered in one column; 2 rare ones together as 'other'; missing values as one more"
    )
    assert encoder.get_feature_names_out().tolist() == ["pet", "age"]
    slots = encoder.columns_[0].slots()
    assert [slots.labels[int(code)] for code in encoder.transform(table)[:, 0]] == [
        "cat",
        "other",
        None,
        "cat",
        "other",
    ]
    new = table.assign(pet=["cow"] * 5)
    if unknown == "error":
        with pytest.raises(InputError, match="'cow'"):
            encoder.transform(new)
    else:  # with the rare ones, or a number of its own
        assert (encoder.transform(new)[:, 0] == (slots.unknown if unknown == "other" else len(slots))).all()
    assert qed.certify(encoder, table)


def test_errors_say_where(frame):
    encoder = qed.ColumnEncoder().fit(frame)
    with pytest.raises(InputError, match=r"^Column 'age' is missing: the table that the encoder learned from had it\."):
        encoder.transform(frame.drop(columns="age"))
    text = frame["age"].fillna(0).astype(str)
    text[5] = "old"
    with pytest.raises(InputError, match=r"'age' holds text where the model learned numbers: row 5 .* is 'old'"):
        encoder.transform(frame.assign(age=text))
    with pytest.raises(InputError, match=r"'joined' holds numbers where the model learned dates: row 0"):
        encoder.transform(frame.assign(joined=1.0))
    with pytest.raises(InputError, match=r"'seen' holds 'soon' in row 3 .*, which is no date"):
        encoder.transform(frame.assign(seen=["2021-01-01"] * 3 + ["soon"] * (N - 3)))
    with pytest.raises(InputError, match=r"'age' holds infinity in row 7"):
        encoder.transform(frame.assign(age=np.where(np.arange(N) == 7, np.inf, 1.0)))
    with pytest.raises(InputError, match=r"'city' holds 'rome' .* which is no number"):
        qed.ColumnEncoder(numeric=["city"]).fit(frame.sort_values("city", ascending=False))
    with pytest.raises(ParameterError, match=r"no column 'agee'\. Did you mean 'age'"):
        qed.ColumnEncoder(drop=["agee"]).fit(frame)
    with pytest.raises(ParameterError, match=r"no column 99"):
        qed.ColumnEncoder(drop=[99]).fit(frame)
    with pytest.raises(ParameterError, match=r"'age' is asked for as two different kinds"):
        qed.ColumnEncoder(drop=["age"], numeric=["age"]).fit(frame)
    with pytest.raises(DegenerateError, match=r"No column is left .* 'planet': left out"):
        qed.ColumnEncoder().fit(frame[["planet", "nothing"]])
    with pytest.raises(ParameterError, match="min_frequency"):
        qed.ColumnEncoder(min_frequency=2.5).fit(frame)


def test_new_holes_are_filled(frame):
    encoder = qed.ColumnEncoder().fit(frame.dropna(subset=["age"]))
    assert "age_missing" not in encoder.get_feature_names_out()
    assert np.isfinite(encoder.transform(frame)).all()
    empty = frame.iloc[:3].assign(age=None, city=None, member=None, joined=pandas.NaT)
    assert np.isfinite(encoder.transform(empty)).all()


def test_moved_numbers_break_the_claims(frame):
    for place, change in [("fill", 1.001), ("shift", 1.001), ("scale", 1.001)]:
        encoder = qed.ColumnEncoder(scale=True).fit(frame)
        age = encoder.columns_[0]
        encoder.columns_[0] = dataclasses.replace(age, **{place: getattr(age, place) * change})
        assert not qed.certify(encoder, frame)
    encoder = qed.ColumnEncoder().fit(frame)
    where = next(j for j, part in enumerate(encoder.columns_) if hasattr(part, "levels"))
    city = encoder.columns_[where]
    encoder.columns_[where] = dataclasses.replace(city, rare=city.rare[:1])
    assert not qed.certify(encoder, frame)


def test_names_that_collide_are_told_apart():
    frame = pandas.DataFrame({"a": ["x", None] * 10, "b": ["missing", None] * 10}).assign(a_x=np.arange(20.0))
    names = qed.ColumnEncoder().fit(frame).get_feature_names_out().tolist()
    assert len(set(names)) == len(names) and "b_missing#2" in names


def test_dtype_saving_and_frames_out(frame, tmp_path):
    encoder = qed.ColumnEncoder(dtype=np.float32).fit(frame)
    assert encoder.transform(frame).dtype == np.float32
    qed.save(encoder, tmp_path / "e.qed")
    loaded = qed.load(tmp_path / "e.qed")
    np.testing.assert_array_equal(loaded.transform(frame), encoder.transform(frame))
    assert loaded.decisions_ == encoder.decisions_ and qed.certify(loaded, frame)
    made = qed.ColumnEncoder().set_output(transform="pandas").fit_transform(frame)
    assert made.columns[0] == "age"


def test_penguins():
    found = qed.data.load("penguins")
    encoder = qed.ColumnEncoder().fit(found.frame if hasattr(found, "frame") else found.table)
    assert any("levels, one column each" in line for line in encoder.decisions_)
