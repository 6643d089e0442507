r"""The Gram matrix of a block of rows: the compiled kernel under every least-squares fit.

.. math:: G = Z^\top Z, \qquad Z_i = \sqrt{w_i}\,(x_i - c_x,\; y_i - c_y,\; 1),

so one matrix holds the sums of squares and products, the sums (its last row) and the sum of weights (its corner) about
a point :math:`c`. Rows are copied tile by tile, small enough for the cache, into panels of as many columns as a register holds;
there they are shifted, weighted and widened to float64, which costs little next to reading them. Then a tile of registers takes one
panel against three and keeps all their products in registers while it runs down the rows. Only the upper triangle is computed.
The cost is one reading of the data and :math:`nm^2` operations for :math:`m` columns, at the peak rate of the processor for all
but the narrowest tables; each sum is off by at most :math:`(n + 6)\,u \sum_i |z_{ij} z_{ik}|` with :math:`u = 2^{-53}`. The
scheme is that of Goto and van de Geijn (2008), "Anatomy of high-performance matrix multiplication", for a product whose two sides
are the same narrow matrix.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from qed.base.compile import kernel
from qed.linalg.registers.vectors import everywhere, integer, lanes, multiplied, target, vector_at

TILE_ROWS = 128
# A tile has to stay in the second cache, which is smaller on processors with narrower registers.
TILE_VALUES = {8: 1 << 17, 4: 1 << 15}


def _vector() -> ir.VectorType:
    return ir.VectorType(ir.DoubleType(), lanes(*target()))


def _register_tile(width: int) -> Any:
    """Make the instruction ``sums[panel i, panels j .. j + width] += tile[i, :rows]' tile[j .. j + width, :rows]``.

    It is written in vectors, because the compiler by itself neither keeps the sums in registers nor uses the widest ones.
    """

    @intrinsic
    def multiply(typing: Any, tile: Any, sums: Any, i: Any, j: Any, rows: Any) -> Any:
        signature = types.void(tile, sums, types.intp, types.intp, types.intp)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tile, sums, i, j, rows = arguments
            kind = _vector()
            size = integer(kind.count)
            panels = context.make_array(signature.args[0])(context, builder, tile)
            totals = context.make_array(signature.args[1])(context, builder, sums)
            length = builder.mul(builder.extract_value(panels.shape, 1), size)
            left = builder.gep(panels.data, [builder.mul(i, length)])
            right = [builder.gep(panels.data, [builder.mul(builder.add(j, integer(v)), length)]) for v in range(width)]
            found = _run_down(builder, kind, left, right, rows)
            stride = builder.extract_value(totals.shape, 1)
            for r in range(kind.count):
                row = builder.mul(builder.add(builder.mul(i, size), integer(r)), stride)
                for v in range(width):
                    column = builder.mul(builder.add(j, integer(v)), size)
                    place = vector_at(builder, kind, totals.data, builder.add(row, column))
                    builder.store(builder.fadd(builder.load(place, align=8), found[r][v]), place, align=8)
            return context.get_dummy_value()

        return signature, generate

    return multiply


def _run_down(builder: Any, kind: ir.VectorType, left: Any, right: list[Any], rows: Any) -> list[list[Any]]:
    """Write the loop over the rows of a tile, with one register of sums per column on the left and panel on the right."""
    before, loop, after = builder.block, builder.append_basic_block("rows"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    row = builder.phi(ir.IntType(64))
    sums = [[builder.phi(kind) for _ in right] for _ in range(kind.count)]
    offset = builder.mul(row, integer(kind.count))
    values = [builder.load(vector_at(builder, kind, panel, offset), align=8) for panel in right]
    following = builder.add(row, integer(1))
    row.add_incoming(integer(0), before)
    row.add_incoming(following, loop)
    found: list[list[Any]] = []
    for r in range(kind.count):
        factor = everywhere(builder, kind, builder.load(builder.gep(left, [builder.add(offset, integer(r))])))
        found.append([])
        for value, total in zip(values, sums[r]):
            found[r].append(multiplied(builder, factor, value, total))
            total.add_incoming(ir.Constant(kind, [0.0] * kind.count), before)
            total.add_incoming(found[r][-1], loop)
    builder.cbranch(builder.icmp_signed("<", following, rows), loop, after)
    builder.position_at_end(after)
    return found


_multiply_one, _multiply_two, _multiply_three = (_register_tile(width) for width in (1, 2, 3))


def _panel_copy(typing: Any, X: Any, shift: Any, tile: Any, i: Any, scale: Any, v: Any, r: Any, kept: Any) -> Any:
    """Make the instruction ``tile[v, r, :kept] = scale * (X[i] - shift)[panel v]``, with zeros behind.

    It reads a whole panel, also where only the first columns of it are kept.
    """
    signature = types.void(X, shift, tile, types.intp, types.float64, types.intp, types.intp, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        i, scale, v, r, kept = arguments[3:]
        kind = _vector()
        source, centre, goal = (
            context.make_array(array)(context, builder, value) for array, value in zip(signature.args[:3], arguments)
        )
        first = builder.mul(v, integer(kind.count))
        values = _load_panel(context, builder, kind, signature.args[0], source, i, first)
        values = builder.fsub(values, builder.load(vector_at(builder, kind, centre.data, first), align=8))
        values = builder.fmul(values, everywhere(builder, kind, scale))
        numbers = ir.VectorType(ir.IntType(64), kind.count)
        lane = ir.Constant(numbers, list(range(kind.count)))
        inside = builder.icmp_signed("<", lane, everywhere(builder, numbers, kept))
        values = builder.select(inside, values, ir.Constant(kind, [0.0] * kind.count))
        row = builder.add(builder.mul(v, builder.extract_value(goal.shape, 1)), r)
        place = vector_at(builder, kind, goal.data, builder.mul(row, integer(kind.count)))
        builder.store(values, place, align=8)
        return context.get_dummy_value()

    return signature, generate


_copy_panel: Any = intrinsic(_panel_copy)


def _size(typing: Any) -> Any:
    """Make the number of columns of a panel, as a constant of the compiled code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return integer(_vector().count)

    return types.intp(), generate


