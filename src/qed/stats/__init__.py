"""Additive statistics: small values that stand for many rows, and that are added, subtracted, saved and sent."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "change": ["mapped_density"],
        "counts": ["Counts"],
        "ellipsoid": ["Ellipsoid"],
        "factor": ["Factor", "LeastSquares", "least_squares"],
        "folds": ["complements"],
        "gaussian": ["Gaussian"],
        "inference": ["Inference"],
        "low_rank": ["low_rank"],
        "moments": ["Moments"],
        "nested": ["fit_nested", "gaussian_cost"],
        "projection": ["project_on_line"],
        "wald": ["WaldTest"],
    },
)
