"""Grids that were too short: where the best value of a parameter is the last that was tried, more are tried beyond it."""

from dataclasses import replace

import numpy as np

from qed.selection.comparing.contenders import Contender
from qed.selection.searching.candidates import candidates_of

MORE, MOST_ROUNDS = 3, 2
# A value at the end that is better than its neighbour by less than this part of its standard error, or by less than the standard error of
# the difference, is as good as it gets.
WORTH, ALIKE = 0.01, 1.0


def beyond(values: list[object], upper: bool) -> list[object]:
    """Continue a grid of rising numbers beyond one of its ends, by the ratio of its last two; nothing where it is no such grid.

    >>> beyond([0.1, 1.0, 10.0], upper=True), beyond([2, 4, 8], upper=True), beyond([1, 2, 3], upper=False)
    ([100.0, 1000.0, 10000.0], [16, 32, 64], [])
    """
    if len(values) < 3 or any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        return []
    numbers = np.array(values, dtype=np.float64)
    if (numbers <= 0).any() or not np.isfinite(numbers).all() or (np.diff(numbers) <= 0).any():
        return []
    whole = all(isinstance(value, (int, np.integer)) for value in values)
    ratio = float(numbers[-1] / numbers[-2] if upper else numbers[0] / numbers[1])
    found = [float(numbers[-1 if upper else 0]) * ratio**step for step in range(1, MORE + 1)]
    if not whole:
        return [float(f"{value:.12g}") for value in found]
    kept = [round(value) for value in found]
    return [value for value in dict.fromkeys(kept) if value >= 1 and value not in values]


def extension(one: Contender, scores: np.ndarray) -> tuple[str, list[object]]:
    """Say which parameter of a model should be tried with which further values; nothing where its best setting is inside its grid."""
    mean = scores.mean(axis=1)
    if not np.isfinite(mean).any():
        return "", []
    chosen = int(np.nanargmax(mean))
    error = _error(scores[chosen])
    setting, candidates = one.candidates[chosen], one.candidates
    for name, values in one.grid.items():
        ends = {repr(values[0]): False, repr(values[-1]): True}
        if repr(setting[name]) not in ends or len(values) < 3:
            continue
        upper = ends[repr(setting[name])]
        neighbour = candidates.index({**setting, name: values[-2 if upper else 1]})
        gain = scores[chosen] - scores[neighbour]
        more = beyond(values, upper) if gain.mean() > max(WORTH * error, ALIKE * _error(gain)) else []
        low, high = getattr(one.model, "compare_limits", {}).get(name, (0.0, np.inf))
        more = [value for value in more if low <= value <= high]  # type: ignore[operator]
        if more:
            return name, more
    return "", []


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def extended(one: Contender, name: str, more: list[object]) -> tuple[Contender, Contender]:
    """Give the model with only the further values of a parameter to choose from, and with all of them."""
    whole = sorted([*one.grid[name], *more])
    return replace(one, grid={**one.grid, name: more}), replace(one, grid={**one.grid, name: whole})


def merged(whole: Contender, parts: list[tuple[Contender, np.ndarray]]) -> np.ndarray:
    """Put the scores of parts of a grid together; their axis of settings is the last but one."""
    known = {
        repr(sorted(setting.items())): scores[..., k, :]
        for one, scores in parts
        for k, setting in enumerate(one.candidates)
    }
    return np.stack([known[repr(sorted(setting.items()))] for setting in candidates_of(whole.grid)], axis=-2)
