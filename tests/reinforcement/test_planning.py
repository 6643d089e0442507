"""Planning in known worlds: known returns, true bounds judged in fractions, and everything a model of the house does."""

import copy
from fractions import Fraction

import gymnasium
import numpy as np
import pytest

import qed
from qed.base.errors import ConvergenceWarning, InputError, NotFittedError
from qed.base.fitted import check_fitted, declared
from qed.reinforcement.bounds import bound_values, evaluate
from qed.reinforcement.loops import free_loops

LAKE = ["S...", ".H.H", "...H", "H..G"]
PLANNERS = [qed.ValueIteration, qed.PolicyIteration]
KNOWN = [
    ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": True}, 0.99, 0.54202593),
    ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": True}, 1.0, 14 / 17),
    ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": True}, 0.99, 0.41464036),
    ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}, 1.0, 1.0),
    ("CliffWalking-v1", {}, 1.0, -13.0),
    ("Taxi-v4", {}, 1.0, 7.93),
]


def random_world(seed, states=6, actions=3, ends=0.2):
    """Give a world whose chances are whole sixteenths, so that fractions know them exactly."""
    lots = np.random.default_rng(seed)
    outcomes = []
    for _ in range(states):
        row = []
        for _ in range(actions):
            weights = lots.multinomial(16, [0.5, 0.3, 0.2]) / 16
            cell = [
                (float(w), int(lots.integers(states)), float(lots.integers(-8, 9)) / 4, bool(lots.random() < ends))
                for w in weights
                if w > 0
            ]
            row.append(cell)
        outcomes.append(row)
    return qed.World(outcomes)


