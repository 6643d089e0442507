"""Lists of items as rows: the same sets as from the table of ones and noughts, whichever way they come in."""

import numpy as np
import pytest

import qed
from qed.base.errors import InputError

LISTS = [["milk", "bread"], ["bread", "butter", "bread"], [], ["butter", "milk", "bread"], ["tea"]]
NAMES = ["bread", "butter", "milk", "tea"]
TABLE = np.array([[name in one for name in NAMES] for one in LISTS], dtype=float)


@pytest.mark.parametrize("way", [qed.Apriori, qed.FPGrowth])
@pytest.mark.parametrize("make", [list, tuple, set])
def test_lists_give_the_sets_of_their_table(way, make):
    given = [make(one) for one in LISTS]
    model, plain = way(0.2).fit(given), way(0.2).fit(TABLE)
    assert model.itemsets_.tolist() == plain.itemsets_.tolist() and np.array_equal(model.supports_, plain.supports_)
    assert model.sets()[0] == (("bread",), 0.6) and list(model.feature_names_in_) == NAMES
    assert qed.certify(model, given) and not qed.certify(model, [*given[1:], ["bread"]])


def test_weights_count_baskets_again():
    weight = [2, 0, 1, 3, 1]
    often = [one for one, times in zip(LISTS, weight) for _ in range(times)]
    assert qed.Apriori(0.3).fit(LISTS, sample_weight=weight).sets() == qed.Apriori(0.3).fit(qed.baskets(often)).sets()
    assert qed.baskets(LISTS, sample_weight=weight).count() == 5


def test_a_table_of_numbers_stays_one():
    rows = TABLE.tolist()
    assert qed.Apriori(0.2).fit(rows).itemsets_.tolist() == qed.Apriori(0.2).fit(TABLE).itemsets_.tolist()


@pytest.mark.parametrize("way", [qed.Apriori, qed.FPGrowth])
@pytest.mark.parametrize("given", [[[1, 2], [2, 3]], [(1, 2), (3,)], [[0.0, 2.0]]])
def test_lists_of_numbers_of_items_are_no_table(way, given):
    with pytest.raises(InputError, match=r"hold the number [23].*qed\.baskets"):
        way(0.5).fit(given)
    found = way(0.5).fit(qed.baskets(given))
    assert len(found.sets()) >= 1 and qed.certify(found, qed.baskets(given))
    # As an array they are counts, and a table of fractions stays one.
    counts = np.array([[1, 2, 0], [0, 2, 3]])
    assert way(0.5).fit(counts).sets() == way(0.5).fit((counts > 0).astype(float).tolist()).sets()
    assert way(0.5).fit([[0.5, 0.0], [2.5, 1.0]]).supports_.tolist() == [1.0, 0.5, 0.5]


@pytest.mark.parametrize(
    "given, says",
    [(["bread", "milk"], "Basket 0 is 'bread'"), ([[], []], "No basket holds an item"), ([3], "Basket 0 is 3")],
)
def test_what_holds_no_items_is_refused_in_words(given, says):
    with pytest.raises(InputError, match=says):
        qed.baskets(given)


def test_a_column_of_lists_is_taken_as_lists():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    wanted = qed.Apriori(0.2).fit(LISTS).sets()
    bare = np.empty(len(LISTS), dtype=object)
    bare[:] = LISTS
    for given in (pd.Series(LISTS), pl.Series(LISTS), bare, pd.Series([set(one) for one in LISTS])):
        model = qed.Apriori(0.2).fit(given)
        assert model.sets() == wanted and qed.certify(model, given)


def test_equal_items_have_one_name_and_what_is_missing_has_none():
    rows = qed.baskets([[1, "a"], [1.0], [np.float32(1.0), np.int8(1)], [2.5]])
    assert rows.feature_names == ("1", "2.5", "a")
    for missing in (None, float("nan"), np.float32("nan"), float("inf"), pytest.importorskip("pandas").NA):
        with pytest.raises(InputError, match="Basket 1 .* no item"):
            qed.baskets([["a"], ["b", missing]])


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="one weight for each of the 5 baskets"):
        qed.baskets(LISTS, sample_weight=[1.0])
