"""One statistic for each group of rows, all collected in a single pass.

Every row belongs to one of k groups, such as the folds of a cross-validation, or to none of them (-1). A block's rows
are sorted into their groups, each group's statistic is taken, and `Grouped` objects add up group by group; so a fold
over them costs what one statistic costs, whatever k is. The statistic of all rows but a group's, which a training set
needs, is the sum of the others. Consecutive rows of one group are taken as they lie in memory; only groups that are
scattered over a block are gathered first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import add
from typing import Any, TypeVar

import numpy as np

from qed.base.errors import InputError
from qed.base.sources.block import Block

LONG_RUN = 512
Statistic = TypeVar("Statistic")


@dataclass(frozen=True, eq=False)
class Grouped:
    """The statistics of groups of rows.

    >>> from qed.base.sources.open import rows
    >>> data = rows(np.array([[1.0], [2.0], [4.0], [8.0]]))
    >>> sums = data.fold(Grouped.of, np.array([0, 0, 1, -1]), 2, lambda block: block.X.sum())
    >>> float(sums[0]), float(sums.total), [float(rest) for rest in sums.others()]
    (3.0, 15.0, [12.0, 11.0])
    """

    parts: Mapping[int, Any]  # the statistic of every group that has rows; -1 stands for the rows of no group
    n_groups: int  # how many groups there are

    @classmethod
    def of(cls, block: Block, assignment: np.ndarray, n_groups: int, statistic: Callable[[Block], Any]) -> Grouped:
        """Take the statistic of each group in a block.

        The assignment is the group of every row of the source, counted from its first row; -1 for none.
        """
        groups = assignment[block.start : block.start + len(block)]
        if len(groups) != len(block):
            raise InputError(f"There are groups for {len(assignment)} rows only: every row needs one, -1 for none.")
        found: dict[int, Any] = {}
        for group, part in runs(block, groups):
            if not -1 <= group < n_groups:
                raise InputError(f"Group {group} is not one of 0 to {n_groups - 1} (or -1 for none).")
            if group < 0 and part.weight is not None and not part.weight.any():
                continue  # of no group and of no weight: there is nothing to add
            one = statistic(part)
            found[group] = found[group] + one if group in found else one
        return cls(found, n_groups)

    def __add__(self, other: Grouped) -> Grouped:
        if self.n_groups != other.n_groups:
            raise InputError(f"Statistics of {self.n_groups} and of {other.n_groups} groups can not be added.")
        found = dict(self.parts)
        for group, part in other.parts.items():
            found[group] = found[group] + part if group in found else part
        return Grouped(found, self.n_groups)

    def __getitem__(self, group: int) -> Any:
        """Give the statistic of one group."""
        if group not in self.parts:
            raise InputError(f"Group {group} of {self.n_groups} has no rows.")
        return self.parts[group]

    @property
    def total(self) -> Any:
        """The statistic of all rows."""
        return reduce(add, [self.parts[group] for group in sorted(self.parts)])

    def others(self) -> list[Any]:
        """Give for each group the statistic of all rows outside it, added up without any subtraction."""
        present = sorted(self.parts)
        rest = dict(zip(present, complements([self.parts[group] for group in present])))
        total = self.total if len(rest) < self.n_groups else None
        return [rest.get(group, total) for group in range(self.n_groups)]

    @property
    def is_finite(self) -> bool:
        """Whether the statistics of all groups are finite."""
        return all(part.is_finite for part in self.parts.values())


def runs(block: Block, groups: np.ndarray) -> Iterator[tuple[int, Block]]:
    """Give the rows of each group, as views where they are consecutive, gathered where they are scattered."""
    if len(groups) == 0:
        return
    cuts = np.flatnonzero(np.diff(groups)) + 1
    scattered = len(groups) < LONG_RUN * (len(cuts) + 1)
    if scattered and len(cuts) + 1 > len(np.unique(groups)):
        order = np.argsort(groups, kind="stable")
        block, groups = block.take(order), groups[order]
        cuts = np.flatnonzero(np.diff(groups)) + 1
    for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), len(groups)]):
        yield int(groups[start]), block.between(start, stop)


def complements(parts: Sequence[Statistic]) -> list[Statistic]:
    """Give for each part the sum of all others: what k-fold cross-validation needs of an additive statistic.

    Running sums from both ends take 3k additions and no subtraction, so that no digit is lost where one part outweighs the others. It
    works for everything that can be added, also where there is no difference, as for `Factor`.

    Parameters
    ----------
    parts : sequence of statistics
        At least two.

    Examples
    --------
    >>> complements([1, 10, 100])
    [110, 101, 11]
    """
    if len(parts) < 2:
        raise InputError(f"Leaving one part out needs at least two parts, not {len(parts)}.")
    before = list(accumulate(parts, add))
    after = list(accumulate(reversed(parts), add))[::-1]
    inner = [add(before[j - 1], after[j + 1]) for j in range(1, len(parts) - 1)]
    return [after[1], *inner, before[-2]]
