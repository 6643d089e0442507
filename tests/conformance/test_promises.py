"""What every estimator promises: weights are repetitions, certificates hold, models survive saving."""

import copy
import inspect
from functools import cache

import numpy as np
import pytest
import scipy.sparse

import qed
from qed.base.errors import SavingError
from tests.conformance.specimens import estimators, specimen, table, target_for

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
