"""One epoch of training: all rows once, in batches, with an update after each.

Three ways lead through a batch, chosen by the network and the amount of work and by nothing else, so that the same seed gives the same
bits. A network of dense layers with much to do goes through the compiled loop of :mod:`qed.neural.training.dense_kernel`; where its
batches are large, they are cut into two halves that threads share. Every other network goes through its graph.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from qed.base.random import generator
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows, Rows, kept
from qed.base.threads.team import Team
from qed.neural.engine.node import Array
from qed.neural.layers.activation import Activation
from qed.neural.layers.dense import Dense
from qed.neural.network import Network
from qed.neural.training import dense_kernel
from qed.neural.training.dense_kernel import dense_epoch, dense_gradient
from qed.neural.training.image_way import ImageHalf, ImagePlan
from qed.neural.training.updates import Update

# Values in a stretch of rows that is read at once, multiplications from which on a pass is compiled, and in a batch that is shared.
STRETCH = 1 << 20
COMPILED_FROM = 4e8
SHARED_FROM = 4e6
IMAGES_FROM = 3e9
Augment = Callable[[Array, np.random.Generator], Array]


@dataclass
class Moving:
    """What an epoch changes: weights, what the rule of updates remembers, and how many updates there were."""

    vector: Array
    first: Array
    second: Array
    updates: int = 0


@dataclass(frozen=True)
class Course:
    """What does not change from epoch to epoch."""

    network: Network
    rows: ArrayRows
    batch: int
    update: Update
    penalty: float = 0.0  # the factor of the weights in their slope, per row
    shuffle: bool = True
    seed: int = 0
    epochs: int = 200  # how many there may be
    augment: Augment | None = None
    mean_weight: float = 1.0
    decays: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(
        cls,
        network: Network,
        rows: Rows,
        *,
        batch: int,
        update: Update,
        penalty: float = 0.0,
        shuffle: bool = True,
        seed: int = 0,
        epochs: int = 200,
        augment: Augment | None = None,
    ) -> Course:
        """Make the course of rows, which are kept where they can be read in any order."""
        cached = rows.cached()
        held = cached if isinstance(cached, ArrayRows) else kept(cached)
        weight = held.weight
        mean = 1.0 if weight is None else float(np.mean(weight, dtype=np.float64))
        decays = np.concatenate([np.full(w.size, w.decays) for w in network.weights.values() if w.trained])
        batch = min(batch, held.count())
        return cls(network, held, batch, update, penalty, shuffle, seed, epochs, augment, mean, decays)

    @property
    def penalty_share(self) -> float:
        """The factor of the weights in the slope of a batch: the penalty over the weight of a usual batch."""
        return self.penalty / (self.batch * self.mean_weight)

    def stretches(self, epoch: int) -> Iterator[Block]:
        """Give all rows once, whole batches at a time."""
        values = max(1, self.rows.n_features)
        together = self.batch * max(1, STRETCH // (self.batch * values))
        if self.shuffle:
            return self.rows.stream(self.seed, epoch, together)
        count = self.rows.count()
        return (self.rows.block(at, min(at + together, count)) for at in range(0, count, together))

    def read(self, block: Block) -> tuple[Array, Array, Array | None]:
        """Give rows, targets and weights of a block in the network's precision."""
        X = block.X.toarray() if hasattr(block.X, "toarray") else block.X
        weight = None if block.weight is None else np.asarray(block.weight, dtype=self.network.dtype)
        return np.ascontiguousarray(X, dtype=self.network.dtype), np.asarray(block.y), weight

    def epoch(self, moving: Moving, epoch: int, rate: float, crew: Team) -> float:
        """Go through all rows once; give the mean loss on the way, with the penalty."""
        go = self._compiled(moving, rate, crew) or self._through_the_graph(moving, rate, epoch)
        lost = sum(go(*self.read(block), block.start) for block in self.stretches(epoch))
        weights = moving.vector[self.decays].astype(np.float64)
        return lost / (self.rows.count() * self.mean_weight) + 0.5 * self.penalty_share * float(weights @ weights)

    def _through_the_graph(self, moving: Moving, rate: float, epoch: int) -> Callable[..., float]:
        network, share = self.network, moving.vector.dtype.type(self.penalty_share)

        def go(X: Array, y: Array, weight: Array | None, start: int) -> float:
            lost = 0.0
            for at in range(0, len(X), self.batch):
                part = slice(at, at + self.batch)
                rows, rows_weight = X[part], None if weight is None else weight[part]
                draws = generator(self.seed, "batch", epoch, start + at)
                if self.augment is not None:
                    rows = self.augment(rows.reshape(-1, *network.input_shape), draws)
                loss, gradient = network.gradient(
                    rows,
                    y[part],
                    rows_weight,
                    total=len(rows) * self.mean_weight,
                    training=True,
                    draws=draws,
                    vector=moving.vector,
                )
                if share > 0:
                    gradient += share * self.decays * moving.vector
                moving.updates += 1
                self.update.step(moving.vector, gradient, moving.first, moving.second, rate, moving.updates)
                lost += loss * len(rows) * self.mean_weight
            return lost

        return go

    def _compiled(self, moving: Moving, rate: float, crew: Team) -> Callable[..., float] | None:
        """Give a compiled way, where the network has one and there is enough to do."""
        if self.images is not None:
            return ImageWay(self, self.images, moving, rate, crew).shared
        if self.dense is None:
            return None
        way = DenseWay(self, self.dense, moving, rate, crew)
        return way.shared if self.shares else way.alone

    @cached_property
    def images(self) -> ImagePlan | None:
        """The network as stages of filters with a dense end, where it is one and there is enough to do."""
        work = float(self.network.chain.products(self.network.input_shape)) * self.rows.count() * self.epochs
        return None if self.augment is not None or work < IMAGES_FROM else ImagePlan.of(self.network)

    @cached_property
    def dense(self) -> DenseShape | None:
        """The network as a list of dense layers, where it is one and there is enough to do."""
        work = float(self.network.n_parameters + 1000) * self.rows.count() * self.epochs
        return None if self.augment is not None or work < COMPILED_FROM else dense_shape(self.network)

    @property
    def shares(self) -> bool:
        """Whether threads share each batch."""
        return self.images is not None or (
            self.dense is not None and self.network.n_parameters * self.batch >= SHARED_FROM
        )


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
    delta, sizes = 0.01, [network.input_shape[0]]
    for number, layer in enumerate(layers):
        if isinstance(layer, Dense) and layer.bias:
            sizes.append(layer.outputs)
            # A layer without an activation before the next one has that of doing nothing.
            if number + 1 < len(layers) and isinstance(layers[number + 1], Dense):
                names.add("identity")
        elif isinstance(layer, Activation) and number and isinstance(layers[number - 1], Dense):
            names.add("logistic" if layer.name == "sigmoid" else layer.name)
            delta = layer.delta
        else:
            return None
    if len(names) > 1 or not names <= set(dense_kernel.ACTIVATIONS):
        return None
    hidden = dense_kernel.ACTIVATIONS.index(names.pop() if names else "identity")
    return DenseShape(np.array(sizes, np.int64), hidden, dense_kernel.LOSSES.index(network.loss), delta)


