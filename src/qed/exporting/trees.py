"""Trees as ONNX has them: questions and leaves apart, each child the number of the one or the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from qed.base.errors import NotAvailableError
from qed.exporting.graph import ROWS, Graph, onnx
from qed.trees.nodes import NO_LEVEL, Nodes

# "At most" and "one of", as ONNX numbers the kinds of questions.
AT_MOST, ONE_OF = 0, 6


@dataclass
class Questions:
    """The columns of a ``TreeEnsemble``."""

    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)  # whether what is missing is taken as at most the threshold
    children: list[tuple[int, int]] = field(default_factory=list)  # at most, and more
    are_leaves: list[tuple[int, int]] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    members: list[float] = field(
        default_factory=list
    )  # of each question that asks for one of some categories, NaN after each

    def plant(self, nodes: Nodes, values: np.ndarray, output: int) -> None:
        """Add a tree whose leaves add `values` to an output."""
        self.roots.append(len(self.feature))
        if nodes.feature[0] < 0:
            # A tree without questions asks one whose answer does not matter.
            self._ask(0, 0.0, 0, (self._leaf(values[0], output),) * 2, (1, 1))
            self.modes.append(AT_MOST)
            return
        asks = np.flatnonzero(nodes.feature >= 0)
        place = {int(node): len(self.feature) + number for number, node in enumerate(asks)}
        left = nodes.children_left
        for node in asks:
            ends = [int(left[node]), int(nodes.children_right[node])]
            leaves = [nodes.feature[end] < 0 for end in ends]
            found = [self._leaf(values[end], output) if is_leaf else place[end] for end, is_leaf in zip(ends, leaves)]
            missing = int(nodes.missing_go_to_left[node])
            threshold = float(nodes.threshold[node])
            if self._by_level(nodes, int(node)):
                missing, found, leaves = 1 - missing, found[::-1], leaves[::-1]
            self._ask(int(nodes.feature[node]), threshold, missing, (found[0], found[1]), (leaves[0], leaves[1]))

    def _by_level(self, nodes: Nodes, node: int) -> bool:
        """Note what kind of question a node asks, and of one about categories those that do not go where missing values go.

        So what is no category at all goes with the missing values, as in the tree. Say whether it is the right branch that is listed.
        """
        line = -1 if nodes.level_set is None else int(nodes.level_set[node])
        self.modes.append(AT_MOST if line < 0 else ONE_OF)
        if line < 0 or nodes.sets is None:
            return False
        right = bool(nodes.missing_go_to_left[node])
        self.members += [*np.flatnonzero(nodes.sets[line, :NO_LEVEL] == right).astype(float).tolist(), np.nan]
        return right

    def _ask(
        self, feature: int, threshold: float, missing: int, ends: tuple[int, int], are_leaves: tuple[int, int]
    ) -> None:
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.missing.append(missing)
        self.children.append(ends)
        self.are_leaves.append((int(are_leaves[0]), int(are_leaves[1])))

    def _leaf(self, value: float, output: int) -> int:
        self.targets.append(output)
        self.weights.append(float(value))
        return len(self.weights) - 1


def add_trees(graph: Graph, trees: Sequence[tuple[Nodes, np.ndarray, int]], outputs: int, rows: str = ROWS) -> str:
    """Add up trees, each with what its nodes are worth and the output that this is added to; give the name of the sums."""
    questions = Questions()
    for nodes, values, output in trees:
        if nodes.sets is not None and nodes.sets.max(initial=0) > 1:
            raise NotAvailableError(
                "Trees with a branch for each category have no counterpart in ONNX: fit them with categorical_split='subset'."
            )
        if nodes.slope is not None:
            raise NotAvailableError(
                "Trees with lines in their leaves have no counterpart in ONNX: take leaf_model='constant'."
            )
        questions.plant(nodes, values, output)
    tensor = onnx().numpy_helper.from_array
    ends, leaves = np.array(questions.children).T, np.array(questions.are_leaves).T
    members = {"membership_values": tensor(np.array(questions.members))} if questions.members else {}
    return graph.add(
        "TreeEnsemble",
        rows,
        domain="ai.onnx.ml",
        n_targets=outputs,
        aggregate_function=1,
        post_transform=0,
        tree_roots=questions.roots,
        nodes_modes=tensor(np.array(questions.modes, dtype=np.uint8)),
        nodes_featureids=questions.feature,
        nodes_splits=tensor(np.array(questions.threshold, dtype=np.float64)),
        nodes_missing_value_tracks_true=questions.missing,
        nodes_truenodeids=ends[0].tolist(),
        nodes_falsenodeids=ends[1].tolist(),
        nodes_trueleafs=leaves[0].tolist(),
        nodes_falseleafs=leaves[1].tolist(),
        leaf_targetids=questions.targets,
        leaf_weights=tensor(np.array(questions.weights, dtype=np.float64)),
        **members,
    )
