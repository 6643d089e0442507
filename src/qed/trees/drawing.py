"""Trees in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.visible import visible


def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Write the questions of a tree, one below the other.

    Parameters
    ----------
    decision_tree : fitted DecisionTreeClassifier or DecisionTreeRegressor
        The tree.
    feature_names, class_names : list of str, optional
        Names of columns and classes; by default those of the fit.
    max_depth : int, default=10
        Up to which level; what lies below is said in one line.
    spacing, decimals : int
        How far levels are apart, and digits of the thresholds.
    show_weights : bool, default=False
        Whether to say what each class weighs in a leaf.

    Examples
    --------
    >>> import qed
    >>> model = qed.DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0])
    >>> print(qed.export_text(model, feature_names=["age"]))
    |--- age <= 1.50
    |   |--- value: [0.00]
    |--- age >  1.50
    |   |--- value: [3.00]
    """
    decision_tree._check_fitted()
    nodes, p = decision_tree.tree_, decision_tree.n_features_in_
    known = getattr(decision_tree, "feature_names_in_", [f"feature_{j}" for j in range(p)])
    names = [visible(str(name)) for name in (known if feature_names is None else feature_names)]
    if len(names) != p:
        raise InputError(f"feature_names must contain {p} elements, got {len(names)}.")
    classes = getattr(decision_tree, "classes_", None)
    if classes is not None and class_names is not None:
        if len(class_names) != len(classes):
            raise InputError(f"class_names must contain {len(classes)} elements, got {len(class_names)}.")
        classes = np.asarray(class_names)
    lines: list[str] = []
    waiting: list[tuple[str, int, int]] = [("", 0, 0)]
    while waiting:
        head, node, depth = waiting.pop()
        if head:
            lines.append(head)
        indent = ("|" + " " * spacing) * depth + "|" + "-" * spacing + " "
        if nodes.feature[node] < 0:
            lines.append(indent + _leaf(nodes, node, classes, decimals, show_weights))
        elif depth > max_depth:
            below = int(nodes.ends[node]) - node
            lines.append(f"{indent}truncated branch of {below} nodes")
        else:
            name, at = names[nodes.feature[node]], f"{nodes.threshold[node]:.{decimals}f}"
            waiting.append((f"{indent}{name} >  {at}", int(nodes.children_right[node]), depth + 1))
            waiting.append((f"{indent}{name} <= {at}", node + 1, depth + 1))
    return "\n".join(lines)


def _leaf(nodes: Any, node: int, classes: np.ndarray | None, decimals: int, show_weights: bool) -> str:
    value = nodes.value[node]
    if classes is None:
        return f"value: [{value[0]:.{decimals}f}]"
    label = visible(str(classes[value.argmax()]))
    shares = value * nodes.weighted_n_node_samples[node]
    amounts = f"weights: [{', '.join(f'{one:.{decimals}f}' for one in shares)}] " if show_weights else ""
    return f"{amounts}class: {label}"
