"""A network on paper: layers and the shape of their input, counted without making a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.random import Seed
from qed.neural.layers.blocks import Chain
from qed.neural.layers.layer import Layer, Shape
from qed.neural.network import LayerLine, Network, summarised
from qed.neural.zoo.receptive import Field, receptive_fields


@dataclass(frozen=True)
class Architecture:
    """Layers in order, and what they take.

    Examples
    --------
    >>> from qed.neural import Dense
    >>> plan = Architecture("one neuron", 1958, (3,), (Dense(1),))
    >>> plan.n_parameters, plan.shapes, len(plan.network().vector)
    (4, [(3,), (1,)], 4)
    """

    name: str
    year: int
    input_shape: Shape
    layers: tuple[Layer, ...]

    @property
    def n_parameters(self) -> int:
        """How many weights are trained."""
        return sum(weight.size for weight in Chain(self.layers).weights(self.input_shape).values() if weight.trained)

    @property
    def n_products(self) -> int:
        """How many multiplications of weights one row takes."""
        return Chain(self.layers).products(self.input_shape)

    @property
    def shapes(self) -> list[Shape]:
        """The shape of a row before the first layer and after each."""
        return Chain(self.layers).shapes(self.input_shape)

    @property
    def receptive_fields(self) -> list[Field]:
        """How much of the input image a unit behind each layer sees."""
        return receptive_fields(self.layers, self.input_shape)

    def summary(self) -> list[LayerLine]:
        """Give a line for each layer: what comes out, how many weights, how many multiplications."""
        return summarised(self.layers, self.input_shape)

    def network(
        self, *, loss: str = "cross_entropy", random_state: Seed = 0, dtype: type[np.floating] = np.float32
    ) -> Network:
        """Make the network, with weights drawn from the seed.

        Parameters
        ----------
        loss : {"cross_entropy", "log_loss", "squared_error", "absolute_error", "poisson"}, default="cross_entropy"
            What is made small in training.
        random_state : None, int or NumPy generator, default=0
            The seed that the weights are drawn from.
        dtype : {np.float32, np.float64}, default=np.float32
            What it calculates in.
        """
        return Network(self.layers, self.input_shape, loss=loss, random_state=random_state, dtype=dtype)
