"""A graph of ONNX operations, written line by line."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from qed.base.errors import NotAvailableError

# Version 5 of the operators for machine learning has trees in double precision.
OPSETS = {"": 21, "ai.onnx.ml": 5}
# What readers of these versions understand.
FORMAT = 10
ROWS = "X"
# What the package makes: graphs, and their parts.
Proto: TypeAlias = Any


def onnx() -> Proto:
    """Give the package, or say how to get it."""
    try:
        return import_module("onnx")
    except ImportError:
        raise NotAvailableError("ONNX needs the package onnx: pip install 'qed-learn[onnx]'.") from None


class Graph:
    """Operations on rows in double precision: one table `X` of so many columns, or, without it, columns that are taken one by one."""

    def __init__(self, n_features: int | None = None) -> None:
        self.inputs: list[Proto] = []
        self.nodes: list[Proto] = []
        self.constants: list[Proto] = []
        self.outputs: list[Proto] = []
        self._helper, self._kinds = onnx().helper, onnx().TensorProto
        if n_features is not None:
            self.take(ROWS, "DOUBLE", n_features)

    def take(self, name: str, kind: str, columns: int = 1) -> str:
        """Take so many columns in under a name."""
        self.inputs.append(self._helper.make_tensor_value_info(name, getattr(self._kinds, kind), ["rows", columns]))
        return name

    def constant(self, value: object) -> str:
        """Add a constant; give its name."""
        name = f"constant {len(self.constants)}"
        array = np.asarray(value)
        if array.dtype.kind in "UO":
            words = [str(one).encode() for one in array.ravel().tolist()]
            made = self._helper.make_tensor(name, self._kinds.STRING, array.shape, words)
        else:
            made = onnx().numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(made)
        return name

    def add(self, operation: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        """Add an operation; give the name of its result."""
        name = f"result {len(self.nodes)}"
        made = self._helper.make_node(operation, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(made)
        return name

    def give(self, name: str, result: str, kind: str, shape: list[int | str]) -> None:
        """Give a result out under a name."""
        self.nodes.append(self._helper.make_node("Identity", [result], [name]))
        self.outputs.append(self._helper.make_tensor_value_info(name, getattr(self._kinds, kind), shape))

    def model(self, title: str, words: dict[str, str]) -> Proto:
        """Put all together, and check it."""
        graph = self._helper.make_graph(self.nodes, title, self.inputs, self.outputs, self.constants)
        opsets = [self._helper.make_opsetid(name, version) for name, version in OPSETS.items()]
        made = self._helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT, producer_name="qed")
        self._helper.set_model_props(made, words)
        onnx().checker.check_model(made)
        return made
