"""Models as ONNX graphs, which predict without qed and without Python: linear models, trees, forests, boosting, networks, and what comes
before them.

The graph takes a table ``X`` in double precision and gives what the model's methods give: ``prediction`` for numbers; ``label``, and
``probabilities`` where the model has them, for classes; and for a network of one's own ``output``, what ``forward`` gives. It does what the
model does, operation by operation, so that both agree but for the rounding of sums in another order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from qed.base.errors import InputError, NotAvailableError
from qed.base.models.composed import Member
from qed.classification.logistic.softmax_classifier import SoftmaxClassifier
from qed.classification.planes import LinearClassifier
from qed.exporting.graph import ROWS, Graph, Proto
from qed.exporting.networks import add_network, columns_of_network
from qed.exporting.tables import add_columns
from qed.exporting.trees import add_trees
from qed.features.maps.polynomial import PolynomialFeatures
from qed.features.scaling.minmax_scaler import MinMaxScaler
from qed.features.scaling.standard_scaler import StandardScaler
from qed.features.tables.encoder import ColumnEncoder
from qed.neural.models.classifier import MLPClassifier
from qed.neural.models.model import MultiLayer
from qed.neural.network import Network
from qed.regression.linear.linear import LinearPredictor
from qed.selection.comparing.table_model import TableModel
from qed.trees.boosting.forest import Forest
from qed.trees.boosting.losses.objectives import OF_LOGARITHMS
from qed.trees.nodes import Nodes


def to_onnx(model: Member | Network) -> Proto:
    """Give a fitted model as an ONNX graph; it needs the extra ``qed-learn[onnx]``.

    Parameters
    ----------
    model : fitted estimator
        A linear regression or classification, a decision tree, a forest, gradient boosting, a multi-layer perceptron, or a scikit-learn
        ``Pipeline`` of a `ColumnEncoder` or scalers and one of these, or a `TableModel`, such as ``qed compare`` saves; of a search the
        best model. A mixed table has an input for each raw column: numbers are NaN and text is empty where they are missing. Or a
        `Network` of the layers of :mod:`qed.neural`, which takes images as rows of numbers, channel by channel, line by line.

    Returns
    -------
    onnx.ModelProto
        The graph: ``onnx.save(found, "model.onnx")`` writes it.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> graph = qed.to_onnx(qed.Ridge().fit(X, y))
    >>> [output.name for output in graph.graph.output]
    ['prediction']
    """
    if isinstance(model, Network):
        return _network(model)
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    if isinstance(model, TableModel):
        model._check_fitted()
        steps = [*model.changes_, model.model_]
    else:
        steps = [part for _, part in model.steps] if isinstance(getattr(model, "steps", None), list) else [model]
    for part in steps:
        if hasattr(part, "_check_fitted"):
            part._check_fitted()
    first, last = steps[0], steps[-1]
    if not hasattr(first, "n_features_in_"):
        raise InputError(f"{type(first).__name__} does not say how many columns it takes: give a fitted model of qed.")
    if isinstance(first, ColumnEncoder):
        graph, changes = Graph(), steps[1:-1]
        rows = add_columns(graph, first)
    else:
        graph, changes, rows = Graph(int(first.n_features_in_)), steps[:-1], ROWS
    for part in changes:
        rows = _scaled(graph, part, rows)
    _predicted(graph, last, rows)
    names = [str(name) for name in getattr(first, "feature_names_in_", ())]
    words = {"columns": "\n".join(names)} if names else {}
    return graph.model(type(last).__name__, words)


def _network(network: Network) -> Proto:
    """Write a network of one's own."""
    graph = Graph(columns_of_network(network))
    found, kind = add_network(graph, network, ROWS)
    graph.give("output", found, kind, ["rows", *network.shapes[-1]])
    return graph.model("Network", {})


