"""A model whose parts are not what they say they are is not computed with: certify says so, and comes to an end."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import qed
from tests.conformance.specimens import table

X, NUMBER, LABEL = table(n=60)
TREE = {"max_depth": 3}
MADE_OF_TREES = {
    "AdaBoostClassifier": (qed.AdaBoostClassifier(qed.DecisionTreeClassifier(**TREE), n_estimators=3), LABEL),
    "AdaBoostRegressor": (qed.AdaBoostRegressor(n_estimators=3, random_state=0), NUMBER),
    "BaggingClassifier": (qed.BaggingClassifier(qed.DecisionTreeClassifier(**TREE), 2, random_state=0), LABEL),
    "VotingRegressor": (
        qed.VotingRegressor([("tree", qed.DecisionTreeRegressor(**TREE)), ("line", qed.Ridge())]),
        NUMBER,
    ),
    "StackingRegressor": (qed.StackingRegressor([("tree", qed.DecisionTreeRegressor(**TREE))], cv=2), NUMBER),
}


@pytest.mark.parametrize("name", MADE_OF_TREES)
@pytest.mark.parametrize("child", [0, 1, 10**6])
def test_a_circle_or_a_way_out_of_a_members_tree_ends_in_a_certificate(name, child):
    given, y = MADE_OF_TREES[name]
    model = copy.deepcopy(given).fit(X, y)
    assert qed.certify(model, X, y)
    member = model.estimators_[0]
    right = np.array(member.tree_.children_right)
    right[np.flatnonzero(member.tree_.feature >= 0)[0]] = child
    member.tree_ = replace(member.tree_, children_right=right)
    found = qed.certify(model, X, y)
    assert not found and any("a child that does not come after its parent" in claim.says for claim in found)


def test_levels_in_another_order_are_noticed():
    table_of_words = np.array([["b", "x"], ["a", "y"], ["a", "x"]], dtype=object)
    for categories in ("auto", [["b", "a"], ["y", "x"]]):
        model = qed.OneHotEncoder(categories=categories).fit(table_of_words)
        assert qed.certify(model, table_of_words)
        model.categories_[1] = model.categories_[1][::-1]
        assert not qed.certify(model, table_of_words)["levels stand in their order"].holds
