"""What every estimator promises: weights are repetitions, certificates hold, models survive saving."""

import copy
import inspect
import json
import warnings
from functools import cache

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.utils import get_tags

import qed
from qed.base.errors import SavingError
from qed.base.running.steps import Reason
from tests.conformance.specimens import estimators, specimen, table, target_for
from tests.conformance.test_same_answer import learned

NAMES = sorted(estimators())
X, NUMBER, LABEL = table(n=120)


def outputs(model, X):
    for method in ("predict_proba", "decision_function", "transform", "predict", "kneighbors"):
        if hasattr(model, method):
            found = getattr(model, method)(X)
            return found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    if hasattr(model, "supports_"):
        return np.column_stack([model.itemsets_, model.supports_])
    raise AssertionError("nothing to compare")


def fit(name, X, number, label, weight=None):
    model = specimen(name)
    given = {} if weight is None else {"sample_weight": weight}
    return model.fit(X, target_for(model, number, label), **given)


@cache
def fitted_once(name):
    return fit(name, X, NUMBER, LABEL)


def fitted(name):
    return copy.deepcopy(fitted_once(name))


def takes_weights(name):
    return "sample_weight" in inspect.signature(specimen(name).fit).parameters


@pytest.mark.parametrize("name", [name for name in NAMES if takes_weights(name)])
def test_a_weight_is_a_repetition_and_zero_is_absence(name):
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = fit(name, X, NUMBER, LABEL, weight.astype(float))
    repeated = fit(name, *(np.repeat(part, weight, axis=0) for part in (X, NUMBER, LABEL)))
    np.testing.assert_allclose(outputs(weighted, X), outputs(repeated, X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_the_certificate_holds_and_can_be_recomputed(name):
    model = fitted(name)
    target = target_for(model, NUMBER, LABEL)
    assert model.certificate_, f"{model.certificate_}"
    again = qed.certify(model, X, target)
    assert again, f"{again}"


def arrays(value):
    """List all arrays that a fitted model holds."""
    if isinstance(value, np.ndarray):
        return [value]
    if hasattr(value, "tocsr"):
        value = [value.data, value.indices, value.indptr]
    elif isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dict__") and type(value).__module__.startswith("qed."):
        value = list(vars(value).values())
    return [found for one in value for found in arrays(one)] if isinstance(value, list | tuple) else []


@pytest.mark.parametrize("name", NAMES)
def test_a_model_holds_nothing_that_the_caller_may_write_to(name):
    held = arrays(fitted_once(name))
    assert not any(np.shares_memory(one, given) for one in held for given in (X, NUMBER, LABEL))


@pytest.mark.parametrize("name", [name for name in NAMES if "X_fit_" in estimators()[name].attributes])
def test_neither_does_one_that_keeps_rows_with_weights_or_sparse_ones(name):
    weight, sparse_rows = np.full(60, 2.0), scipy.sparse.csr_array(X[:60])
    for rows, given in ((X[:60], [weight]), (sparse_rows, [sparse_rows.data, sparse_rows.indices, sparse_rows.indptr])):
        model = fit(name, rows, NUMBER[:60], LABEL[:60], weight if takes_weights(name) else None)
        assert not any(np.shares_memory(one, mine) for one in arrays(model) for mine in given)


HOLD_FUNCTIONS = ("FeatureMap", "NonlinearLeastSquares")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in HOLD_FUNCTIONS])
def test_a_saved_model_is_the_same_model(name, tmp_path):
    model = fitted(name)
    qed.save(model, tmp_path / "model.qed")
    loaded = qed.load(tmp_path / "model.qed")
    np.testing.assert_array_equal(outputs(loaded, X), outputs(model, X))
    assert loaded.certificate_.to_dict() == model.certificate_.to_dict()


@pytest.mark.parametrize("name", HOLD_FUNCTIONS)
def test_a_model_that_holds_a_function_is_not_saved(name, tmp_path):
    with pytest.raises(SavingError, match="function"):
        qed.save(fitted(name), tmp_path / "model.qed")
    assert not (tmp_path / "model.qed").exists()


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_a_rule_and_a_kind(name):
    model = specimen(name)
    simple = set(model.get_params(deep=False))
    assert simple == set(model.parameters), "parameters and their rules differ"
    assert all(rule.kind in ("model", "optimization") for rule in model.parameters.values())
    assert model.passes in ("one", "two", "each iteration", "stream", "as codes", "in memory")


@pytest.mark.parametrize("name", NAMES)
def test_a_fitted_model_keeps_nothing_that_is_not_public_and_saved(name, tmp_path):
    model = fitted(name)
    kept = set(vars(model)) - set(model.get_params(deep=False))
    assert all(one.endswith("_") and not one.startswith("_") for one in kept), sorted(kept)
    if name == "NonlinearLeastSquares":
        model.set_params(function=None)
    if name == "FeatureMap":
        return
    qed.save(model, tmp_path / "model.qed")
    loaded = qed.load(tmp_path / "model.qed")
    assert set(vars(loaded)) == set(vars(model))
    if name == "NonlinearLeastSquares":
        loaded.set_params(function=specimen(name).function)
    assert qed.certify(loaded, X, target_for(loaded, NUMBER, LABEL))


