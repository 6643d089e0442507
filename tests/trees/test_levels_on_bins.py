"""Categories in forests and trees on bins: every set tried in fractions, lots drawn again, numbers moved, rows from anywhere."""

import copy
from contextlib import suppress

import numpy as np
import pytest

import qed
from qed.base.compile import interpreted
from qed.base.errors import InputError, ParameterError
from qed.trees.forests import growing
from tests.proof.mutations import changed, numbers_of, put
from tests.trees.test_categories import every_question, labels, purity, table

FORESTS = [qed.RandomForestClassifier, qed.RandomForestRegressor, qed.ExtraTreesClassifier, qed.ExtraTreesRegressor]
LEVELS = {"categorical_features": [0, 2]}


def target_of(make, y, classes=3):
    if not issubclass(make, (qed.RandomForestClassifier, qed.DecisionTreeClassifier)):
        return y
    return labels(y) if classes == 3 else (y > 0).astype(int)


def same(first, second):
    names = ("feature", "threshold", "children_right", "missing_go_to_left", "level_set", "sets", "value")
    return all(np.array_equal(getattr(a, n), getattr(b, n)) for a, b in zip(first.trees_, second.trees_) for n in names)


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("way", ["tree", "forest"])
def test_no_question_of_all_is_better(classes, way):
    """Where all columns are looked at and all rows drawn, a forest's tree asks what the judge finds among all subsets and thresholds."""
    X, y = table(30, seed=classes)
    y = y if not classes else labels(y) if classes == 3 else (y > 0).astype(int)
    single = qed.DecisionTreeClassifier if classes else qed.DecisionTreeRegressor
    many = qed.RandomForestClassifier if classes else qed.RandomForestRegressor
    if way == "tree":
        model = single(max_bins=255, **LEVELS).fit(X, y)
        nodes, leaf = model.tree_, model.apply(X)
    else:
        model = many(1, bootstrap=False, max_features=None, random_state=0, **LEVELS).fit(X, y)
        nodes, leaf = model.trees_[0], model.apply(X)[:, 0]
    assert (nodes.level_set >= 0).any() and not nodes.fault()
    for node in np.flatnonzero(~nodes.is_leaf):
        inside = (leaf >= node) & (leaf < nodes.ends[node])
        left = leaf[inside] < nodes.children_right[node]
        asked = purity([y[inside][left], y[inside][~left]], classes)
        best = max(purity(sides, classes) for _, sides in every_question(X[inside], y[inside], (0, 2), False))
        # Sums of numbers near one are rounded to a grid of 2^-52 of them, once for each row.
        assert best - asked <= (0 if classes else 64 * len(y) * 2.0**-52)
    assert qed.certify(model, X, y)
    exact = single(**LEVELS).fit(X, y).tree_
    for name in ("feature", "sets", "children_right", "value") if classes == 2 else ():
        np.testing.assert_array_equal(getattr(nodes, name), getattr(exact, name), err_msg=name)


