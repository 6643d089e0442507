"""A network: layers one after the other, and the vector of all their weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError
from qed.base.random import Seed, generator, seed_of
from qed.neural.engine.losses import loss_named
from qed.neural.engine.node import Array, Node, apply, gradients
from qed.neural.layers.blocks import Chain
from qed.neural.layers.layer import Layer, Scope, Shape, Weight


@dataclass(frozen=True)
class LayerLine:
    """One line of a network's summary."""

    layer: str  # the layer
    shape: Shape  # what comes out of it, for one row
    parameters: int  # how many weights it trains
    products: int  # how many multiplications of weights a row takes


def summarised(layers: Sequence[Layer], given: Shape) -> list[LayerLine]:
    """Give a line for each of some layers, for rows of the given shape."""
    lines = []
    for layer in layers:
        trained = sum(weight.size for weight in layer.weights(given).values() if weight.trained)
        lines.append(LayerLine(repr(layer), layer.shape(given), trained, layer.products(given)))
        given = layer.shape(given)
    return lines


@dataclass
class Run:
    """A batch that went through a network: the graph, with its ends in hand."""

    input: Node
    output: Node
    weights: dict[str, Node]
    layers: dict[str, Node]  # what came out of each layer, by its name: "0", "1", "3.inside.0"


