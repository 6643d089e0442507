"""Products by tiles of registers are those of NumPy, at any size and for registers of any width."""

import importlib.util
import sys

import numpy as np
import pytest
from numba import njit

from qed.base import compile as compiling
from qed.linalg.registers import tiles

SHAPES = [(1, 1, 1), (7, 3, 10), (13, 5, 33), (8, 16, 64), (9, 2, 84)]


def compiled(tiles):
    @njit
    def product(A, down, along, B, C, numbers, spare):
        tiles_multiply(A, down, along, B, C, numbers, spare)

    @njit
    def add(A, B, C, places, rows, depth, wide):
        tiles_add(A, 1, depth + 1, 1, B, 2, 1, places, C, 3, wide, rows, depth, True)

    @njit
    def lanes(A, B, C, places, rows, length, each):
        for first in range(0, len(places), 2):
            tiles_lanes(A, 0, length, B, 1, places, first, len(places), C, 0, len(places) * each, rows, length)

    tiles_multiply, tiles_add, tiles_lanes = tiles.multiply, tiles.add_tile, tiles.add_lanes
    return product, add, lanes


def narrow(monkeypatch, size, rows):
    """Give the module as it is where registers hold so many bytes, compiled afresh and uncached."""
    monkeypatch.setattr(compiling, "kernel", lambda function=None, within=False: njit)
    spec = importlib.util.spec_from_file_location("narrow_tiles", tiles.__file__)
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "narrow_tiles", found)
    spec.loader.exec_module(found)
    monkeypatch.undo()
    found.register_bytes = lambda *target: size
    found.tile_rows = lambda: rows
    return found


def assert_like_twins(tiles, kind, shapes):
    product, add, lanes = compiled(tiles)
    rng, wide = np.random.default_rng(0), tiles.tile_columns(kind)
    unit = np.finfo(kind).eps
    for m, k, n in shapes:
        A, B = rng.normal(size=(m, k)).astype(kind), rng.normal(size=(k, n)).astype(kind)
        # Each sum of k products is off by at most k roundings of the sum of their sizes, here and there.
        allowed = 2 * k * unit * (abs(A) @ abs(B))
        for flat, down, along in ((A.ravel(), k, 1), (A.T.ravel(), 1, m)):
            C, spare = np.full((m, n), np.nan, kind), np.full((k + tiles.tile_rows()) * wide, np.nan, kind)
            product(flat, down, along, B, C, np.arange(k), spare)
            assert (abs(C - A @ B) <= allowed).all()
    rows, depth = tiles.tile_rows() - 1, 5
    A, B = rng.normal(size=1 + rows * (depth + 1)).astype(kind), rng.normal(size=2 + 40 + wide).astype(kind)
    C, places = np.ones(3 + (rows + 1) * wide, kind), np.array([7, 0, 40, 7, 11])
    add(A, B, C, places, rows, depth, wide)
    factors, given = A[1:].reshape(rows, depth + 1)[:, :depth], np.array([B[2 + p : 2 + p + wide] for p in places])
    there = C[3:].reshape(rows + 1, wide)
    assert (abs(there[:rows] - 1 - factors @ given) <= 2 * (depth + 1) * unit * (1 + abs(factors) @ abs(given))).all()
    assert (there[rows] == 1).all() and (C[:3] == 1).all()
    each = wide // tiles.ACROSS
    A, B, places = rng.normal(size=(3, 2 * each)).astype(kind), rng.normal(size=99).astype(kind), np.array([0, 5, 31])
    C = np.zeros((3, 3, each), kind)
    lanes(A.ravel(), B, C.ravel(), places, 3, 2 * each, each)
    given = np.array([B[1 + p : 1 + p + 2 * each] for p in places])
    assert (abs(C.sum(axis=2) - A @ given.T) <= 4 * each * unit * (abs(A) @ abs(given).T)).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_tiles_are_products(kind):
    assert_like_twins(tiles, kind, SHAPES)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "rows"), [(32, 6), (16, 8)])
def test_tiles_of_narrower_registers(size, rows, monkeypatch):
    assert_like_twins(narrow(monkeypatch, size, rows), np.float32, SHAPES[:3])
