"""Layers made of layers: one after the other, side by side, and around a shortcut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qed.base.errors import InputError
from qed.neural.engine.node import Node, apply
from qed.neural.engine.shaping import Concatenate
from qed.neural.layers.layer import Layer, Scope, Shape, Weight


class Chain(Layer):
    """Layers one after the other, as one.

    Parameters
    ----------
    layers : sequence of Layer
        The layers.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = list(layers)
        for layer in self.layers:
            if not isinstance(layer, Layer):
                raise InputError(f"{layer!r} is no layer.")

    @property
    def by_rows(self) -> bool:  # type: ignore[override]
        return all(layer.by_rows for layer in self.layers)

    def shape(self, given: Shape) -> Shape:
        return self.shapes(given)[-1]

    def shapes(self, given: Shape) -> list[Shape]:
        """Give the shape of a row before the first layer and after each."""
        found = [given]
        for layer in self.layers:
            found.append(layer.shape(found[-1]))
        return found

    def weights(self, given: Shape) -> dict[str, Weight]:
        found: dict[str, Weight] = {}
        for number, layer in enumerate(self.layers):
            found |= {f"{number}.{name}": weight for name, weight in layer.weights(given).items()}
            given = layer.shape(given)
        return found

    def run(self, x: Node, scope: Scope) -> Node:
        for number, layer in enumerate(self.layers):
            inner = scope.inner(str(number))
            x = layer.run(x, inner)
            scope.seen[inner.prefix[:-1]] = x
        return x

    def products(self, given: Shape) -> int:
        total = 0
        for layer in self.layers:
            total += layer.products(given)
            given = layer.shape(given)
        return total

    def parts(self) -> Iterator[tuple[str, Layer]]:
        return ((str(number), layer) for number, layer in enumerate(self.layers))


class Residual(Layer):
    """What the inner layers make of the input, plus the input: they only have to learn what is missing.

    Parameters
    ----------
    layers : sequence of Layer
        The inner layers.
    shortcut : sequence of Layer, optional
        What the input goes through where its shape changes, such as ``[Conv2d(64, 1, stride=2)]``; it goes as it is where none is given.
    """

    def __init__(self, layers: Sequence[Layer], shortcut: Sequence[Layer] = ()) -> None:
        self.inside, self.shortcut = Chain(layers), Chain(shortcut)

    @property
    def by_rows(self) -> bool:  # type: ignore[override]
        return self.inside.by_rows and self.shortcut.by_rows

    def shape(self, given: Shape) -> Shape:
        inside, around = self.inside.shape(given), self.shortcut.shape(given)
        if inside != around:
            raise InputError(f"The inner layers give {inside}, the shortcut {around}: a sum needs the same shape.")
        return inside

    def weights(self, given: Shape) -> dict[str, Weight]:
        return _joined(self.parts(), given)

    def run(self, x: Node, scope: Scope) -> Node:
        return self.inside.run(x, scope.inner("inside")) + self.shortcut.run(x, scope.inner("shortcut"))

    def products(self, given: Shape) -> int:
        return self.inside.products(given) + self.shortcut.products(given)

    def parts(self) -> Iterator[tuple[str, Layer]]:
        return iter([("inside", self.inside), ("shortcut", self.shortcut)])


class Parallel(Layer):
    """Branches side by side, whose channels are put together: an inception module is one.

    Parameters
    ----------
    branches : sequence of sequences of Layer
        The layers of each branch.
    """

    def __init__(self, branches: Sequence[Sequence[Layer]]) -> None:
        if not branches:
            raise InputError("Parallel needs at least one branch.")
        self.branches = [Chain(branch) for branch in branches]

    @property
    def by_rows(self) -> bool:  # type: ignore[override]
        return all(branch.by_rows for branch in self.branches)

    def shape(self, given: Shape) -> Shape:
        shapes = [branch.shape(given) for branch in self.branches]
        if len({shape[1:] for shape in shapes}) > 1:
            raise InputError(f"The branches give {shapes}: their images have to be equally large.")
        return (sum(shape[0] for shape in shapes), *shapes[0][1:])

    def weights(self, given: Shape) -> dict[str, Weight]:
        return _joined(self.parts(), given)

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(Concatenate(), *(branch.run(x, scope.inner(name)) for name, branch in self.parts()))

    def products(self, given: Shape) -> int:
        return sum(branch.products(given) for branch in self.branches)

    def parts(self) -> Iterator[tuple[str, Layer]]:
        return ((str(number), branch) for number, branch in enumerate(self.branches))


def _joined(parts: Iterator[tuple[str, Layer]], given: Shape) -> dict[str, Weight]:
    return {f"{name}.{inner}": weight for name, part in parts for inner, weight in part.weights(given).items()}
