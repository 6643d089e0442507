"""holdout: two parts, disjoint and complete, 30 % by default; what is held out is a fair sample of the rows."""

import numpy as np
import pytest

from qed.selection.metrics.regression import mean_squared_error
from qed.selection.splitting.holdout import HoldOut, train_test_split


@pytest.mark.parametrize("n", [3, 10, 17, 100, 1001])
@pytest.mark.parametrize("share", [0.3, 0.2, 0.5])
def test_parts_are_disjoint_complete_and_of_the_rounded_size(n, share):
    ((train, test),) = HoldOut(share, random_state=n).split(np.zeros((n, 2)))
    assert len(test) == round(share * n)
    np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(n))


def test_the_default_share_is_thirty_percent():
    train, test = train_test_split(np.arange(200), random_state=0)
    assert (len(train), len(test)) == (140, 60)
    assert not set(train) & set(test)


def test_the_seed_decides():
    def held_out(seed):
        return HoldOut(random_state=seed).assign(50)

    np.testing.assert_array_equal(held_out(1), held_out(1))
    assert (held_out(1) != held_out(2)).any()


@pytest.mark.parametrize("stratify", [False, True])
def test_every_row_has_the_same_chance_to_be_held_out(stratify):
    y = np.tile([0, 1], 10)
    draws = np.array([HoldOut(stratify=stratify, random_state=seed).assign(20, y) == 0 for seed in range(3000)])
    np.testing.assert_allclose(draws.mean(axis=0), 0.3, atol=5 * np.sqrt(0.3 * 0.7 / 3000))


def test_the_error_tracks_the_risk_only_if_enough_rows_are_held_out():
    """The spread of the validation error of a fixed hypothesis falls like one over the root of the rows held out."""
    random = np.random.default_rng(0)
    y = random.normal(size=4000)
    spread = {}
    for m in (20, 320):
        found = [
            mean_squared_error(y[folds == 0], np.zeros(m))
            for folds in (HoldOut(m, random_state=seed).assign(4000) for seed in range(400))
        ]
        assert abs(np.mean(found) - np.mean(y**2)) < 4 * np.std(found) / np.sqrt(400)
        spread[m] = np.std(found)
    assert spread[20] / spread[320] == pytest.approx(4, rel=0.25)


def test_selecting_the_least_validation_error_is_optimistic():
    """hyper-select: of many useless models the best on the validation part looks better than it is on fresh rows."""
    random = np.random.default_rng(1)
    looks, is_really = [], []
    for seed in range(200):
        y, guesses = random.normal(size=100), random.normal(size=(30, 100))
        rows = np.flatnonzero(HoldOut(random_state=seed).assign(100) == 0)
        errors = [mean_squared_error(y[rows], guess[rows]) for guess in guesses]
        best = int(np.argmin(errors))
        assert errors[best] == min(errors)
        looks.append(errors[best])
        fresh = np.setdiff1d(np.arange(100), rows)
        is_really.append(mean_squared_error(y[fresh], guesses[best][fresh]))
    assert np.mean(looks) < 1.5
    assert np.mean(is_really) == pytest.approx(2, abs=4 * np.std(is_really) / np.sqrt(200))
