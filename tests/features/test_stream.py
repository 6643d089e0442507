"""Transformed rows that are never all made: the lazy twin of transform, and models that read through it."""

import numpy as np
import pandas
import pytest

import qed
from qed.base.errors import InputError
from qed.features.stream import changed


def test_it_is_what_transform_gives(tmp_path):
    X = np.random.default_rng(0).normal(size=(500, 3))
    y = X[:, 0] ** 2 + X[:, 1]
    pandas.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "t.parquet")
    for source in (qed.rows(X, y), qed.rows(str(tmp_path / "t.parquet"), target="y")):
        squares = qed.PolynomialFeatures(2).fit(source)
        rows, wanted = changed(squares, source), squares.transform(source)
        np.testing.assert_array_equal(rows.array().X, wanted)
        np.testing.assert_array_equal(rows.array().y, y)
        assert rows.count() == 500 and rows.n_features == 10 and rows.has_target and not rows.has_weight
        np.testing.assert_array_equal(rows.cached().array().X, wanted)
        model = qed.LinearRegression(fit_intercept=False).fit(rows)
        coef = dict(zip(rows.feature_names, np.ravel(model.coef_)))
        first = squares.get_feature_names_out()
        true = {first[4]: 1.0, first[2]: 1.0}
        assert all(abs(coef[name] - true.get(name, 0.0)) < 1e-10 for name in coef)


def test_an_encoder_and_a_model_read_a_file_together(tmp_path):
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"pet": rng.choice(["cat", "dog", "eel"], 300), "age": rng.normal(size=300)})
    frame["y"] = frame["pet"].map({"cat": 1.0, "dog": 2.0, "eel": 4.0}) + 3 * frame["age"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    source = qed.rows(str(tmp_path / "t.csv"), target="y")
    encoder = qed.ColumnEncoder(full_rank=True).fit(source)
    model = qed.LinearRegression().fit(changed(encoder, source))
    np.testing.assert_allclose(np.ravel(model.coef_), [1, 3, 3], rtol=1e-8)


def test_missing_values_are_still_refused():
    X = np.ones((5, 2))
    squares = qed.PolynomialFeatures(2).fit(np.arange(10.0).reshape(5, 2))
    X[2, 1] = np.nan
    with pytest.raises(InputError, match="number 1, row 2"):
        changed(squares, X).array()
    imputer = qed.SimpleImputer().fit(X)
    assert np.isfinite(changed(imputer, X).array().X).all()
