r"""The cross-entropy of linear scores: its value, gradient and curvature, block by block.

A row :math:`x` of class :math:`y` has the scores :math:`s = B^\top \Theta \tilde x` and the loss

.. math:: \ell = \log \sum_k e^{s_k} - s_y, \qquad \frac{\partial \ell}{\partial s} = p - e_y, \qquad
          \frac{\partial^2 \ell}{\partial s^2} = \operatorname{diag}(p) - p p^\top, \qquad p_k = e^{s_k} / \textstyle\sum_j e^{s_j},

minus the logarithm of the probability that the model gives to what was seen. Adding one vector to all scores changes
nothing, so :math:`B` (`coding`) leaves that freedom out: for two classes it is :math:`(0\ 1)`, and the loss is the logistic
one, :math:`\log(1 + e^{-z})`; for more its rows are orthonormal and sum to zero. The columns :math:`\tilde x` are shifted and
scaled into :math:`[-1, 1]`, with a constant one for the intercept. A gradient costs :math:`O(npK)`, and so does a product
with the Hessian; the Hessian itself costs :math:`O(np^2K^2)`.

Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from qed.base.numbers import any_of
from qed.base.sources.block import Block, dense_if_small
from qed.linalg.few_kernel import few_times, suits, times_few
from qed.optim.functions.logistic_kernel import logistic_rows
from qed.stats.classes.cross_entropy import cross_entropy, flattest, leads, moved, others
from qed.stats.products import gram

# Dense or sparse rows.
Table = Any
TILE_VALUES = 1 << 18
COMPILED_FROM = 1 << 16


def coding_of(n_classes: int) -> np.ndarray:
    """Give the coding matrix of `n_classes` classes, of shape (1, 2) for two of them, else (n_classes - 1, n_classes).

    >>> coding_of(2)
    array([[0., 1.]])
    >>> (coding_of(3) @ coding_of(3).T).round(12)
    array([[1., 0.],
           [0., 1.]])
    """
    if n_classes == 2:
        return np.array([[0.0, 1.0]])
    rows = np.arange(1, n_classes)[:, None]
    columns = np.arange(n_classes)[None, :]
    contrast = np.where(columns < rows, 1.0, np.where(columns == rows, -rows, 0.0))
    return contrast / np.sqrt(rows * (rows + 1.0))


@dataclass(frozen=True)
class Curve:
    """What a block says about the loss at some parameters.

    Attributes
    ----------
    value : float
        The loss.
    gradient : ndarray of shape (m, q)
        Its gradient.
    blocks : dict of (int, int) to ndarray of shape (q, q)
        Pieces of the Hessian in the scores' coordinates, by pairs of classes.
    diagonal : ndarray of shape (m, q)
        The Hessian's diagonal.
    missed : float
        The sum of the chances that the model gave to other classes than that of the row.
    least : float
        A lower bound of the least eigenvalue of the constants' Hessian.
    bent : ndarray of shape (K,)
        The curvature of each class's score, summed over the rows.
    low : ndarray of shape (directions, K)
        For each direction and class, the least lead of a row's own class over all others.
    high : ndarray of shape (directions,)
        The largest lead of an own class over any other.
    """

    value: float
    gradient: np.ndarray
    blocks: dict[tuple[int, int], np.ndarray]
    diagonal: np.ndarray
    missed: float
    least: float
    bent: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __add__(self, other: Curve) -> Curve:
        return Curve(
            self.value + other.value,
            self.gradient + other.gradient,
            {pair: block + other.blocks[pair] for pair, block in self.blocks.items()},
            self.diagonal + other.diagonal,
            self.missed + other.missed,
            self.least + other.least,
            self.bent + other.bent,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


@dataclass(frozen=True)
class SoftmaxLoss:
    """The weighted cross-entropy of blocks whose target holds class numbers.

    Attributes
    ----------
    coding : ndarray of shape (m, K)
        From :func:`coding_of`.
    shift, scale : ndarray of shape (p,)
        Column j is read as ``(x_j - shift_j) / scale_j``; a sparse matrix must have no shift.
    intercept : bool
        Whether there is a constant column; q is p plus one then, else p.
    class_weight : ndarray of shape (K,)
        Factors of the rows' weights.

    Examples
    --------
    >>> loss = SoftmaxLoss(coding_of(2), np.zeros(1), np.ones(1), True, np.ones(2))
    >>> block = Block(np.array([[-1.0], [1.0]]), np.array([0, 1]))
    >>> at_zero = loss.of(block, np.zeros((1, 2)))
    >>> float(at_zero.value / np.log(2)), at_zero.gradient
    (2.0, array([[-1.,  0.]]))
    """

    coding: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    intercept: bool
    class_weight: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the parameters, (m, q)."""
        return len(self.coding), len(self.scale) + self.intercept

    def pairs(self, kind: str) -> list[tuple[int, int]]:
        """Give the pairs of classes whose pieces make up the "full" Hessian, or its "blocks" on the diagonal, or none."""
        classes = [k for k in range(self.coding.shape[1]) if self.coding[:, k].any()]
        if kind == "full":
            return list(combinations_with_replacement(classes, 2))
        return [(k, k) for k in classes] if kind == "blocks" else []

    def of(
        self,
        block: Block,
        theta: np.ndarray,
        kind: str = "none",
        directions: tuple[np.ndarray, ...] = (),
        chances: np.ndarray | None = None,
        first: int = 0,
    ) -> Curve:
        """Give the loss of a block at the parameters `theta`, its gradient, and the curvature of the `kind` asked for.

        The kind is "full", "blocks", "diagonal" or "none". The probabilities of all classes are written to `chances`, whose first
        row is that of row number `first`, if it is given and all rows have a weight.
        """
        X, codes, weight = self._present(block)
        low, high = self._lines(X, codes, directions)
        if self._is_compiled(X) and kind in ("full", "blocks", "none"):
            return self._compiled(X, codes, weight, theta, kind, low, high)
        value, missed, least, gradient, diagonal = 0.0, 0.0, 0.0, np.zeros(self.shape), np.zeros(self.shape)
        chance, bent = np.empty((len(codes), self.coding.shape[1])), np.zeros(self.coding.shape[1])
        if chances is not None:
            chance = chances[block.start - first : block.start - first + len(block)]
        for place, x in self._tiles(X):
            heavy, own = weight[place], codes[place]
            loss, chance[place], residual = cross_entropy(self.scores(x, theta), own)
            value += float(heavy @ loss)
            missed -= float(heavy @ residual[np.arange(len(own)), own])
            least += float(heavy @ flattest(chance[place]))
            bent += heavy @ (chance[place] * (1.0 - chance[place]))
            gradient += self._gathered(x, heavy[:, None] * residual)
            if kind == "diagonal":
                spread = chance[place] @ (self.coding**2).T - (chance[place] @ self.coding.T) ** 2
                diagonal += self.rows_times(_squared(x), heavy[:, None] * spread, self.scale**2)
        pairs = self.pairs(kind)
        rest = others(chance) if pairs else chance
        pieces = {
            (k, l): self._piece(X, weight * chance[:, k] * (rest[:, k] if k == l else chance[:, l]), k == l)
            for k, l in pairs
        }
        return Curve(value, gradient, pieces, diagonal, missed, least, bent, low, high)

    def _is_compiled(self, X: Table) -> bool:
        """Whether there are two classes, and so many values that a compiled pass is worth its compilation."""
        return isinstance(X, np.ndarray) and len(self.coding) == 1 and X.size >= COMPILED_FROM

    def _compiled(
        self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray, theta: np.ndarray, kind: str, *leads: np.ndarray
    ) -> Curve:
        X, p = np.ascontiguousarray(X), len(self.scale)
        gradient, curvature = np.zeros(p + 1), np.empty(len(X))
        constant = float(theta[0, p]) if self.intercept else 0.0
        line = (codes, weight, self.shift, theta[0, :p] / self.scale, constant, gradient, curvature)
        value, missed, least = logistic_rows(X, 0, len(X), *line)
        gradient[:p] /= self.scale
        pieces = {pair: self._piece(X, curvature, True) for pair in self.pairs(kind)}
        q = self.shape[1]
        return Curve(value, gradient[None, :q], pieces, np.zeros(self.shape), missed, least, np.full(2, least), *leads)

    def _lines(self, X: Table, codes: np.ndarray, directions: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Give the least lead of each class, and the largest lead of any, for each direction."""
        low, high = np.full((len(directions), self.coding.shape[1]), np.inf), np.full(len(directions), -np.inf)
        for place, x in self._tiles(X) if directions else ():
            for number, direction in enumerate(directions):
                least, most = leads(self.scores(x, direction), codes[place])
                np.minimum.at(low[number], codes[place], least)
                high[number] = max(high[number], most.max(initial=-np.inf))
        return low, high

    def times(self, block: Block, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Give the product of the Hessian at `theta` with `direction`, of shape (m, q)."""
        total = np.zeros(self.shape)
        for x, codes, weight in self.tiles(block):
            chance = cross_entropy(self.scores(x, theta), codes)[1]
            change = self.scores(x, direction)
            total += self._gathered(x, moved(chance, change, weight))
        return total

    def chances(self, block: Block, theta: np.ndarray) -> np.ndarray:
        """Give the probabilities of all classes for each row of a block."""
        found, codes = np.zeros((len(block), self.coding.shape[1])), np.asarray(block.y)
        for place, x in self._tiles(block.X):
            found[place] = cross_entropy(self.scores(x, theta), codes[place])[1]
        return found

    def times_known(self, block: Block, chances: np.ndarray, first: int, direction: np.ndarray) -> np.ndarray:
        """Give the product of the Hessian with `direction`, where all rows have a weight and their chances are known."""
        X, _, weight = self._present(block)
        chance = chances[block.start - first : block.start - first + len(block)]
        total = np.zeros(self.shape)
        for place, x in self._tiles(X):
            total += self._gathered(x, moved(chance[place], self.scores(x, direction), weight[place]))
        return total

    def flattest(
        self, block: Block, theta: np.ndarray, chances: np.ndarray | None = None, first: int = 0
    ) -> np.ndarray:
        """Give a matrix of shape (q, q) that the Hessian is at least, for every class: of the least curvature of each row's scores.

        If they are known, `chances` holds the probabilities, from row number `first` on.
        """
        X, _, weight = self._present(block)
        if chances is None or len(weight) < len(block):
            chance = np.concatenate(
                [cross_entropy(self.scores(x, theta), codes)[1] for x, codes, _ in self.tiles(block)]
            )
        else:
            chance = chances[block.start - first : block.start - first + len(block)]
        return self._piece(X, weight * flattest(chance), True)

    def constants(self, block: Block, theta: np.ndarray) -> np.ndarray:
        """Give the Hessian of the constants, of shape (m, m)."""
        total = np.zeros((self.coding.shape[1], self.coding.shape[1]))
        for x, codes, weight in self.tiles(block):
            chance = cross_entropy(self.scores(x, theta), codes)[1]
            total += np.diag(weight @ chance) - (chance * weight[:, None]).T @ chance
        return np.asarray(self.coding @ total @ self.coding.T)

    def products(self, block: Block) -> np.ndarray:
        """Give the weighted products of the shifted and scaled columns of a block, of shape (q, q)."""
        X, _, weight = self._present(block)
        return self._piece(X, weight, True)

    def joined(self, pieces: dict[tuple[int, int], np.ndarray]) -> np.ndarray:
        """Put the pieces of the full Hessian together: shape (m q, m q)."""
        m, q = self.shape
        if m == 1:
            return next(iter(pieces.values())).copy()
        codes = []
        for k, l in pieces:
            both = np.outer(self.coding[:, k], self.coding[:, l])
            codes.append(both if k == l else both + both.T)
        total = np.tensordot(np.array(codes), np.array(list(pieces.values())), axes=(0, 0))
        return np.asarray(total.transpose(0, 2, 1, 3).reshape(m * q, m * q))

    def _present(self, block: Block) -> tuple[Table, np.ndarray, np.ndarray]:
        """Give features, class numbers and weights of the rows that count."""
        X, codes = dense_if_small(block.X), np.asarray(block.y)
        if block.weight is None and (self.class_weight == 1).all():
            return X, codes, np.ones(len(codes))
        weight = self.class_weight[codes] if block.weight is None else self.class_weight[codes] * block.weight
        if weight.all():
            return X, codes, weight
        kept = weight > 0
        return X[kept], codes[kept], weight[kept]

    @property
    def tile_rows(self) -> int:
        """How many dense rows are worked on at a time: they fit the cache."""
        return min(4096, max(64, TILE_VALUES // max(1, len(self.scale))))

    def tiles(self, block: Block) -> Iterator[tuple[Table, np.ndarray, np.ndarray]]:
        """Give the shifted columns, the class numbers and the weights of the rows that count, tile by tile."""
        X, codes, weight = self._present(block)
        return ((x, codes[place], weight[place]) for place, x in self._tiles(X))

    def _tiles(self, X: Table) -> Iterator[tuple[slice, Table]]:
        """Give the shifted columns, tile by tile; a sparse block is one tile."""
        if not isinstance(X, np.ndarray):
            yield slice(0, X.shape[0]), X
            return
        for start in range(0, len(X), self.tile_rows):
            place = slice(start, min(start + self.tile_rows, len(X)))
            yield place, X[place] - self.shift if any_of(self.shift) else X[place].astype(np.float64, copy=False)

    def scores(self, x: Table, theta: np.ndarray) -> np.ndarray:
        """Give the scores of shifted columns, one for each class."""
        p, two = len(self.scale), len(self.coding) == 1
        each = theta if two else self.coding.T @ theta
        slopes = each[:, :p] / self.scale
        found = times_few(x, slopes) if suits(x, len(slopes)) else np.asarray(x @ slopes.T)
        if self.intercept:
            found += each[:, p]
        return np.hstack([np.zeros_like(found), found]) if two else found

    def _gathered(self, x: Table, values: np.ndarray) -> np.ndarray:
        """Compute the sums over rows of one value for each class times the columns, of shape (m, q)."""
        if len(self.coding) == 1:
            return self.rows_times(x, values[:, 1:])
        return np.asarray(self.coding @ self.rows_times(x, values))

    def columns_times(self, x: Table, values: np.ndarray) -> np.ndarray:
        """Compute ``[x / scale, 1] values`` for a vector of length q."""
        p = len(self.scale)
        found = np.asarray(x @ (values[:p] / self.scale))
        return found + values[p] if self.intercept else found

    def rows_times(self, x: Table, values: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
        """Compute ``values' [x / scale, 1]``, of shape (m, q)."""
        found = few_times(values, x) if suits(x, values.shape[1]) else np.asarray(x.T @ values).T
        found = found / (self.scale if scale is None else scale)
        return np.hstack([found, values.sum(axis=0)[:, None]]) if self.intercept else found

    def _piece(self, X: Table, weight: np.ndarray, own: bool) -> np.ndarray:
        """Give the piece of the Hessian that belongs to the scores of a class, or to those of two classes."""
        q = self.shape[1]
        scale = np.append(self.scale, 1.0)[:q]
        total = np.ascontiguousarray(gram(X, np.empty((len(weight), 0)), np.sqrt(weight), self.shift)[:q, :q])
        total /= scale if own else -scale
        total /= scale[:, None]
        return total


def _squared(x: Table) -> Table:
    return x**2 if isinstance(x, np.ndarray) else x.multiply(x).tocsr()
