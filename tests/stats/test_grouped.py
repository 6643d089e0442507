"""Statistics of groups in one pass, and rows seen in another way."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from qed.base.errors import InputError
from qed.base.sources.block import Block
from qed.base.sources.open import rows
from qed.stats.grouped import Grouped
from qed.stats.moments import Moments
from qed.stats.parts import Part


def data_of(seed=0, n=1000, p=3, **options):
    random = np.random.default_rng(seed)
    return rows(random.normal(size=(n, p)), random.normal(size=n), **options)


def shared(view, whole):
    return np.shares_memory(view, whole)


def same_scatter(found, alone):
    """Compare sums of products: n terms in another order differ by n u of the lengths of the columns, once on either side."""
    length = np.sqrt(np.diag(alone.scatter))
    assert (np.abs(found.scatter - alone.scatter) <= 2 * alone.count * 2.0**-53 * np.outer(length, length)).all()


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_group_has_the_statistic_of_its_rows(scattered, weighted):
    random = np.random.default_rng(1)
    X, y = random.normal(size=(1000, 3)), random.normal(size=1000)
    weight = random.uniform(0.1, 2, 1000) if weighted else None
    groups = np.repeat([0, 1, -1, 2], 250)
    groups = random.permutation(groups) if scattered else groups
    found = rows(X, y, sample_weight=weight, block_size=128).fold(Grouped.of, groups, 3, Moments.of)
    for group in range(-1, 3):
        chosen = groups == group
        alone = Moments.of(Block(X[chosen], y[chosen], None if weight is None else weight[chosen]))
        same_scatter(found[group], alone)
        np.testing.assert_allclose(found[group].mean, alone.mean, rtol=1e-12, atol=1e-14)
    for group, rest in enumerate(found.others()):
        chosen = groups != group
        alone = Moments.of(Block(X[chosen], y[chosen], None if weight is None else weight[chosen]))
        same_scatter(rest, alone)
        assert rest.count == chosen.sum()
    assert found.total.count == 1000 and found.is_finite


def test_consecutive_rows_are_not_copied():
    X = np.random.default_rng(0).normal(size=(90, 2))
    seen = []
    Grouped.of(Block(X), np.repeat([0, 1, 2], 30), 3, lambda block: seen.append(block.X) or 0)
    assert [len(part) for part in seen] == [30, 30, 30] and all(shared(part, X) for part in seen)
    seen.clear()
    long = np.zeros((2400, 1))
    Grouped.of(Block(long), np.repeat([0, 1, 0, 1], 600), 2, lambda block: seen.append(block.X) or 0)
    assert len(seen) == 4 and all(shared(part, long) for part in seen)
    seen.clear()
    Grouped.of(Block(X), np.arange(90) % 3, 3, lambda block: seen.append(block.X) or 0)
    assert len(seen) == 3 and not any(shared(part, X) for part in seen)


def test_sparse_rows_and_tables_are_cut_too():
    matrix = sparse.random_array((60, 4), density=0.3, rng=np.random.default_rng(0), format="csr")
    sums = rows(matrix).fold(Grouped.of, np.arange(60) % 2, 2, lambda block: block.X.sum(axis=0))
    np.testing.assert_allclose(sums[1], matrix.toarray()[1::2].sum(axis=0))
    table = pa.table({"a": list(range(6))})
    block = Block(table, None, None, 0)
    counts = Grouped.of(block, np.array([0, 0, 0, 1, 1, 1]), 2, lambda part: sum(part.X["a"].to_pylist()))
    assert counts[0] == 3 and counts[1] == 12


def test_groups_are_checked():
    with pytest.raises(InputError, match="Group 3 is not one of 0 to 1"):
        data_of(n=4).fold(Grouped.of, np.array([0, 1, 3, 1]), 2, Moments.of)
    with pytest.raises(InputError, match="groups for 3 rows only"):
        data_of(n=4).fold(Grouped.of, np.array([0, 1, 1]), 2, Moments.of)
    found = data_of(n=4).fold(Grouped.of, np.array([0, 0, 0, 0]), 2, Moments.of)
    with pytest.raises(InputError, match="Group 1 of 2 has no rows"):
        found[1]
    with pytest.raises(InputError, match="at least two parts"):
        found.others()
    with pytest.raises(InputError, match="can not be added"):
        found + Grouped({}, 5)


def test_an_empty_group_is_everyone_elses_complement():
    found = data_of(n=6).fold(Grouped.of, np.array([0, 0, 2, 2, 2, 2]), 3, Moments.of)
    assert [rest.count for rest in found.others()] == [4, 6, 2]


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_a_part_gives_the_same_as_its_rows_alone(size):
    random = np.random.default_rng(2)
    X, y, weight = random.normal(size=(200, 3)), random.normal(size=200), random.uniform(size=200)
    chosen = random.random(200) < 0.4
    chosen[:70] = False
    part = Part(rows(X, y, sample_weight=weight, block_size=size), chosen)
    block = part.array()
    np.testing.assert_array_equal(block.X, X[chosen])
    np.testing.assert_array_equal(block.y, y[chosen])
    np.testing.assert_array_equal(block.weight, weight[chosen])
    assert part.count() == chosen.sum() and part.target_ndim == 1
    np.testing.assert_allclose(part.fold(Moments.of).xx, Moments.of(Block(X[chosen], y[chosen], weight[chosen])).xx)
    starts = [(found.start, len(found)) for found in part.blocks()]
    assert [start for start, _ in starts] == np.cumsum([0, *[n for _, n in starts]])[:-1].tolist()


def test_a_part_of_nothing_is_refused():
    with pytest.raises(InputError, match="None of the rows are chosen"):
        Part(data_of(), np.zeros(1000, dtype=bool))
