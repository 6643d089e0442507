"""Rows seen through something: a view reads another source and changes what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from qed.base.sources.rows import Rows


class View(Rows):
    """The rows of a source, unchanged; subclasses change what they are about."""

    def __init__(self, source: Rows) -> None:
        self.source = source
        for name in ("n_features", "feature_names", "target_names", "target_is_number", "dtype", "in_memory"):
            setattr(self, name, getattr(source, name))

    @property
    def has_target(self) -> bool:
        return self.source.has_target

    @property
    def has_weight(self) -> bool:
        return self.source.has_weight

    @property
    def target_ndim(self) -> int:
        return self.source.target_ndim

    def count(self) -> int:
        return self.source.count()

    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        return self.source.tasks(function, *args)

    def fold(self, function: Callable[..., Any], *args: Any) -> Any:
        return self.source.fold(function, *args)

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        return self.source.each(function, *args)
