"""Reports: one self-contained page about a comparison of models."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(__name__, {"page": ["render", "write_report"]})
