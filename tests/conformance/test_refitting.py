"""A fit begins anew; a fit that fails, and any other method, leaves the model as it was. For every public model."""

import pickle
import warnings
from contextlib import suppress
from inspect import ismethod, signature

import numpy as np
import pandas as pd
import pytest

from qed.base.errors import InputError, NotFittedError, ParameterError
from qed.base.fitted import fitted_attributes
from tests.conformance.specimens import estimators, specimen, table, target_for

X, NUMBER, LABEL = table(90)
# What measures time can not be the same twice.
TIMES = {"refit_time_", "cv_results_", "ending_"}


def fitted(model, names=None, weight=None, rows=X, number=NUMBER, label=LABEL):
    given = rows if names is None else pd.DataFrame(rows, columns=names)
    weights = (
        {} if weight is None or "sample_weight" not in signature(model.fit).parameters else {"sample_weight": weight}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(given, target_for(model, number, label), **weights)


@pytest.mark.parametrize("name", sorted(estimators()))
def test_nothing_of_an_earlier_fit_is_left(name):
    """The earlier fit had names of columns, weights and more rows, and an attribute that no later one sets."""
    rows = np.round(X) if name == "OneHotEncoder" else X
    model = fitted(specimen(name), ["a", "b", "c", "d"], np.arange(90) % 3 + 1.0, rows)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    model.left_over_ = "of the earlier fit"
    fewer = {"rows": rows[:80], "number": NUMBER[:80], "label": LABEL[:80]}
    again, fresh = (fitted_attributes(fitted(one, **fewer)) for one in (model, specimen(name)))
    assert again.keys() == fresh.keys()
    for attribute in fresh.keys() - TIMES:
        if isinstance(fresh[attribute], np.ndarray):
            np.testing.assert_array_equal(again[attribute], fresh[attribute])


@pytest.mark.parametrize("name", sorted(estimators()))
@pytest.mark.parametrize("fault", ["infinity in a column", "one column that is no table", "a parameter"])
def test_a_fit_that_fails_leaves_the_model_as_it_was(name, fault):
    model = fitted(specimen(name), rows=np.round(X) if name == "OneHotEncoder" else X)
    before = dict(vars(model))
    target = target_for(model, NUMBER, LABEL)
    if fault == "a parameter":
        rows, known = X, next(iter(model.parameters), None)
        if known is None:
            return
        before[known] = object()
        setattr(model, known, before[known])
    else:
        # For the one-hot encoder infinity is a level like others.
        bad = 1j if name == "OneHotEncoder" else np.inf
        rows = np.where(np.arange(4) == 2, bad, X) if fault == "infinity in a column" else X[:, 0]
    with warnings.catch_warnings(), pytest.raises((InputError, ParameterError)):
        warnings.simplefilter("ignore")
        model.fit(rows, target)
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)


# What may change a fitted model.
FITTING = {"fit", "fit_transform", "fit_predict", "partial_fit", "forget", "resume", "set_params"}


def methods_of_rows(model, target):
    """Give the public methods that take rows and fit nothing, each with what else it wants."""
    more = {"y": target, "costs": 1 - np.eye(2), "sample_weight": None}
    for name in sorted(set(dir(model)) - FITTING):
        # A method that the model has with other parameters only is an attribute that is not there.
        method = None if name.startswith("_") else getattr(model, name, None)
        if ismethod(method) and "X" in (takes := signature(method).parameters):
            yield method, {key: more[key] for key in takes if key in more}


def known(model):
    """Give all that a model holds in public, to the bit; how trees are laid out for walking is made when they are first walked."""
    return {
        name: pickle.dumps(value) for name, value in vars(model).items() if name not in {"trees_", "forest_", "ending_"}
    }


@pytest.mark.parametrize("name", sorted(estimators()))
def test_no_other_method_changes_what_a_model_knows(name):
    rows = np.round(X) if name == "OneHotEncoder" else X
    model, target = fitted(specimen(name), ["a", "b", "c", "d"], rows=rows), target_for(specimen(name), NUMBER, LABEL)
    more = np.column_stack([rows, rows[:, 0]])
    given = [rows, pd.DataFrame(rows, columns=["d", "c", "b", "a"]), more, pd.DataFrame(more, columns=list("vwxyz"))]
    before = known(model)
    for method, others in methods_of_rows(model, target):
        for data in given:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with suppress(InputError, ParameterError, NotFittedError):
                    method(data, **others)
            assert known(model) == before, method.__name__
