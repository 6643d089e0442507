"""Whatever public number of a fitted model is changed, certify notices: a claim fails, and nothing else is raised."""

import copy
import warnings
from functools import cache

import numpy as np
import pytest

import qed
from qed.base.errors import InputError, SavingError
from tests.conformance.specimens import estimators, specimen, table, target_for
from tests.proof.mutations import changed, numbers_of, put, reshaped, some

NAMES = sorted(estimators())
X, NUMBER, LABEL = table(n=80)


@cache
def fitted_once(name):
    model = specimen(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, target_for(model, NUMBER, LABEL))


def fitted(name):
    """Give a model of one's own, to be damaged."""
    return copy.deepcopy(fitted_once(name))


def is_noticed(model, y):
    """Say whether certify objects; the front door may, too, where the number of columns is another."""
    try:
        return not qed.certify(model, X, y)
    except InputError:
        return True


def unnoticed(model, chosen):
    """Try the chosen changes of every number; give how many were tried, and those that nothing objected to."""
    y, tried, missed = target_for(model, NUMBER, LABEL), 0, []
    for turn, (path, value) in enumerate(numbers_of(model)):
        for what, other in chosen(list(changed(value, path[-1])), turn):
            forged = copy.deepcopy(model)
            put(forged, path, other)
            tried += 1
            if not is_noticed(forged, y):
                missed.append((*path, what))
    return tried, missed


@pytest.mark.parametrize("name", NAMES)
def test_every_changed_number_is_noticed(name):
    model = fitted(name)
    assert qed.certify(model, X, target_for(model, NUMBER, LABEL))
    tried, missed = unnoticed(model, some)
    assert tried > 0, "nothing of this model can be changed: give it public attributes"
    assert not missed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_change_of_every_number_is_noticed(name):
    _, missed = unnoticed(fitted(name), lambda changes, turn: changes)
    assert not missed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_other_shapes_end_in_a_certificate(name):
    model = fitted(name)
    y = target_for(model, NUMBER, LABEL)
    for path, value in numbers_of(model):
        for _, other in reshaped(value):
            forged = copy.deepcopy(model)
            put(forged, path, other)
            assert isinstance(is_noticed(forged, y), bool)


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_is_certified_again(name, tmp_path):
    model = fitted(name)
    functions = {part: value for part, value in model.get_params(deep=False).items() if callable(value)}
    try:
        qed.save(copy.deepcopy(model).set_params(**dict.fromkeys(functions)), tmp_path / "model.qed")
    except SavingError:
        pytest.fail(f"{name} is not saved, though its functions were taken out")
    loaded = qed.load(tmp_path / "model.qed").set_params(**functions)
    certificate = qed.certify(loaded, X, target_for(model, NUMBER, LABEL))
    assert certificate, f"{certificate}"


@pytest.mark.parametrize(
    "name", [name for name in NAMES if estimators()[name].target is not None or name in ("Search", "TableModel")]
)
def test_certify_tells_another_target_from_another_model(name):
    model = fitted(name)
    y = np.array(target_for(model, NUMBER, LABEL))
    other = y.copy()
    other[7] = 1 - other[7] if other.dtype.kind == "i" else other[7] + 0.01
    assert "another target" in qed.certify(model, X, other).verdict
    inner = getattr(model, "best_estimator_", getattr(model, "model_", model))
    learned = {path: value for path, value in numbers_of(inner) if path[0] not in ("statistic_", "fingerprint_")}
    usual = [path for path in learned if path[0] in ("coef_", "dual_coef_", "mean_", "class_prior_")]
    path = next(iter(usual or [path for path, value in learned.items() if np.asarray(value).dtype.kind == "f"]))
    value = learned[path]
    put(inner, path, dict(changed(value))["a thousandth more at 0"])
    assert "it is the model" in qed.certify(model, X, y).verdict


# It sees of a value only whether it is above a threshold.
BLIND = {"BernoulliNB"}


@pytest.mark.parametrize("name", sorted({*NAMES} - BLIND))
def test_other_rows_are_told_from_another_model(name):
    model = fitted(name)
    y = target_for(model, NUMBER, LABEL)
    moved = X.copy()
    moved[7, 1] += 1.0
    found = qed.certify(model, moved, y)
    known = found.difference is not None
    assert not known or "other values in 1 of 4 columns" in found.verdict


@pytest.mark.parametrize("name", NAMES)
def test_inference_is_given_or_refused_with_its_reason(name):
    model = fitted(name)
    if hasattr(model, "inference_"):
        return
    with pytest.raises(qed.base.errors.NotAvailableError, match="not defined"):
        _ = model.inference_
