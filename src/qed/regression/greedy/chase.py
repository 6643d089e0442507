r"""Greedy choice of atoms, several turns for one look at all of them.

At every turn a greedy method takes the atom nearest to the residual :math:`r`, and gets a new residual. Looking at
all p atoms for every turn reads the whole table each time, though the winner is nearly always one of the few that
were near before. So some turns are played with those few only, which stay in the cache; then one product of all atoms
with all the residuals met tells, turn by turn, whether the winner was right. At the first that was not, the true
winner is taken, and what was played after it is thrown away. The choices are exactly those of the plain method; a
look is paid for once per dozen turns instead of once per turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from qed.base.engine import one_blas_thread
from qed.regression.greedy.atoms import Atoms, SomeAtoms, noise, size_of

MOST_AHEAD = 32
FEW_VALUES = 1 << 19

Advance = Callable[[int, int, np.ndarray], np.ndarray | None]
Turns = list[tuple[int, np.ndarray]]


def chase(
    atoms: Atoms, residual: np.ndarray, scale: float, advance: Advance, number: int = 0, last: int | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the atom chosen and the residual left, turn after turn, until no atom can explain anything more.

    Beside `scale`, the length of the target, what is smaller by rounding is nothing. ``advance(number, atom,
    residual)`` gives the residual after taking an atom at turn `number`, or None where the atom says nothing new; it
    may be called for turns that are later taken back, and then again for the same number. No work is done beyond the
    turn `last`.

    >>> atoms, y = Atoms(np.eye(3), np.zeros(3)), np.array([1.0, -3.0, 2.0])
    >>> def take(number, atom, residual):
    ...     return np.where(np.arange(3) == atom, 0.0, residual)
    >>> [atom for atom, _ in chase(atoms, y, 4.0, take)]
    [1, 2, 0]
    """
    nothing = noise(atoms.count) * scale
    ahead: int = 1
    few: SomeAtoms | None = None
    while last is None or number < last:
        wanted = ahead if last is None else min(ahead, last - number)
        with one_blas_thread:
            plan = _guess(few, residual, advance, number, wanted - 1, nothing)
            turns, near = _check(atoms, residual, plan, advance, number, nothing)
            over = near is None or (last is not None and number + len(turns) >= last)
            few = None if near is None or over or not atoms.worth_guessing else _nearest(atoms, near)
        yield from turns
        if near is None:
            return
        number, residual = number + len(turns), turns[-1][1]
        if few is not None:
            ahead = min(2 * ahead, MOST_AHEAD) if len(turns) == len(plan) + 1 else max(2, len(turns))


def _nearest(atoms: Atoms, near: np.ndarray) -> SomeAtoms:
    """Give the atoms that are nearest at the last look."""
    count = int(np.clip(FEW_VALUES // atoms.count, 32, 256))
    chosen = np.argpartition(near, -count)[-count:] if count < atoms.size else np.arange(atoms.size)
    return atoms.some(np.sort(chosen))


def _guess(
    few: SomeAtoms | None, residual: np.ndarray, advance: Advance, number: int, turns: int, nothing: float
) -> Turns:
    """Play some turns with few atoms."""
    plan: Turns = []
    while few is not None and len(plan) < turns and size_of(residual) > nothing:
        atom = few.nearest(residual)
        left = advance(number + len(plan), atom, residual)
        if left is None:
            break
        plan.append((atom, left))
        residual = left
    return plan


def _check(
    atoms: Atoms, residual: np.ndarray, plan: Turns, advance: Advance, number: int, nothing: float
) -> tuple[Turns, np.ndarray | None]:
    """Find out which turns of a plan are those of the plain method, and play one more.

    Gives the turns that are right, and the last look at all atoms; None when there is nothing left to explain.
    """
    met = np.array([residual, *(left for _, left in plan)]) if plan else residual[None]
    turns: Turns = []
    for turn, near in enumerate(atoms.nearness(met)):
        before = met[turn]
        atom = atoms.nearest(near, before)
        most = (float(near[atom]) - atoms.slack) * size_of(before)
        if most <= nothing and abs(float(before @ atoms.unit(atom))) <= nothing:
            return turns, None
        if turn < len(plan) and plan[turn][0] == atom:
            turns.append(plan[turn])
            continue
        after = advance(number + turn, atom, before)
        return ([*turns, (atom, after)], near) if after is not None else (turns, None)
    raise AssertionError("the last residual has no plan, so the loop always returns")
