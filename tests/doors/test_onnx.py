"""Models as ONNX graphs say what they say, by another's runtime, on random rows."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

import qed
from qed import neural
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
    qed.MLPRegressor(
        hidden_layer_sizes=(5, 3), activation="piecewise_linear", max_iter=5, random_state=0, scale_target=True
    ),
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
    qed.MLPClassifier(6, "leaky_relu", max_iter=5, random_state=0),
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


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
def test_several_labels_and_counts_of_networks(activation):
    marks = np.column_stack([NUMBER > 0, X[:, 0] > 0, X[:, 1] > 3]).astype(int)
    model = qed.MLPClassifier(6, activation, max_iter=5, random_state=0).fit(X, marks)
    found = run(model)
    np.testing.assert_array_equal(found["label"], model.predict(NEW))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(NEW), **CLOSE)
    counts = qed.MLPRegressor("poisson", 4, activation, max_iter=5, random_state=0).fit(X, marks)
    np.testing.assert_allclose(run(counts)["prediction"], counts.predict(NEW), **CLOSE)


def stage(*layers):
    return [neural.Conv2d(4, 3, padding=1, groups=2), *layers]


AVERAGED = [neural.AvgPool2d(3, stride=1, padding=1), neural.LocalNorm(4)]
POOLED = [neural.BatchNorm(), neural.Activation("relu"), neural.MaxPool2d(3, stride=2, padding=1)]
SHORTCUT = neural.Residual(stage(neural.Activation("tanh")), [neural.Conv2d(4, 1, bias=False)])
BRANCHES = neural.Parallel([[neural.Conv2d(2, 1)], AVERAGED])
NETWORKS = [
    [*stage(*POOLED), neural.Flatten(), neural.Dense(3)],
    [SHORTCUT, neural.ChannelPool2d(2, "mean"), neural.GlobalAvgPool2d()],
    [BRANCHES, neural.Dropout(), neural.ChannelPool2d(2), neural.Flatten(), neural.Activation("softmax")],
]


@pytest.mark.parametrize("layers", NETWORKS, ids=["stages", "shortcut", "branches"])
def test_networks_of_ones_own_give_what_they_give_here(layers):
    images, y = GENERATOR.standard_normal((60, 2, 6, 5)), GENERATOR.integers(0, 2, 60)
    network = neural.Network(layers, (2, 6, 5))
    neural.train(network, images, y, epochs=2)
    assert network.running or not any(isinstance(layer, neural.BatchNorm) for layer in layers)
    session = onnxruntime.InferenceSession(qed.to_onnx(network).SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": images.reshape(60, -1)})[0]
    # Sums of at most 120 terms in single precision, in another order, through three layers.
    np.testing.assert_allclose(found, network.forward(images), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["identity", "heaviside", "step", "sign", "piecewise_linear", "sigmoid", "leaky_relu"])
def test_activations_are_those_of_the_network(name):
    network = neural.Network(
        [neural.Unflatten((1, 2, 2)), neural.Activation(name, delta=0.3), neural.Flatten()], 4, dtype=np.float64
    )
    session = onnxruntime.InferenceSession(qed.to_onnx(network).SerializeToString(), providers=["CPUExecutionProvider"])
    rows = np.vstack([NEW, np.zeros((1, 4))])
    np.testing.assert_allclose(session.run(None, {"X": rows})[0], network.forward(rows), **CLOSE)


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
    with pytest.raises(NotAvailableError, match="PCA is not translated"):
        qed.to_onnx(make_pipeline(qed.PCA(2), qed.Ridge()).fit(X, NUMBER))
    with pytest.raises(NotFittedError):
        qed.to_onnx(qed.Ridge())
    levels = np.column_stack([GENERATOR.integers(0, 5, 150), X[:, 0]])
    with pytest.raises(NotAvailableError, match="a branch for each category"):
        qed.to_onnx(
            qed.DecisionTreeRegressor(categorical_features=[0], categorical_split="multiway").fit(
                levels, levels[:, 0] % 3
            )
        )
    dates = pa.table({"when": pa.array([f"2020-01-{1 + k % 28:02d}" for k in range(150)]), "size": X[:, 0]})
    with pytest.raises(
        NotAvailableError, match="Column 'when': dates have no counterpart in ONNX. Leave the column out"
    ):
        qed.to_onnx(qed.TableModel(qed.Ridge()).fit(dates, NUMBER))


@pytest.mark.parametrize("model", [qed.DecisionTreeRegressor(max_depth=5), qed.GradientBoostingRegressor(max_iter=5)])
def test_questions_about_categories(model):
    levels = np.column_stack([GENERATOR.integers(0, 9, 300), GENERATOR.standard_normal(300)]).astype(float)
    levels[::10, 0] = np.nan
    model.set_params(categorical_features=[0]).fit(levels, np.nan_to_num(levels[:, 0]) % 3 + levels[:, 1])
    new = np.column_stack([np.tile([*range(12), np.nan, 254.0], 10), np.repeat(np.linspace(-2, 2, 10), 14)])
    session = onnxruntime.InferenceSession(qed.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"X": new})[0], model.predict(new), **CLOSE)


def mixed(n, seed, pets):
    """Give a table with holes, words, flags and whole numbers."""
    draws = np.random.default_rng(seed)
    size, pet = draws.standard_normal(n), draws.choice(pets, n)
    return pa.table(
        {
            "size": pa.array(size, mask=draws.random(n) < 0.1),
            "pet": pa.array(pet, mask=draws.random(n) < 0.1),
            "grade": draws.integers(0, 4, n),
            "young": draws.random(n) < 0.5,
        }
    )


OLD, LATER = mixed(300, 0, ["cat", "dog", "eel"]), mixed(80, 1, ["cat", "dog", "yak"])
GOAL = np.nan_to_num(OLD["size"].to_numpy()) + 2 * (OLD["pet"].to_numpy(zero_copy_only=False) == "cat")
TABLES = {
    "line": qed.TableModel(qed.Ridge()),
    "products": qed.TableModel(qed.Lasso(0.01), degree=2),
    "levels of numbers": qed.TableModel(qed.Ridge(), encoder=qed.ColumnEncoder(categorical=["grade"], full_rank=True)),
    "zeros": qed.TableModel(qed.Ridge(), encoder=qed.ColumnEncoder(unknown="zeros", indicator=False, scale=True)),
    "tree": qed.TableModel(qed.DecisionTreeRegressor(max_depth=4)),
    "boosting": qed.TableModel(qed.GradientBoostingRegressor(max_iter=5)),
    "forest": qed.TableModel(qed.RandomForestRegressor(3, random_state=0)),
    "forest by chance": qed.TableModel(qed.ExtraTreesRegressor(3, random_state=0)),
    "network": qed.TableModel(qed.MLPRegressor(hidden_layer_sizes=4, max_iter=3, random_state=0, scale_target=True)),
}


@pytest.mark.parametrize("name", TABLES)
def test_mixed_tables_have_an_input_for_each_column(name):
    model = TABLES[name].fit(OLD, GOAL)
    graph = qed.to_onnx(model)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {}
    for one in session.get_inputs():
        values = LATER[one.name].to_pylist()
        if one.type == "tensor(string)":
            given[one.name] = np.array([[value or ""] for value in values], dtype=object)
        else:
            given[one.name] = np.array([[np.nan if value is None else float(value)] for value in values])
    assert list(given) == OLD.column_names
    np.testing.assert_allclose(session.run(None, given)[0], model.predict(LATER), **CLOSE)


def test_names_of_columns_travel_with_the_graph():
    model = qed.Ridge().fit({"a": X[:, 0], "b": X[:, 1]}, NUMBER)
    assert qed.to_onnx(model).metadata_props[0].value == "a\nb"
