"""The compiled loops of :mod:`qed.features.scaling.affine`."""

from typing import Any

import numpy as np

from qed.base.compile import kernel


@kernel
def affine_rows(X: Any, shift: Any, factor: Any, low: float, out: Any) -> Any:
    """Write ``(X - shift) * factor + low`` into `out`; say whether all is finite, as zero times what is not is not zero."""
    trace = np.zeros(len(shift))
    for i in range(len(X)):
        x, z = X[i], out[i]
        for j in range(len(shift)):
            z[j] = (x[j] - shift[j]) * factor[j] + low
            trace[j] += z[j] * 0.0
    return np.isfinite(trace.sum())


@kernel
def divide_stored(values, places, scale, out):  # type: ignore[no-untyped-def]
    """Divide what is stored of a sparse table by the scale of its column."""
    for k in range(len(values)):
        out[k] = values[k] / scale[np.uint64(places[k])]
