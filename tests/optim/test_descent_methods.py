"""First-order methods on functions that are not made for them: convex, badly scaled, flat, with wrong parameters."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings

from qed.base.errors import InputError, ParameterError
from qed.base.running.steps import Reason, Rule, run
from qed.optim import (
    CoordinateDescent,
    Diminishing,
    Exact,
    GradientDescent,
    HeavyBall,
    InverseDecay,
    InverseSmoothness,
    LineSearch,
    Nesterov,
    Objective,
    RootDecay,
    StochasticGradient,
    Subgradient,
    Wolfe,
    certify_rate,
    largest_curvature,
    minimize,
)
from qed.optim.searches.step_rules import step_length
from qed.optim.solvers.rates import SmoothRate
from tests.property.nasty import regression_problems
from tests.theory.fixtures import problem
from tests.theory.quadratics import quadratic, squares


def logistic():
    X, _, truth = problem(n=60, p=4)
    y = np.where(X @ truth > 0, 1.0, -1.0)

    def value(w):
        return np.logaddexp(0, -y * (X @ w)).mean() + 0.01 * w @ w

    def gradient(w):
        return -X.T @ (y / (1 + np.exp(y * (X @ w)))) / 60 + 0.02 * w

    return Objective(value, gradient)


ROSENBROCK = Objective(
    lambda w: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2,
    lambda w: np.array([-2 * (1 - w[0]) - 400 * w[0] * (w[1] - w[0] ** 2), 200 * (w[1] - w[0] ** 2)]),
)
METHODS = [
    GradientDescent(),
    GradientDescent(Wolfe()),
    GradientDescent(Exact()),
    HeavyBall(),
    Nesterov(),
    LineSearch(),
    LineSearch(search=Wolfe(curvature=0.1)),
    CoordinateDescent(),
]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_all_agree_on_logistic_regression(method):
    found = minimize(logistic(), np.zeros(4), method=method, tol=1e-7, max_iter=5000)
    best = minimize(logistic(), np.zeros(4), method="newton", tol=1e-12)
    assert found.certificate
    np.testing.assert_allclose(found.point, best.point, atol=1e-5)


@pytest.mark.parametrize("method", [Nesterov(), LineSearch(search=Wolfe()), CoordinateDescent()], ids=repr)
def test_a_curved_valley(method):
    found = minimize(ROSENBROCK, [-1.2, 1.0], method=method, tol=1e-6, max_iter=50_000)
    np.testing.assert_allclose(found.point, [1.0, 1.0], atol=1e-3)


@pytest.mark.parametrize("method", [GradientDescent(), HeavyBall(), Nesterov(), CoordinateDescent()], ids=repr)
@settings(max_examples=25)
@given(data=regression_problems(max_rows=12, max_columns=4))
def test_nasty_least_squares_end_with_an_honest_certificate(method, data):
    X, y = data

    def value(w):
        return ((X @ w - y) ** 2).sum() / 2

    def gradient(w):
        return X.T @ (X @ w - y)

    objective = Objective(value, gradient)
    start = np.zeros(X.shape[1])
    ending = run(method.steps(objective, start), Rule(1e-6, 60))
    assert np.isfinite(ending.step.point).all() and ending.step.objective <= value(start) * (1 + 1e-12)
    claims = method.claims(objective, start, ending.step.point, 1e-6)
    if ending.reason is Reason.CERTIFIED:
        assert all(claim.holds for claim in claims)
        length = np.linalg.norm(gradient(ending.step.point))
        floor = 2.0**-26 * ending.step.objective / max(1, np.linalg.norm(ending.step.point))
        assert length <= 1.01e-6 * max(np.linalg.norm(gradient(start)), floor)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("method", [GradientDescent(), Nesterov(), HeavyBall(), LineSearch(search=Exact())], ids=repr)
def test_the_scale_of_the_function_does_not_matter(method, scale):
    objective = Objective(
        lambda w: scale * ((w - 1) @ ([1, 5] * (w - 1)) + 1), lambda w: 2 * scale * np.array([1, 5]) * (w - 1)
    )
    found = minimize(objective, [0.0, 0.0], method=method, max_iter=3000)
    assert found.certificate
    np.testing.assert_allclose(found.point, [1.0, 1.0], atol=1e-4)


def test_largest_curvature():
    assert largest_curvature(quadratic(), np.ones(3)) == pytest.approx(100, rel=1e-2)
    assert largest_curvature(Objective(lambda w: -5 * w @ w, lambda w: -10 * w), np.ones(2)) == pytest.approx(
        10, rel=1e-3
    )
    assert largest_curvature(Objective(lambda w: w.sum(), lambda w: np.ones(3)), np.ones(3)) == 0.0


def test_step_rules_refuse_what_makes_no_sense():
    for make in (
        lambda: RootDecay(0.0, 1.0),
        lambda: RootDecay(1.0, 1.0, 0),
        lambda: InverseDecay(0.0),
        lambda: InverseSmoothness(-1.0),
        lambda: Diminishing(1.0, power=1.5),
    ):
        with pytest.raises(ParameterError):
            make()
    with pytest.raises(InputError, match="needs the smoothness"):
        next(islice(GradientDescent(InverseSmoothness()).steps(lambda w: w @ w, [1.0]), 1, 2))
    with pytest.raises(ParameterError, match="step of iteration 3 is -1"):
        list(islice(GradientDescent(lambda t: 3 - t if t < 3 else -1.0).steps(quadratic(), np.ones(3)), 5))
    assert step_length(np.float32(0.5), quadratic(), quadratic().at(np.ones(3)), np.ones(3)) == 0.5


@pytest.mark.parametrize(
    "method, words",
    [
        (GradientDescent(-0.1), "step must be a number > 0"),
        (GradientDescent("short"), "step must be"),
        (HeavyBall(0.1, -0.5), "momentum must be"),
        (HeavyBall(0.1, 1.0), "momentum of iteration 1 is 1.0"),
        (Nesterov(0.1, lambda t: 2.0), "momentum of iteration 1 is 2.0"),
        (LineSearch("uphill"), "direction must be 'gradient' or"),
        (LineSearch(search=0.1), "search must be a search"),
        (CoordinateDescent("sorted"), "order must be"),
        (CoordinateDescent(every=0), "every must be"),
        (Subgradient(average="last"), "average must be"),
        (Subgradient(radius=-1.0), "radius must be"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_are_checked_when_it_begins(method, words):
    with pytest.raises(ParameterError, match=words):
        list(islice(method.steps(quadratic(), np.ones(3)), 2))


def test_directions_of_the_wrong_shape():
    with pytest.raises(InputError, match=r"direction has shape \(2,\), the point \(3,\)"):
        list(islice(LineSearch(lambda step: np.ones(2)).steps(quadratic(), np.ones(3)), 2))


@pytest.mark.parametrize("batch", [1, 5, 30])
@pytest.mark.parametrize("draw", ["subset", "shuffle", "replacement"])
def test_stochastic_defaults_get_close(batch, draw):
    X, y, _ = problem(n=30, p=3)
    best = np.linalg.lstsq(X, y)[0]
    total = squares(X, y)
    step = next(
        islice(StochasticGradient(batch=batch, draw=draw, average=True, skip=100).steps(total, np.zeros(3)), 200, 201)
    )
    assert total.value(step.point) <= 1.02 * total.value(best)


def test_stochastic_methods_need_a_sum_and_enough_rows():
    X, y, _ = problem(n=5, p=2)
    with pytest.raises(InputError, match="need a FiniteSum"):
        minimize(quadratic(), np.ones(3), method="stochastic")
    with pytest.raises(InputError, match="batch is 9, and there are only 5 rows"):
        next(StochasticGradient(batch=9).steps(squares(X, y), np.zeros(2)))
    with pytest.warns(UserWarning, match=r"cloud around the minimum: try average=True or step=Diminishing\(0.05\)"):
        minimize(squares(X, y), np.zeros(2), method=StochasticGradient(0.05), max_iter=20, tol=1e-12)


def test_rates_want_times():
    with pytest.raises(InputError, match="from 1 on"):
        certify_rate(SmoothRate(100.0, 2.0), quadratic(), np.ones(3), 0.0, [0, 1])


def test_paths_are_drawn():
    from matplotlib.figure import Figure

    from qed.plots import descent

    steps = list(islice(GradientDescent(0.1).steps(lambda w: (w[0] - 1) ** 2, [3.0]), 5))
    ax = descent(lambda w: (w[0] - 1) ** 2, steps, Figure().subplots())
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [step.objective for step in steps])
    with pytest.raises(InputError, match="one or two dimensions"):
        descent(quadratic(), {"three": [[1.0, 2.0, 3.0]]})
    with pytest.raises(InputError, match="at least one point"):
        descent(quadratic(), {"none": []})
