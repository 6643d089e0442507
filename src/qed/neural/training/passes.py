"""One epoch of training: all rows once, in batches, with an update after each.

Three ways lead through a batch, chosen by the network and the amount of work and by nothing else, so that the same seed gives the same
bits. A network of dense layers with much to do goes through the compiled loop of :mod:`qed.neural.training.dense_kernel`, and one of
filters, pooling and a dense end through that of :mod:`qed.neural.training.image_way`; where batches are large, they are cut into two
halves that threads share. Every other network goes through its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from qed.base.random import generator
from qed.base.sources.block import Block, as_dense
from qed.base.sources.order import orders
from qed.base.sources.rows import ArrayRows, Rows, kept
from qed.base.threads.team import Team
from qed.neural.engine.node import Array
from qed.neural.network import Network
from qed.neural.training.dense_way import DenseShape, DenseWay, dense_shape
from qed.neural.training.image_way import ImagePlan, ImageWay
from qed.neural.training.updates import Moving, Update

# Values in a stretch of rows that is read at once, multiplications of an epoch from which on it is compiled, and in a batch that is
# shared. How many epochs there may be must not count: a run that goes on with more of them would be another.
STRETCH = 1 << 20
COMPILED_FROM = 2e6
SHARED_FROM = 4e6
IMAGES_FROM = 3e8
Augment = Callable[[Array, np.random.Generator], Array]


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
        augment: Augment | None = None,
    ) -> Course:
        """Make the course of rows, which are kept where they can be read in any order."""
        held = kept(rows.cached())
        weight = held.weight
        mean = 1.0 if weight is None else float(np.mean(weight, dtype=np.float64))
        decays = np.concatenate([np.full(w.size, w.decays) for w in network.weights.values() if w.trained])
        batch = min(batch, held.count())
        return cls(network, held, batch, update, penalty, shuffle, seed, augment, mean, decays)

    @property
    def penalty_share(self) -> float:
        """The factor of the weights in the slope of a batch: the penalty over the weight of a usual batch."""
        return self.penalty / (self.batch * self.mean_weight)

    @property
    def together(self) -> int:
        """How many rows are read at once: whole batches."""
        return self.batch * max(1, STRETCH // (self.batch * max(1, self.rows.n_features)))

    def orders(self, epoch: int) -> Iterator[Array]:
        """Give the numbers of all rows once, whole batches at a time."""
        count = self.rows.count()
        if self.shuffle:
            return orders(count, self.rows.n_features, self.seed, epoch, self.together)
        return (np.arange(at, min(at + self.together, count)) for at in range(0, count, self.together))

    def stretches(self, epoch: int) -> Iterator[Block]:
        """Give all rows once, whole batches at a time."""
        if self.shuffle:
            return self.rows.stream(self.seed, epoch, self.together)
        count = self.rows.count()
        return (self.rows.block(at, min(at + self.together, count)) for at in range(0, count, self.together))

    def read(self, block: Block) -> tuple[Array, Array, Array | None]:
        """Give rows, targets and weights of a block in the network's precision."""
        X = as_dense(block.X)
        weight = None if block.weight is None else np.asarray(block.weight, dtype=self.network.dtype)
        return np.ascontiguousarray(X, dtype=self.network.dtype), np.asarray(block.y), weight

    def epoch(self, moving: Moving, epoch: int, rate: float, crew: Team) -> float:
        """Go through all rows once; give the mean loss on the way, with the penalty."""
        if self.images is None and self.dense is not None:
            lost = self._dense_way(self.dense, moving, rate, epoch, crew)
        else:
            image = None if self.images is None else ImageWay(self, self.images, moving, rate, crew).go
            go = image or self._through_the_graph(moving, rate, epoch)
            lost = sum(go(*self.read(block), block.start) for block in self.stretches(epoch))
        weights = moving.vector[self.decays].astype(np.float64)
        return lost / (self.rows.count() * self.mean_weight) + 0.5 * self.penalty_share * float(weights @ weights)

    def _dense_way(self, shape: DenseShape, moving: Moving, rate: float, epoch: int, crew: Team) -> float:
        way = DenseWay(self, shape, moving, rate, crew, parts=2 if self.shares else 1)
        X = self.rows.X
        # Others are read first: kernels are compiled for one kind of array.
        if type(X) is np.ndarray and X.dtype == self.network.dtype and X.flags.c_contiguous and X.flags.writeable:
            table = way.table(X, np.asarray(self.rows.y), self.rows.weight)
            return sum(way.go(table, order) for order in self.orders(epoch))
        blocks = map(self.read, self.stretches(epoch))
        return sum(way.go(way.table(*block), np.arange(len(block[0]))) for block in blocks)

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

    @property
    def _is_plain(self) -> bool:
        """Whether compiled loops read rows as they are, and classes by their numbers: shares of classes go through the graph."""
        return self.augment is None and not (self.network.loss == "cross_entropy" and self.rows.target_shape)

    @cached_property
    def images(self) -> ImagePlan | None:
        """The network as stages of filters with a dense end, where it is one and there is enough to do."""
        work = float(self.network.chain.products(self.network.input_shape)) * self.rows.count()
        return None if not self._is_plain or work < IMAGES_FROM else ImagePlan.of(self.network)

    @cached_property
    def dense(self) -> DenseShape | None:
        """The network as a list of dense layers, where it is one and there is enough to do."""
        work = float(self.network.n_parameters + 1000) * self.rows.count()
        return None if not self._is_plain or work < COMPILED_FROM else dense_shape(self.network)

    @property
    def shares(self) -> bool:
        """Whether threads share each batch."""
        return self.images is not None or (
            self.dense is not None and self.network.n_parameters * self.batch >= SHARED_FROM
        )
