"""qed: machine learning that shows its proof.

Every public name is here and is imported when it is first used::

    import qed

    model = qed.Ridge(alpha=1.0).fit(X, y)
    print(model.certificate_)
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

from qed.base.lazy import ROOMS as _ROOMS
from qed.base.lazy import room as _room

__version__ = "0.1.0"

_MODULES = (*_ROOMS, "base", "data", "kernels", "linalg", "optim", "plots", "report", "stats")
_CORE = {
    "qed.base.certificate": ["Certificate", "Claim"],
    "qed.base.engine": ["threads"],
    "qed.exporting.to_onnx": ["to_onnx"],
    "qed.base.models.proof": ["certify"],
    "qed.base.sources.open": ["rows"],
    "qed.base.saving.models": ["load", "save"],
    "qed.base.running.resume": ["resume"],
    "qed.base.running.steps": ["Reason", "Step"],
    "qed.base.running.walk": ["steps"],
    "qed.base.running.watch": ["watch"],
}
_core, _, _names = _room(__name__, _CORE)


def _room_of() -> dict[str, str]:
    """Say which room each public model lives in."""
    return {name: room for room in _ROOMS for name in _import_module(f"qed.{room}").__all__}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_module(f"qed.{name}")
    if name in _names:
        return _core(name)
    if name == "__all__":
        return __dir__()
    if not name.startswith("_"):
        room = _room_of().get(name)
        if room is not None:
            found = globals()[name] = getattr(_import_module(f"qed.{room}"), name)
            return found
    raise AttributeError(f"module 'qed' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_names, *_MODULES, *_room_of(), "__version__"])
