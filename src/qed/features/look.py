"""A first look at rows of numbers: is all there, and what does the first block hold."""

from __future__ import annotations

from typing import Any

from qed.base.models.checks import overflowed, refuse_missing
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary


def look(rows: Rows, model: Any) -> Summary:
    """Summarise the columns; a missing or infinite value is refused by the name of its column.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.sources.open import rows
    >>> look(rows(np.array([[1.0], [3.0]])), None).mean
    array([2.])
    """
    summary: Summary = rows.fold(Summary.of)
    if not summary.is_complete:
        refuse_missing(rows, model)
        raise overflowed(model)
    return summary


def first_block(rows: Rows) -> Block:
    """Give the first block, without reading many more.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.sources.open import rows
    >>> len(first_block(rows(np.ones((5, 2)))))
    5
    """
    blocks = rows.blocks()
    found = next(iter(blocks))
    blocks.close()  # type: ignore[attr-defined]
    return found
