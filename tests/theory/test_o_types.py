"""O-TYPES: four kinds of learning, and every method of the house belongs to one of them."""

import pytest

import qed
from qed.selection.catalogue import room_file


def test_all_four_kinds_are_there_and_every_method_has_its_place():
    found = qed.catalogue()
    kinds = {method.learning for method in found}
    assert kinds == {"supervised", "unsupervised", "reinforcement", "association", "any"}
    place = {method.name: (method.learning, method.task) for method in found}
    assert place["Ridge"] == ("supervised", "regression") and place["SVC"] == ("supervised", "classification")
    assert place["KMeans"] == ("unsupervised", "clustering") and place["PCA"] == ("unsupervised", "reduction")
    assert place["QLearning"] == ("reinforcement", "planning") and place["Apriori"] == ("association", "association")


def test_the_catalogue_is_the_registry():
    names = {method.name for method in qed.catalogue()}
    estimators = {name for name in dir(qed) if name[0].isupper() and hasattr(getattr(qed, name), "fit")}
    assert names == estimators


def test_what_a_method_tells_of_itself_is_there_and_leads_to_its_file():
    for method in qed.catalogue():
        assert method.objective.endswith(".") and len(method.objective) > 20 and method.passes
        assert (room_file_root() / room_file(method)).is_file()
    assert "residuals sum to zero" in qed.catalogue("LinearRegression")[0].claims
    assert any("best" in says for says in qed.catalogue("QLearning")[0].claims)


def room_file_root():
    from pathlib import Path

    return Path(qed.__file__).parent.parent


def test_a_word_that_is_nothing_gets_advice():
    with pytest.raises(qed.base.errors.InputError, match="Ridge"):
        qed.catalogue("Rigde")
