"""NIST's certified nonlinear least-squares problems: 27 sets of data, each from a far start (1) and a near one (2), by a plain call.

The numbers below are the correct digits (log relative errors) of the worst parameter and the worst standard deviation, rounded down
by about a digit. Certified values have eleven digits, so eleven is all there is to be had. Lanczos1 was made without noise: its
residuals are the last digits of its data, and its standard deviations follow from them. The file of Rat43 prints 9 degrees of freedom,
but its standard deviations are those of 15 - 4 = 11.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import qed
from tests.reference.nist_nonlinear_models import MODELS

PROBLEMS = json.loads((Path(__file__).parent / "nist_nonlinear.json").read_text(encoding="utf-8"))
USUAL = 10.0
PARAMETERS = {"MGH09": 9.5, "Nelson": 9.5, "Chwirut2": 9.5}
DEVIATIONS = {"Lanczos1": 2.0, "Lanczos2": 9.0, "MGH09": 9.0, "Rat43": 9.0, "MGH17": 9.5, "Nelson": 9.5}
BOTH = pytest.mark.parametrize("start", [0, 1], ids=["start 1", "start 2"])
ALL = pytest.mark.parametrize("name", sorted(PROBLEMS))


def data(name):
    problem = PROBLEMS[name]
    y = np.array(problem["y"], dtype=float)
    return np.array(problem["x"], dtype=float).T, np.log(y) if name == "Nelson" else y


def digits(found, certified):
    """Give the least number of correct digits (the log relative error)."""
    error = np.abs(np.asarray(found) - certified) / np.abs(certified)
    return float(-np.log10(np.maximum(error, 1e-16)).min())


def test_all_problems_are_here():
    assert len(PROBLEMS) == 27 and set(PROBLEMS) == set(MODELS)
    levels = [problem["level"] for problem in PROBLEMS.values()]
    assert (levels.count("Lower"), levels.count("Average"), levels.count("Higher")) == (8, 11, 8)
    assert all(len(p["y"]) - len(p["certified"]) == p["spare"] for name, p in PROBLEMS.items() if name != "Rat43")
    assert PROBLEMS["Rat43"]["spare"] == 9 and len(PROBLEMS["Rat43"]["y"]) - 4 == 11


@BOTH
@ALL
def test_digits_from_a_plain_call(name, start):
    problem = PROBLEMS[name]
    X, y = data(name)
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][start]).fit(X, y)
    assert digits(model.coef_, problem["certified"]) >= PARAMETERS.get(name, USUAL)
    assert digits(model.inference_.standard_errors, problem["deviations"]) >= DEVIATIONS.get(name, USUAL)
    assert digits(2 * model.cost_, problem["residual"]) >= (2.0 if name == "Lanczos1" else 9.5)
    assert model.certificate_, f"{name}: right, but not proven\n{model.certificate_}"


DIFFERENCES = {
    "Bennett5": 7.5,
    "Hahn1": 9.0,
    "Lanczos2": 9.0,
    "Lanczos3": 8.0,
    "MGH10": 9.0,
    "Rat43": 9.5,
    "Roszman1": 9.0,
    "Eckerle4": 9.5,
}


@ALL
def test_digits_of_functions_without_complex_numbers(name):
    """Where only differences are to be had, from the near start."""

    def real(X, w):
        if np.iscomplexobj(w):
            raise TypeError("no complex numbers, please")
        return MODELS[name](X, w)

    problem = PROBLEMS[name]
    model = qed.NonlinearLeastSquares(real, problem["starts"][1]).fit(*data(name))
    assert digits(model.coef_, problem["certified"]) >= DIFFERENCES.get(name, USUAL)
    assert model.certificate_, f"{name}: right, but not proven\n{model.certificate_}"


@pytest.mark.parametrize("name", ["Misra1a", "Hahn1", "Nelson", "Lanczos3", "Rat43"])
def test_blocks_of_seven_rows_give_the_same(name):
    problem = PROBLEMS[name]
    X, y = data(name)
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][1]).fit(qed.rows(X, y, block_size=7))
    assert digits(model.coef_, problem["certified"]) >= 9.5
    assert model.certificate_ and qed.certify(model, X, y)


@pytest.mark.parametrize("jacobian", ["central", "forward"])
@pytest.mark.parametrize("name", ["BoxBOD", "Eckerle4", "MGH17", "Lanczos2", "Thurber"])
def test_rough_slopes_are_made_precise_at_the_end(name, jacobian):
    problem = PROBLEMS[name]
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][0], jacobian=jacobian).fit(*data(name))
    assert digits(model.coef_, problem["certified"]) >= 9.5 and model.certificate_


def test_another_local_minimum_is_proven_to_be_one_and_no_more():
    """Undamped Gauss-Newton jumps over a pole of MGH09 into another valley: a local minimum, which is all that is claimed."""
    X, y = data("MGH09")
    model = qed.NonlinearLeastSquares(MODELS["MGH09"], PROBLEMS["MGH09"]["starts"][1], method="gauss-newton").fit(X, y)
    assert 2 * model.cost_ > 1.3 * PROBLEMS["MGH09"]["residual"]
    assert model.certificate_ and not any("global" in claim.says for claim in model.certificate_)
    best = qed.NonlinearLeastSquares(MODELS["MGH09"], [model.coef_, PROBLEMS["MGH09"]["starts"][0]]).fit(X, y)
    assert digits(best.coef_, PROBLEMS["MGH09"]["certified"]) >= 9.0 and best.start_[0] == 25


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", ["BoxBOD", "Eckerle4", "MGH10", "MGH17", "Nelson", "Rat42", "Thurber"])
def test_a_fit_that_failed_does_not_claim_to_have_succeeded(name):
    """Undamped Gauss-Newton from the far start gets lost in these."""
    problem = PROBLEMS[name]
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][0], method="gauss-newton", max_iter=100)
    model.fit(*data(name))
    assert digits(model.coef_, problem["certified"]) < 3 and not model.certificate_
