"""The state of unfinished fits, in files.

A checkpoint is the class and parameters of a model that is being fitted, the fingerprint of its data, and the last step: since a
step holds all that is needed to go on from it, a fit that was killed goes on from its checkpoint and ends, bit for bit, where it
would have ended. Like a saved model it can not run code when it is read.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from time import monotonic
from typing import Any

from qed.base.errors import InputError, SavingError, SourceError, level_of_user
from qed.base.running.steps import Step
from qed.base.saving.archive import check_path, read_archive, write_archive
from qed.base.saving.format import Packer, packed

# How far a fit goes may change between two runs of it; everything else makes it another fit.
MAY_CHANGE = ("max_iter", "tol")


class Checkpoint:
    """The file of one fit: read at its beginning, written at most once in `every` seconds and at its end.

    What would make every write fail is found before the first step. A disk that fills up later is no reason to lose a long fit, which
    goes on with a warning.
    """

    def __init__(self, path: Path, every: float, model: Any, fingerprint: Any) -> None:
        self.path, self.every, self.model, self.fingerprint = path, every, model, fingerprint
        self.written = monotonic()

    def load(self) -> Step | None:
        """Give the step that the file holds, or None when there is no file yet."""
        if not self.path.parent.is_dir():
            raise SourceError(f"The checkpoint {self.path} can not be written: create the directory first.")
        packed(Packer(), self.model, fitted=False)
        return load_checkpoint(self.path, self.model, self.fingerprint)

    def __call__(self, step: Step) -> None:
        if monotonic() - self.written >= self.every:
            self.write(step)

    def write(self, step: Step | None) -> None:
        """Write the file."""
        try:
            save_checkpoint(self.path, self.model, self.fingerprint, step)
        except SourceError as error:
            warnings.warn(f"The fit goes on without a new checkpoint. {error}", UserWarning, level_of_user())
        self.written = monotonic()


def save_checkpoint(path: str | os.PathLike[str], model: Any, fingerprint: Any, step: Step | None) -> None:
    """Write the state of a fit: the class and parameters of `model`, the fingerprint of its data, and `step`."""
    packer = Packer()
    content = {
        "model": packed(packer, model, fitted=False),
        "fingerprint": packer.pack(fingerprint, "the fingerprint"),
        "step": packer.pack(step, f"the state of {type(model).__name__}"),
    }
    write_archive(check_path(path), "checkpoint", content, packer.arrays)


def load_checkpoint(path: str | os.PathLike[str], model: Any, fingerprint: Any) -> Step | None:
    """Give the step from which a fit of `model` can go on, or None when there is no such file.

    A checkpoint of another class, of other parameters (``max_iter`` and ``tol`` may differ) or of other data is refused.
    """
    place = check_path(path)
    if not place.exists():
        return None
    saved, before, step = read_checkpoint(place)
    difference = _difference(saved, model) or before.difference(fingerprint)
    if difference:
        raise InputError(
            f"The checkpoint {place} belongs to another fit: {difference}. Delete or rename the file to begin anew, or give "
            "this fit another path."
        )
    return step


def read_checkpoint(path: Path) -> tuple[Any, Any, Step]:
    """Give what a checkpoint holds: the model that was being fitted, the fingerprint of its data, and the last step."""
    content = read_archive(path, "checkpoint")
    model, fingerprint, step = (content.get(name) for name in ("model", "fingerprint", "step"))
    if not (hasattr(model, "get_params") and hasattr(fingerprint, "difference") and isinstance(step, Step)):
        raise SavingError(f"Could not load {path}: it does not hold the state of a fit.")
    return model, fingerprint, step


def _difference(saved: Any, model: Any) -> str:
    """Say in words how another model differs from the saved one, or give an empty string."""
    if type(saved) is not type(model):
        return f"it is of a {type(saved).__name__}, and this is a {type(model).__name__}"
    before, now = saved.get_params(deep=False), model.get_params(deep=False)
    changed = [name for name in now if name not in MAY_CHANGE and not _same(before[name], now[name])]
    return ", ".join(f"{name} was {before[name]!r} and is {now[name]!r} now" for name in changed)


def _same(first: Any, second: Any) -> bool:
    """Compare two values by what would be stored of them."""
    packers = Packer(), Packer()
    trees = [packer.pack(value) for packer, value in zip(packers, (first, second))]
    arrays = list(zip(packers[0].arrays, packers[1].arrays))
    return trees[0] == trees[1] and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in arrays
    )
