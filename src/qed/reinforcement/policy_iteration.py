r"""Policy iteration: work out what a policy is worth, change it wherever another action is worth more, and again.

.. math::

    V_\pi = (I - \gamma P_\pi)^{-1} r_\pi, \qquad
    \pi(s) \leftarrow \arg\max_a \sum_{s'} p(s' \mid s, a)\,\bigl(r + \gamma V_\pi(s')\bigr)

Every round solves a sparse system of as many equations as there are states; there are finitely many policies and each is better than
the one before, so it ends, mostly after a handful of rounds. Howard (1960), Dynamic programming and Markov processes.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from qed.base.errors import InputError
from qed.base.numbers import EPS
from qed.base.running.steps import Halt, Reason, Step
from qed.reinforcement.bounds import evaluate_all
from qed.reinforcement.planning import Known, Planner
from qed.reinforcement.world import World


class PolicyIteration(Planner):
    """The best policy of a known world, by ever better policies.

    Parameters
    ----------
    gamma : float, default=0.99
        The discount: what a reward is worth one step later. One means none, for worlds that end.
    tol : float
        The run ends when every value is proven to be within this of the best one, relative to the largest.
    max_iter : int
        The most rounds.

    Attributes
    ----------
    values_ : ndarray of shape (n_states,)
        What each state is worth; zero where no episode can come to.
    q_values_ : ndarray of shape (n_states, n_actions)
        What each action in each state is worth.
    policy_ : ndarray of shape (n_states,)
        The best action in each state.
    return_ : float
        What an episode is worth on average, at its start.

    Examples
    --------
    >>> import qed
    >>> cliff = qed.GridWorld(["............"] * 3 + ["SHHHHHHHHHHG"], goal=-1, hole=-100, step=-1)
    >>> plan = qed.PolicyIteration(gamma=1.0).fit(cliff)
    >>> round(plan.return_, 6), bool(plan.certificate_)
    (-13.0, True)
    """

    def __init__(self, gamma: float = 0.99, *, tol: float = 1e-8, max_iter: int = 1000) -> None:
        self.gamma, self.tol, self.max_iter = gamma, tol, max_iter

    def _steps(self, problem: Known, start: Step | None = None) -> Generator[Step, None, Halt]:
        if start is None:
            policy = homeward(problem.world) if self.gamma == 1 else np.zeros(problem.world.n_states, dtype=np.int64)
        else:
            policy = improved(problem, start.policy, start.values)
        while True:
            values = evaluate_all(problem.world, policy, self.gamma)
            if values is None:
                return Halt(
                    Reason.DEGENERATE,
                    "A policy that never ends collects rewards without bound, or costs without end.",
                    "Give gamma < 1.",
                )
            better = improved(problem, policy, values)
            last = bool((better == policy).all())
            gap = problem.gap(values)[0] if last else np.inf
            yield Step(objective=-float(problem.world.start @ values), gap=gap, values=values, policy=policy)
            if last:
                return Halt(Reason.STALLED, "No action is worth more than that of the policy.", self._advice())
            policy = better


def improved(problem: Known, policy: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Take the best action wherever it is worth more than that of the policy by more than rounding explains."""
    worth = problem.worth(values)
    taken = np.take_along_axis(worth, policy[:, None], axis=1)[:, 0]
    more = worth.max(axis=1) - taken > 64 * EPS * problem.scale(values)
    return np.where(more, worth.argmax(axis=1), policy)


def homeward(world: World) -> np.ndarray:
    """Give a policy that comes to an end surely: each action may lead nearer to it.

    >>> homeward(World([[[(1.0, 0, 0.0, False)], [(1.0, 0, 0.0, True)]]]))
    array([1])
    """
    shape = world.n_states, world.n_actions
    ends = np.add.reduceat(np.where(world.ends, world.chance, 0.0), world.begins[:-1]).reshape(shape) > 0
    policy, found = ends.argmax(axis=1), ends.any(axis=1)
    while True:
        nearer = np.asarray((world.onwards @ found.astype(float)).reshape(shape)) > 0
        new = nearer.any(axis=1) & ~found
        if not new.any():
            break
        policy, found = np.where(new, nearer.argmax(axis=1), policy), found | new
    if (lost := world.reached & ~found).any():
        raise InputError(
            f"No action leads from state {int(np.flatnonzero(lost)[0])} to an end: without a discount only worlds that end can be "
            "solved. Give gamma < 1."
        )
    return policy