def _scaled(graph: Graph, part: Member, rows: str) -> str:
    """Add a step that changes columns."""
    if part is None or part == "passthrough":
        return rows
    if isinstance(part, StandardScaler):
        if part.mean_ is not None and part.with_mean:
            rows = graph.add("Sub", rows, graph.constant(np.asarray(part.mean_, dtype=np.float64)))
        if part.scale_ is not None:
            rows = graph.add("Div", rows, graph.constant(np.asarray(part.scale_, dtype=np.float64)))
        return rows
    if isinstance(part, MinMaxScaler) and not part.clip:
        low = float(part.feature_range[0])
        rows = graph.add("Sub", rows, graph.constant(np.asarray(part.data_min_, dtype=np.float64)))
        rows = graph.add("Mul", rows, graph.constant(np.asarray(part.scale_, dtype=np.float64)))
        return graph.add("Add", rows, graph.constant(np.array(low)))
    if isinstance(part, PolynomialFeatures):
        return _products(graph, np.asarray(part.powers_), rows)
    raise NotAvailableError(f"{type(part).__name__} is not translated to ONNX: scalers are, and models behind them.")


def _products(graph: Graph, powers: np.ndarray, rows: str) -> str:
    """Add products of columns: each is one of as many factors as its degree, and the others are one."""
    ones = graph.add("Add", graph.add("Mul", graph.add("Gather", rows, graph.constant(np.array([0])), axis=1),
                                      graph.constant(np.array(0.0))), graph.constant(np.array(1.0)))  # fmt: skip
    padded, columns = graph.add("Concat", rows, ones, axis=1), powers.shape[1]
    degree = int(powers.sum(axis=1).max(initial=1))
    factors = np.full((degree, len(powers)), columns)
    for number, each in enumerate(powers):
        found = np.repeat(np.arange(columns), each)
        factors[: len(found), number] = found
    made = [graph.add("Gather", padded, graph.constant(places), axis=1) for places in factors]
    while len(made) > 1:
        made[:2] = [graph.add("Mul", made[0], made[1])]
    return made[0]


def _predicted(graph: Graph, model: Member, rows: str) -> None:
    """Add the model itself, and what it gives."""
    if isinstance(model, LinearPredictor):
        coef, intercept = model._columns()
        _give_numbers(graph, _planes(graph, rows, coef, intercept), np.ndim(model.coef_) > 1)
    elif isinstance(model, LinearClassifier):
        coef, intercept = np.asarray(model.coef_, dtype=np.float64).T, np.asarray(model.intercept_, dtype=np.float64)
        scores = _planes(graph, rows, coef, intercept)
        _give_classes(
            graph, model.classes_, scores, coef.shape[1], 1.0 if isinstance(model, SoftmaxClassifier) else None
        )
    elif isinstance(model, MultiLayer):
        _perceptron(graph, model, rows)
    elif hasattr(model, "forest_"):
        _boosted(graph, model, rows)
    elif hasattr(model, "trees_") or (hasattr(model, "tree_") and isinstance(model.tree_, Nodes)):
        _trees(graph, model, rows)
    else:
        raise NotAvailableError(
            f"{type(model).__name__} is not translated to ONNX: linear models, trees, forests, gradient boosting and networks are. "
            "Save it with qed.save, and serve it with qed serve."
        )


def _planes(graph: Graph, rows: str, coef: np.ndarray, intercept: np.ndarray) -> str:
    product = graph.add("MatMul", rows, graph.constant(np.asarray(coef, dtype=np.float64)))
    return graph.add("Add", product, graph.constant(np.asarray(intercept, dtype=np.float64)))


def _perceptron(graph: Graph, model: MultiLayer, rows: str) -> None:
    """Add a multi-layer perceptron."""
    scores, _ = add_network(graph, model.network(), rows)
    outputs = model.n_outputs_
    if not isinstance(model, MLPClassifier):
        _give_numbers(graph, graph.add("Exp", scores) if model.out_activation_ == "exp" else scores, outputs > 1)
    elif model.out_activation_ == "logistic" and outputs > 1:
        graph.give("probabilities", graph.add("Sigmoid", scores), "DOUBLE", ["rows", outputs])
        above = graph.add("Greater", scores, graph.constant(np.array(0.0)))
        graph.give("label", graph.add("Cast", above, to=7), "INT64", ["rows", outputs])
    else:
        _give_classes(graph, model.classes_, scores, outputs, 1.0)


