"""Bandits: regret by counts, the same bits when taken up again, and every number held."""

import copy

import numpy as np
import pytest

import qed
from qed.base.errors import ConvergenceWarning, InputError, ParameterError
from qed.base.fitted import check_fitted, declared

BANDIT = qed.Bandit([0.2, 0.5, 0.4])
NORMAL = qed.Bandit([0.0, 1.0, 3.0], pays="normal", deviation=2.0)
PLAYERS = [
    qed.EpsilonGreedy(0.1, pulls=120, runs=7, random_state=1),
    qed.EpsilonGreedy(qed.DecayingExploration(1.0, 0.01, 20), pulls=120, runs=7, random_state=1),
    qed.UpperConfidence(pulls=120, runs=7, random_state=1),
    qed.ThompsonSampling(pulls=120, runs=7, random_state=1),
]


@pytest.mark.parametrize("bandit", [BANDIT, NORMAL])
@pytest.mark.parametrize("player", PLAYERS)
def test_regret_is_counted_and_every_number_is_held(player, bandit, tmp_path):
    player = copy.deepcopy(player).fit(bandit)
    assert player.certificate_ and (player.counts_.sum(axis=1) == 120).all()
    assert player.regret_[-1] == pytest.approx((player.counts_ @ bandit.gaps).mean())
    assert check_fitted(player) == [] and set(player._attributes()) <= set(declared(type(player)))
    qed.save(player, tmp_path / "player.qed")
    assert qed.certify(qed.load(tmp_path / "player.qed"), bandit)
    for name in ("counts_", "means_", "regret_"):
        for place in np.flatnonzero(np.ravel(getattr(player, name)))[::11]:
            forged = copy.deepcopy(player)
            values = np.ravel(getattr(forged, name))
            values[place] = values[place] + 1 if name == "counts_" else values[place] * 1.001
            assert not qed.certify(forged, bandit), (name, place)
    player.best_arm_ = (player.best_arm_ + 1) % 3
    assert not qed.certify(player, bandit)


@pytest.mark.parametrize("player", PLAYERS)
def test_taken_up_again_it_plays_the_same(player):
    walk = qed.steps(player, BANDIT)
    first = next(walk)
    rest = list(walk)
    again = list(qed.steps(player, BANDIT, start=first))
    assert (again[-1].counts == rest[-1].counts).all() and (again[-1].regret == rest[-1].regret).all()
    with qed.watch(call=lambda step: True) as seen, pytest.warns(ConvergenceWarning, match="resume"):
        stopped = copy.deepcopy(player).fit(BANDIT)
    assert len(seen.trace.records) == 1 and not stopped.certificate_
    whole = copy.deepcopy(player).fit(BANDIT)
    assert (stopped.resume(BANDIT).counts_ == whole.counts_).all() and stopped.certificate_


def test_what_is_no_bandit_is_refused_in_words():
    for settings in (
        {"means": []},
        {"means": [2.0]},
        {"means": [0.1], "pays": "gold"},
        {"means": [0.1], "deviation": -1},
    ):
        with pytest.raises(InputError):
            qed.Bandit(**settings)
    with pytest.raises(InputError, match="qed.Bandit"):
        qed.UpperConfidence().fit([0.1, 0.2])
    with pytest.raises(ParameterError, match="pulls"):
        qed.UpperConfidence(pulls=0).fit(BANDIT)
    with pytest.raises(InputError, match="another world"):
        PLAYERS[0].fit(BANDIT).resume(qed.Bandit([0.1, 0.2]))
