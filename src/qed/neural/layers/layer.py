"""What a layer is: a rule for shapes, a list of weights, and a way from nodes to nodes.

A layer holds no numbers. It says which weights it needs for an input of some shape, and gets them when it is run; they lie together in
one vector that belongs to the network, which is what training changes, files keep, and proofs move.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.neural.engine.node import Array, Node

Shape = tuple[int, ...]
STARTS = ("glorot", "he", "lecun", "zeros", "ones")


@dataclass(frozen=True)
class Weight:
    """An array of weights that a layer needs."""

    shape: Shape
    start: str = "zeros"  # how it begins, one of STARTS
    inputs: int = 1  # how many values each output is made from
    outputs: int = 1  # how many outputs each value goes to
    trained: bool = True  # False for running means, which are collected and not trained
    decays: bool = False  # whether a penalty applies to it; offsets and scales have none

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def begin(self, draws: np.random.Generator) -> Array:
        """Draw the values that it begins with: uniform, as wide as keeps the spread of what goes through."""
        if self.start in ("zeros", "ones"):
            return np.full(self.shape, float(self.start == "ones"))
        square = {
            "glorot": 6.0 / (self.inputs + self.outputs),
            "he": 6.0 / self.inputs,
            "lecun": 3.0 / self.inputs,
        }[self.start]
        return draws.uniform(-1.0, 1.0, self.shape) * np.sqrt(square)


@dataclass
class Scope:
    """What a layer gets when it is run: its weights by name, whether this is training, and random draws if it is."""

    nodes: Mapping[str, Node]
    running: dict[str, Array]
    prefix: str = ""
    training: bool = False
    draws: np.random.Generator | None = None
    seen: dict[str, Node] = field(default_factory=dict)  # what came out of each named layer

    def __getitem__(self, name: str) -> Node:
        return self.nodes[self.prefix + name]

    def inner(self, name: str) -> Scope:
        """Give the scope of a layer inside this one."""
        return Scope(self.nodes, self.running, f"{self.prefix}{name}.", self.training, self.draws, self.seen)


class Layer(ABC):
    """A part of a network."""

    # Whether rows of a batch go through it independently, so that a batch may be cut into parts.
    by_rows: ClassVar[bool] = True

    @abstractmethod
    def shape(self, given: Shape) -> Shape:
        """Say what shape comes out for a row of the given shape; refuse what does not fit."""

    def weights(self, given: Shape) -> dict[str, Weight]:
        """Say which weights it needs for rows of the given shape."""
        return {}

    @abstractmethod
    def run(self, x: Node, scope: Scope) -> Node:
        """Go forward."""

    def products(self, given: Shape) -> int:
        """Count the multiplications of weights for one row."""
        return 0

    def parts(self) -> Iterator[tuple[str, Layer]]:
        """Give the layers inside this one, with their names."""
        return iter(())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({shown})"


def columns_of(given: Shape, layer: str) -> int:
    """Give the number of columns of rows that are vectors; refuse images."""
    if len(given) != 1:
        raise InputError(f"{layer} takes rows of numbers, not of shape {given}: put Flatten() before it.")
    return given[0]


def image_of(given: Shape, layer: str) -> tuple[int, int, int]:
    """Give channels, height and width of rows that are images."""
    if len(given) != 3:
        raise InputError(
            f"{layer} takes images of shape (channels, height, width), not {given}: say input_shape=(channels, height, width)."
        )
    return given[0], given[1], given[2]


def whole(value: int, what: str, least: int = 1) -> int:
    """Check a count."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{what} must be a whole number from {least} on, not {value!r}.")
    return int(value)


def start_named(start: str) -> str:
    """Check how weights are to begin."""
    if start not in STARTS:
        raise ParameterError(f"start must be one of {', '.join(STARTS)}, not {start!r}.")
    return start
