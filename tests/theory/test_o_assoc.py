"""O-ASSOC: support, confidence and lift of rules, by an example worked out by hand. The texts only name this kind of learning."""

import numpy as np
import pandas as pd
import pytest

import qed

BASKETS = pd.DataFrame(
    [[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0]], columns=["bread", "milk", "nappies", "beer"]
)


@pytest.mark.parametrize("way", [qed.Apriori, qed.FPGrowth])
def test_support_confidence_and_lift_by_hand(way):
    model = way(0.4).fit(BASKETS)
    support = dict(model.sets())
    assert support[("bread",)] == 0.8 and support[("nappies", "beer")] == pytest.approx(0.6)
    assert support[("bread", "milk", "nappies")] == 0.4 and max(map(len, support)) == 3
    rules = {(rule.given, rule.then): rule for rule in qed.association_rules(model, min_confidence=0.0)}
    rule = rules[("beer",), ("nappies",)]
    assert (rule.support, rule.confidence, rule.lift) == pytest.approx((0.6, 1.0, 1.25))
    back = rules[("nappies",), ("beer",)]
    assert (back.support, back.confidence, back.lift) == pytest.approx((0.6, 0.75, 1.25))
    assert model.certificate_ and qed.certify(model, BASKETS)


def test_no_set_is_more_frequent_than_its_parts():
    X = np.random.default_rng(0).random((300, 8)) < np.linspace(0.3, 0.9, 8)
    support = dict(qed.Apriori(0.05).fit(X).sets())
    for items, share in support.items():
        assert all(share <= support[items[:at] + items[at + 1 :]] for at in range(len(items)) if len(items) > 1)


def test_rules_of_independent_items_have_a_lift_of_about_one():
    X = np.random.default_rng(0).random((20_000, 4)) < 0.5
    rules = qed.association_rules(qed.FPGrowth(0.1, max_size=2).fit(X), min_confidence=0.0)
    # A share of 1/4 of 20 000 rows is known to about 0.003, four times that with hardly an exception.
    assert len(rules) == 12 and all(abs(rule.lift - 1) < 0.06 for rule in rules)
