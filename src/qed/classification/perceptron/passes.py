r"""The rows of a perceptron, held so that they can be visited again and again, and one pass over them.

The order of a pass follows from the seed, the number of the pass and what is *in* the rows, not from where they stand: each row has a key
of its features (to single precision) and class, and keys mixed with seed and pass are sorted. So the same rows in another order, a row
twice or with weight two, a table or a file, dense or sparse, lead to the same planes. Of many rows, those whose keys begin alike, which are
some by chance, stay together in all passes and lie together in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from qed.base.compile import interpreted
from qed.base.models.checks import overflowed
from qed.base.models.labels import class_factors, coded, learn_classes
from qed.base.models.problem import RowsProblem
from qed.base.random import mixed
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows, kept
from qed.classification.perceptron.visits import visit_dense, visit_gram, visit_sparse
from qed.kernels.similarity import Similarity

Table: TypeAlias = Any
Stored: TypeAlias = tuple[Any, tuple[np.ndarray, ...]]  # a kernel, and the arrays that it takes
# Rows that are copied into the order of a pass at a time.
BATCH = 4096
# A table of so many values is copied once, so that passes run through memory: 256 megabytes.
FEW_ENOUGH = 1 << 25
# From so many rows on, about so many are visited one after another in every pass: a jump in memory costs more than a visit.
MANY_ROWS, TOGETHER = 1 << 14, 64
# With so few values, and for so few passes, plain Python is faster than loading what was compiled.
FEW_VALUES, FEW_PASSES = 1024, 20


class Settings(Protocol):
    """What a model says about its visits: its parameters, as in `Perceptron`."""

    fit_intercept: bool
    eta0: float
    shuffle: bool
    average: bool
    scaled: bool
    strict: bool
    kernel: object
    class_weight: object

    @property
    def similarity(self) -> Similarity: ...


@dataclass
class Planes:
    """Where the planes are: their weights with the intercepts last (or, with a kernel, the scores of all rows), and who pulled them."""

    weights: np.ndarray  # of shape (planes, p + 1), or (planes, n)
    row_pulls: np.ndarray  # of shape (2, planes, n): how far each row has pulled, and that times the visits before
    time: float  # visits made

    def copy(self) -> Planes:
        return Planes(self.weights.copy(), self.row_pulls.copy(), self.time)


class Facts(NamedTuple):
    """What a proof has to know of the rows, beside their pulls."""

    weight: np.ndarray  # what each row counts, class weights included
    sign: np.ndarray  # of shape (planes, n): the side on which each row belongs
    length: np.ndarray  # the length of each row, the constant included


class Visits(RowsProblem):
    """The rows that a perceptron visits; see the module. The classes are given where they are known already."""

    # Where the planes were before these rows came, with the intercepts last; None where they begin with these rows, at zero.
    before: np.ndarray | None = None

    def __init__(
        self, rows: Rows, model: Settings, classes: np.ndarray | None = None, before: np.ndarray | None = None
    ) -> None:
        super().__init__(rows, model)
        self.model = model
        if before is None:
            found, totals = learn_classes(rows, type(model).__name__)
        else:
            # Rows that are added need not have all classes, and can not be asked what these weigh altogether.
            assert classes is not None
            found, totals, self.before = classes, np.ones(len(classes)), before
        self.others = 0 if classes is None or np.array_equal(found, classes) else 1
        self.classes = found
        self.held = kept(coded(rows, found))
        self.codes = np.asarray(self.held.y)
        factors = class_factors(model.class_weight, found, totals)[self.codes]
        self.weight = factors if self.held.weight is None else factors * self.held.weight
        self.planes = 1 if len(found) == 2 else len(found)
        self.unit = float(bool(model.fit_intercept))
        if not np.isfinite(self.facts.length).all():
            raise overflowed(model)

    @cached_property
    def facts(self) -> Facts:
        squares = self.held.map(_squares) if self.gram is None else self.gram.diagonal() - self.unit
        squares = np.where(self.weight > 0, squares, 0.0)
        first = 1 if self.planes == 1 else 0
        sign = np.where(self.codes == first + np.arange(self.planes)[:, None], 1.0, -1.0)
        with np.errstate(over="ignore"):
            return Facts(self.weight, sign, np.sqrt(squares + self.unit))

    @cached_property
    def gram(self) -> np.ndarray | None:
        """The similarities of the rows, the constant included; None where there is no kernel."""
        if self.model.kernel is None:
            return None
        return self.model.similarity.gram(self.held.array().X) + self.unit

    @cached_property
    def keys(self) -> np.ndarray:
        return np.asarray(self.held.map(_keys))

    @cached_property
    def lying(self) -> np.ndarray:
        """The numbers of the rows in the order in which passes find them in memory: by their keys, where each pass has its own order."""
        return np.argsort(self.keys, kind="stable") if self.model.shuffle else np.arange(len(self.codes))

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows whose keys begin alike stay together: the beginnings, and how many rows have each; with few rows all keys differ.

        How many bits begin a key follows from the weight of all rows, so that a row twice is a row of weight two here, too.
        """
        total = len(self.codes) if self.held.weight is None else float(self.held.weight.sum())
        bits = 64 if total < MANY_ROWS else min(64, int(np.log2(total / TOGETHER)))
        beginning = self.keys[self.lying] >> np.uint64(64 - bits)
        starts = np.flatnonzero(np.append(True, beginning[1:] != beginning[:-1]))
        return beginning[starts], np.diff(np.append(starts, len(beginning)))

    def order(self, seed: int, epoch: int) -> np.ndarray:
        """Give the order of a pass, as places among the rows as they lie there."""
        if not self.model.shuffle:
            return np.arange(len(self.codes))
        key = mixed(np.array([seed * 0x9E3779B97F4A7C15 + epoch & 0xFFFFFFFFFFFFFFFF], np.uint64))
        beginnings, sizes = self.groups
        # Numbers are sorted far sooner than places are by them; so the last bits of each give way to its place.
        digits = np.uint64((len(beginnings) - 1).bit_length())
        packed = np.sort(mixed(beginnings ^ key) >> digits << digits | np.arange(len(beginnings), dtype=np.uint64))
        chosen = (packed & ((np.uint64(1) << digits) - np.uint64(1))).astype(np.intp)
        if len(chosen) == len(self.codes):
            return chosen
        first = (np.cumsum(sizes) - sizes)[chosen]
        sizes = sizes[chosen]
        return np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(self.codes))

    def beginning(self) -> Planes:
        n = len(self.codes)
        width = n if self.gram is not None else self.rows.n_features + 1
        weights = np.zeros((self.planes, width)) if self.before is None else self.before / self.model.eta0
        return Planes(weights, np.zeros((2, self.planes, n)), 0.0)

    def passed(self, before: Planes, active: np.ndarray, seed: int, epoch: int) -> Planes:
        """Visit every row once, in the order of the pass."""
        planes, places = before.copy(), self.order(seed, epoch)
        strict, scaled = bool(self.model.strict), bool(self.model.scaled)
        few = epoch < FEW_PASSES and planes.weights.size * len(places) <= FEW_VALUES
        if self.gram is not None:
            run = interpreted(visit_gram) if few else visit_gram
            known = (self.gram, self.lying[places], self.codes, self.weight, planes.weights, planes.row_pulls)
            return replace(planes, time=run(*known, active, strict, scaled, planes.time))
        for rows, order, (kernel, table) in self._tables(places):
            row_pulls = np.zeros((2, self.planes, len(rows)))
            codes, weight = self._labels if rows is self.lying else (self.codes[rows], self.weight[rows])
            given = (codes, weight, planes.weights, row_pulls, active, self.unit, strict, scaled)
            planes.time = (interpreted(kernel) if few else kernel)(*table, order, *given, planes.time)
            pulled = np.flatnonzero(row_pulls[0].any(axis=0))
            planes.row_pulls[:, :, rows[pulled]] += row_pulls[:, :, pulled]
        return planes

    @cached_property
    def _labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Classes and weights of the rows as they lie there."""
        return self.codes[self.lying], self.weight[self.lying]

    def _tables(self, places: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, Stored]]:
        """Give tables for a pass, one after another: the numbers of their rows, in which order these are visited, and the table."""
        X = self.held.X
        if self.moved is not None:
            yield self.lying, places, self.moved
        elif type(X) is np.ndarray and X.dtype == np.float64 and X.flags.c_contiguous:
            yield np.arange(len(X)), self.lying[places], (visit_dense, (X,))
        else:
            for start in range(0, len(places), BATCH):
                rows = self.lying[places[start : start + BATCH]]
                yield rows, np.arange(len(rows)), _stored(X[rows])

    @cached_property
    def moved(self) -> Stored | None:
        """A table of all rows as they lie there, so that passes run through memory and do not jump; None where it would take much room."""
        X = self.held.X
        values = X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]
        return _stored(X[self.lying]) if values <= FEW_ENOUGH else None

    def lengths(self, planes: Planes) -> np.ndarray:
        """Give the length of each plane's weights."""
        if self.gram is None:
            return np.linalg.norm(planes.weights, axis=1)
        return np.sqrt(np.maximum((planes.row_pulls[0] * self.facts.sign * planes.weights).sum(axis=1), 0.0))

    def possible_margins(self, planes: Planes) -> np.ndarray:
        """Give, for each plane, the largest margin that any could have, relative to the longest row; no bound where none was pulled."""
        if self.model.average:
            amounts = planes.row_pulls[0] - planes.row_pulls[1] / planes.time
            signed = amounts * self.facts.sign
            weights = self._with_constant(signed) if self.gram is None else signed @ self.gram
            planes = Planes(weights, amounts[None], planes.time)
        pulled = planes.row_pulls[0] @ self.measure
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(pulled > 0, self.lengths(planes) / (pulled * self.longest), np.inf)

    def _with_constant(self, signed: np.ndarray) -> np.ndarray:
        """Give the weights that pulls add up to, the intercepts last."""
        return np.hstack([summed(self.held, signed), self.unit * signed.sum(axis=1)[:, None]])

    def long_enough(self, planes: Planes, clean: np.ndarray) -> np.ndarray:
        """Give after how many visits the average of planes without mistakes makes none either.

        Visits that correct nothing bring it as near to the last plane as one likes, so they need not be made.
        """
        visits = np.full(self.planes, planes.time)
        signed, counted = planes.row_pulls * self.facts.sign, self.weight > 0
        if self.gram is None:
            both = [self._with_constant(one) for one in signed]
            now, late = (self.held.map(_linear, W[:, :-1]).T + W[:, -1:] for W in both)
        else:
            now, late = signed @ self.gram
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(counted & (self.facts.sign * now > 0), late / now, 0.0).max(axis=1)
        return np.where(clean, np.maximum(visits, 1.001 * needed + 1), visits)

    @cached_property
    def measure(self) -> np.ndarray:
        """What one unit of a row's pull counts: its length where rows are scaled to length one, else one."""
        return self.facts.length if self.model.scaled else np.ones(len(self.codes))

    @cached_property
    def longest(self) -> float:
        return 1.0 if self.model.scaled else float(self.facts.length.max(initial=0.0)) or 1.0


