"""What estimators say of their fitted attributes is true of every fit, complete, and enough to tell a damaged model."""

import copy
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import qed
from qed.base.attributes import each, floats, integers, nothing, of, size, table, text
from qed.base.errors import InputError, QedError
from qed.base.fitted import check_fitted, declared, faults
from qed.base.saving.known import find_class
from qed.stats.factor import Factor
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments
from tests.conformance.specimens import estimators, specimen, target_for
from tests.conformance.specimens import table as table_of

X, NUMBER, LABEL = table_of(n=60)
WIDE = np.random.default_rng(0).standard_normal((6, 9))
HOLES = X.copy()
HOLES[3, 1] = np.nan
MIXED = pd.DataFrame({"size": X[:, 0], "kind": np.array(["u", "v", None])[np.arange(60) % 3]})
DATED = MIXED.assign(when=pd.date_range("2020-01-01", periods=60))
CASES = {
    "one output": (X, NUMBER, LABEL),
    "several outputs and classes": (X, np.column_stack([NUMBER, -NUMBER]), np.digitize(NUMBER, [-2.0, 0.0, 2.0])),
    "one column of outputs, words": (X, NUMBER[:, None], np.array(["no", "yes"])[LABEL]),
    "sparse": (sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), NUMBER, LABEL),
    "names": (pd.DataFrame(X, columns=list("abcd")), NUMBER, LABEL),
    "wide": (WIDE, WIDE[:, 0], np.array([0, 1] * 3)),
    "single precision": (X.astype(np.float32), NUMBER.astype(np.float32), LABEL),
    "weights": (X, NUMBER, LABEL),
    "holes": (HOLES, NUMBER, LABEL),
    "a mixed table": (MIXED, NUMBER, LABEL),
    "dates": (DATED, NUMBER, LABEL),
    "a constant column": (np.column_stack([X, np.ones(60)]), NUMBER, LABEL),
    "one column": (X[:, :1], NUMBER, LABEL),
    "nothing to explain": (X, 0 * NUMBER, 0 * LABEL),
    "one row": (X[:1], NUMBER[:1], LABEL[:1]),
}


@cache
def fitted_once(name, case):
    features, number, label = CASES[case]
    model = specimen(name)
    weight = {"sample_weight": np.arange(60.0) % 3} if case == "weights" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(features, target_for(model, number, label), **weight)


def fitted(name, case):
    return copy.deepcopy(fitted_once(name, case))


def check_declared(name, cases):
    done = 0
    for case in cases:
        try:
            model = fitted(name, case)
        except (ValueError, TypeError):  # not every model takes every kind of data
            continue
        done += 1
        undeclared = sorted(set(model._attributes()) - set(declared(type(model))))
        assert not undeclared, f"{name} on {case}: say in `attributes` what {undeclared} are"
        assert check_fitted(model) == [], f"{name} on {case}"
    return done


@pytest.mark.parametrize("name", sorted(estimators()))
def test_every_fitted_attribute_is_declared_and_is_what_it_is_said_to_be(name):
    """Every second case, the others for the next model."""
    turn = sorted(estimators()).index(name) % 2
    assert check_declared(name, list(CASES)[turn::2]) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(estimators()))
def test_every_fitted_attribute_is_declared_in_every_case(name):
    assert check_declared(name, CASES) >= 3


@pytest.mark.parametrize("name", sorted(estimators()))
def test_a_missing_attribute_is_noticed(name):
    model = fitted(name, "one output")
    for attribute, rule in declared(type(model)).items():
        if rule.needed:
            value = vars(model).pop(attribute)
            assert f"{name}: {attribute} is missing." in check_fitted(model)
            setattr(model, attribute, value)
    assert check_fitted(model) == []


# As many as there are rows, which nothing else that the model holds can tell.
OF_ROWS = ("labels_", "outliers_")


