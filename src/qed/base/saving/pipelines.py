"""What a file may say of models that other models are made of: pipelines, and searches that change them."""

from __future__ import annotations

from collections.abc import Mapping

from sklearn.base import BaseEstimator

from qed.base.errors import SavingError


def check_params(name: str, params: Mapping[str, object]) -> None:
    """Refuse what would make a model touch the disk: the memory of a Pipeline, also where a search would set it."""
    grid = params.get("grid")
    grids = grid if isinstance(grid, (list, tuple)) else [grid]
    tried = {str(key).rpartition("__")[2] for one in grids if isinstance(one, Mapping) for key in one}
    if (name == "Pipeline" and params.get("memory") is not None) or "memory" in tried:
        raise SavingError(
            "A Pipeline with a memory can not be stored: its cache is read with pickle, which could run code. "
            "Call set_params(memory=None) first, and leave it out of grids."
        )
    if name == "Pipeline":
        _check_steps(params.get("steps"))


def _check_steps(steps: object) -> None:
    """Refuse steps that are not those of a pipeline: names, each with a model that does its part."""
    listed = list(steps) if isinstance(steps, (list, tuple)) else []
    named = [isinstance(step, (list, tuple)) and len(step) == 2 and isinstance(step[0], str) for step in listed]
    if not listed or not all(named) or not all(_is_step(step[1], step is listed[-1]) for step in listed):
        raise SavingError("A Pipeline must be a list of named steps, of which all but the last change columns.")


def _is_step(part: object, last: bool) -> bool:
    if part is None or (isinstance(part, str) and part == "passthrough"):
        return True
    return isinstance(part, BaseEstimator) and (last or hasattr(part, "transform"))