def summed(rows: Rows, amounts: np.ndarray) -> np.ndarray:
    """Add up the features of the rows, each times its amount: of shape (planes, p)."""
    return np.asarray(rows.fold(_part, amounts))


def _part(block: Block, amounts: np.ndarray) -> np.ndarray:
    own = amounts[:, block.start : block.start + len(block)]
    used = own.any(axis=0)
    return np.asarray((block.X[used].astype(np.float64, copy=False).T @ own[:, used].T).T)


def _stored(X: Table) -> Stored:
    """Give the kernel for rows as they are stored, and their arrays."""
    if is_sparse(X):
        return visit_sparse, (X.data.astype(np.float64), X.indices.astype(np.int64), X.indptr.astype(np.int64))
    return visit_dense, (np.ascontiguousarray(X, np.float64),)


def _linear(block: Block, coef: np.ndarray) -> np.ndarray:
    return np.asarray(block.X.astype(np.float64, copy=False) @ coef.T)


def _squares(block: Block) -> np.ndarray:
    X = block.X.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        return np.asarray(X.multiply(X).sum(axis=1)) if is_sparse(X) else np.einsum("ij,ij->i", X, X)


def _keys(block: Block) -> np.ndarray:
    """Give a number for each row that follows from its features, to single precision, and its class."""
    p = block.X.shape[1]
    factors = mixed(np.arange(1, p + 1, dtype=np.uint64)) | np.uint64(1)
    if is_sparse(block.X):
        bits = _bits(block.X.data) * factors[block.X.indices]
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(bits)])
        found = total[block.X.indptr[1:]] - total[block.X.indptr[:-1]]
    else:
        found = _bits(block.X) @ factors
    return mixed(found ^ mixed(np.asarray(block.y).astype(np.uint64)))


def _bits(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        # Adding zero makes one zero of the two.
        return (np.ascontiguousarray(values, np.float32) + np.float32(0)).view(np.uint32).astype(np.uint64)
