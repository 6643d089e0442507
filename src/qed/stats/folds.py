"""Each part's complement: what k-fold cross-validation needs of an additive statistic.

Of parts s_1 ... s_k it gives, for each j, the sum of all but s_j, from running sums from both ends: 3k additions and
no subtraction, so that no digit is lost where one part outweighs the others. It works for everything that can be
added, also where there is no difference, as for `Factor`.
"""

from collections.abc import Sequence
from itertools import accumulate
from operator import add
from typing import TypeVar

from qed.base.errors import InputError

Statistic = TypeVar("Statistic")


def complements(parts: Sequence[Statistic]) -> list[Statistic]:
    """Give for each part the sum of all others.

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
