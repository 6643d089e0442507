"""NIST's certified linear least-squares problems, from memory and streamed in blocks of seven rows."""

import numpy as np
import pytest

import qed
from tests.reference.nist_linear import PROBLEMS

ALL = pytest.mark.parametrize("name", sorted(PROBLEMS))


def fit(problem, block=None):
    rows = qed.rows(problem.X, problem.y, block_size=block)
    return qed.LinearRegression(fit_intercept=problem.intercept).fit(rows)


def test_all_problems_are_here():
    easy, medium = {"Norris", "Pontius"}, {"NoInt1", "NoInt2"}
    assert set(PROBLEMS) == easy | medium | {"Filip", "Longley", *(f"Wampler{k}" for k in range(1, 6))}
    assert {name: len(problem.y) for name, problem in PROBLEMS.items() if name in easy} == {"Norris": 36, "Pontius": 40}


@pytest.mark.parametrize("block", [None, 7], ids=["whole", "7-row blocks"])
@ALL
def test_coefficients_have_the_certified_digits(name, block):
    problem = PROBLEMS[name]
    model = fit(problem, block)
    found = np.r_[model.intercept_, model.coef_] if problem.intercept else model.coef_
    error = np.abs(found / problem.coefficients - 1)
    assert np.all(error <= problem.coefficient_errors()), f"{name}: {-np.log10(error.max()):.1f} digits"
    assert model.certificate_, f"{name}: right, but not proven\n{model.certificate_}"


@pytest.mark.parametrize("name", sorted(set(PROBLEMS) - {"Wampler1", "Wampler2"}))
def test_standard_errors_have_the_certified_digits(name):
    problem = PROBLEMS[name]
    error = np.abs(np.asarray(fit(problem).inference_.standard_errors) / problem.deviations - 1)
    assert np.all(error <= problem.deviation_error()), f"{name}: {-np.log10(error.max()):.1f} digits"


@ALL
def test_certify_agrees_from_the_data(name):
    problem = PROBLEMS[name]
    assert qed.certify(fit(problem), problem.X, problem.y)