@pytest.mark.parametrize("name", sorted(estimators()))
def test_an_array_of_another_shape_or_type_is_noticed(name):
    for attribute, value in fitted(name, "one output")._attributes().items():
        if not isinstance(value, np.ndarray) or not value.size:
            continue
        for changed in (value[:-1], value[None, None], value.astype(complex)):
            if attribute in OF_ROWS and changed.shape == value[:-1].shape:
                continue
            model = fitted(name, "one output")
            setattr(model, attribute, changed)
            assert check_fitted(model), f"{name}.{attribute} of shape {changed.shape} passes for one of {value.shape}"


@pytest.mark.parametrize(
    ("model", "attribute", "value"),
    [
        (qed.StandardScaler(), "scale_", np.ones(1)),
        (qed.StandardScaler(), "mean_", np.zeros(2)),
        (qed.MinMaxScaler(), "data_min_", np.zeros(3)),
        (qed.MinMaxScaler(), "scale_", np.ones((4, 1))),
        (qed.KMeans(3, random_state=0), "cluster_centers_", np.zeros((3, 1))),
        (qed.KMeans(3, random_state=0), "cluster_centers_", np.zeros((3, 9))),
        (qed.SimpleImputer(), "statistics_", np.zeros(1)),
        (qed.PolynomialFeatures(3), "n_output_features_", 3),
        (qed.PolynomialFeatures(3), "n_output_features_", 300),
        (qed.PolynomialFeatures(3, include_bias=False), "n_output_features_", 1),
    ],
)
def test_loops_check_what_they_index(model, attribute, value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    setattr(model, attribute, value)
    for use in ("predict", "transform"):
        if hasattr(model, use):
            with pytest.raises(InputError, match="anew"):
                getattr(model, use)(X)
    if isinstance(model, qed.PolynomialFeatures):
        with pytest.raises(InputError, match="anew"):
            model.transform(sparse.csr_array(X))


def test_sizes_are_bound_once_and_for_all():
    sizes = {}
    assert floats("rows", "columns").fault(np.zeros((2, 3)), sizes) == ""
    assert sizes == {"rows": 2, "columns": 3}
    assert "shape (3,)" in floats("rows").fault(np.zeros(3), sizes)
    assert floats("columns+1").fault(np.zeros(4), sizes) == ""
    assert size("columns").fault(4, sizes) == "is 4, but columns=3"
    assert integers("rows", below="columns").fault(np.array([0, 3]), sizes) == "must be below 3"
    assert integers(low=-1).fault(-2, sizes) == "must be at least -1"


def test_an_axis_that_may_be_missing_is_missing_everywhere_or_nowhere():
    coef, intercept = floats("outputs?", "features"), floats("outputs?")
    for values, right in [
        ((np.zeros(4), 0.0), True),
        ((np.zeros((1, 4)), np.zeros(1)), True),
        ((np.zeros((3, 4)), np.zeros(3)), True),
        ((np.zeros((3, 4)), np.zeros(2)), False),
        ((np.zeros((1, 4)), 0.0), False),
        ((np.zeros(4), np.zeros(1)), False),
    ]:
        sizes = {"features": 4}
        assert (coef.fault(values[0], sizes) + intercept.fault(values[1], sizes) == "") is right


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (floats(above=0), 1.0, 0.0),
        (floats(high=1, low=0), 1, True),
        (floats("_", finite=False), np.array([np.nan]), np.array([1])),
        (floats("_"), np.zeros(2), np.ma.masked_array(np.zeros(2))),
        (floats("_", "_"), sparse.csr_array(np.eye(2)), sparse.csr_array(np.full((2, 2), np.nan))),
        (text() | nothing(), None, b"bytes"),
        (each(integers(), 2), [1, 2], [1]),
        (each(integers()), (1, 2), [1, "a"]),
        (table(floats()), {"a": 1.0}, {"a": "b"}),
        (table(), {}, {1: 2}),
        (of(Moments, n_features="p"), Moments.empty(2), 5),
    ],
)
def test_what_rules_accept(rule, right, wrong):
    assert rule.fault(right, {}) == "" and rule.fault(wrong, {}) != ""


