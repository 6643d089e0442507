"""Statistics of classes: those of the same classes are added all at once, with the result of adding them one by one."""

import pickle

import numpy as np
import pytest

from qed.base import summary
from qed.base.sources.block import Block
from qed.base.summary import OF_COLUMNS, Summary
from qed.stats.by_class import ByClass
from qed.stats.classes.columns import summary_by_class


def block(seed, kinds=3, n=40, offset=0.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 4)) * [1, 1e-6, 1e6, 0] + offset
    return Block(X, np.arange(n) % kinds, generator.uniform(0.5, 2.0, n))


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("most", [0, 1 << 12])
def test_classes_are_added_at_once_as_one_by_one(offset, most, monkeypatch):
    monkeypatch.setattr(summary, "FEW_COLUMNS", most)
    one, other = (ByClass.of(block(seed, offset=offset), Summary.of) for seed in (0, 1))
    both = one + other
    for label, part in both.parts.items():
        alone = one[label] + other[label]
        assert part.count == alone.count
        for name in OF_COLUMNS:
            np.testing.assert_array_equal(getattr(part, name), getattr(alone, name))
    assert (both - other).count == one.count


def test_summaries_side_by_side_are_added_as_one_by_one():
    one, other, fewer = (
        summary_by_class(block(seed, kinds=kinds, n=10_000)) for seed, kinds in [(0, 3), (1, 3), (2, 2)]
    )
    both = pickle.loads(pickle.dumps(one + other))
    for label, part in both.parts.items():
        alone = one[label] + other[label]
        for name in ("count", *OF_COLUMNS):
            np.testing.assert_array_equal(getattr(part, name), getattr(alone, name))
    assert list(both.parts) == [0, 1, 2]
    assert (both + fewer).count == (fewer + both).count == 30_000
    assert (both - other).count == 10_000


def test_classes_that_only_one_side_has_are_kept():
    both = ByClass.of(block(0, kinds=2), Summary.of) + ByClass.of(block(1, kinds=3), Summary.of)
    assert both.classes.tolist() == [0, 1, 2]
    assert both.count == 80


def test_the_bounds_of_all_classes_cover_those_of_each():
    large = block(2, kinds=2, n=10_000)
    together, apart = summary_by_class(large), ByClass.of(large, Summary.of)
    for label, part in together.parts.items():
        assert part.count == apart[label].count
        assert (np.abs(part.mean - apart[label].mean) <= part.slip + apart[label].slip).all()
        assert (np.abs(part.deviation - apart[label].deviation) <= part.lost + apart[label].lost).all()
