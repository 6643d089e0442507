"""Rows as the explicit features of a kernel that has some, made block by block and never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qed.base.sources.rows import Block, Rows
from qed.base.sources.views import View
from qed.kernels.inputs import as_double
from qed.kernels.kernel import Kernel


class FeatureRows(View):
    """Rows whose columns are the explicit features of a kernel. Rows of weight zero are left out.

    Parameters
    ----------
    source : Rows
        The rows.
    kernel : Kernel
        A kernel with a finite feature map.

    Examples
    --------
    >>> from qed.base.sources.rows import rows
    >>> from qed.kernels import Polynomial
    >>> FeatureRows(rows(np.array([[2.0]])), Polynomial(2)).array().X.round(4)
    array([[1.    , 2.8284, 4.    ]])
    """

    def __init__(self, source: Rows, kernel: Kernel) -> None:
        super().__init__(source)
        self.kernel = kernel
        self.n_features, self.feature_names = kernel.n_features(source.n_features) or 0, None
        self.dtype = np.dtype(np.float64)

    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        return self.source.tasks(_with_features, self.kernel, function, *args)

    def fold(self, function: Callable[..., Any], *args: Any) -> Any:
        return self.source.fold(_with_features, self.kernel, function, *args)

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        return self.source.each(_with_features, self.kernel, function, *args)


def _with_features(block: Block, kernel: Kernel, function: Callable[..., Any], *args: Any) -> Any:
    if block.weight is not None and not block.weight.all():
        block = block.take(block.weight > 0)
    return function(Block(kernel.features(as_double(block.X)), block.y, block.weight, block.start), *args)
