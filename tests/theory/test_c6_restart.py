"""C6-RESTART, O-KM-INIT: several beginnings, the best end."""

import numpy as np
import pytest

import qed
from qed.clustering.means.seeding import any_rows


def overlapping(seed=0):
    return np.random.default_rng(seed).normal(size=(150, 2))


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_more_restarts_are_never_worse(init):
    X = overlapping()
    for tol in (0, 1e-4):
        ends = [
            qed.KMeans(8, init=init, n_init=tries, random_state=0, tol=tol).fit(X).inertia_ for tries in range(1, 9)
        ]
        assert ends == sorted(ends, reverse=True)


def test_the_end_is_the_least_of_the_runs():
    X = overlapping(1)
    together = qed.KMeans(8, init="random", n_init=6, random_state=3, tol=0)
    walk = qed.steps(together, X)
    *_, last = walk
    alone = []
    drawn = any_rows(qed.rows(X), 8, seed=3, runs=6)
    for beginning in range(6):
        draws = drawn[beginning]
        alone.append(qed.KMeans(8, init=draws, tol=0).fit(X).inertia_)
    np.testing.assert_allclose(last.inertia, alone, rtol=1e-13)
    assert together.fit(X).inertia_ == pytest.approx(min(alone), rel=1e-13)
    assert len(set(np.round(alone, 9))) > 1


def test_the_number_of_restarts():
    X = overlapping(2)
    for init, tries in (("k-means++", 1), ("random", 10), (X[:3], 1), (lambda X, k, random_state: X[:k], 10)):
        first = next(step for step in qed.steps(qed.KMeans(3, init=init, random_state=0), X) if not step.prepares)
        assert len(first.inertia) == tries


def test_all_runs_take_one_pass_each_iteration():
    X = overlapping(3)
    rows = qed.rows(X)
    walk = qed.steps(qed.KMeans(4, n_init=5, random_state=0), rows)
    next(step for step in walk if not step.prepares)
    passes = []
    fold = rows.fold
    rows.fold = lambda *args: passes.append(args) or fold(*args)
    next(walk)
    assert len(passes) == 1


def test_careful_seeding_beats_careless():
    rng = np.random.default_rng(0)
    X = np.repeat(20 * rng.normal(size=(10, 2)), 20, axis=0) + rng.normal(size=(200, 2))
    careful, careless = (
        np.mean([qed.KMeans(10, init=init, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(20)])
        for init in ("k-means++", "random")
    )
    assert careful < 0.8 * careless
