"""What a statistic is: a small value that stands for many rows.

A model that is learned from a statistic needs nothing else of its rows. Because statistics of blocks add up to the statistic of all,
such a model reads files and clusters, learns from more rows later, and is cross-validated in one pass. A class of statistics

- is made of a block by a function such as ``Moments.of(block)`` that touches this block only,
- knows ``+`` (two sets of rows together) and, where rows can be taken away again, ``-``,
- says in ``is_finite`` whether a missing or infinite value has got into it, so that nobody has to search the data for one first,
- gives a fingerprint of the rows, and
- is frozen, of a size that does not depend on the number of rows, and marked with :func:`qed.base.saving.known.savable`, since the
  fitted model keeps it.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

from qed.base.models.fingerprint import Fingerprint


class Statistic(Protocol):
    """What the model template asks of a statistic."""

    @property
    def is_finite(self) -> bool:
        """Say whether all that was added up is a finite number."""

    def __add__(self, other: Any) -> Self:
        """Give the statistic of both sets of rows together."""

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others."""