class Way(ABC):
    """A compiled pass by threads that share each batch: two halves, and then two halves of the weights."""

    gradient: Array | list[Array]  # of each half

    def __init__(self, course: Course, moving: Moving, rate: float, crew: Team, outputs: int) -> None:
        self.course, self.moving, self.rate, self.crew = course, moving, rate, crew
        self.outputs, self.dtype = outputs, moving.vector.dtype

    def _targets(self, y: Array, weight: Array | None) -> tuple[Array, Array, Array]:
        n = len(y)
        ones = np.ones(n, self.dtype) if weight is None else weight
        if self.course.network.loss == "cross_entropy" and y.ndim == 1:
            return np.ascontiguousarray(y, dtype=np.int64), np.zeros((n, 0), self.dtype), ones
        return np.zeros(n, np.int64), np.ascontiguousarray(y.reshape(n, self.outputs), dtype=self.dtype), ones

    def shared(self, X: Array, y: Array, weight: Array | None, start: int) -> float:
        """Go through a stretch of rows batch by batch, each cut into two halves."""
        course, moving = self.course, self.moving
        targets, lost = self._targets(y, weight), 0.0
        penalty = self.dtype.type(course.penalty_share)
        for at in range(0, len(X), course.batch):
            part = slice(at, min(at + course.batch, len(X)))
            share = self.dtype.type(1 / ((part.stop - at) * course.mean_weight))
            lost += sum(self.crew.run(self._half, 2, X[part], *(values[part] for values in targets), share))
            moving.updates += 1
            self.crew.run(self._update, 2, penalty)
        return float(lost)

    @abstractmethod
    def _half(self, part: int, parts: int, X: Array, codes: Array, target: Array, weight: Array, share: float) -> float:
        """Write the gradient of one half of a batch; give the sum of its losses."""

    def _update(self, part: int, parts: int, penalty: float) -> None:
        moving, middle = self.moving, len(self.moving.vector) // 2
        cut = slice(middle) if part == 0 else slice(middle, None)
        both = self.gradient[0][cut]
        both += self.gradient[1][cut]
        if penalty > 0:
            both += penalty * self.course.decays[cut] * moving.vector[cut]
        second = moving.second[cut] if len(moving.second) else moving.second
        self.course.update.step(moving.vector[cut], both, moving.first[cut], second, self.rate, moving.updates)


