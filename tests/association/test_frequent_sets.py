"""Frequent sets: both ways against counting every subset, weights, the proof against every damage, files of rules."""

import copy
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.association.candidates import border, joined, lacking
from qed.association.counting import Strings, count_bits, weigh
from qed.association.tree import grow, mine
from qed.base.compile import interpreted
from qed.base.errors import InputError, ParameterError

WAYS = [qed.Apriori, qed.FPGrowth]


def counted(X, weight, least, most=None):
    """Count every subset of the columns."""
    n, p = X.shape
    total, found = weight.sum(), {}
    for size in range(1, min(p, most or p) + 1):
        for items in combinations(range(p), size):
            share = weight[(X[:, items] > 0).all(axis=1)].sum() / total
            if share >= least - 1e-9:
                found[items] = share
    return found


def baskets(seed, n=200, p=7):
    lots = np.random.default_rng(seed)
    X = (lots.random((n, p)) < lots.uniform(0.2, 0.9, p)).astype(float)
    X[:, 1] = np.where(lots.random(n) < 0.8, X[:, 0], X[:, 1])
    return X


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("least", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("most", [None, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_counting_every_subset_gives(way, least, most, weighted):
    X = baskets(0)
    weight = np.random.default_rng(1).integers(0, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    model = way(least, max_size=most).fit(X, sample_weight=weight if weighted else None)
    wanted = counted(X, weight, least, most)
    found = dict(model.sets())
    assert found.keys() == wanted.keys() and model.certificate_
    assert np.allclose([found[items] for items in wanted], list(wanted.values()), rtol=0, atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 6), st.floats(0.01, 1.0))
def test_both_ways_agree_on_any_table(seed, n, p, least):
    X = np.random.default_rng(seed).integers(-1, 2, (n, p)).astype(float)
    first, second = qed.Apriori(least).fit(X), qed.FPGrowth(least).fit(X)
    assert first.itemsets_.tolist() == second.itemsets_.tolist() and first.certificate_ and second.certificate_
    assert dict(first.sets()).keys() == counted(X, np.ones(n), least).keys()


@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_changed_is_noticed(way):
    X = baskets(3)
    model = way(0.2).fit(X)
    last = len(model.supports_) - 1
    forgeries = [
        ("supports_", np.where(np.arange(last + 1) == 3, model.supports_ * 1.001, model.supports_)),
        ("itemsets_", np.delete(model.itemsets_, last, axis=0)),
        ("itemsets_", np.concatenate([model.itemsets_[:-1], model.itemsets_[:1]])),
    ]
    for name, value in forgeries:
        forged = copy.deepcopy(model)
        setattr(forged, name, value)
        if len(value) == last:
            forged.supports_ = forged.supports_[:-1]
        assert not qed.certify(forged, X)
    shorter = copy.deepcopy(model)
    shorter.min_support = 0.1
    assert qed.certify(shorter, X)["frequent sets that are missing"].value > 0
    longer = copy.deepcopy(model)
    longer.min_support = 0.5
    assert qed.certify(longer, X)["listed sets that are not frequent"].value > 0


@pytest.mark.parametrize("way", WAYS)
def test_blocks_sparse_rows_and_files_give_the_same(way, tmp_path):
    X = baskets(4, n=3000)
    whole = way(0.1).fit(X)
    for other in (sparse.csr_array(X), X.astype(np.float32), X.astype(bool), np.asfortranarray(X)):
        again = way(0.1).fit(other)
        assert (again.itemsets_ == whole.itemsets_).all() and (again.supports_ == whole.supports_).all()
    np.save(tmp_path / "X.npy", X)
    assert (way(0.1).fit(qed.rows(tmp_path / "X.npy")).supports_ == whole.supports_).all()


def test_steps_are_sizes_and_are_taken_up_again():
    X = baskets(5)
    whole = qed.Apriori(0.1).fit(X)
    walk = list(qed.steps(qed.Apriori(0.1), X))
    assert [step.sets.shape[1] for step in walk[:3]] == [1, 2, 3]
    rest = list(qed.steps(qed.Apriori(0.1), X, start=walk[0]))
    assert (rest[-1].sets == walk[-1].sets).all() and whole.n_iter_ >= 2


def test_loops_have_twins():
    X = baskets(6) > 0
    places = joined(np.column_stack([np.triu_indices(7, 1)[0], np.triu_indices(7, 1)[1]]))
    ((bits, _),) = Strings.of(next(qed.rows(X.astype(float)).blocks()), np.arange(7)).pieces
    wanted = X[:, places].all(axis=2).sum(axis=0)
    assert (weigh(bits, None, places) == wanted).all()
    assert (count_bits(bits, places) == wanted).all() and (interpreted(count_bits)(bits, places) == wanted).all()
    rows = np.unique(X, axis=0)[::-1].copy()
    first, second = grow(rows, np.ones(len(rows))), interpreted(grow)(rows, np.ones(len(rows)))
    assert all((a == b).all() for a, b in zip(first, second))
    for most in (0, 2):
        dug, twin = mine(*first, 7, 5.0, most, 1000), interpreted(mine)(*first, 7, 5.0, most, 1000)
        assert len(dug[0]) and all((a == b).all() for a, b in zip(dug, twin))
    assert len(mine(*first, 7, 5.0, 0, 3)[0]) == 4, "with too many it gives up"


def test_candidates_and_borders():
    listed = np.array([[0, -1], [1, -1], [2, -1], [0, 1], [0, 2]])
    assert border(listed, 4, None).tolist() == [[3, -1], [1, 2]]
    assert lacking(listed) == 0 and lacking(np.array([[0, -1], [0, 1]])) == 1 and lacking(np.array([[0], [0]])) == 1


def test_what_makes_no_sense_is_refused_in_words():
    with pytest.raises(ParameterError, match="min_support"):
        qed.Apriori(0.0).fit(baskets(0))
    with pytest.raises(InputError, match="frequent sets"):
        qed.association_rules(qed.Ridge())
    with pytest.raises(ParameterError, match="max_size=2"):
        qed.association_rules(qed.Apriori(0.5, max_size=1).fit(baskets(0)))
    with pytest.raises(ParameterError, match="min_confidence"):
        qed.association_rules(qed.Apriori(0.5).fit(baskets(0)), min_confidence=-1)


@pytest.mark.parametrize("way", WAYS)
def test_dense_tables_are_refused_before_they_are_searched_and_not_where_sets_are_small(way):
    """Forty items that nearly all rows hold make a million million sets; of two items there are 780."""
    X = (np.random.default_rng(0).random((300, 40)) < 0.995).astype(float)
    with pytest.raises(ParameterError, match=r"40 items .* 1,099,511,627,775 sets .* max_size"):
        way(0.5).fit(X)
    model = way(0.5, max_size=2).fit(X)
    assert len(model.itemsets_) == 40 + 780 and model.certificate_
    # Rare items do not count, and neither do common ones that are not found together.
    assert len(way(0.6).fit(np.hstack([X[:, :3], 1 - X])).itemsets_) == 7
    assert len(way(0.6).fit(np.eye(50) + np.ones((50, 1)) * (np.arange(50) < 2)).itemsets_) == 3


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 5), st.one_of(st.none(), st.integers(1, 4)))
def test_what_is_refused_is_never_less_than_what_there_is(seed, p, most):
    """The number that the refusal speaks of is a lower bound of the number of frequent sets."""
    X = (np.random.default_rng(seed).random((12, p)) < 0.8).astype(float)
    there = len(counted(X, np.ones(12), 0.4, most))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qed.association.itemsets.MOST_SETS", 6)
        try:
            assert len(qed.Apriori(0.4, max_size=most).fit(X).itemsets_) == there
        except ParameterError:
            assert there > 6


def test_candidates_that_would_fill_the_memory_are_refused():
    with pytest.raises(ParameterError, match="199,990,000 larger ones"):
        joined(np.arange(20_000)[:, None])