def _trees(graph: Graph, model: Member, rows: str) -> None:
    """Add a tree, or the mean of many."""
    trees: list[Nodes] = list(model.trees_) if hasattr(model, "trees_") else [model.tree_]
    outputs = trees[0].n_outputs
    planted = [(nodes, nodes.value[:, k] / len(trees), k) for nodes in trees for k in range(outputs)]
    sums = add_trees(graph, planted, outputs, rows)
    if hasattr(model, "classes_"):
        _give_shares(graph, model.classes_, sums)
    else:
        _give_numbers(graph, sums, several=False)


def _boosted(graph: Graph, model: Member, rows: str) -> None:
    """Add the rounds of boosting."""
    outputs, forest = int(model.n_trees_per_iteration_), model.forest_
    trees = [(nodes := _with_sets(forest, k), nodes.value[:, 0], k % outputs) for k in range(forest.n_trees)]
    baseline = graph.constant(np.asarray(model.baseline_, dtype=np.float64).reshape(1, outputs))
    scores = graph.add("Add", add_trees(graph, trees, outputs, rows), baseline)
    if hasattr(model, "classes_"):
        _give_classes(graph, model.classes_, scores, outputs, 2.0 if model.loss == "exponential" else 1.0)
    else:
        _give_numbers(graph, graph.add("Exp", scores) if model.loss in OF_LOGARITHMS else scores, several=False)


def _with_sets(forest: Forest, number: int) -> Nodes:
    """Give a tree of boosting with what it asks about categories, as other trees have it: the number of the branch of each."""
    nodes, here = forest.tree(number), slice(int(forest.starts[number]), int(forest.starts[number + 1]))
    lines = forest.level_set[here]
    if not (lines >= 0).any():
        return nodes
    level_set = np.where(lines >= 0, np.cumsum(lines >= 0) - 1, -1)
    return replace(nodes, level_set=level_set, sets=(~forest.sets[lines[lines >= 0]].astype(bool)).astype(np.uint8))


def _give_numbers(graph: Graph, found: str, several: bool) -> None:
    if several:
        graph.give("prediction", found, "DOUBLE", ["rows", "outputs"])
    else:
        graph.give("prediction", graph.add("Squeeze", found, graph.constant(np.array([1]))), "DOUBLE", ["rows"])


def _give_classes(graph: Graph, classes: np.ndarray, scores: str, planes: int, slope: float | None) -> None:
    """Give labels, and where scores are logarithms of odds (times a slope) the probabilities."""
    if planes > 1:
        if slope is not None:
            graph.give("probabilities", graph.add("Softmax", scores, axis=1), "DOUBLE", ["rows", len(classes)])
        _give_labels(graph, classes, graph.add("ArgMax", scores, axis=1, keepdims=0))
        return
    if slope is not None:
        second = graph.add("Sigmoid", graph.add("Mul", scores, graph.constant(np.array(slope))))
        first = graph.add("Sub", graph.constant(np.array(1.0)), second)
        graph.give("probabilities", graph.add("Concat", first, second, axis=1), "DOUBLE", ["rows", 2])
    above = graph.add(
        "Greater", graph.add("Squeeze", scores, graph.constant(np.array([1]))), graph.constant(np.array(0.0))
    )
    _give_labels(graph, classes, graph.add("Cast", above, to=7))


def _give_shares(graph: Graph, classes: np.ndarray, shares: str) -> None:
    graph.give("probabilities", shares, "DOUBLE", ["rows", len(classes)])
    _give_labels(graph, classes, graph.add("ArgMax", shares, axis=1, keepdims=0))


def _give_labels(graph: Graph, classes: np.ndarray, places: str) -> None:
    """Give the label at each place: whole numbers as such, other numbers in double precision, all else as text."""
    kind = {"i": "INT64", "u": "INT64", "b": "INT64", "f": "DOUBLE"}.get(classes.dtype.kind, "STRING")
    known = classes.astype({"INT64": np.int64, "DOUBLE": np.float64}.get(kind, object))
    graph.give("label", graph.add("Gather", graph.constant(known), places, axis=0), kind, ["rows"])