@pytest.mark.parametrize("make", FORESTS)
@pytest.mark.parametrize("weights", [None, "whole", "any"])
@pytest.mark.parametrize(
    "settings", [{}, {"min_samples_leaf": 3}, {"min_weight_fraction_leaf": 0.05, "max_samples": 0.7}]
)
def test_neither_order_nor_threads_nor_compiling_change_a_forest(make, weights, settings, monkeypatch):
    X, y = table(70, seed=5)
    X[:, 2] += 12 * (X[:, 1] > 0)  # more categories than are tried in all ways
    y, generator = target_of(make, y), np.random.default_rng(1)
    weight = {None: None, "whole": generator.integers(0, 3, 70).astype(float), "any": generator.random(70)}[weights]
    if "max_samples" in settings:
        settings = {**settings, "bootstrap": True}

    def fit(rows=slice(None), dtype=np.float64):
        model = make(3, random_state=0, **LEVELS, **settings)
        return model.fit(X[rows].astype(dtype), y[rows], None if weight is None else weight[rows])

    model = fit()
    assert qed.certify(model, X, y, weight) and any(len(nodes.sets) for nodes in model.trees_)
    assert same(model, fit(generator.permutation(70)))
    with qed.threads(1):
        assert same(model, fit())
    # Values of one digit are the same categories in half the room, and the same order of numbers.
    assert all(np.array_equal(a.sets, b.sets) for a, b in zip(model.trees_, fit(dtype=np.float32).trees_))
    monkeypatch.setattr(growing, "unless_few", lambda run, *given, **named: interpreted(growing.grow_bins))
    assert same(model, fit())
    # Rules about numbers of rows do not see copies in a weight.
    if weights == "whole" and "min_samples_leaf" not in settings:
        times = weight.astype(int)
        assert same(
            model, make(3, random_state=0, **LEVELS, **settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        )


@pytest.mark.parametrize("make", [*FORESTS, qed.DecisionTreeClassifier, qed.DecisionTreeRegressor])
def test_every_moved_number_is_noticed(make):
    X, y = table()
    y = target_of(make, y)
    many = {"n_estimators": 2, "random_state": 0} if make in FORESTS else {"max_bins": 255}
    model = make(max_depth=3, **many, **LEVELS).fit(X, y)
    assert qed.certify(model, X, y)
    for turn, (path, value) in enumerate(numbers_of(model)):
        for what, other in list(changed(value, path[-1]))[turn % 4 :: 4]:
            forged = copy.deepcopy(model)
            put(forged, path, other)
            with suppress(InputError):  # the front door has noticed
                assert not qed.certify(forged, X, y), (path, what)


@pytest.mark.parametrize("make", [qed.ExtraTreesClassifier, qed.ExtraTreesRegressor])
def test_sets_by_chance_are_those_of_their_lots(make):
    X, y = table(80)
    y = target_of(make, y)
    model = make(2, max_features=None, random_state=0, **LEVELS).fit(X, y)
    assert qed.certify(model, X, y)
    model.by_chance = False
    assert not qed.certify(model, X, y)


def test_what_was_not_there_goes_with_most_and_holes_with_their_own():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [np.nan]]), [1.0, 1.0, 1.0, 5.0, 9.0]
    model = qed.RandomForestRegressor(1, bootstrap=False, categorical_features=[0], random_state=0).fit(X, y)
    assert model.predict([[0.0], [1.0], [np.nan], [-1.0], [7.0]]).tolist() == [1.0, 5.0, 9.0, 9.0, 1.0]
    assert model.predict([[300.0], [0.5]]).tolist() == [9.0, 9.0]
    alone = np.array([[-1.0], [np.nan], [0.0], [0.0]])
    one = qed.RandomForestRegressor(1, bootstrap=False, categorical_features=[0], random_state=0).fit(
        alone, [1, 1, 2, 2]
    )
    assert one.predict(alone).tolist() == [1, 1, 2, 2] and qed.certify(one, alone, [1, 1, 2, 2])


def test_what_is_no_category_is_refused_wherever_rows_are(tmp_path):
    bad, y = np.array([[0.0, 1.0], [0.5, 2.0], [1.0, 3.0]]), [0.0, 1.0, 2.0]
    for make in (qed.RandomForestRegressor, qed.ExtraTreesRegressor):
        with pytest.raises(InputError, match="Column 0 is said to hold categories.*0.5"):
            make(2, categorical_features=[0]).fit(bad, y)
        with pytest.raises(InputError, match="there are 2 columns"):
            make(2, categorical_features=[5]).fit(bad, y)
        # A row that weighs nothing is absent, whatever it holds.
        assert make(2, categorical_features=[0], random_state=0).fit(bad, y, [1.0, 0.0, 1.0]).certificate_
    with pytest.raises(InputError, match="Column 0"):
        qed.DecisionTreeRegressor(max_bins=9, categorical_features=[0]).fit(bad, y)
    with pytest.raises(ParameterError, match="multiway"):
        qed.DecisionTreeRegressor(max_bins=9, categorical_features=[1], categorical_split="multiway").fit(bad, y)


@pytest.mark.parametrize("make", FORESTS)
def test_forests_with_categories_are_saved_told_and_searched(make, tmp_path):
    X, y = table(60)
    y = target_of(make, y)
    model = make(3, random_state=0, **LEVELS).fit(X, y)
    qed.save(model, tmp_path / "m.qed")
    again = qed.load(tmp_path / "m.qed")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert qed.certify(again, X, y) and "in [" in qed.export_text(model[0])
    np.testing.assert_array_equal(np.stack([one.apply(X) for one in model], axis=1), model.apply(X))
    found = qed.Search(model, {"n_estimators": [1, 3]}, cv=3).fit(X, y)
    assert found.best_params_["n_estimators"] in (1, 3)
    for row in np.unique(np.isnan(X[:, 0]), return_index=True)[1]:
        assert model.decision_path(X[[row]])[0].sum() > 0


def test_a_class_without_weight_leaves_categories_what_they_are():
    X, y = table(40)
    label = labels(y)
    for make in (qed.DecisionTreeClassifier, qed.RandomForestClassifier):
        model = make(class_weight={0: 0.0, 1: 1.0, 2: 1.0}, random_state=0, **LEVELS).fit(X, label)
        assert qed.certify(model, X, label) and set(model.predict(X)) <= {1, 2}
