"""Keywords that only choose a way: taken, kept, checked, and said to have no effect, once."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import qed
from qed.base.errors import NoEffectWarning, ParameterError
from qed.base.models import no_effect
from qed.base.models.no_effect import NoEffect
from tests.conformance.specimens import estimators, specimen, table, target_for

TAKERS = sorted(
    name for name, kind in estimators().items() if any(isinstance(rule, NoEffect) for rule in kind.parameters.values())
)
OTHERS = {
    "solver": "sag",
    "precompute": True,
    "selection": "random",
    "algorithm": "elkan",
    "order": "F",
    "n_jobs": 2,
    "max_iter": 7,
    "tol": 0.5,
    "verbose": 3,
    "intercept_scaling": 2.0,
    "pre_dispatch": 4,
    "random_state": 5,
    "copy": False,
    "copy_X": False,
    "copy_x": False,
    "warm_start": True,
    "dual": True,
    "penalty": "deprecated",
    "l1_ratio": None,
    "multi_class": "multinomial",
}


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(no_effect, "_said", set())


def own_keywords(name):
    rules = estimators()[name].parameters
    return {
        key: rule
        for key, rule in rules.items()
        if isinstance(rule, NoEffect) and key in OTHERS and rule.accepts(OTHERS[key])
    }


@pytest.mark.parametrize("name", TAKERS)
def test_a_way_changes_nothing_and_is_kept(name, tmp_path):
    X, number, label = table(24)
    plain = specimen(name)
    y = target_for(plain, number, label)
    given = {key: OTHERS[key] for key in own_keywords(name)}
    model = clone(specimen(name).set_params(**given))
    assert {key: model.get_params()[key] for key in given} == given
    assert all(f"{key}={value!r}" in repr(model).replace("\n", "") for key, value in given.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEffectWarning)
        model.fit(X, y)
    plain.fit(X, y)
    for key, value in plain._attributes().items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_array_equal(getattr(model, key), value)
    qed.save(model, tmp_path / "model.qed")
    assert qed.load(tmp_path / "model.qed").get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("name", TAKERS)
def test_defaults_are_silent_and_others_are_said_once(name):
    X, number, label = table(24)
    model = specimen(name)
    y = target_for(model, number, label)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoEffectWarning)
        model.fit(X, y)
    for key, rule in own_keywords(name).items():
        model = specimen(name).set_params(**{key: OTHERS[key]})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
            model.fit(X, y)
        said = [one for one in caught if one.category is NoEffectWarning]
        assert len(said) == bool(rule.instead), key
        assert all(f"{name} makes no use of {key}={OTHERS[key]!r}" in str(one.message) for one in said)
        assert all(one.filename == __file__ for one in said)


@pytest.mark.parametrize("name", TAKERS)
def test_nonsense_is_refused_with_a_sentence(name):
    X, number, label = table(24)
    for key in own_keywords(name).keys() - {"pre_dispatch"}:
        model = specimen(name).set_params(**{key: "nonsense"})
        with pytest.raises(ParameterError, match=f"{name}: {key} must be .*, not 'nonsense'"):
            model.fit(X, target_for(model, number, label))


def test_functions_take_them_too():
    X, number, _ = table(24)
    plain = qed.cross_val_score(qed.Ridge(), X, number)
    with pytest.warns(NoEffectWarning, match="cross_val_score makes no use of n_jobs=2"):
        assert (qed.cross_val_score(estimator=qed.Ridge(), X=X, y=number, n_jobs=2) == plain).all()
    with pytest.raises(ParameterError, match="cross_val_score: n_jobs must be"):
        qed.cross_val_score(qed.Ridge(), X, number, n_jobs=0)
    assert "n_jobs" in inspect.signature(qed.cross_val_score).parameters
    with pytest.raises(TypeError, match="nonsense"):
        qed.cross_val_score(qed.Ridge(), X, number, nonsense=1)


def test_arguments_by_their_other_names():
    X, number, _ = table(24)
    curve = qed.validation_curve(estimator=qed.Ridge(), X=X, y=number, param_name="alpha", param_range=[1.0, 2.0])
    assert curve.values == (1.0, 2.0)
    search = qed.Search(estimator=qed.Ridge(), param_grid={"alpha": [1.0]}, cv=2)
    assert search.get_params(deep=False)["model"] is search.model