def exact_values(world, policy, gamma):
    """Solve the equations of a policy in fractions."""
    n, g = world.n_states, Fraction(gamma)
    rows = [[Fraction(int(i == j)) for j in range(n)] + [Fraction(0)] for i in range(n)]
    for state in range(n):
        pair = state * world.n_actions + int(policy[state])
        for at in range(world.begins[pair], world.begins[pair + 1]):
            chance = Fraction(float(world.chance[at]))
            rows[state][n] += chance * Fraction(float(world.reward[at]))
            if not world.ends[at]:
                rows[state][int(world.to[at])] -= g * chance
    for column in range(n):
        pivot = next(row for row in range(column, n) if rows[row][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(n):
            if row != column and rows[row][column] != 0:
                rows[row] = [a - rows[row][column] * b for a, b in zip(rows[row], rows[column])]
    return [row[n] for row in rows]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(("name", "settings", "gamma", "known"), KNOWN)
def test_known_returns_are_reached_and_proven(planner, name, settings, gamma, known):
    plan = planner(gamma=gamma).fit(gymnasium.make(name, **settings))
    assert plan.certificate_ and plan.return_ == pytest.approx(known, rel=1e-6)


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_never_below_the_error(planner, gamma, seed):
    world = random_world(seed)
    best = [float(v) for v in exact_values(world, qed.PolicyIteration(gamma).fit(world).policy_, gamma)]
    exact = exact_values(world, qed.PolicyIteration(gamma).fit(world).policy_, gamma)
    plan = planner(gamma, tol=1e-6).fit(world)
    for values in (plan.values_, np.array(best), plan.values_ + np.linspace(-1, 1, 6), np.zeros(6)):
        bound = bound_values(world, values, gamma).error
        for state in np.flatnonzero(world.reached):
            assert abs(exact[state] - Fraction(float(values[state]))) <= Fraction(float(bound[state]))


@pytest.mark.parametrize("slip", [0.0, 0.25, 2 / 3])
@pytest.mark.parametrize("step", [0.0, -0.125])
def test_without_a_discount_the_bound_is_true_too(slip, step):
    """Also where loops cost nothing, so that many policies are as good, and some of these never end."""
    world = qed.GridWorld(LAKE, slip=slip, step=step)
    plan = qed.PolicyIteration(1.0).fit(world)
    assert plan.certificate_
    # Ever smaller discounts tend to the undiscounted return from below where rewards are not negative, from above where steps cost.
    near = qed.PolicyIteration(1 - 1e-7).fit(world)
    assert abs(near.return_ - plan.return_) < 1e-4
    moved = plan.values_ + np.where(world.reached, 1e-3, 0.0)
    error = bound_values(world, moved, 1.0).error
    assert (error[world.reached] >= 1e-3 * (1 - 1e-9)).all()


def test_loops_that_cost_nothing_are_found_and_others_are_not():
    group, inner = free_loops(qed.GridWorld(["S.", ".G"]), np.ones((4, 4), dtype=bool))
    assert len(set(group[:3])) == 1 and group[3] not in group[:3] and inner[:3].any(axis=1).all()
    group, inner = free_loops(qed.GridWorld(["S.", ".G"], step=-1.0), np.ones((4, 4), dtype=bool))
    assert len(set(group)) == 4 and not inner.any()


def test_a_world_without_an_end_is_refused_or_unproven_without_a_discount():
    forever = qed.World([[[(1.0, 0, 1.0, False)]]])
    with pytest.raises(InputError, match="gamma < 1"):
        qed.PolicyIteration(1.0).fit(forever)
    with pytest.warns(ConvergenceWarning, match="max_iter=1000"):
        plan = qed.ValueIteration(1.0, max_iter=100).fit(forever)
    assert not plan.certificate_
    assert qed.ValueIteration(0.5).fit(forever).return_ == pytest.approx(2.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_policy_is_evaluated_as_in_fractions(seed):
    world = random_world(seed)
    policy = np.arange(6) % 3
    values, bound = evaluate(world, policy, 0.9)
    exact = exact_values(world, policy, 0.9)
    for state in np.flatnonzero(world.visited(policy)):
        assert abs(exact[state] - Fraction(float(values[state]))) <= Fraction(float(bound.error[state]))
    assert bound.error.max() < 1e-12


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_every_changed_number_is_noticed(planner, gamma):
    world = qed.GridWorld(LAKE, slip=0.25, step=-0.01)
    plan = planner(gamma).fit(world)
    assert qed.certify(plan, world)
    for name in ("values_", "q_values_"):
        for place in np.flatnonzero(np.ravel(getattr(plan, name))):
            forged = copy.deepcopy(plan)
            np.ravel(getattr(forged, name))[place] *= 1.001
            assert not qed.certify(forged, world), (name, place)
    forged = copy.deepcopy(plan)
    forged.return_ *= 1.001
    assert not qed.certify(forged, world)
    forged = copy.deepcopy(plan)
    forged.policy_ = (forged.policy_ + 2) % 4
    assert not qed.certify(forged, world)
    other = qed.certify(plan, qed.GridWorld(LAKE, slip=0.25, step=-0.02))
    assert not other and "other outcomes" in other.verdict


@pytest.mark.parametrize("planner", PLANNERS)
def test_saved_resumed_watched_and_walked(planner, tmp_path):
    world = qed.GridWorld(LAKE, slip=0.25)
    whole = planner(0.95).fit(world)
    assert check_fitted(whole) == [] and set(whole._attributes()) <= set(declared(planner))
    qed.save(whole, tmp_path / "plan.qed")
    again = qed.load(tmp_path / "plan.qed")
    assert (again.values_ == whole.values_).all() and qed.certify(again, world)
    with pytest.warns(ConvergenceWarning):
        part = planner(0.95, max_iter=1).fit(world)
    part.max_iter = 100_000
    assert (part.resume(world).values_ == whole.values_).all() and part.n_iter_ == whole.n_iter_
    with qed.watch(checkpoint=tmp_path / "run.qed") as seen:
        planner(0.95).fit(world)
    assert len(seen.trace.records) == whole.n_iter_ + 1
    assert (qed.resume(tmp_path / "run.qed", world).values_ == whole.values_).all()
    walk = qed.steps(planner(0.95), world)
    first = next(walk)
    assert walk.model_at(first).values_.shape == (16,)
    with pytest.raises(InputError, match="another world"):
        whole.resume(qed.GridWorld(LAKE))


def test_what_is_no_world_is_refused_in_words():
    one = [(1.0, 0, 0.0, True)]
    for outcomes, start, said in [
        ([], None, "needs a state"),
        ([[one], [one, one]], None, "same number of actions"),
        ([[[(0.5, 0, 0.0, True)]]], None, "do not add up to 1"),
        ([[[(1.0, 3, 0.0, True)]]], None, "not there"),
        ([[[(1.0, 0, np.inf, True)]]], None, "finite"),
        ([[[]]], None, "no outcome"),
        ([[one]], [0.5], "add up to 1"),
        ([[one]], [0.5, 0.5], "one for each state"),
    ]:
        with pytest.raises(InputError, match=said):
            qed.World(outcomes, start)
    for plan, said in [([], "lines"), (["S.", "."], "lines"), (["S?"], "no field"), (["..G"], "start")]:
        with pytest.raises(InputError, match=said):
            qed.GridWorld(plan)
    with pytest.raises(InputError, match="slip"):
        qed.GridWorld(["SG"], slip=2)
    with pytest.raises(InputError, match="tells its outcomes"):
        qed.ValueIteration().fit(np.zeros((3, 2)))
    with pytest.raises(NotFittedError, match="world"):
        qed.certify(qed.ValueIteration(), qed.GridWorld(["SG"]))
    with pytest.raises(InputError, match="no use for y"):
        qed.certify(qed.ValueIteration().fit(qed.GridWorld(["SG"])), qed.GridWorld(["SG"]), [1])


def test_the_grid_is_that_of_the_frozen_lake():
    env = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=True)
    ours = qed.GridWorld(LAKE, slip=2 / 3)
    values = np.random.default_rng(0).random(16)
    theirs = qed.World.of(env)
    assert np.allclose(ours.backup(values, 0.9), theirs.backup(values, 0.9), rtol=0, atol=1e-15)
