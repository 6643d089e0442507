"""NIST's certified linear least-squares problems, from memory and streamed in blocks of seven rows."""

import json
from pathlib import Path

import numpy as np
import pytest

import qed

FILE = Path(__file__).parents[3] / "shared" / "nist" / "linear" / "nist_linear.json"
PROBLEMS = json.loads(FILE.read_text()) if FILE.exists() else {}
WANTED = {"Filip": 6.5, "Longley": 7.0, "Wampler4": 5.5, "Wampler5": 5.5}

pytestmark = pytest.mark.skipif(not PROBLEMS, reason="the NIST files are not beside the project")


def design(problem):
    x = np.array(problem["x"], dtype=float)
    degree = problem["poly_degree"]
    return np.column_stack([x[:, 0] ** k for k in range(1, degree + 1)]) if degree else x


def digits(found, certified):
    """Give the least number of correct digits (the log relative error)."""
    error = np.abs(found - certified) / np.abs(certified)
    return float(-np.log10(np.maximum(error, 1e-16)).min())


def coefficients(model):
    return np.r_[model.intercept_, model.coef_] if model.fit_intercept else model.coef_


@pytest.mark.parametrize("block", [None, 7], ids=["whole", "7-row blocks"])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_coefficients_have_the_certified_digits(name, block):
    problem = PROBLEMS[name]
    X, y = design(problem), np.array(problem["y"])
    model = qed.LinearRegression(fit_intercept=problem["intercept"]).fit(qed.rows(X, y, block_size=block))
    right = digits(coefficients(model), np.array(problem["certified"]["beta"]))
    assert right >= WANTED.get(name, 9.0), f"{name}: {right:.1f} digits"
    assert model.certificate_, f"{name}: right, but not proven\n{model.certificate_}"


@pytest.mark.parametrize("name", sorted(set(PROBLEMS) - {"Wampler1", "Wampler2"}))
def test_standard_errors_have_the_certified_digits(name):
    problem = PROBLEMS[name]
    X, y = design(problem), np.array(problem["y"])
    model = qed.LinearRegression(fit_intercept=problem["intercept"]).fit(X, y)
    right = digits(np.asarray(model.inference_.standard_errors), np.array(problem["certified"]["std_err"]))
    assert right >= min(WANTED.get(name, 9.0), 6.5), f"{name}: {right:.1f} digits"


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_certify_agrees_from_the_data(name):
    problem = PROBLEMS[name]
    X, y = design(problem), np.array(problem["y"])
    model = qed.LinearRegression(fit_intercept=problem["intercept"]).fit(X, y)
    assert qed.certify(model, X, y)
