"""C6-DIST: distances keep four axioms, dissimilarities three; whoever breaks one is shown the rows that break it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.clustering import check_distance

NORMS = {
    "L1": lambda x, y: np.abs(x - y).sum(),
    "L2": lambda x, y: np.sqrt(((x - y) ** 2).sum()),
    "maximum": lambda x, y: np.abs(x - y).max(),
}


@pytest.mark.parametrize("name", NORMS)
@settings(max_examples=10, deadline=None)
@given(n=st.integers(1, 12), p=st.integers(1, 4), scale=st.sampled_from([1e-8, 1.0, 1e8]), seed=st.integers(0, 999))
def test_norms_are_distances(name, n, p, scale, seed):
    X = scale * np.random.default_rng(seed).normal(size=(n, p))
    found = check_distance(NORMS[name], X)
    assert found.is_distance and found.is_dissimilarity and found.violated == ()
    assert found.n_points == n and str(found).count("holds") == 4


def test_squares_break_the_triangle_inequality_and_no_other():
    X = np.random.default_rng(0).normal(size=(15, 3))
    found = check_distance(lambda x, y: ((x - y) ** 2).sum(), X)
    assert found.violated == ("triangle",) and found.is_dissimilarity and not found.is_distance
    x, y, z = found.witnesses["triangle"].rows
    assert ((x - z) ** 2).sum() > ((x - y) ** 2).sum() + ((y - z) ** 2).sum()


@pytest.mark.parametrize(
    ("function", "axiom"),
    [
        (lambda x, y: -np.abs(x - y).sum(), "nonnegative"),
        (lambda x, y: 1.0 + np.abs(x - y).sum(), "identity"),
        (lambda x, y: abs(x[0] - y[0]), "identity"),
        (lambda x, y: np.maximum(x - y, 0).sum() + 0.5 * np.maximum(y - x, 0).sum(), "symmetric"),
    ],
)
def test_each_axiom_has_its_witness(function, axiom):
    X = [[0.0, 1.0], [0.0, 2.0], [3.0, 1.0]]
    found = check_distance(function, X)
    assert axiom in found.violated and not found.is_dissimilarity
    rows = found.witnesses[axiom].rows
    if axiom == "nonnegative":
        assert function(*rows) < 0
    elif axiom == "symmetric":
        assert function(*rows) != function(*rows[::-1])
    else:
        assert (function(*rows) == 0) != np.array_equal(*rows) if len(rows) == 2 else function(*rows, *rows) != 0


def test_parallel_rows_are_no_distance_apart_by_their_angle():
    def angle(x, y):
        return 1 - x @ y / np.sqrt((x @ x) * (y @ y))

    assert "identity" in check_distance(angle, [[1.0, 2.0], [2.0, 4.0], [3.0, -1.0]]).violated


def test_rows_that_all_but_agree_refute_nothing():
    X = [[0.0], [1e-13], [1.0], [1.0 + 1e-12]]
    for norm in NORMS.values():
        assert check_distance(norm, X).is_distance
