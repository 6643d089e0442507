"""The first of the largest found in registers is that of NumPy, at any size and for registers of any width."""

import importlib.util
import sys

import numpy as np
import pytest
from numba import njit

from qed.linalg.registers import largest


def as_if(monkeypatch, size):
    """Give the module as it is where registers hold so many bytes."""
    spec = importlib.util.spec_from_file_location("other_largest", largest.__file__)
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "other_largest", found)
    spec.loader.exec_module(found)
    found.register_bytes = lambda *target: size
    return found


@pytest.mark.parametrize("size", [None, 16, 32, 64])
def test_the_first_of_the_largest_is_that_of_its_twin(monkeypatch, size):
    twin = (largest if size is None else as_if(monkeypatch, size)).first_largest

    @njit
    def run(values):
        return twin(values)

    rng = np.random.default_rng(0)
    for count in [*range(130), 1000, 1601]:
        few, many = rng.integers(-2, 3, count).astype(float), rng.normal(size=count)
        far = np.where(few < 0, -np.inf, few)
        for values in (few, many, np.sort(many), np.sort(many)[::-1].copy(), far, np.full(count, -np.inf)):
            found = run(values)
            assert found == twin(values)
            if count and values.max() > -np.inf:
                assert found == (np.flatnonzero(values == values.max())[0], values.max())
            else:
                assert found == (-1, -np.inf)
