"""FeatureMap: what functions may give, and what is refused."""

import numpy as np
import pytest

import qed
from qed.base.errors import InputError, ParameterError
from qed.base.sources.rows import ArrayRows


@pytest.fixture
def X():
    return np.random.default_rng(0).uniform(1, 2, size=(300, 3))


def radius(X):
    return np.sqrt((X**2).sum(axis=1))


def test_functions_lists_and_dicts(X):
    one = qed.FeatureMap(radius).fit(X)
    np.testing.assert_array_equal(one.transform(X), radius(X)[:, None])
    assert one.get_feature_names_out().tolist() == ["radius"]
    several = qed.FeatureMap([radius, np.log, lambda X: X[:, 0] > 1.5]).fit(X)
    assert several.transform(X).shape == (300, 5) and several.transform(X).dtype == np.float64
    assert several.get_feature_names_out().tolist() == ["radius", "log0", "log1", "log2", "phi4"]
    named = qed.FeatureMap({"r": radius, "l": lambda X: X[:, 1]}).fit(X)
    assert named.get_feature_names_out().tolist() == ["r", "l"]
    assert qed.FeatureMap(np.log, names=["a", "b", "c"]).fit(X).get_feature_names_out().tolist() == ["a", "b", "c"]


def test_a_function_of_a_single_row(X):
    slow = qed.FeatureMap(lambda row: [row[0] * row[1], row.max()], vectorized=False).fit(X)
    np.testing.assert_allclose(slow.transform(X), np.column_stack([X[:, 0] * X[:, 1], X.max(axis=1)]))
    assert qed.FeatureMap(lambda row: row.sum(), vectorized=False).fit(X).transform(X).shape == (300, 1)


def test_float32_blocks_and_inverse(X):
    model = qed.FeatureMap(np.exp, inverse=np.log).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    rows = ArrayRows(X, size=64)
    np.testing.assert_allclose(qed.FeatureMap(np.exp).fit(rows).transform(rows), np.exp(X), rtol=1e-15)
    assert qed.certify(model, rows)
    with pytest.raises(InputError, match="inverse"):
        qed.FeatureMap(np.exp).fit(X).inverse_transform(X)
    with pytest.raises(InputError, match="Expected 3"):
        model.inverse_transform(X[:, :2])


@pytest.mark.parametrize(
    "function",
    [
        lambda X: X - X.mean(axis=0),
        lambda X: np.cumsum(X, axis=0),
        lambda X: X.argsort(axis=0),
        lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
        lambda X: np.random.default_rng().normal(size=len(X)),
        lambda X: np.arange(len(X)),
    ],
)
def test_functions_that_look_at_other_rows_are_refused(X, function):
    with pytest.raises(InputError, match="depend on the rows around"):
        qed.FeatureMap(function).fit(X)


def test_a_function_that_changes_later_breaks_the_claim(X):
    model = qed.FeatureMap(np.exp).fit(X)
    model.function = lambda X: X * len(X)
    assert not qed.certify(model, X)


def test_bad_functions(X):
    with pytest.raises(InputError, match=r"gives nan for row 4 .* feature 1"):
        bad = X.copy()
        bad[4, 1] = -1
        with np.errstate(invalid="ignore"):
            qed.FeatureMap(np.log).fit(X).transform(bad)
    with pytest.raises(InputError, match="one row of features for each of 300 rows"):
        qed.FeatureMap(lambda X: X.sum()).fit(X)
    with pytest.raises(InputError, match="one row of features"):
        qed.FeatureMap(lambda X: X[:5]).fit(X)
    with pytest.raises(InputError, match="must give numbers"):
        qed.FeatureMap(lambda X: [["a"]] * len(X)).fit(X)
    with pytest.raises(InputError, match="must give numbers"):
        qed.FeatureMap(lambda row: list(range(int(row[0] * 10))), vectorized=False).fit(X)
    with pytest.raises(ParameterError, match="function"):
        qed.FeatureMap("exp").fit(X)
    with pytest.raises(ParameterError, match="function"):
        qed.FeatureMap([]).fit(X)
    with pytest.raises(ParameterError, match="names has 1"):
        qed.FeatureMap(np.exp, names=["a"]).fit(X)
    with pytest.raises(ParameterError, match="inverse"):
        qed.FeatureMap(np.exp, inverse=3).fit(X)


def test_the_number_of_features_must_stay(X):
    model = qed.FeatureMap(lambda X: X[:, : 1 + (X[0, 0] > 2)]).fit(X)
    with pytest.raises(InputError, match="gave 1 features in fit and 2"):
        model.transform(X + 1)


def test_the_rows_can_not_be_written_to(X):
    def careless(X):
        X += 1
        return X

    before = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        qed.FeatureMap(careless).fit(X)
    np.testing.assert_array_equal(X, before)


def test_missing_values_are_named(X):
    X[7, 2] = np.nan
    with pytest.raises(InputError, match="number 2, row 7"):
        qed.FeatureMap(np.exp).fit(X)
