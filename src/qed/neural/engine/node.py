r"""The graph of a calculation, and back-propagation through it.

A `Node` is a value with the operation and the nodes that it was made from. Whoever calculates with nodes draws a directed graph without
circles, and the derivative of its last node :math:`\ell` by any other follows from the chain rule over the nodes that use it,

.. math:: \frac{\partial\ell}{\partial v} = \sum_{u \in out(v)} \frac{\partial\ell}{\partial u} \frac{\partial u}{\partial v}.

`gradients` takes the nodes in the reverse of an order in which each stands after what it was made from, so that every node and every
edge is visited once: going back costs about as much as going forward, however many paths there are (:mod:`qed.neural.engine.paths`
counts them).

Rumelhart, Hinton and Williams (1986), Learning representations by back-propagating errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError

Array = np.ndarray
Slopes = tuple[Array | None, ...]


class Operation(ABC):
    """What is done to values, forward, and to slopes, backward: one object for each time that it is done."""

    needed: tuple[bool, ...] = ()  # which inputs somebody wants the slopes of

    @abstractmethod
    def forward(self, *values: Array) -> Array:
        """Give the value; what going back will need may be kept on `self`."""

    @abstractmethod
    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        """Give the slopes of the inputs from that of the value; None for inputs that have none, or that are not `needed`."""


class Node:
    """A value in a graph.

    Parameters
    ----------
    value : array or number
        The value. What is no floating-point array becomes one of float32.
    trained : bool, default=True
        Whether anybody wants the slope of it. Data are not trained, and nothing is calculated for them on the way back.
    name : str, default=""
        What to call it.

    Examples
    --------
    >>> w = Node(1.0, name="w")
    >>> loss = (2 * w) * (w + 3)
    >>> float(loss.value), float(gradients(loss, [w])[0])
    (8.0, 10.0)
    """

    __slots__ = ("inputs", "name", "operation", "trained", "value")
    # Otherwise NumPy would take `array * node` apart, number by number.
    __array_ufunc__ = None

    def __init__(self, value: Array | float, *, trained: bool = True, name: str = "") -> None:
        given = np.asarray(value)
        self.value: Array = (
            given if given.dtype in (np.float32, np.float64, np.complex128) else given.astype(np.float32)
        )
        self.operation: Operation | None = None
        self.inputs: tuple[Node, ...] = ()
        self.trained = trained
        self.name = name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def __repr__(self) -> str:
        made = "given" if self.operation is None else type(self.operation).__name__
        return f"Node({self.name or made}, shape={self.value.shape})"

    def __add__(self, other: Node | Array | float) -> Node:
        return apply(Add(), self, _like(other, self))

    def __mul__(self, other: Node | Array | float) -> Node:
        return apply(Multiply(), self, _like(other, self))

    def __neg__(self) -> Node:
        return self * -1.0

    def __sub__(self, other: Node | Array | float) -> Node:
        return self + -_like(other, self)

    def __rsub__(self, other: Array | float) -> Node:
        return -self + other

    def __pow__(self, exponent: float) -> Node:
        return apply(Power(exponent), self)

    def __matmul__(self, other: Node) -> Node:
        return apply(Product(), self, other)

    __radd__, __rmul__ = __add__, __mul__

    def sum(self) -> Node:
        """Give the sum of all entries."""
        return apply(Sum(), self)


def apply(operation: Operation, *inputs: Node, name: str = "") -> Node:
    """Do an operation, and remember what it was done to."""
    operation.needed = tuple(node.trained for node in inputs)
    made = Node(operation.forward(*(node.value for node in inputs)), trained=any(operation.needed), name=name)
    made.operation, made.inputs = operation, inputs
    return made


def constant(value: Array | float) -> Node:
    """Give a node that nobody asks the slope of."""
    return Node(value, trained=False)


def _like(other: Node | Array | float, node: Node) -> Node:
    if isinstance(other, Node):
        return other
    return constant(np.asarray(other, dtype=node.value.dtype))


def in_order(result: Node) -> list[Node]:
    """Give all nodes that `result` was made from, each after its own inputs, and `result` at the end; refuse circles."""
    order: list[Node] = []
    done: set[int] = set()
    open_: set[int] = set()
    stack = [(result, False)]
    while stack:
        node, left = stack.pop()
        if left:
            open_.discard(id(node))
            done.add(id(node))
            order.append(node)
            continue
        if id(node) in done:
            continue
        if id(node) in open_:
            raise InputError(f"{node!r} is made from itself: a graph with a circle has no order to calculate it in.")
        open_.add(id(node))
        stack.append((node, True))
        for source in node.inputs:
            if id(source) in open_:
                raise InputError(
                    f"{source!r} is made from itself: a graph with a circle has no order to calculate it in."
                )
            if id(source) not in done:
                stack.append((source, False))
    return order


@dataclass
class Tally:
    """What going back through a graph took."""

    nodes: int = 0  # nodes visited
    edges: int = 0  # edges along which a slope went


def gradients(
    result: Node, wanted: Sequence[Node], *, seed: Array | None = None, tally: Tally | None = None
) -> list[Array]:
    """Differentiate a node by others, by back-propagation.

    Parameters
    ----------
    result : Node
        What is differentiated.
    wanted : sequence of Node
        By what. Where `result` does not depend on one, its slope is zero.
    seed : array, optional
        The slope to begin with at `result`, of its shape; ones where it is not given.
    tally : Tally, optional
        Counts what was visited.

    Returns
    -------
    list of array
        The slope of the sum of ``seed * result`` by each of the wanted, in its shape.
    """
    value = result.value
    first = np.ones_like(value) if seed is None else np.asarray(seed, dtype=value.dtype)
    if first.shape != value.shape:
        raise InputError(f"seed has shape {first.shape}, the node to differentiate {value.shape}: give the same.")
    slopes: dict[int, Array] = {id(result): first}
    kept = {id(node) for node in wanted}
    for node in reversed(in_order(result)):
        if id(node) not in slopes or node.operation is None:
            continue
        slope = slopes[id(node)] if id(node) in kept else slopes.pop(id(node))
        for source, part in zip(
            node.inputs, node.operation.backward(slope, node.value, *(one.value for one in node.inputs)), strict=True
        ):
            if part is None or not source.trained:
                continue
            there = slopes.get(id(source))
            slopes[id(source)] = part if there is None else there + part
            if tally is not None:
                tally.edges += 1
        if tally is not None:
            tally.nodes += 1
    return [slopes[id(node)] if id(node) in slopes else np.zeros_like(node.value) for node in wanted]


def summed_to(slope: Array, shape: tuple[int, ...]) -> Array:
    """Take back what broadcasting did: the slope of what was repeated is the sum over its repetitions."""
    if slope.shape == shape:
        return slope
    extra = slope.ndim - len(shape)
    slope = slope.sum(axis=tuple(range(extra)))
    return slope.sum(axis=tuple(i for i, size in enumerate(shape) if size == 1), keepdims=True).reshape(shape)


class Add(Operation):
    """The sum of two; either may be repeated along axes that it does not have."""

    def forward(self, *values: Array) -> Array:
        left, right = values
        return left + right

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        left, right = values
        return summed_to(slope, left.shape), summed_to(slope, right.shape)


class Multiply(Operation):
    """The product of two, entry by entry."""

    def forward(self, *values: Array) -> Array:
        left, right = values
        return left * right

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        left, right = values
        return summed_to(slope * right, left.shape), summed_to(slope * left, right.shape)


class Power(Operation):
    """A fixed power of every entry."""

    def __init__(self, exponent: float) -> None:
        self.exponent = exponent

    def forward(self, *values: Array) -> Array:
        return values[0] ** self.exponent

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (slope * self.exponent * values[0] ** (self.exponent - 1),)


class Product(Operation):
    """The product of two matrices."""

    def forward(self, *values: Array) -> Array:
        left, right = values
        return left @ right

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        left, right = values
        left_needed, right_needed = self.needed
        return slope @ right.T if left_needed else None, left.T @ slope if right_needed else None


class Sum(Operation):
    """The sum of all entries."""

    def forward(self, *values: Array) -> Array:
        return values[0].sum(keepdims=False).reshape(())

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (np.broadcast_to(slope, values[0].shape),)
