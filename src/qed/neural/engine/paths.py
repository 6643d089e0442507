r"""The derivative as a sum over paths, to be compared with back-propagation.

Expanding the chain rule gives

.. math::

    \frac{\partial\ell}{\partial w}
    = \sum_{w = v_0 \to v_1 \to \dots \to v_k = \ell}\ \prod_{i=1}^{k} \frac{\partial v_i}{\partial v_{i-1}},

one product of edge derivatives for each path. It is right, and nobody calculates so: in a dense network of depth :math:`L` and width
:math:`n` a weight has :math:`n^{L-1}` paths, which share nearly all their edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError
from qed.neural.engine.node import Array, Node, in_order


@dataclass(frozen=True)
class PathSum:
    """A derivative, and what it took to find it path by path."""

    derivative: Array  # of shape (size of the result, size of the node)
    paths: int  # how many paths there are
    products: int  # how many products of edge derivatives were formed


def path_sum(result: Node, node: Node, *, most_paths: int = 1_000_000) -> PathSum:
    """Differentiate `result` by `node`, path by path.

    Parameters
    ----------
    result, node : Node
        What is differentiated, and by what. Values of more than one entry count as vectors, and their edges as Jacobian matrices.
    most_paths : int, default=1_000_000
        Refuse graphs with more paths than this.

    Returns
    -------
    PathSum
        The derivative, the number of paths and the number of products.

    Examples
    --------
    >>> w = Node(1.0)
    >>> found = path_sum((2 * w) * (w + 3), w)
    >>> float(found.derivative[0, 0]), found.paths
    (10.0, 2)
    """
    paths = count_paths(result, node)
    if paths > most_paths:
        raise InputError(
            f"There are {paths} paths, more than most_paths={most_paths}: use gradients, which needs one visit to each edge."
        )
    total = np.zeros((result.value.size, node.value.size), dtype=result.value.dtype)
    products = 0
    stack: list[tuple[Node, Array | None]] = [(result, None)]
    while stack:
        at, so_far = stack.pop()
        if at is node:
            total = total + (np.eye(at.value.size, dtype=total.dtype) if so_far is None else so_far)
            continue
        for place, source in enumerate(at.inputs):
            edge = edge_derivative(at, place)
            if so_far is not None:
                products += 1
            stack.append((source, edge if so_far is None else so_far @ edge))
    return PathSum(total, paths, products)


def count_paths(result: Node, node: Node) -> int:
    """Count the paths from `node` to `result`, without walking them."""
    order = in_order(result)
    ways = {id(one): 0 for one in order}
    ways[id(result)] = 1
    for one in reversed(order):
        if one is not node:
            for source in one.inputs:
                ways[id(source)] += ways[id(one)]
    return ways.get(id(node), 0)


def edge_derivative(node: Node, place: int) -> Array:
    """Give the Jacobian matrix of a node by its input at `place`: one row for each entry of the node."""
    operation, source = node.operation, node.inputs[place]
    if operation is None:
        raise InputError("A node that was given has no edges.")
    needed, operation.needed = operation.needed, tuple(True for _ in node.inputs)
    rows = np.zeros((node.value.size, source.value.size), dtype=node.value.dtype)
    for i in range(node.value.size):
        unit = np.zeros(node.value.size, dtype=node.value.dtype)
        unit[i] = 1
        part = operation.backward(unit.reshape(node.value.shape), node.value, *(one.value for one in node.inputs))[
            place
        ]
        if part is not None:
            rows[i] = part.ravel()
    operation.needed = needed
    return rows
