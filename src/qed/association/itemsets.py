"""What the searches for frequent sets share: what they are given and leave behind, and the proof that no frequent set is missing.

Every listed set is counted again. And since a set is no more frequent than its parts, it is enough to count the sets just outside the
list, those whose parts are all inside: where none of them is frequent, no other set is (the negative border of Mannila and Toivonen,
1997).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np

from qed.association.baskets import are_baskets, baskets
from qed.association.candidates import border, filled, lacking, too_many
from qed.association.counting import Strings, item_weights, set_weights
from qed.base.attributes import Attributes, floats, integers
from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.estimator import Estimator
from qed.base.models.parameters import Parameter, choice, integer, number
from qed.base.models.problem import RowsProblem
from qed.base.models.proof import restated
from qed.base.numbers import EPS
from qed.base.sources.rows import Rows

# With more sets than that nobody knows what to do, and they would take gigabytes.
MOST_SETS = 10_000_000
# Sums of weights that differ by no more than rounding are the same.
SAME = 1e-12
# Items are kept as bits where these and the weights of the rows take no more bytes; else all rows are read for each size.
KEPT_BYTES = 1 << 27


class Baskets(RowsProblem):
    """Rows as baskets, and how often some items are found together in them."""

    def __init__(self, rows: Rows, model: object) -> None:
        super().__init__(rows, model)
        self.total = float(self.summary.weight[0]) if len(self.summary.weight) else 0.0
        self._strings: Strings | None = None

    @cached_property
    def items(self) -> np.ndarray:
        """What the baskets weigh that hold each item."""
        return np.asarray(self.rows.fold(item_weights), dtype=np.float64)

    def weigh(self, sets: np.ndarray) -> np.ndarray:
        """Give what the baskets weigh that hold all items of each set."""
        found = np.zeros(len(sets))
        single = (sets >= 0).sum(axis=1) == 1
        found[single] = self.items[sets[single].max(axis=1, initial=-1)]
        if not single.all():
            found[~single] = self._weigh_larger(sets[~single])
        return found

    def _weigh_larger(self, sets: np.ndarray) -> np.ndarray:
        wanted = np.unique(sets[sets >= 0])
        if self.summary.count * (len(wanted) / 8 + 8 * self.rows.has_weight) > KEPT_BYTES:
            return np.asarray(self.rows.fold(set_weights, sets), dtype=np.float64)
        if self._strings is None or not np.isin(wanted, self._strings.items).all():
            self._strings = self.rows.fold(Strings.of, wanted)
        return self._strings.weigh(sets)

    def check_number(self, weights: np.ndarray, least: float, most: int | None) -> None:
        """Refuse where there are certainly too many frequent sets, before they are looked for.

        Parameters
        ----------
        weights : ndarray of shape (n_items,)
            What the baskets weigh that hold each item.
        least : float
            What a frequent set weighs at least.
        most : int or None
            The largest size that is looked for.
        """
        order = np.argsort(-weights, kind="stable")[: int((weights >= least).sum())][:64]
        if parts_of(len(order), most) <= MOST_SETS:
            return
        first = np.where(np.tri(len(order), dtype=bool), order, -1)
        together = int((self.weigh(first) >= least).sum())
        if (count := parts_of(together, most)) > MOST_SETS:
            raise too_many(
                f"the {together} items that are held most often are found together in so many rows that {count:,} sets"
            )


class FrequentSets(Estimator):
    """A search for the sets of items that are found together in many rows."""

    sparse: ClassVar[bool] = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "min_support": number(0, 1, above=True, kind="model"),
        "max_size": integer(1, kind="model") | choice(None, kind="model"),
    }
    attributes: ClassVar[Attributes] = {
        "itemsets_": integers("sets", "_", low=-1),
        "supports_": floats("sets", low=0, high=1 + 1e-9),
        "weight_": floats(low=0),
    }
    no_inference: ClassVar[str] = "it counts, and estimates nothing"
    min_support: float
    max_size: int | None
    itemsets_: np.ndarray
    supports_: np.ndarray
    weight_: float

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        if are_baskets(X):
            X, y, sample_weight = baskets(X, sample_weight=sample_weight), None, None
        return super()._open(X, y, sample_weight, reset=reset, target=target)

    def _least(self, problem: Baskets) -> float:
        """Give what a frequent set weighs at least."""
        return self.min_support * problem.total * (1 - SAME)

    def _keep(self, problem: Baskets, sets: np.ndarray, weights: np.ndarray) -> None:
        """Keep what was found: small sets first, then by their items."""
        order = np.lexsort((*sets.T[::-1], (sets >= 0).sum(axis=1)))
        self.itemsets_, self.supports_ = sets[order], weights[order] / (problem.total or 1.0)
        self.weight_ = problem.total

    def _prove(self, problem: Baskets) -> list[Claim]:
        sets, total = np.asarray(self.itemsets_), problem.total or 1.0
        outside = border(sets, self.n_features_in_, self.max_size)
        if not self._is_table(sets):
            return [Claim("sets are of items that there are", np.inf, 0.0)]
        weights, beyond = np.split(problem.weigh(filled([sets, outside])), [len(sets)])
        least, rounding = self._least(problem), 4 * EPS * (problem.summary.count + 8)
        off = float(np.abs(weights / total - self.supports_).max(initial=0.0))
        return [
            Claim("supports are off by, at most (counted again)", off, rounding),
            Claim("listed sets that are not frequent", float((weights < least).sum()), 0.0),
            Claim("listed sets that are there twice, or lack a part", float(lacking(sets)), 0.0),
            Claim("frequent sets that are missing (just outside the list)", float((beyond >= least).sum()), 0.0),
        ]

    def _is_table(self, sets: np.ndarray) -> bool:
        inside = sets.ndim == 2 and sets.dtype.kind in "iu"
        return bool(inside and sets.min(initial=0) >= -1 and sets.max(initial=-1) < self.n_features_in_)

    def _restate(self, problem: Baskets) -> list[Claim]:
        return [restated("weight_", self.weight_, problem.total)]

    def sets(self) -> list[tuple[tuple[str | int, ...], float]]:
        """Give the frequent sets, each with its support; items by name, where columns have names."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return [
            (tuple(int(item) if names is None else str(names[item]) for item in one if item >= 0), float(support))
            for one, support in zip(self.itemsets_, self.supports_)
        ]


def parts_of(items: int, most: int | None) -> int:
    """Count the sets that can be made of some items, up to a size: where all are frequent together, each of these is.

    >>> parts_of(3, None), parts_of(3, 2)
    (7, 6)
    """
    return sum(comb(items, size) for size in range(1, 1 + min(items, items if most is None else most)))


def check_sets(model: object) -> FrequentSets:
    """Give a fitted search for frequent sets, and refuse all else in words."""
    if not isinstance(model, FrequentSets):
        raise InputError(
            f"Rules follow from frequent sets: give a fitted qed.Apriori or qed.FPGrowth, not {type(model).__name__}."
        )
    model._check_fitted()
    if model.max_size == 1:
        raise ParameterError("Rules need sets of two items or more: fit with max_size=2 at least.")
    return model