class Network:
    """Layers one after the other.

    Parameters
    ----------
    layers : sequence of Layer
        The layers.
    input_shape : int or tuple of int
        The shape of one row: a number of columns, or (channels, height, width).
    loss : {"cross_entropy", "log_loss", "squared_error", "absolute_error", "poisson"}, default="cross_entropy"
        What is made small in training. Softmax belongs to "cross_entropy" and the logistic function to "log_loss", so the last
        layer gives what goes into them.
    random_state : None, int or NumPy generator, default=0
        The seed that the weights are drawn from.
    dtype : {np.float32, np.float64}, default=np.float32
        What it calculates in.

    Attributes
    ----------
    vector : ndarray
        All trained weights, one after the other; training changes it in place.
    parameters : dict of str to ndarray
        The weights by name, such as ``"0.weight"``: views of `vector`.
    running : dict of str to ndarray
        What is collected in training and not trained, such as ``"1.mean"`` of a batch normalisation.
    shapes : list of tuple of int
        The shape of a row before the first layer and after each.
    n_parameters : int
        How many weights are trained.

    Examples
    --------
    >>> from qed.neural import Activation, Dense
    >>> network = Network([Dense(4), Activation("tanh"), Dense(2)], 3)
    >>> network.n_parameters, network.shapes
    (26, [(3,), (4,), (4,), (2,)])
    >>> network.forward(np.zeros((5, 3))).shape
    (5, 2)
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        input_shape: int | Shape,
        *,
        loss: str = "cross_entropy",
        random_state: Seed = 0,
        dtype: type[np.floating] = np.float32,
    ) -> None:
        self.input_shape: Shape = (input_shape,) if isinstance(input_shape, int) else tuple(input_shape)
        if not self.input_shape or min(self.input_shape) < 1:
            raise InputError(f"input_shape must hold whole numbers from 1 on, not {input_shape!r}.")
        self.chain, self.loss, self.dtype = Chain(layers), loss, np.dtype(dtype)
        loss_named(loss)
        self.weights: dict[str, Weight] = self.chain.weights(self.input_shape)
        self.n_parameters = sum(weight.size for weight in self.weights.values() if weight.trained)
        self.vector = np.zeros(self.n_parameters, dtype=self.dtype)
        self.parameters = self.views(self.vector)
        self.running = {
            name: np.zeros(weight.shape, self.dtype) for name, weight in self.weights.items() if not weight.trained
        }
        self.begin(random_state)

    def begin(self, random_state: Seed = 0) -> Network:
        """Draw all weights anew; each array has draws of its own, keyed by its name."""
        seed = seed_of(random_state)
        for name, weight in self.weights.items():
            place = self.parameters if weight.trained else self.running
            place[name][...] = weight.begin(generator(seed, "weights", name))
        return self

    @property
    def layers(self) -> list[Layer]:
        return self.chain.layers

    @property
    def shapes(self) -> list[Shape]:
        return self.chain.shapes(self.input_shape)

    def views(self, vector: Array) -> dict[str, Array]:
        """Give a vector as long as `vector` as arrays by name, such as its gradient."""
        found, at = {}, 0
        for name, weight in self.weights.items():
            if weight.trained:
                found[name] = vector[at : at + weight.size].reshape(weight.shape)
                at += weight.size
        return found

    def summary(self) -> list[LayerLine]:
        """Give a line for each layer: what comes out, how many weights, how many multiplications."""
        return summarised(self.layers, self.input_shape)

    def run(
        self,
        X: Array,
        *,
        training: bool = False,
        draws: np.random.Generator | None = None,
        wants_input: bool = False,
        until: int | None = None,
        vector: Array | None = None,
        weights: Mapping[str, Array] | None = None,
    ) -> Run:
        """Send a batch through the layers, and keep the graph.

        Parameters
        ----------
        X : array of shape ``(n, *input_shape)`` or (n, numbers of a row)
            The batch.
        training : bool
            Whether to drop values and to normalise by the batch.
        draws : numpy Generator, optional
            The draws of Dropout.
        wants_input : bool
            Whether the slopes of the batch itself will be asked for.
        until : int, optional
            Run only so many layers.
        vector : ndarray, optional
            Weights to take in the place of the network's own.
        weights : mapping of str to ndarray, optional
            The same, by name, each in a precision of its own.
        """
        batch = Node(self._batch(X), trained=wants_input, name="input")
        arrays = weights or (self.parameters if vector is None else self.views(vector))
        nodes = {name: Node(value, name=name) for name, value in arrays.items()}
        scope = Scope(nodes, self.running, training=training, draws=draws)
        output = Chain(self.layers[:until]).run(batch, scope) if until is not None else self.chain.run(batch, scope)
        return Run(batch, output, nodes, scope.seen)

    def forward(
        self, X: Array, *, training: bool = False, draws: np.random.Generator | None = None, block: int = 1024
    ) -> Array:
        """Give what comes out for each row; outside training so many rows at a time go through."""
        X = self._batch(X)
        if training or len(X) <= block:
            return self.run(X, training=training, draws=draws).output.value
        return np.concatenate([self.run(X[at : at + block]).output.value for at in range(0, len(X), block)])

    def activations(self, X: Array) -> dict[str, Array]:
        """Give what comes out of each layer, by its name."""
        return {name: node.value for name, node in self.run(X).layers.items()}

    def loss_of(self, run: Run, y: Array, sample_weight: Array | None = None, total: float | None = None) -> Node:
        """Give the loss of a batch that went through, as a node on top of its graph."""
        return apply(loss_named(self.loss)(y, sample_weight, total), run.output, name="loss")

    def gradient(
        self,
        X: Array,
        y: Array,
        sample_weight: Array | None = None,
        *,
        total: float | None = None,
        training: bool = False,
        draws: np.random.Generator | None = None,
        vector: Array | None = None,
    ) -> tuple[float, Array]:
        """Give the loss of a batch and its gradient, a vector like `vector`."""
        run = self.run(X, training=training, draws=draws, vector=vector)
        loss = self.loss_of(run, y, sample_weight, total)
        slopes = gradients(loss, list(run.weights.values()))
        found = np.concatenate([slope.ravel() for slope in slopes]) if slopes else np.zeros(0, self.dtype)
        return float(loss.value.real), found

    def gradients(self, X: Array, y: Array, sample_weight: Array | None = None) -> dict[str, Array]:
        """Give the gradient of the loss of a batch, by the names of the weights."""
        return self.views(self.gradient(X, y, sample_weight)[1])

    def input_gradient(self, X: Array, of: Callable[[Run], Node]) -> Array:
        """Differentiate anything in the graph by the batch.

        Parameters
        ----------
        X : array
            The batch.
        of : callable
            Gets the `Run` and gives the node to differentiate; of several entries, the sum.

        Examples
        --------
        >>> from qed.neural import Dense
        >>> network = Network([Dense(2)], 3)
        >>> slopes = network.input_gradient(np.zeros((1, 3)), lambda run: run.output)
        >>> bool(np.allclose(slopes, network.parameters["0.weight"].sum(axis=1)))
        True
        """
        run = self.run(X, wants_input=True)
        return gradients(of(run), [run.input])[0]

    def _batch(self, X: Array) -> Array:
        X = np.asarray(X)
        if X.dtype != self.dtype and X.dtype != np.complex128:
            X = X.astype(self.dtype)
        if X.shape[1:] == self.input_shape:
            return X
        if X.ndim == 2 and X.shape[1] == math.prod(self.input_shape):
            return X.reshape(len(X), *self.input_shape)
        raise InputError(f"The network takes rows of shape {self.input_shape}, not {X.shape[1:]}.")

    def in_double(self) -> Network:
        """Give the same network in double precision."""
        other = Network(self.layers, self.input_shape, loss=self.loss, dtype=np.float64)
        other.vector[:] = self.vector
        for name, value in self.running.items():
            other.running[name][...] = value
        return other

    def __repr__(self) -> str:
        return f"Network({self.layers!r}, {self.input_shape}, loss={self.loss!r})"
