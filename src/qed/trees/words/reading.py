"""A tree as people read it: what rows a way out of a node takes, what a node says, and of how many rows it knows that.

Drawings, texts and sentences all read trees here, so that whatever a node may ask is put into words once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.visible import visible
from qed.trees.nodes import NO_LEVEL, Nodes

MOST_LEVELS = 8


def short(value: float, digits: int = 6) -> str:
    """Write a number in so many digits, and those before the point in full.

    >>> short(43.35), short(20240101.5), short(1 / 3, 3), short(1e-7)
    ('43.35', '20240102', '0.333', '1e-07')
    """
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e15 else f"{value:.{digits}g}"


@dataclass(frozen=True)
class Answer:
    """The values of one column that lead one way: numbers in an interval, or some of its levels; and perhaps missing ones.

    >>> both = Answer(0, high=42.0, missing=True) & Answer(0, low=10.0, missing=True)
    >>> both.sentence("income"), both.label(), Answer(0, low=10.0).sentence("income")
    ('income is above 10 and at most 42 (or missing)', '10 – 42 or missing', 'income is above 10')
    """

    column: int
    # Numbers above `low` and at most `high`.
    low: float = -np.inf
    high: float = np.inf
    levels: tuple[str, ...] | None = None  # the levels, where the column has some
    missing: bool | None = False  # whether missing values go the same way; None where there are none to speak of

    def __and__(self, other: Answer) -> Answer:
        """Give what agrees with both answers."""
        levels = self.levels
        if levels is not None and other.levels is not None:
            levels = tuple(level for level in levels if level in set(other.levels))
        low, high = max(self.low, other.low), min(self.high, other.high)
        return replace(self, low=low, high=high, levels=levels, missing=self.missing and other.missing)

    @property
    def _takes_missing_only(self) -> bool:
        return self.low == np.inf or self.levels == ()

    def sentence(self, name: str) -> str:
        """Say it of a column, as a part of a sentence."""
        if self._takes_missing_only:
            return f"{name} is missing"
        ends = [f"above {short(self.low)}"] * (self.low > -np.inf) + [f"at most {short(self.high)}"] * (
            self.high < np.inf
        )
        says = " and ".join(ends) or "known"
        if self.levels is not None:
            says = ("one of " if len(self.levels) > 1 else "") + _listed(self.levels)
        return f"{name} is {says}" + " (or missing)" * bool(self.missing)

    def label(self) -> str:
        """Say it in as few letters as there can be."""
        if self._takes_missing_only:
            return "missing"
        if self.levels is not None:
            says = _listed(self.levels)
        elif self.low > -np.inf and self.high < np.inf:
            says = f"{short(self.low)} – {short(self.high)}"
        elif self.low > -np.inf:
            says = f"> {short(self.low)}"
        else:
            says = f"≤ {short(self.high)}" if self.high < np.inf else "known"
        return says + " or missing" * bool(self.missing)


def _listed(levels: Sequence[str], most: int = MOST_LEVELS) -> str:
    """Write levels one after the other; of many the first ones, and how many more there are."""
    more = f" and {len(levels) - most} more" if len(levels) > most else ""
    return ", ".join(levels[:most]) + more


class Reading:
    """A fitted tree with the words to tell of it.

    Parameters
    ----------
    model : fitted decision tree, or a TableModel of one
        The tree.
    feature_names, class_names : list of str, optional
        Names of columns and classes; by default those of the fit.
    categories : mapping, optional
        For columns of levels, by name, what the numbers 0, 1, 2 and so on stand for; a `TableModel` knows them.
    missing : bool or list of str, optional
        The columns of which to say where missing values go; True for all, False for none. When not given, a `TableModel` knows
        which columns had some; of other trees it is said for all.
    """

    def __init__(
        self,
        model: Any,
        feature_names: Any = None,
        class_names: Any = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: bool | Collection[str] | None = None,
    ) -> None:
        model._check_fitted()
        tree = getattr(model, "model_", model)
        if not isinstance(getattr(tree, "tree_", None), Nodes):
            raise InputError(f"{type(tree).__name__} is no single tree: give a decision tree, or one tree of a forest.")
        known, holed = model._column_words() if tree is not model else ({}, True)
        self.nodes: Nodes = tree.tree_
        self.names = _names(tree, feature_names)
        self.classes = _classes(tree, class_names)
        by_name = dict(zip(getattr(tree, "feature_names_in_", self.names), self.names))
        labels = {by_name.get(name, name): list(map(str, of)) for name, of in (categories or known).items()}
        self.levels = {
            j: {code: visible(one) for code, one in enumerate(labels[name])}
            for j, name in enumerate(self.names)
            if name in labels
        }
        self.sets = _sets(self.nodes)
        for node, line in self.sets.items():
            # Of levels without a name those are known by their numbers that do not go where all others go.
            codes = np.flatnonzero(line != line[NO_LEVEL]).tolist()
            found = self.levels.setdefault(int(self.nodes.feature[node]), {NO_LEVEL: "other"})
            if NO_LEVEL in found:
                found.update({code: str(code) for code in codes})
        chosen = holed if missing is None else missing
        asked = set(self.names) if chosen is True else {by_name.get(one, one) for one in chosen or ()}
        self.holed = {j for j, name in enumerate(self.names) if name in asked}
        # Rows can be counted out where all weigh one.
        self.counted = bool((self.nodes.weighted_n_node_samples == self.nodes.n_node_samples).all())

    def answers(self, node: int) -> Iterator[tuple[int, Answer]]:
        """Give the children of a node, each with the answer that leads there; none for a leaf."""
        nodes, column = self.nodes, int(self.nodes.feature[node])
        if column < 0:
            return
        at, left, say = float(nodes.threshold[node]), bool(nodes.missing_go_to_left[node]), column in self.holed
        line = self._line(node)
        if line is None:
            yield node + 1, Answer(column, high=at, missing=left if say else None)
            yield int(nodes.children_right[node]), Answer(column, low=at, missing=not left if say else None)
            return
        child = node + 1
        for branch in range(1 + int(line.max(initial=1))):
            levels = tuple(label for code, label in self.levels[column].items() if line[code] == branch)
            yield child, Answer(column, levels=levels, missing=bool(line[NO_LEVEL] == branch) if say else None)
            child = int(nodes.ends[child])

    def _line(self, node: int) -> np.ndarray | None:
        """Give the branch that each level takes at a node, and last what is none; None where numbers are asked for."""
        own = self.sets.get(node)
        if own is not None or int(self.nodes.feature[node]) not in self.levels:
            return own
        line = np.arange(NO_LEVEL + 1) > self.nodes.threshold[node]
        line[NO_LEVEL] = not self.nodes.missing_go_to_left[node]
        return line.astype(np.intp)

    def said(self, node: int) -> str:
        """Give what the tree predicts where it ends at a node."""
        value = self.nodes.value[node]
        if self.classes is not None:
            return self.classes[int(value.argmax())]
        return short(float(value[0])) + self.slopes(node)

    def slopes(self, node: int, decimals: int | None = None) -> str:
        """Give what the line of a leaf adds to its mean; nothing where leaves are constant."""
        slope, center = self.nodes.slope, self.nodes.center
        if slope is None or center is None:
            return ""
        places = np.flatnonzero(slope[node])
        terms = [
            [short(v, 3) if decimals is None else f"{v:.{decimals}f}" for v in (abs(slope[node, j]), center[node, j])]
            for j in places
        ]
        signs = ["+" if slope[node, j] > 0 else "-" for j in places]
        return "".join(f" {sign} {b} * ({self.names[j]} - {c})" for sign, (b, c), j in zip(signs, terms, places))

    def support(self, node: int) -> str:
        """Say of how many rows a node speaks, and for how many of them it is right."""
        count, value = int(self.nodes.n_node_samples[node]), self.nodes.value[node]
        rows = f"{count:,} row{'' if count == 1 else 's'}"
        if self.classes is None:
            return rows
        share = float(value.max())
        return f"{round(share * count):,} of {rows}" if self.counted else f"{share:.0%} of the weight of {rows}"

    def below(self, node: int) -> Iterable[int]:
        """Give the leaves below a node, itself if it is one."""
        stretch = np.arange(node, self.nodes.ends[node])
        return stretch[self.nodes.is_leaf[stretch]].tolist()


def _sets(nodes: Nodes) -> dict[int, np.ndarray]:
    """Give the nodes that ask about levels, each with the branch of every level."""
    own, sets = nodes.level_set, nodes.sets
    return {} if own is None or sets is None else {int(node): sets[own[node]] for node in np.flatnonzero(own >= 0)}


def _names(tree: Any, given: Any) -> list[str]:
    p = tree.n_features_in_
    known = getattr(tree, "feature_names_in_", [f"feature_{j}" for j in range(p)])
    names = [visible(str(name)) for name in (known if given is None else given)]
    if len(names) != p:
        raise InputError(f"feature_names must contain {p} elements, got {len(names)}.")
    return names


def _classes(tree: Any, given: Any) -> list[str] | None:
    classes = getattr(tree, "classes_", None)
    if classes is None:
        return None
    if given is not None and len(given) != len(classes):
        raise InputError(f"class_names must contain {len(classes)} elements, got {len(given)}.")
    return [visible(str(label)) for label in (classes if given is None else given)]
