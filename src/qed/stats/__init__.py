"""Additive statistics: small values that stand for many rows, and that are added, subtracted, saved and sent."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "counts": ["Counts"],
        "factor": ["Factor", "LeastSquares", "least_squares"],
        "folds": ["complements"],
        "inference": ["Inference"],
        "moments": ["Moments"],
        "wald": ["WaldTest"],
    },
)