class ImageWay(Way):
    """The pass through a network like LeNet."""

    def __init__(self, course: Course, plan: ImagePlan, moving: Moving, rate: float, crew: Team) -> None:
        super().__init__(course, moving, rate, crew, int(plan.sizes[-1]))
        self.halves = [ImageHalf(plan, course.batch - course.batch // 2, self.dtype) for _ in range(2)]
        self.gradient = [np.zeros_like(moving.vector) for _ in range(2)]
        for half, gradient in zip(self.halves, self.gradient, strict=True):
            half.gradient = gradient

    def _half(self, part: int, parts: int, X: Array, codes: Array, target: Array, weight: Array, share: float) -> float:
        cut = slice(len(X) // 2) if part == 0 else slice(len(X) // 2, len(X))
        return self.halves[part].run(X[cut], codes[cut], target[cut], weight[cut], self.moving.vector, share)


class DenseWay(Way):
    """The pass through dense layers: by one thread, or by two that share each batch."""

    def __init__(self, course: Course, shape: DenseShape, moving: Moving, rate: float, crew: Team) -> None:
        super().__init__(course, moving, rate, crew, int(shape.sizes[-1]))
        self.shape = shape
        outputs, widest = int(shape.sizes[1:].sum()), int(shape.sizes.max())
        # Each half has room of its own.
        self.room = np.empty((2, course.batch * outputs), self.dtype)
        self.slopes = np.empty((2, 2 * course.batch * widest), self.dtype)
        self.gradient = np.zeros((2, len(moving.vector)), self.dtype)

    def alone(self, X: Array, y: Array, weight: Array | None, start: int) -> float:
        """Go through a stretch of rows in one compiled loop."""
        course, moving, shape = self.course, self.moving, self.shape
        codes, target, ones = self._targets(y, weight)
        rate, share, share_2, _, _, epsilon = course.update.constants(self.rate, 1)
        numbers = np.array([shape.hidden, shape.loss, course.update.code(), moving.updates])
        constants = np.array(
            [shape.delta, course.mean_weight, course.penalty_share, rate, share, share_2, epsilon], dtype=np.float64
        )
        lost = dense_epoch(
            X, codes, target, ones, course.batch, moving.vector, self.gradient[0],
            (moving.first, moving.second), shape.sizes, numbers, constants, self.room[0], self.slopes[0],
        )  # fmt: skip
        moving.updates += -(-len(X) // course.batch)
        return float(lost)

    def _half(self, part: int, parts: int, X: Array, codes: Array, target: Array, weight: Array, share: float) -> float:
        cut = slice(len(X) // 2) if part == 0 else slice(len(X) // 2, len(X))
        shape = self.shape
        return float(
            dense_gradient(
                X[cut],
                codes[cut],
                target[cut],
                weight[cut],
                self.moving.vector,
                self.gradient[part],
                shape.sizes,
                shape.hidden,
                self.dtype.type(shape.delta),
                shape.loss,
                share,
                self.room[part],
                self.slopes[part],
            )
        )
