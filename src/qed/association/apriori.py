r"""Apriori: frequent sets, size after size.

A set of items is frequent where the rows that hold all of them weigh at least the share ``min_support`` of all rows. No set is more
frequent than its parts, so that the candidates of :math:`k + 1` items are those all of whose parts of :math:`k` items are frequent;
one pass over the rows counts them.
The counts of blocks are added up, so files larger than memory and clusters are counted alike. Agrawal and Srikant (1994), Fast
algorithms for mining association rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from qed.association.candidates import filled, joined
from qed.association.itemsets import Baskets, FrequentSets
from qed.base.models.estimator import Iterative
from qed.base.running.steps import Step
from qed.base.sources.rows import Rows


class Apriori(FrequentSets, Iterative):
    """Sets of items that are found together in many rows, size after size.

    Parameters
    ----------
    min_support : float, default=0.5
        The least share of the rows (by weight) that hold all items of a frequent set.
    max_size : int, optional
        The largest number of items of a set. Without it, tables in which many items are found together in most rows are refused: of n
        such items 2^n - 1 sets are frequent.

    Attributes
    ----------
    itemsets_ : ndarray of int, shape (n_sets, longest)
        The frequent sets: the numbers of their columns, rising, filled up with -1. Small sets come first.
    supports_ : ndarray of shape (n_sets,)
        The share of the rows that hold each.
    weight_ : float
        What all rows weigh.

    Notes
    -----
    A row holds an item where its value is above zero. Lists of items are taken as well, those of numbers by :func:`qed.baskets`.

    Examples
    --------
    >>> import pandas as pd
    >>> import qed
    >>> baskets = pd.DataFrame({"bread": [1, 1, 1, 0], "butter": [1, 1, 0, 0], "milk": [0, 1, 1, 1]})
    >>> model = qed.Apriori(min_support=0.5).fit(baskets)
    >>> model.sets()[-2:]
    [(('bread', 'butter'), 0.5), (('bread', 'milk'), 0.5)]
    >>> bool(model.certificate_)
    True
    """

    keeps = "last"
    passes: ClassVar[str] = "each iteration"
    tol = 0.0

    def __init__(self, min_support: float = 0.5, *, max_size: int | None = None) -> None:
        self.min_support, self.max_size = min_support, max_size

    @property
    def max_iter(self) -> int:  # type: ignore[override]
        """How many sizes are looked at, at most."""
        return 1 << 30 if self.max_size is None else int(self.max_size)

    def _problem(self, rows: Rows) -> Baskets:
        return Baskets(rows.cached(), self)

    def _max_tasks(self) -> int:
        return 1 if self.max_size is None else int(self.max_size)

    def _steps(self, problem: Baskets, start: Step | None = None) -> Iterator[Step]:
        least = self._least(problem)
        if start is None:
            problem.check_number(problem.items, least, self.max_size)
            new = np.flatnonzero(problem.items >= least)[:, None]
            sets, found = new.astype(np.int64), problem.items[new[:, 0]]
            tried = self._larger(sets)
            yield self._step(sets, found, tried)
        else:
            sets, found = start.sets, start.weights
            tried = self._larger(sets)
        while len(tried):
            weights = problem.weigh(tried)
            kept = weights >= least
            sets, found = filled([sets, tried[kept]]), np.concatenate([found, weights[kept]])
            tried = self._larger(sets) if kept.any() else tried[:0]
            yield self._step(sets, found, tried)

    def _larger(self, sets: np.ndarray) -> np.ndarray:
        """Give the sets of one item more that could be frequent, by their parts."""
        size = sets.shape[1] if len(sets) else 0
        if self.max_size is not None and size >= self.max_size:
            return np.zeros((0, size + 1), dtype=np.int64)
        return joined(sets[(sets >= 0).sum(axis=1) == size])

    def _step(self, sets: np.ndarray, weights: np.ndarray, tried: np.ndarray) -> Step:
        """Make a step; the run is over where no candidate is left."""
        return Step(objective=-float(len(sets)), gap=np.inf if len(tried) else 0.0, sets=sets, weights=weights)

    def _finish(self, problem: Baskets, step: Step) -> None:
        self._keep(problem, step.sets, step.weights)