def test_statistics_know_their_own_shapes():
    zero = np.zeros(3)
    good = [Moments(1.0, 1, zero, np.zeros((3, 3)), 2), Factor(1.0, 1, zero, np.zeros((0, 3)), 2)]
    good += [KeptRows(2.0, 2, zero, np.zeros((2, 2)), np.zeros((2, 1)))]
    bad = [Moments(1.0, 1, zero, np.zeros((2, 2)), 2), Factor(1.0, 1, zero, np.zeros((1, 2)), 2)]
    bad += [KeptRows(2.0, 2, zero, np.zeros((3, 2)), np.zeros((2, 1))), Moments(1.0, 1, zero, np.zeros((3, 3)), 4)]
    assert all(faults(one) == [] for one in good) and all(faults(one) for one in bad)


def test_all_savable_values_declare_what_they_hold():
    for name in ("Moments", "Factor", "KeptRows", "Summary", "Fingerprint", "Certificate", "Claim", "Ending", "Step"):
        assert declared(find_class(name)), name


def test_what_nobody_declared_has_to_be_finite():
    model = qed.Ridge().fit(X, NUMBER)
    model.own_ = np.ones(7)
    assert check_fitted(model) == []
    model.own_ = np.array([np.nan])
    assert check_fitted(model) == ["Ridge: own_ is not finite."]
    assert check_fitted(qed.Ridge()) == [] and issubclass(InputError, QedError)


def _agreeing(kind):
    """Give a fitted model, and what of it no longer agrees with the rest when it is put in."""
    X, _, label = table_of(n=24)
    many = np.column_stack([label, label])
    if kind == "a column of labels too many":
        model = qed.KNeighborsClassifier().fit(X, label)
        return model, "y_fit_", np.column_stack([model.y_fit_] * 2)
    if kind == "a column of labels too few":
        model = qed.KNeighborsClassifier().fit(X, many)
        return model, "y_fit_", model.y_fit_[:, 0]
    if kind == "features of another kernel":
        model = qed.FeatureSpacePCA(n_components=2).fit(X)
        return model, "kernel", "linear"
    if kind == "half precision":
        model = qed.GradientBoostingRegressor(max_iter=2).fit(X, label)
        return model, "baseline_", model.baseline_.astype(np.float16)
    if kind == "cells of other rows":
        rows = np.random.default_rng(0).standard_normal((5000, 3))
        model = qed.KNeighborsRegressor(algorithm="hashing").fit(rows, rows[:, 0])
        return model, "tables_", type(model.tables_).of(rows[:4000])
    if kind == "values of other classes":
        model = qed.RandomForestClassifier(2, random_state=0).fit(X, label)
        return model, "trees_", qed.RandomForestClassifier(2).fit(X, np.arange(24) % 3).trees_
    if kind == "bins of other columns":
        model = qed.ExtraTreesRegressor(2, random_state=0).fit(X, label)
        return model, "bins_", type(model.bins_)(model.bins_.edges[:2])
    if kind == "lines in other columns":
        model = qed.DecisionTreeRegressor(leaf="linear").fit(X, label)
        lines = {"slope": model.tree_.slope[:, :2], "center": model.tree_.center[:, :2]}
        return model, "tree_", replace(model.tree_, **lines)
    if kind == "members of other columns":
        model = qed.BaggingRegressor(n_estimators=2).fit(X, label)
        return model, "estimators_", [qed.Ridge().fit(X[:, :2], label)] * 2
    members = [("a", qed.Ridge()), ("b", qed.Lasso())]
    model = qed.VotingRegressor(members).fit(X, label)
    return model, "estimators_", model.estimators_[:1]


@pytest.mark.parametrize(
    "kind",
    [
        "a column of labels too many",
        "a column of labels too few",
        "features of another kernel",
        "half precision",
        "cells of other rows",
        "values of other classes",
        "bins of other columns",
        "lines in other columns",
        "members of other columns",
        "a member too few",
    ],
)
def test_what_belongs_together_has_to_agree(kind, tmp_path):
    model, name, other = _agreeing(kind)
    assert check_fitted(model) == []
    setattr(model, name, other)
    assert check_fitted(model), kind
    with suppress(QedError):  # what is wrong may not even be written
        qed.save(model, tmp_path / "m.qed")
        with pytest.raises(QedError):
            qed.load(tmp_path / "m.qed")
