"""Certifying what others built around our models, and what is said where there is nothing to certify or to walk through."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as Foreign
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler as ForeignScaler

import qed
from qed.base.errors import InputError, NotAvailableError, NotFittedError

generator = np.random.default_rng(0)
X = generator.normal(size=(40, 3))
y = X @ [1.0, 2.0, 3.0] + generator.normal(size=40)


def pipeline():
    return make_pipeline(qed.StandardScaler(), qed.Ridge())


MADE = {
    "pipeline": lambda: pipeline(),
    "pipeline with a foreign scaler": lambda: make_pipeline(ForeignScaler(), "passthrough", qed.Ridge()),
    "pipeline in a pipeline": lambda: make_pipeline(qed.StandardScaler(), pipeline()),
    "grid search": lambda: GridSearchCV(qed.Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
    "grid search of a pipeline": lambda: GridSearchCV(pipeline(), {"ridge__alpha": [0.1, 1.0]}, cv=2),
    "search": lambda: qed.Search(qed.Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
    "search of a pipeline": lambda: qed.Search(pipeline(), {"ridge__alpha": [0.1, 1.0]}, cv=2),
    "table model": lambda: qed.TableModel(qed.Ridge()),
}


def ridge_in(model):
    """Find the ridge regression somewhere inside."""
    while not isinstance(model, qed.Ridge):
        model = getattr(model, "best_estimator_", None) or getattr(model, "model_", None) or model.steps[-1][1]
    return model


@pytest.mark.parametrize("kind", MADE)
def test_models_inside_are_certified(kind):
    model = MADE[kind]().fit(X, y)
    assert qed.certify(model, X, y)
    ridge_in(model).coef_[0] *= 1.001
    assert not qed.certify(model, X, y)


@pytest.mark.parametrize("kind", ["pipeline", "search", "search of a pipeline", "table model"])
def test_models_inside_are_certified_after_loading(kind, tmp_path):
    qed.save(MADE[kind]().fit(X, y), tmp_path / "model.qed")
    assert qed.certify(qed.load(tmp_path / "model.qed"), X, y)


def test_the_claims_of_a_pipeline_name_their_step():
    claims = [claim.says for claim in qed.certify(pipeline().fit(X, y), X, y)]
    assert any(says.startswith("standardscaler: ") for says in claims)
    assert any(says.startswith("ridge: ") for says in claims)


def test_a_broken_scaler_is_found_out():
    model = pipeline().fit(X, y)
    model[0].scale_ = 2 * model[0].scale_
    assert not qed.certify(model, X, y)


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (lambda: make_pipeline(qed.StandardScaler(), Foreign()).fit(X, y), InputError, "ends with LinearRegression"),
        (lambda: Foreign().fit(X, y), InputError, "LinearRegression is no fitted model of qed"),
        (
            lambda: qed.Search(Foreign(), {"fit_intercept": [True]}, cv=2).fit(X, y),
            InputError,
            "LinearRegression is no",
        ),
        (lambda: qed.Ridge, InputError, "Ridge is no fitted model"),
        (lambda: "model.qed", InputError, "str is no fitted model"),
        (lambda: None, InputError, "NoneType is no fitted model"),
        (lambda: GridSearchCV(qed.Ridge(), {"alpha": [1.0]}), NotFittedError, "not fitted yet"),
        (lambda: qed.Search(qed.Ridge(), {"alpha": [1.0]}), NotFittedError, "not fitted yet"),
        (lambda: GridSearchCV(qed.Ridge(), {"alpha": [1.0]}, refit=False, cv=2).fit(X, y), NotAvailableError, "refit"),
        (lambda: qed.Search(qed.Ridge(), {"alpha": [1.0]}, refit=False, cv=2).fit(X, y), NotAvailableError, "refit"),
        (lambda: qed.Ridge(), NotFittedError, "not fitted yet"),
    ],
)
def test_what_makes_no_claims_is_told(model, error, words):
    with pytest.raises(error, match=words):
        qed.certify(model(), X, y)


def test_a_pipeline_of_scikit_learn_needs_tables_in_memory():
    with pytest.raises(InputError, match=r"in memory.*qed\.TableModel"):
        qed.certify(pipeline().fit(X, y), qed.rows(X, y))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (qed.Ridge(), "Ridge has no steps to walk through, its solution comes at once: call fit"),
        (qed.StandardScaler(), "comes at once"),
        (qed.KernelRidge(), "comes at once"),
        (pipeline(), "Ridge has no steps to walk through, its solution comes at once"),
        (qed.TableModel(qed.Lasso()), "TableModel has no steps of its own"),
        (qed.Search(qed.Lasso(), {"alpha": [1.0]}), "Search fits many models: walk through one of them"),
        (Foreign(), "LinearRegression has no steps of its own"),
        (None, "NoneType has no steps of its own"),
    ],
)
def test_models_without_steps_say_so(model, words):
    with pytest.raises(InputError, match=words):
        qed.steps(model, X, y)
