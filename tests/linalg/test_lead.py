"""The least scores found in registers are those of NumPy, at any size and for registers of any width."""

import importlib.util
import sys

import numpy as np
import pytest
from numba import njit

from qed.linalg.registers import lead


def as_if(monkeypatch, size):
    """Give the module as it is where registers hold so many bytes."""
    spec = importlib.util.spec_from_file_location("other_lead", lead.__file__)
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "other_lead", found)
    spec.loader.exec_module(found)
    found.register_bytes = lambda *target: size
    return found


@pytest.mark.parametrize("size", [None, 16, 32, 64])
def test_leads_are_those_of_their_twin(monkeypatch, size):
    module = lead if size is None else as_if(monkeypatch, size)
    instruction, rows = module.lead, module.rows_in_lead()

    @njit
    def run(columns, points, begins, order, count, best, second, found):
        instruction(columns, points, begins, order, count, best, second, found)

    rng = np.random.default_rng(0)
    for p, k, count in ((1, 1, 1), (3, 4, 4), (7, 13, 6), (20, 50, 50)):
        columns, points = rng.normal(size=(p, rows)).astype(np.float32), np.zeros((k + 1, p), np.float32)
        begins = np.full(k + 1, np.inf, np.float32)
        points[:k], begins[:k] = rng.normal(size=(k, p)), rng.normal(size=k)
        columns[0, 1] = np.nan
        order = np.full(module.padded(count), k, np.int32)
        order[:count] = rng.permutation(k)[:count]
        out = np.empty(rows, np.float32), np.empty(rows, np.float32), np.empty(rows, np.int32)
        run(columns, points, begins, order, len(order), *out)
        chosen = order[:count]
        scores = begins[chosen, None].astype(float) + points[chosen].astype(float) @ columns.astype(float)
        # A sum of p products and a number is off by at most p + 1 roundings of the sum of their sizes.
        off = (p + 1) * 2.0**-24 * (abs(begins[chosen, None]) + abs(points[chosen]) @ abs(columns)).max(axis=0)
        there = np.arange(rows) != 1
        ordered = np.sort(scores, axis=0)
        assert (abs(out[0] - ordered[0]) <= off)[there].all()
        assert (abs(out[1] - ordered[1]) <= off)[there].all() if count > 1 else np.isinf(out[1][there]).all()
        own = scores[[list(chosen).index(c) for c in out[2][there]], np.flatnonzero(there)]
        assert (own <= ordered[0][there] + 2 * off[there]).all()
        assert np.isinf(out[0][1]) and np.isinf(out[1][1]) and out[2][1] == 0
