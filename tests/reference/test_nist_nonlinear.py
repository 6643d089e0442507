"""NIST's certified nonlinear least-squares problems: 27 sets of data, each from a far start (1) and a near one (2), by a plain call.

Certified values have eleven digits. A fit ends when every parameter is within about ``tol * sqrt(n)`` standard errors of stationary, and
rounding moves the stationary point as it moves the solution of the linear problem with the same slopes. Where slopes are differences,
they are off by the 2/3 power of the rounding unit, times how sharply the function bends (100 in the narrow peak of Eckerle4). Lanczos1
was made without noise: its residuals are the last digits of its data. The file of Rat43 prints 9 degrees of freedom, but its standard
deviations are those of 15 - 4 = 11.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import qed
from tests.reference.nist_nonlinear_models import MODELS
from tests.rounding import UNIT, LeastSquares

PROBLEMS = json.loads((Path(__file__).parent / "nist_nonlinear.json").read_text(encoding="utf-8"))
PRINTED, OFF_DIFFERENCES = 5e-11, 100 * UNIT ** (2 / 3)
BOTH = pytest.mark.parametrize("start", [0, 1], ids=["start 1", "start 2"])
ALL = pytest.mark.parametrize("name", sorted(PROBLEMS))


def data(name):
    problem = PROBLEMS[name]
    y = np.array(problem["y"], dtype=float)
    return np.array(problem["x"], dtype=float).T, np.log(y) if name == "Nelson" else y


def errors(found, certified):
    """Give the relative errors."""
    return np.abs(np.asarray(found) / certified - 1)


def linear(name):
    """Give the linear problem at the certified solution: the slopes there, by a complex step."""
    X, y = data(name)
    w = np.array(PROBLEMS[name]["certified"], dtype=float)
    slopes = [np.imag(MODELS[name](X, w + 1e-30j * unit)) / 1e-30 for unit in np.eye(len(w))]
    return LeastSquares(np.column_stack(slopes), y, w, float(np.sqrt(PROBLEMS[name]["residual"])))


def allowed(name, tol=1e-10, off_slopes=0.0):
    """Bound the relative errors of the parameters."""
    exact = linear(name)
    stopped = 2 * tol * np.sqrt(len(exact.y)) * np.array(PROBLEMS[name]["deviations"]) / np.abs(exact.coefficients)
    return PRINTED + stopped + exact.coefficient_errors(off_slopes)


def test_all_problems_are_here():
    assert len(PROBLEMS) == 27 and set(PROBLEMS) == set(MODELS)
    levels = [problem["level"] for problem in PROBLEMS.values()]
    assert (levels.count("Lower"), levels.count("Average"), levels.count("Higher")) == (8, 11, 8)
    assert all(len(p["y"]) - len(p["certified"]) == p["spare"] for name, p in PROBLEMS.items() if name != "Rat43")
    assert PROBLEMS["Rat43"]["spare"] == 9 and len(PROBLEMS["Rat43"]["y"]) - 4 == 11


@BOTH
@ALL
def test_digits_from_a_plain_call(name, start):
    problem, exact = PROBLEMS[name], linear(name)
    X, y = data(name)
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][start]).fit(X, y)
    assert (errors(model.coef_, problem["certified"]) <= allowed(name)).all()
    # Standard errors are in proportion to powers (below ten) of the parameters.
    off = PRINTED + exact.deviation_error() + 10 * allowed(name).max()
    assert errors(model.inference_.standard_errors, problem["deviations"]).max() <= off
    assert errors(2 * model.cost_, problem["residual"]) <= 2 * (PRINTED + exact.deviation_error())
    assert model.certificate_, f"{name}: right, but not proven\n{model.certificate_}"


@ALL
def test_digits_of_functions_without_complex_numbers(name):
    """Where only differences are to be had, from the near start."""

    def real(X, w):
        if np.iscomplexobj(w):
            raise TypeError("no complex numbers, please")
        return MODELS[name](X, w)

    problem = PROBLEMS[name]
    model = qed.NonlinearLeastSquares(real, problem["starts"][1]).fit(*data(name))
    assert (errors(model.coef_, problem["certified"]) <= allowed(name, off_slopes=OFF_DIFFERENCES)).all()
    assert model.certificate_, f"{name}: right, but not proven\n{model.certificate_}"


@pytest.mark.parametrize("name", ["Misra1a", "Hahn1", "Nelson", "Lanczos3", "Rat43"])
def test_blocks_of_seven_rows_give_the_same(name):
    problem = PROBLEMS[name]
    X, y = data(name)
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][1]).fit(qed.rows(X, y, block_size=7))
    assert (errors(model.coef_, problem["certified"]) <= allowed(name)).all()
    assert model.certificate_ and qed.certify(model, X, y)


@pytest.mark.parametrize("jacobian", ["central", "forward"])
@pytest.mark.parametrize("name", ["BoxBOD", "Eckerle4", "MGH17", "Lanczos2", "Thurber"])
def test_rough_slopes_are_made_precise_at_the_end(name, jacobian):
    problem = PROBLEMS[name]
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][0], jacobian=jacobian).fit(*data(name))
    assert (errors(model.coef_, problem["certified"]) <= allowed(name)).all() and model.certificate_


def test_another_local_minimum_is_proven_to_be_one_and_no_more():
    """Undamped Gauss-Newton jumps over a pole of MGH09 into another valley: a local minimum, which is all that is claimed."""
    X, y = data("MGH09")
    model = qed.NonlinearLeastSquares(MODELS["MGH09"], PROBLEMS["MGH09"]["starts"][1], method="gauss-newton").fit(X, y)
    assert 2 * model.cost_ > 1.3 * PROBLEMS["MGH09"]["residual"]
    assert model.certificate_ and not any("global" in claim.says for claim in model.certificate_)
    best = qed.NonlinearLeastSquares(MODELS["MGH09"], [model.coef_, PROBLEMS["MGH09"]["starts"][0]]).fit(X, y)
    assert (errors(best.coef_, PROBLEMS["MGH09"]["certified"]) <= allowed("MGH09")).all() and best.start_[0] == 25


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", ["BoxBOD", "Eckerle4", "MGH10", "MGH17", "Nelson", "Rat42", "Thurber"])
def test_a_fit_that_failed_does_not_claim_to_have_succeeded(name):
    """Undamped Gauss-Newton from the far start gets lost in these."""
    problem = PROBLEMS[name]
    model = qed.NonlinearLeastSquares(MODELS[name], problem["starts"][0], method="gauss-newton", max_iter=100)
    model.fit(*data(name))
    assert (errors(model.coef_, problem["certified"]) > 1e-3).all() and not model.certificate_
