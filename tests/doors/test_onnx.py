"""Models as ONNX graphs say what they say, by another's runtime, on random rows."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import qed
from qed.base.errors import NotAvailableError, NotFittedError

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((150, 4)) * [1.0, 5.0, 0.1, 2.0] + [0.0, 3.0, 1.0, -2.0]
NUMBER = X @ [1.0, 0.2, -3.0, 0.5] + np.sin(3 * X[:, 0])
TWO = np.where(np.median(NUMBER) < NUMBER, "yes", "no")
THREE = np.digitize(NUMBER, np.quantile(NUMBER, [0.3, 0.7]))
NEW = GENERATOR.standard_normal((200, 4)) * [2.0, 9.0, 0.2, 4.0]

REGRESSORS = [
    qed.LinearRegression(),
    qed.Ridge(0.5, fit_intercept=False),
    qed.Lasso(0.01),
    qed.HuberRegressor(),
    qed.DecisionTreeRegressor(max_depth=4),
    qed.DecisionTreeRegressor(max_depth=1, min_samples_leaf=100),
    qed.RandomForestRegressor(5, random_state=0),
    qed.ExtraTreesRegressor(5, random_state=0),
    qed.GradientBoostingRegressor(max_iter=10),
    make_pipeline(qed.StandardScaler(), qed.Ridge()),
    make_pipeline(qed.MinMaxScaler(), qed.StandardScaler(), qed.DecisionTreeRegressor(max_depth=3)),
    qed.Search(qed.Ridge(), {"alpha": [0.1, 1.0]}),
]
CLASSIFIERS = [
    qed.LogisticRegression(),
    qed.RidgeClassifier(),
    qed.LinearSVC(),
    qed.DecisionTreeClassifier(max_depth=4),
    qed.RandomForestClassifier(5, random_state=0),
    qed.GradientBoostingClassifier(max_iter=10),
    make_pipeline(qed.StandardScaler(), qed.LogisticRegression()),
]


def run(model):
    session = onnxruntime.InferenceSession(qed.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": NEW})))


# Both do the same operations in double precision; sums of a few dozen terms in another order differ by some roundings of their terms.
CLOSE = {"rtol": 1e-12, "atol": 1e-11}


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: str(type(model).__name__))
def test_numbers_are_those_of_the_model(model):
    model.fit(X, NUMBER)
    np.testing.assert_allclose(run(model)["prediction"], model.predict(NEW), **CLOSE)


def test_several_outputs_stay_several():
    model = qed.Ridge().fit(X, np.column_stack([NUMBER, 2 * NUMBER]))
    np.testing.assert_allclose(run(model)["prediction"], model.predict(NEW), **CLOSE)


@pytest.mark.parametrize("target", ["two", "three"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: str(type(model).__name__))
def test_labels_and_probabilities_are_those_of_the_model(model, target):
    model.fit(X, TWO if target == "two" else THREE)
    found = run(model)
    assert found["label"].tolist() == model.predict(NEW).tolist()
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(NEW), **CLOSE)


def test_missing_values_go_where_the_tree_sends_them():
    holes = X.copy()
    holes[::7, 0] = np.nan
    model = qed.DecisionTreeRegressor(max_depth=4).fit(holes, NUMBER)
    new = NEW.copy()
    new[::3, 0] = np.nan
    session = onnxruntime.InferenceSession(qed.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"X": new})[0], model.predict(new), **CLOSE)


def test_what_has_no_counterpart_is_refused_with_a_sentence():
    with pytest.raises(NotAvailableError, match="KNeighborsRegressor is not translated to ONNX"):
        qed.to_onnx(qed.KNeighborsRegressor().fit(X, NUMBER))
    with pytest.raises(NotAvailableError, match="PolynomialFeatures is not translated"):
        qed.to_onnx(make_pipeline(qed.PolynomialFeatures(2), qed.Ridge()).fit(X, NUMBER))
    with pytest.raises(NotFittedError):
        qed.to_onnx(qed.Ridge())
    levels = np.column_stack([GENERATOR.integers(0, 5, 150), X[:, 0]])
    with pytest.raises(NotAvailableError, match="categories have no counterpart"):
        qed.to_onnx(qed.DecisionTreeRegressor(categorical_features=[0]).fit(levels, levels[:, 0] % 2 + X[:, 0]))


def test_names_of_columns_travel_with_the_graph():
    model = qed.Ridge().fit({"a": X[:, 0], "b": X[:, 1]}, NUMBER)
    assert qed.to_onnx(model).metadata_props[0].value == "a\nb"
