"""Q-learning: known returns, the same bits when taken up again, the loop's twin in plain Python, and environments that only answer."""

import copy

import gymnasium
import numpy as np
import pytest

import qed
from qed.base.compile import interpreted
from qed.base.errors import ConvergenceWarning, InputError, ParameterError
from qed.base.fitted import check_fitted, declared
from qed.reinforcement.episodes import run_episodes

GRID = qed.GridWorld(["S..", ".#.", "..G"])
SLIPPERY = qed.GridWorld(["S..", ".H.", "..G"], slip=0.2)


class Corridor(gymnasium.Env):
    """Five places in a row, the last of which pays: nothing but answers."""

    def __init__(self, wind=0.0, start=0):
        self.observation_space = gymnasium.spaces.Discrete(5, start=start)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.wind = wind

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at + int(self.observation_space.start), {}

    def step(self, action):
        move = -1 if self.np_random.random() < self.wind else (1 if action else -1)
        self.at = max(self.at + move, 0)
        return self.at + int(self.observation_space.start), float(self.at == 4), self.at == 4, False, {}


@pytest.mark.parametrize(
    ("name", "settings", "gamma", "known", "learner"),
    [
        # 100 000 episodes; 100; 24 000 episodes.
        (
            "FrozenLake-v1",
            {"is_slippery": True},
            0.99,
            0.54202593,
            {"exploration": 0.3, "episodes": 10_000, "max_iter": 30},
        ),
        ("CliffWalking-v1", {}, 1.0, -13.0, {}),
        ("Taxi-v4", {}, 1.0, 7.93, {"episodes": 1000, "max_iter": 50}),
    ],
)
def test_known_returns_are_learned(name, settings, gamma, known, learner):
    found = qed.QLearning(gamma, random_state=0, **learner).fit(gymnasium.make(name, **settings))
    assert found.certificate_ and found.return_ == pytest.approx(known, rel=0.02)
    assert found.n_episodes_ == found.ending_.step.done <= 100_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "gamma", "known", "episodes"), [("8x8", 0.99, 0.41464036, 400_000), ("4x4", 1.0, 14 / 17, 430_000)]
)
def test_slow_frozen_lakes_are_learned(size, gamma, known, episodes):
    lake = gymnasium.make("FrozenLake-v1", map_name=size, is_slippery=True)
    found = qed.QLearning(gamma, exploration=0.3, episodes=10_000, max_iter=100, random_state=0).fit(lake)
    assert found.certificate_ and found.return_ == pytest.approx(known, rel=0.02)
    assert found.n_episodes_ == episodes


@pytest.mark.parametrize("world", [GRID, SLIPPERY])
@pytest.mark.parametrize("exploration", [0.2, qed.DecayingExploration(1.0, 0.1, 30)])
def test_taken_up_again_it_does_what_an_unbroken_run_does(world, exploration, tmp_path):
    def learner(steps):
        return qed.QLearning(0.9, exploration=exploration, episodes=20, max_iter=steps, tol=0.0, random_state=3)

    with pytest.warns(ConvergenceWarning):
        whole = learner(6).fit(world)
    with pytest.warns(ConvergenceWarning):
        part = learner(2).fit(world)
    qed.save(part, tmp_path / "part.qed")
    part = qed.load(tmp_path / "part.qed").set_params(max_iter=6)
    with pytest.warns(ConvergenceWarning):
        part.resume(world)
    assert (part.q_values_ == whole.q_values_).all() and (part.visits_ == whole.visits_).all()
    assert part.visits_.sum() > 0 and part.n_episodes_ == whole.n_episodes_ == 140
    walk = qed.steps(learner(6), world)
    steps = [next(walk) for _ in range(7)]
    assert (walk.model_at(steps[-1]).q_values_ == whole.q_values_).all()
    assert check_fitted(whole) == [] and set(whole._attributes()) <= set(declared(qed.QLearning))


def test_the_loop_gives_the_same_bits_in_plain_python():
    def run(loop):
        world = SLIPPERY
        q, visits, returns = np.zeros((9, 4)), np.zeros((9, 4), dtype=np.int64), np.zeros(3)
        total = np.concatenate([np.cumsum(part) for part in np.split(world.chance, world.begins[1:-1])])
        made = loop(
            q, visits, world.begins.astype(np.int64), world.to, world.reward, world.ends, total, np.cumsum(world.start),
            np.uint64(5), 0, 3, 30, 0.9, 0.0, 0.7, np.full(3, 0.5), returns,
        )  # fmt: skip
        return made, q, visits, returns

    first, second = run(run_episodes), run(interpreted(run_episodes))
    assert first[0] == second[0] and all((a == b).all() for a, b in zip(first[1:], second[1:]))


@pytest.mark.parametrize("world", [GRID, SLIPPERY])
def test_every_changed_number_is_noticed(world):
    found = qed.QLearning(0.9, tol=0.5, exploration=0.5, random_state=0, episodes=50).fit(world)
    assert qed.certify(found, world)
    for name in ("q_values_", "visits_"):
        for place in np.flatnonzero(np.ravel(getattr(found, name))):
            forged = copy.deepcopy(found)
            values = np.ravel(getattr(forged, name))
            values[place] = values[place] * 1.001 if name == "q_values_" else values[place] + 1
            assert not qed.certify(forged, world), (name, place)
    for name, value in [
        ("return_", found.return_ * 1.001),
        ("n_episodes_", 51),
        ("seed_", 1),
        ("policy_", 3 - found.policy_),
    ]:
        forged = copy.deepcopy(found)
        setattr(forged, name, value)
        assert not qed.certify(forged, world), name


@pytest.mark.parametrize(("wind", "start"), [(0.0, 0), (0.2, 3)])
def test_environments_that_only_answer_are_learned_and_proven_in_the_world_as_it_was_seen(wind, start, tmp_path):
    def learner(steps):
        return qed.QLearning(0.9, exploration=0.5, episodes=100, max_iter=steps, tol=0.1, random_state=0)

    found = learner(100).fit(Corridor(wind, start))
    assert found.certificate_ and (found.policy_[:4] == 1).all()
    assert "as it was seen" in found.certificate_.claims[0].says
    assert qed.certify(found, Corridor(wind, start))
    qed.save(found, tmp_path / "found.qed")
    assert qed.certify(qed.load(tmp_path / "found.qed"), Corridor(wind, start))
    if wind == 0.0:
        assert found.return_ == pytest.approx(0.9**3)
    found.world_ = qed.World([[[(1.0, 0, 1.0, True)]] * 2] * 5)
    assert not qed.certify(found, Corridor(wind, start))


def test_what_can_not_be_learned_is_refused_in_words():
    with pytest.raises(InputError, match="numbered"):
        qed.QLearning().fit(gymnasium.make("CartPole-v1"))
    for settings in ({"gamma": 1.5}, {"exploration": 2}, {"learning_rate": 0}, {"starts": "here"}, {"episodes": 0}):
        with pytest.raises(ParameterError, match=next(iter(settings))):
            qed.QLearning(**settings).fit(GRID)
