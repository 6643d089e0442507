"""Reduction: fewer columns that say nearly the same; one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "kernel_pca": ["KernelPCA"],
        "pca": ["PCA"],
        "views": ["deflation", "rayleigh_quotient", "stored"],
    },
)
