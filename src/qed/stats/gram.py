r"""The Gram matrix of a block of rows: the compiled kernel under every least-squares fit.

.. math:: G = Z^\top Z, \qquad Z_i = \sqrt{w_i}\,(x_i - c_x,\; y_i - c_y,\; 1),

so one matrix holds the sums of squares and products, the sums (its last row) and the sum of weights (its corner) about
a point :math:`c`. Rows are copied tile by tile, small enough for the cache, into panels of eight columns; there they
are shifted, weighted and widened to float64, which costs little next to reading them. Then a tile of registers takes
eight columns against twenty-four and keeps all 192 sums in registers while it runs down the rows. Only the upper
triangle is computed. The cost is one reading of the data and :math:`nm^2` operations for :math:`m` columns, close to
the peak rate of the processor. The scheme is that of Goto and van de Geijn (2008), "Anatomy of high-performance
matrix multiplication", for a product whose two sides are the same narrow matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from qed.base.compile import kernel

PANEL = 8
TILE_ROWS = 128
TILE_VALUES = 1 << 17

# A tile of registers is HEIGHT columns by up to WIDTH panels: 24 of the 32 registers of AVX-512, or 8 of the 16 of AVX2.
HEIGHT, WIDTH = (8, 3) if binding.get_host_cpu_features().get("avx512f") else (4, 1)


_VECTOR = ir.VectorType(ir.DoubleType(), PANEL)


def _integer(value: int) -> ir.Constant:
    return ir.Constant(ir.IntType(64), value)


def _vector_at(builder: Any, base: Any, offset: Any) -> Any:
    return builder.bitcast(builder.gep(base, [offset]), _VECTOR.as_pointer())


def _register_tile(width: int) -> Any:
    """Make the instruction ``sums[i : i + HEIGHT, panels j .. j + width] += tile[:rows, i..]' tile[:rows, j..]``.

    It is written in vectors, because the compiler by itself neither keeps the sums in registers nor uses the widest ones.
    """

    @intrinsic
    def multiply(typing: Any, tile: Any, sums: Any, i: Any, j: Any, rows: Any) -> Any:
        signature = types.void(tile, sums, types.intp, types.intp, types.intp)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tile, sums, i, j, rows = arguments
            panels = context.make_array(signature.args[0])(context, builder, tile)
            totals = context.make_array(signature.args[1])(context, builder, sums)
            length = builder.mul(builder.extract_value(panels.shape, 1), _integer(PANEL))
            left = builder.gep(panels.data, [builder.mul(builder.udiv(i, _integer(PANEL)), length)])
            left = builder.gep(left, [builder.urem(i, _integer(PANEL))])
            right = [builder.gep(panels.data, [builder.mul(builder.add(j, _integer(v)), length)]) for v in range(width)]
            found = _run_down(builder, left, right, rows)
            stride = builder.extract_value(totals.shape, 1)
            for r in range(HEIGHT):
                row = builder.mul(builder.add(i, _integer(r)), stride)
                for v in range(width):
                    column = builder.mul(builder.add(j, _integer(v)), _integer(PANEL))
                    place = _vector_at(builder, totals.data, builder.add(row, column))
                    builder.store(builder.fadd(builder.load(place, align=8), found[r][v]), place, align=8)
            return context.get_dummy_value()

        return signature, generate

    return multiply


def _run_down(builder: Any, left: Any, right: list[Any], rows: Any) -> list[list[Any]]:
    """Write the loop over the rows of a tile, with one register of sums per column on the left and panel on the right."""
    before, loop, after = builder.block, builder.append_basic_block("rows"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    row = builder.phi(ir.IntType(64))
    sums = [[builder.phi(_VECTOR) for _ in right] for _ in range(HEIGHT)]
    offset = builder.mul(row, _integer(PANEL))
    values = [builder.load(_vector_at(builder, panel, offset), align=8) for panel in right]
    following = builder.add(row, _integer(1))
    row.add_incoming(_integer(0), before)
    row.add_incoming(following, loop)
    found: list[list[Any]] = []
    for r in range(HEIGHT):
        factor = _everywhere(builder, builder.load(builder.gep(left, [builder.add(offset, _integer(r))])))
        found.append([])
        for value, total in zip(values, sums[r]):
            product = builder.fmul(factor, value, flags=("contract",))
            found[r].append(builder.fadd(product, total, flags=("contract",)))
            total.add_incoming(ir.Constant(_VECTOR, [0.0] * PANEL), before)
            total.add_incoming(found[r][-1], loop)
    builder.cbranch(builder.icmp_signed("<", following, rows), loop, after)
    builder.position_at_end(after)
    return found


def _everywhere(builder: Any, value: Any) -> Any:
    """Copy a number into every lane of a vector."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    lanes = ir.VectorType(ir.IntType(32), PANEL)
    first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(lanes, [0] * PANEL))


