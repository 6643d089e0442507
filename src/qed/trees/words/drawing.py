"""Trees in words: the questions one below the other, or a sentence for every leaf."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from qed.trees.words.reading import Answer, Reading


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
    decision_tree : fitted DecisionTreeClassifier or DecisionTreeRegressor, or a TableModel of one
        The tree.
    feature_names, class_names : list of str, optional
        Names of columns and classes; by default those of the fit.
    max_depth : int, default=10
        Up to which level; what lies below is said in one line.
    spacing, decimals : int
        How far levels are apart, and digits of the thresholds.
    show_weights : bool, default=False
        Whether to say what each class weighs in a leaf.

    See Also
    --------
    export_rules : A sentence for every leaf.
    export_svg : A drawing.

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
    reading = Reading(decision_tree, feature_names, class_names, missing=False)
    nodes, lines = reading.nodes, []
    waiting: list[tuple[str, int, int]] = [("", 0, 0)]
    while waiting:
        head, node, depth = waiting.pop()
        if head:
            lines.append(head)
        indent = ("|" + " " * spacing) * depth + "|" + "-" * spacing + " "
        ways = list(reading.answers(node))
        if not ways:
            lines.append(indent + _leaf(reading, node, decimals, show_weights))
        elif depth > max_depth:
            lines.append(f"{indent}truncated branch of {int(nodes.ends[node]) - node} nodes")
        else:
            name = reading.names[nodes.feature[node]]
            waiting += [
                (f"{indent}{name} {_compared(answer, decimals)}", child, depth + 1) for child, answer in reversed(ways)
            ]
    return "\n".join(lines)


def _compared(answer: Answer, decimals: int) -> str:
    if answer.levels is not None:
        return f"in [{', '.join(answer.levels)}]"
    at_most = answer.low == -float("inf")
    return f"<= {answer.high:.{decimals}f}" if at_most else f">  {answer.low:.{decimals}f}"


def _leaf(reading: Reading, node: int, decimals: int, show_weights: bool) -> str:
    value = reading.nodes.value[node]
    if reading.classes is None:
        return f"value: [{value[0]:.{decimals}f}{reading.slopes(node, decimals)}]"
    shares = value * reading.nodes.weighted_n_node_samples[node]
    amounts = f"weights: [{', '.join(f'{one:.{decimals}f}' for one in shares)}] " if show_weights else ""
    return f"{amounts}class: {reading.said(node)}"


def export_rules(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
    missing: bool | Collection[str] | None = None,
    most: int | None = None,
) -> str:
    """Write a tree as rules: a sentence for every leaf, the one for most rows first.

    What several questions ask of one column is put together, so that a rule speaks of each column once.

    Parameters
    ----------
    decision_tree : fitted DecisionTreeClassifier or DecisionTreeRegressor, or a TableModel of one
        The tree.
    feature_names, class_names : list of str, optional
        Names of columns and classes; by default those of the fit.
    categories : mapping, optional
        For columns of levels, by name, what the numbers 0, 1, 2 and so on stand for; a `TableModel` knows them.
    missing : bool or list of str, optional
        The columns of which to say where missing values go; True for all, False for none. When not given, a `TableModel` knows
        which columns had some; of other trees it is said for all.
    most : int, optional
        How many rules to write; the last line says how many were left out, and of how many rows they speak.

    See Also
    --------
    export_text : The questions, one below the other.
    export_svg : A drawing.

    Examples
    --------
    >>> import qed
    >>> table = {"city": ["Rome", "Rome", "Oslo", "Paris", "Paris", "Oslo"], "income": [10, 20, 30, 40, 50, 60]}
    >>> model = qed.TableModel(qed.DecisionTreeClassifier()).fit(table, ["no", "no", "yes", "no", "no", "yes"])
    >>> print(qed.export_rules(model))
    If city is one of Paris, Rome, then 'no' (4 of 4 rows).
    If city is Oslo, then 'yes' (2 of 2 rows).
    """
    reading = Reading(decision_tree, feature_names, class_names, categories, missing)
    count = reading.nodes.n_node_samples
    found = sorted(_ways(reading), key=lambda way: -int(count[way[0]]))
    lines = [_rule(reading, leaf, answers) for leaf, answers in found[:most]]
    left = found[len(lines) :]
    if left:
        rows = sum(int(count[leaf]) for leaf, _ in left)
        lines.append(f"And {len(left):,} more rules, for {rows:,} of {int(count[0]):,} rows.")
    return "\n".join(lines)


def _ways(reading: Reading) -> Iterator[tuple[int, dict[int, Answer]]]:
    """Give every leaf with what is asked of each column on the way there."""
    waiting: list[tuple[int, dict[int, Answer]]] = [(0, {})]
    while waiting:
        node, asked = waiting.pop()
        ways = list(reading.answers(node))
        if not ways:
            yield node, asked
        for child, answer in reversed(ways):
            before = asked.get(answer.column)
            waiting.append((child, {**asked, answer.column: answer if before is None else before & answer}))


def _rule(reading: Reading, leaf: int, answers: Mapping[int, Answer]) -> str:
    said = reading.said(leaf) if reading.classes is None else f"'{reading.said(leaf)}'"
    then = f"{said} ({reading.support(leaf)})."
    if not answers:
        return f"Always {then}"
    return f"If {' and '.join(answer.sentence(reading.names[j]) for j, answer in answers.items())}, then {then}"