_panel_size: Any = intrinsic(_size)


def _load_panel(context: Any, builder: Any, kind: ir.VectorType, array: Any, source: Any, i: Any, first: Any) -> Any:
    """Load the values of a panel from a row: at once where they are neighbours in memory, one by one where not."""
    item = context.get_value_type(array.dtype)
    vector = ir.VectorType(item, kind.count)
    if array.layout == "C":
        place = cgutils.get_item_pointer(context, builder, array, source, [i, first])  # type: ignore[no-untyped-call]
        place = builder.bitcast(place, vector.as_pointer())
        values = builder.load(place, align=item.get_abi_alignment(context.target_data))
    else:
        values = ir.Constant(vector, ir.Undefined)
        for c in range(kind.count):
            column = builder.add(first, integer(c))
            place = cgutils.get_item_pointer(context, builder, array, source, [i, column])  # type: ignore[no-untyped-call]
            values = builder.insert_element(values, builder.load(place), ir.Constant(ir.IntType(32), c))
    return values if array.dtype == types.float64 else builder.fpext(values, kind)


@kernel(within=True)
def _add_products(tile: Any, rows: int, sums: Any) -> None:
    """Add the products of all pairs of columns of the tile to `sums`, on and above the diagonal of panels."""
    panels = len(tile)
    for i in range(panels):
        j = i
        while j < panels:
            left = panels - j
            if left == 3 or left > 4:
                _multiply_three(tile, sums, i, j, rows)
                j += 3
            elif left >= 2:
                _multiply_two(tile, sums, i, j, rows)
                j += 2
            else:
                _multiply_one(tile, sums, i, j, rows)
                j += 1


@kernel(within=True)
def _pack(X: Any, Y: Any, root: Any, shift: Any, start: int, rows: int, tile: Any) -> None:
    """Copy rows into panels of columns, shifted and multiplied by the root of their weight, with a column of ones.

    `shift` is longer by a panel than there are columns. The loops are apart because together they need too many registers.
    """
    p, q, size = X.shape[1], Y.shape[1], _panel_size()
    whole = p // size
    rest = p - whole * size
    for v in range(whole):
        for r in range(rows):
            _copy_panel(X, shift, tile, start + r, root[start + r] if len(root) else 1.0, v, r, size)
    if rest:
        # Where rows follow each other in memory, the last panel is read beyond its end, but not beyond the end of X.
        safe = max(0, min(rows, len(X) - start - (size - rest + p - 1) // p)) if X.flags.c_contiguous else 0
        for r in range(safe):
            _copy_panel(X, shift, tile, start + r, root[start + r] if len(root) else 1.0, whole, r, rest)
        for j in range(rest):
            centre = shift[whole * size + j]
            for r in range(safe, rows):
                value = X[start + r, whole * size + j] - centre
                tile[whole, r, j] = value * (root[start + r] if len(root) else 1.0)
    for j in range(q):
        v, lane, centre = (p + j) // size, (p + j) % size, shift[p + j]
        for r in range(rows):
            tile[v, r, lane] = (Y[start + r, j] - centre) * (root[start + r] if len(root) else 1.0)
    v, lane = (p + q) // size, (p + q) % size
    for r in range(rows):
        tile[v, r, lane] = root[start + r] if len(root) else 1.0


@kernel
def _sum_tiles(X: Any, Y: Any, root: Any, shift: Any, tile: Any, sums: Any) -> None:
    """Add the products of all rows to `sums`, tile by tile, and mirror them at the diagonal."""
    size = tile.shape[1] - 1
    for start in range(0, len(X), size):
        rows = min(size, len(X) - start)
        _pack(X, Y, root, shift, start, rows, tile)
        _add_products(tile, rows, sums)
    for i in range(len(sums)):
        for j in range(i):
            sums[i, j] = sums[j, i]


def _on_cache_lines(panels: int, rows: int, size: int) -> np.ndarray:
    """Make a tile of zeros that begins where a cache line begins: reading across lines would halve the speed."""
    values = np.zeros(panels * rows * size + 8)
    first = -(values.ctypes.data // values.itemsize) % 8
    return values[first : first + panels * rows * size].reshape(panels, rows, size)


def gram_matrix(X: np.ndarray, Y: np.ndarray, root: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Give the Gram matrix of ``root * [X - shift, Y - shift, 1]``.

    X may be of float32 and in any order of memory, Y is C-contiguous and may have no columns; `root` holds the roots of
    the weights, or nothing when all are one. The last row of the result holds the sums, its corner the sum of the
    weights.
    """
    size, columns = lanes(*target()), len(shift) + 1
    panels = -(-columns // size)
    # One row more than is used keeps the panels from falling on the same lines of the cache.
    tile = _on_cache_lines(panels, 1 + max(8, min(TILE_ROWS, TILE_VALUES[size] // columns)), size)
    sums = np.zeros((panels * size, panels * size))
    _sum_tiles(X, Y, root, np.append(shift, np.zeros(size)), tile, sums)
    return sums[:columns, :columns]
