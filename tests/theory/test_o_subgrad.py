"""O-SUBGRAD: subgradients satisfy their inequality, and descent along them converges for convex functions."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qed.base.running.steps import Reason, Rule, run
from qed.optim import L1, Diminishing, Objective, Subgradient, minimize
from tests.theory.fixtures import problem

ABSOLUTE = Objective(lambda w: abs(w).sum(), np.sign)
number = st.floats(-1e3, 1e3)


@given(x=st.lists(number, min_size=2, max_size=2), z=st.lists(number, min_size=2, max_size=2))
def test_the_inequality(x, z):
    x, z = np.array(x), np.array(z)
    functions = [
        ABSOLUTE,
        Objective(lambda w: abs(w).max(), lambda w: np.sign(w) * (np.arange(2) == np.argmax(abs(w)))),
        Objective(lambda w: max(0.0, 1 - w.sum()), lambda w: -np.ones(2) * (w.sum() < 1)),
    ]
    for f in functions:
        assert f.value(z) >= f.value(x) + f.gradient(x) @ (z - x) - 1e-9 * (1 + abs(z).sum() + abs(x).sum())


@pytest.mark.parametrize(
    "g, is_one", [(-1.0, True), (0.0, True), (0.3, True), (1.0, True), (1.01, False), (-1.5, False)]
)
def test_at_the_kink_of_the_absolute_value_they_are_the_interval(g, is_one):
    """|z| >= g z for all z; which is when minus g may stand beside the kink of our penalty: the distance to its subgradients vanishes."""
    z = np.linspace(-2, 2, 101)
    assert all(L1(1.0).value([at]) >= g * at - 1e-15 for at in z) == is_one
    shrunk = L1(1.0).prox(np.array([g]), np.array([1.0]))
    assert (float(np.ravel(shrunk)[0]) == 0.0) == is_one


@pytest.mark.parametrize("choice", [-1.0, 0.0, 1.0])
def test_any_of_them_will_do(choice):
    f = Objective(lambda w: abs(w).sum(), lambda w: np.where(w == 0, choice, np.sign(w)))
    best = min(step.objective for step in islice(Subgradient(Diminishing(1.0)).steps(f, [3.0, -2.0]), 5000))
    assert best < 0.05


def test_the_best_iterate_converges_though_the_iterates_rise():
    X, y, _ = problem(n=30, p=3, noise=1.0)
    f = Objective(lambda w: abs(X @ w - y).mean(), lambda w: X.T @ np.sign(X @ w - y) / 30)
    values = np.array([step.objective for step in islice(Subgradient(Diminishing(0.5)).steps(f, np.zeros(3)), 4000)])
    from scipy.optimize import linprog

    A = np.block([[X, -np.eye(30)], [-X, -np.eye(30)]])
    lowest = linprog(
        np.r_[np.zeros(3), np.ones(30) / 30], A, np.r_[y, -y], bounds=[(None, None)] * 3 + [(0, None)] * 30
    ).fun
    assert (np.diff(values) > 0).sum() > 100
    excess = np.minimum.accumulate(values) - lowest
    assert excess[-1] < 2e-3 and excess[-1] < excess[100] / 3 and (excess > -1e-12).all()


def test_the_gap_is_a_proof():
    """The averaged inequalities are a function below f, whose lowest value bounds the minimum from below."""
    radius = np.sqrt(13)
    for step in islice(Subgradient(radius=radius).steps(ABSOLUTE, [3.0, -2.0]), 500):
        assert step.model.lowest(radius) <= 1e-12
        assert step.gap >= (step.objective - 0.0) / step.objective - 1e-12 if step.objective else True
        for z in ([0.0, 0.0], [1.0, -1.0], [5.0, 5.0]):
            assert step.model.at(z) <= ABSOLUTE.value(z) + 1e-12


def test_minimize_certifies_with_a_radius_and_can_not_without():
    shifted = Objective(lambda w: 1 + abs(w).sum(), np.sign)
    found = minimize(shifted, [3.0, -2.0], method=Subgradient(radius=4.0, average="uniform"), tol=0.2, max_iter=20_000)
    assert found.certificate and found.ending.reason is Reason.CERTIFIED and found.value - 1 <= 0.2 * found.value
    with pytest.warns(UserWarning, match="is inf"):
        found = minimize(shifted, [3.0, -2.0], method=Subgradient(), tol=1e-3, max_iter=2000)
    assert not found.certificate and found.value < 1.2


def test_strong_convexity_certifies_without_a_radius():
    f = Objective(lambda w: abs(w).sum() + (w - 2) @ (w - 2) / 2, lambda w: np.sign(w) + w - 2, strong_convexity=1.0)
    from qed.optim import InverseDecay

    ending = run(Subgradient(InverseDecay(1.0), average="weighted").steps(f, [-5.0]), Rule(1e-3, 20_000))
    assert ending.reason is Reason.CERTIFIED and ending.step.objective - 1.5 <= 1e-3 * ending.step.objective


def test_projection_keeps_the_iterates_in_the_set():
    f = Objective(lambda w: abs(w[0] - 3) + abs(w[1]), lambda w: np.array([np.sign(w[0] - 3), np.sign(w[1])]))

    def ball(w):
        return w / max(1.0, np.linalg.norm(w))

    steps = list(islice(Subgradient(radius=2.0, project=ball).steps(f, [0.0, 1.0]), 2000))
    assert all(np.linalg.norm(step.iterate) <= 1 + 1e-12 for step in steps)
    assert min(step.objective for step in steps) == pytest.approx(2.0, abs=0.02)
