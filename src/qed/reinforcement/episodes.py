"""Episodes of Q-learning in a world whose outcomes stand in a list: the loop that has to be fast.

Every episode has a stream of random numbers of its own, keyed by the seed and its number (SplitMix64), so that a run that is taken up
again does what an unbroken one does.
"""

import numpy as np

from qed.base.compile import kernel

STRIDE = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
THIRTY, TWENTY_SEVEN, THIRTY_ONE, ELEVEN = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


@kernel(within=True)
def scattered(z: np.uint64) -> np.uint64:
    """Scatter a whole number over all of 64 bits."""
    z = (z ^ (z >> THIRTY)) * FIRST
    z = (z ^ (z >> TWENTY_SEVEN)) * SECOND
    return z ^ (z >> THIRTY_ONE)


@kernel(within=True)
def drawn(total: np.ndarray, low: int, high: int, lot: float) -> int:
    """Give the place between `low` and `high` at which running sums first exceed a lot."""
    at = low
    while at < high - 1 and total[at] <= lot:
        at += 1
    return at


@kernel(within=True)
def chosen(q: np.ndarray, state: int, lot: float) -> int:
    """Give an action of the largest value in a state; where several are, each is as likely."""
    actions = q.shape[1]
    best, ties = q[state, 0], 1
    for action in range(1, actions):
        if q[state, action] > best:
            best, ties = q[state, action], 1
        elif q[state, action] == best:
            ties += 1
    left = int(lot * ties)
    for action in range(actions):
        if q[state, action] == best:
            if left == 0:
                return action
            left -= 1
    return actions - 1


@kernel
def run_episodes(
    q: np.ndarray,
    visits: np.ndarray,
    begins: np.ndarray,
    to: np.ndarray,
    reward: np.ndarray,
    ends: np.ndarray,
    total: np.ndarray,
    start: np.ndarray,
    seed: np.uint64,
    first: int,
    count: int,
    most: int,
    gamma: float,
    rate: float,
    power: float,
    chances: np.ndarray,
    returns: np.ndarray,
) -> int:
    """Run episodes and learn: q, visits and what each episode paid are changed; gives how many steps were made.

    A `rate` above zero is the learning rate; else it is the number of visits to the power of minus `power`.
    """
    actions, steps = q.shape[1], 0
    for episode in range(count):
        stream = scattered(np.uint64(seed) + STRIDE * np.uint64(first + episode + 1))
        stream += STRIDE
        state = drawn(start, 0, len(start), np.float64(scattered(stream) >> ELEVEN) * UNIT)
        paid, worth = 0.0, 1.0
        for _ in range(most):
            stream += STRIDE
            explores = np.float64(scattered(stream) >> ELEVEN) * UNIT < chances[episode]
            stream += STRIDE
            lot = np.float64(scattered(stream) >> ELEVEN) * UNIT
            action = int(lot * actions) if explores else chosen(q, state, lot)
            pair = state * actions + action
            stream += STRIDE
            at = drawn(total, begins[pair], begins[pair + 1], np.float64(scattered(stream) >> ELEVEN) * UNIT)
            there = to[at]
            goal = reward[at]
            if not ends[at]:
                best = q[there, 0]
                for other in range(1, actions):
                    best = max(best, q[there, other])
                goal += gamma * best
            visits[state, action] += 1
            alpha = rate if rate > 0 else visits[state, action] ** -power
            # With the rate one the old value is forgotten to the last bit.
            q[state, action] = goal if alpha == 1.0 else q[state, action] + alpha * (goal - q[state, action])
            paid += worth * reward[at]
            worth *= gamma
            steps += 1
            if ends[at]:
                break
            state = there
        returns[episode] = paid
    return steps
