"""``qed export``: a saved model in the format of others."""

from typing import NamedTuple

from qed.base.errors import InputError
from qed.base.saving.archive import check_path
from qed.base.saving.models import load
from qed.exporting.graph import onnx
from qed.exporting.to_onnx import to_onnx


class Exported(NamedTuple):
    """What was written: the class of the model, the file, and what the graph gives."""

    kind: str
    output: str
    outputs: list[str]


def export(model_path: str, output: str) -> Exported:
    """Write a saved model as an ONNX file."""
    if not output.endswith(".onnx"):
        raise InputError(f"{output!r} should end in .onnx.")
    model = load(model_path)
    graph = to_onnx(model)
    onnx().save(graph, str(check_path(output)))
    return Exported(type(model).__name__, output, [one.name for one in graph.graph.output])