def _panel_copy(typing: Any, x: Any, shift: Any, tile: Any, scale: Any, v: Any, r: Any) -> Any:
    """Make the instruction ``tile[v, r, :] = scale * (x - shift)[PANEL * v : PANEL * (v + 1)]``."""
    signature = types.void(x, shift, tile, types.float64, types.intp, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        scale, v, r = arguments[3:]
        source, centre, goal = (
            context.make_array(kind)(context, builder, array) for kind, array in zip(signature.args[:3], arguments)
        )
        first = builder.mul(v, _integer(PANEL))
        values = _load_panel(context, builder, signature.args[0], source, first)
        values = builder.fsub(values, builder.load(_vector_at(builder, centre.data, first), align=8))
        row = builder.add(builder.mul(v, builder.extract_value(goal.shape, 1)), r)
        place = _vector_at(builder, goal.data, builder.mul(row, _integer(PANEL)))
        builder.store(builder.fmul(values, _everywhere(builder, scale)), place, align=8)
        return context.get_dummy_value()

    return signature, generate


_copy_panel: Any = intrinsic(_panel_copy)


def _load_panel(context: Any, builder: Any, kind: Any, source: Any, first: Any) -> Any:
    """Load the values of a panel from a row: at once where they are neighbours in memory, one by one where not."""
    item = context.get_value_type(kind.dtype)
    vector = ir.VectorType(item, PANEL)
    if kind.layout == "C":
        place = builder.bitcast(builder.gep(source.data, [first]), vector.as_pointer())
        values = builder.load(place, align=item.get_abi_alignment(context.target_data))
    else:
        values = ir.Constant(vector, ir.Undefined)
        for c in range(PANEL):
            column = builder.add(first, _integer(c))
            place = cgutils.get_item_pointer(context, builder, kind, source, [column])  # type: ignore[no-untyped-call]
            values = builder.insert_element(values, builder.load(place), ir.Constant(ir.IntType(32), c))
    return values if kind.dtype == types.float64 else builder.fpext(values, _VECTOR)


_multiply_one, _multiply_two, _multiply_three = (_register_tile(min(width, WIDTH)) for width in (1, 2, 3))


@kernel
def _add_products(tile: Any, rows: int, sums: Any) -> None:
    """Add the products of all pairs of columns of the tile to `sums`, on and above the diagonal of panels."""
    panels = len(tile)
    for i in range(0, panels * PANEL, HEIGHT):
        j = i // PANEL
        while j < panels:
            left = min(panels - j, WIDTH)
            if left == 3 and panels - j != 4:
                _multiply_three(tile, sums, i, j, rows)
                j += 3
            elif left >= 2:
                _multiply_two(tile, sums, i, j, rows)
                j += 2
            else:
                _multiply_one(tile, sums, i, j, rows)
                j += 1


@kernel
def _pack(X: Any, Y: Any, root: Any, shift: Any, start: int, rows: int, tile: Any) -> None:
    """Copy rows into panels of columns, shifted and multiplied by the root of their weight, with a column of ones."""
    p, q = X.shape[1], Y.shape[1]
    whole = p // PANEL
    for r in range(rows):
        scale = root[start + r] if len(root) else 1.0
        x = X[start + r]
        for v in range(whole):
            _copy_panel(x, shift, tile, scale, v, r)
        for j in range(whole * PANEL, p):
            tile[whole, r, j - whole * PANEL] = (x[j] - shift[j]) * scale
        for j in range(p, p + q):
            tile[j // PANEL, r, j % PANEL] = (Y[start + r, j - p] - shift[j]) * scale
        tile[(p + q) // PANEL, r, (p + q) % PANEL] = scale


@kernel
def _sum_tiles(X: Any, Y: Any, root: Any, shift: Any, tile: Any, sums: Any) -> None:
    """Add the products of all rows to `sums`, tile by tile, and mirror them at the diagonal."""
    size = tile.shape[1]
    for start in range(0, len(X), size):
        rows = min(size, len(X) - start)
        _pack(X, Y, root, shift, start, rows, tile)
        _add_products(tile, rows, sums)
    for i in range(len(sums)):
        for j in range(i):
            sums[i, j] = sums[j, i]


def _on_cache_lines(panels: int, rows: int) -> np.ndarray:
    """Make a tile of zeros that begins where a cache line begins: reading across lines would halve the speed."""
    size = panels * rows * PANEL
    values = np.zeros(size + PANEL)
    first = -(values.ctypes.data // values.itemsize) % PANEL
    return values[first : first + size].reshape(panels, rows, PANEL)


def gram_matrix(X: np.ndarray, Y: np.ndarray, root: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Give the Gram matrix of ``root * [X - shift, Y - shift, 1]``.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        float64 or float32, in any order of memory.
    Y : ndarray of shape (n, q)
        float64, C-contiguous; q may be 0.
    root : ndarray of shape (n,)
        The square roots of the weights; empty when all are one.
    shift : ndarray of shape (p + q,)
        Where the sums are taken about.

    Returns
    -------
    ndarray of shape (p + q + 1, p + q + 1)
        Symmetric; its last row holds the sums, its corner the sum of the weights.

    Examples
    --------
    >>> gram_matrix(np.array([[1.0], [5.0]]), np.empty((2, 0)), np.ones(2), np.array([3.0]))
    array([[8., 0.],
           [0., 2.]])
    """
    columns = len(shift) + 1
    shift = np.ascontiguousarray(shift)
    panels = -(-columns // PANEL)
    tile = _on_cache_lines(panels, max(PANEL, min(TILE_ROWS, TILE_VALUES // columns)))
    sums = np.zeros((panels * PANEL, panels * PANEL))
    _sum_tiles(X, Y, root, shift, tile, sums)
    return sums[:columns, :columns]