def other_form(model, X):
    """Give the same rows in another form: sparse where the model takes that, and with weights of one."""
    weight = {"sample_weight": np.ones(len(X))} if "sample_weight" in inspect.signature(model.fit).parameters else {}
    return scipy.sparse.csr_array(X) if get_tags(model).input_tags.sparse else X, weight


# Similarities of dense rows are taken about their mean, of sparse ones as they are, so its offset is another number.
OTHER_ORIGIN = {"KernelPCA"}


@pytest.mark.parametrize("name", sorted({*NAMES} - OTHER_ORIGIN))
def test_what_was_learned_from_one_form_of_the_rows_is_certified_from_another(name):
    model = fitted_once(name)
    y = target_for(model, NUMBER, LABEL)
    Z, weight = other_form(model, X)
    again = qed.certify(model, Z, y, **weight)
    assert again, f"{again}"
    other = specimen(name).fit(Z, y, **weight)
    again = qed.certify(other, X, y)
    assert bool(again) == bool(other.certificate_), f"{again}"


# What they make of a row has to be finite, whatever its weight.
ROW_BY_ROW = {"FeatureMap", "PolynomialFeatures"}


@pytest.mark.parametrize("name", [name for name in NAMES if takes_weights(name) and name not in ROW_BY_ROW])
def test_rows_of_weight_zero_may_hold_anything(name):
    model = specimen(name)
    y = target_for(model, NUMBER, LABEL)
    odd = np.repeat([[-7.0], [1e300], [np.nan]], 4, axis=1)
    Z, weight = np.vstack([odd, X, odd[1:]]), np.repeat([0.0, 1.0, 0.0], [3, len(X), 2])
    target = None if y is None else np.r_[y[:3], y, y[:2]]
    found = specimen(name).fit(Z, target, sample_weight=weight)
    np.testing.assert_allclose(outputs(found, X), outputs(fitted_once(name), X), rtol=1e-6, atol=1e-7)
    assert qed.certify(found, Z, target, sample_weight=weight)


LEARN_AND_FORGET = [name for name in NAMES if name != "MinMaxScaler" and hasattr(specimen(name), "forget")]


@pytest.mark.parametrize("name", LEARN_AND_FORGET)
def test_a_single_row_is_learned_and_forgotten_again(name):
    model = fitted(name)
    y = target_for(model, NUMBER, LABEL)
    row = [X[:1], y[:1]] if model.target else [X[:1]]
    again = model.partial_fit(*row).forget(*row)
    # Of sums of n terms to which one was added n u is lost, and equations in X'X answer with the square of the condition.
    np.testing.assert_allclose(outputs(again, X), outputs(fitted_once(name), X), rtol=1e-7, atol=1e-8)


STEPPED = [name for name in NAMES if hasattr(specimen(name), "resume") and "max_iter" in specimen(name).get_params()]


@pytest.mark.parametrize("name", STEPPED)
def test_a_fit_that_ended_early_goes_on_to_the_same_bits(name):
    whole = fitted_once(name)
    y = target_for(whole, NUMBER, LABEL)
    early = specimen(name).set_params(max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        early.fit(X, y)
    if early.ending_.reason is not Reason.MAX_ITER:
        return
    found, wanted = learned(early.set_params(max_iter=specimen(name).max_iter).resume(X, y)), learned(whole)
    assert found.keys() == wanted.keys()
    for place in wanted:
        np.testing.assert_array_equal(found[place], wanted[place], err_msg=place)


@pytest.mark.parametrize("name", NAMES)
def test_a_fitted_model_is_shown_and_its_certificate_is_json(name):
    model = fitted_once(name)
    assert dir(model) and repr(model) and model._repr_html_()
    assert json.loads(json.dumps(model.certificate_.to_dict(), allow_nan=False))["holds"] is True


@pytest.mark.parametrize("name", [name for name in NAMES if estimators()[name].target == "label"])
def test_labels_and_precision_are_those_that_came_in(name):
    for labels in (np.where(LABEL, "yes", "no"), np.where(LABEL, "yes", "no").astype(object), LABEL > 0):
        model = specimen(name).fit(X.astype(np.float32), labels)
        assert model.predict(X).dtype.kind == model.classes_.dtype.kind == labels.dtype.kind
        for door in ("predict_proba", "decision_function"):
            if hasattr(model, door):
                assert getattr(model, door)(X.astype(np.float32)).dtype == np.float32, door


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(specimen(name), "set_output")])
def test_what_is_made_of_rows_is_a_frame_of_the_kind_that_was_asked_for(name):
    model = fitted(name)
    if scipy.sparse.issparse(model.transform(X[:2])):
        return
    for kind, frame in (("pandas", pandas.DataFrame), ("polars", polars.DataFrame)):
        found = model.set_output(transform=kind).transform(X[:5])
        assert isinstance(found, frame) and list(found.columns) == model.get_feature_names_out().tolist()
