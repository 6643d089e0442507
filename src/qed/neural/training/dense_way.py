"""Networks of dense layers on the fast way: how they are read as one, the room that it needs, and the pass itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from qed.base.threads.team import Team
from qed.linalg.registers.tiles import tile_columns, tile_rows
from qed.neural.engine.node import Array
from qed.neural.layers.activation import Activation
from qed.neural.layers.dense import Dense
from qed.neural.network import Network
from qed.neural.training import dense_kernel
from qed.neural.training.dense_kernel import dense_epoch
from qed.neural.training.updates import Moving, Update


class Terms(Protocol):
    """What a pass has to know of training."""

    @property
    def network(self) -> Network: ...

    @property
    def batch(self) -> int: ...

    @property
    def update(self) -> Update: ...

    @property
    def mean_weight(self) -> float: ...

    @property
    def decays(self) -> Array: ...

    @property
    def penalty_share(self) -> float: ...


@dataclass(frozen=True)
class DenseShape:
    """A network of dense layers with one activation: the sizes of its layers, and the numbers of activation and loss."""

    sizes: Array
    hidden: int
    loss: int
    delta: float


def dense_shape(network: Network) -> DenseShape | None:
    """Read a network as a list of dense layers, where it is one."""
    layers, names = list(network.layers), set()
    if network.loss not in dense_kernel.LOSSES or len(network.input_shape) != 1 or not isinstance(layers[-1], Dense):
        return None
    slopes, sizes = set(), [network.input_shape[0]]
    for number, layer in enumerate(layers):
        if isinstance(layer, Dense) and layer.bias:
            sizes.append(layer.outputs)
            # A layer without an activation before the next one has that of doing nothing.
            if number + 1 < len(layers) and isinstance(layers[number + 1], Dense):
                names.add("identity")
        elif isinstance(layer, Activation) and number and isinstance(layers[number - 1], Dense):
            names.add("logistic" if layer.name == "sigmoid" else layer.name)
            slopes.add(layer.delta)
        else:
            return None
    # All leak alike, which matters where they leak at all.
    if len(names) > 1 or (names == {"leaky_relu"} and len(slopes) > 1) or not names <= set(dense_kernel.ACTIVATIONS):
        return None
    hidden = dense_kernel.ACTIVATIONS.index(names.pop() if names else "identity")
    loss, delta = dense_kernel.LOSSES.index(network.loss), max(slopes, default=0.01)
    return DenseShape(np.array(sizes, np.int64), hidden, loss, delta)


class DenseRoom:
    """Room for the gradient of a batch of at most `n` rows."""

    def __init__(self, sizes: Array, n: int, dtype: np.dtype) -> None:
        self.sizes = sizes
        widest, wide = int(sizes.max()), tile_columns(dtype)
        deepest = max(widest, n)
        weights = sizes[1:-1] * sizes[2:]
        self.arrays = (
            np.empty(n * int(sizes[1:].sum()), dtype),
            np.empty(2 * n * widest, dtype),
            np.arange(deepest),
            np.zeros((deepest + tile_rows()) * wide, dtype),
            np.empty(int(weights.max(initial=0)), dtype),
        )

    def first_slopes(self, n: int) -> Array:
        """Give the slopes of the first layer that the last batch, of `n` rows, has left."""
        outputs, (room, slopes, *_) = int(self.sizes[1]), self.arrays
        middle = len(slopes) // 2
        return (slopes[middle : middle + n * outputs] if len(self.sizes) > 2 else room[: n * outputs]).reshape(
            n, outputs
        )


def targets_of(y: Array, weight: Array | None, loss: str, outputs: int, dtype: np.dtype) -> tuple[Array, Array, Array]:
    """Give class numbers, targets and weights as kernels read them."""
    n = len(y)
    ones = np.ones(n, dtype) if weight is None else np.ascontiguousarray(weight, dtype=dtype)
    if loss == "cross_entropy" and y.ndim == 1:
        return np.ascontiguousarray(y, dtype=np.int64), np.zeros((n, 0), dtype), ones
    return np.zeros(n, np.int64), np.ascontiguousarray(y.reshape(n, outputs), dtype=dtype), ones


class DenseWay:
    """The pass through dense layers, by one thread or by threads that share each batch in so many parts."""

    def __init__(self, terms: Terms, shape: DenseShape, moving: Moving, rate: float, crew: Team, *, parts: int) -> None:
        self.terms, self.shape, self.moving, self.rate, self.crew = terms, shape, moving, rate, crew
        self.dtype, n, sizes = moving.vector.dtype, -(-terms.batch // parts), shape.sizes
        # Each part has room of its own. There are always two, because for another number there would be another kernel.
        rooms = [(DenseRoom(sizes, n, self.dtype).arrays, self._batch(n)) for _ in range(parts)]
        self.rooms, self.batches = zip(rooms[0], rooms[-1], strict=True)
        self.gradients = np.zeros((parts, len(moving.vector)), self.dtype)

    def _batch(self, n: int) -> tuple[Array, ...]:
        """Make room for rows, class numbers, targets and weights of a part of a batch."""
        inputs, outputs, dtype = int(self.shape.sizes[0]), int(self.shape.sizes[-1]), self.dtype
        return np.empty((n, inputs), dtype), np.empty(n, np.int64), np.empty((n, outputs), dtype), np.empty(n, dtype)

    def table(self, X: Array, y: Array, weight: Array | None) -> tuple[Array, ...]:
        """Give rows as `go` takes them, with class numbers, targets and weights."""
        return X, *targets_of(y, weight, self.terms.network.loss, int(self.shape.sizes[-1]), self.dtype)

    def go(self, rows: tuple[Array, ...], order: Array) -> float:
        """Go through rows in an order, batch by batch; give the sum of the weighted losses."""
        terms, moving, shape = self.terms, self.moving, self.shape
        rate, share, share_2, _, _, epsilon = terms.update.constants(self.rate, 1)
        network = np.array([shape.hidden, shape.loss, terms.update.code(), moving.updates, terms.batch])
        constants = np.array([shape.delta, terms.mean_weight, terms.penalty_share, rate, share, share_2, epsilon])
        lost = np.zeros(len(self.gradients))
        self.crew.together(
            dense_epoch, rows, order, (moving.vector, moving.first, moving.second), terms.decays.astype(self.dtype), shape.sizes,
            network, constants, self.batches, self.rooms, self.gradients, lost,
        )  # fmt: skip
        moving.updates += -(-len(order) // terms.batch)
        return float(lost.sum())
