"""The first block of some rows."""

from qed.base.sources.block import Block
from qed.base.sources.rows import Rows


def first_block(rows: Rows) -> Block:
    """Give the first block, without reading many more."""
    blocks = rows.blocks()
    found = next(iter(blocks))
    blocks.close()  # type: ignore[attr-defined]
    return found
