"""What fits are made of: solvers and losses, usable by themselves."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(__name__, {"gram": ["Solution", "solve"]})
