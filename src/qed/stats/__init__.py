"""Additive statistics: small values that stand for many rows, and that are added, subtracted, saved and sent."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "by_class": ["ByClass"],
        "distributions.belief": ["DiscretePrior", "GaussianMean"],
        "distributions.bernoulli": ["Bernoulli", "Beta"],
        "distributions.categorical": ["Categorical", "Dirichlet"],
        "distributions.concentration": ["inner_share", "length_bound"],
        "distributions.divergence": ["cross_entropy", "entropy", "kl_divergence"],
        "distributions.estimators": ["EstimatorQuality", "assess_estimator"],
        "distributions.univariate": ["LaplaceDistribution", "Uniform"],
        "distributions.change": ["mapped_density"],
        "qed.base.counts": ["Counts"],
        "distributions.ellipsoid": ["Ellipsoid"],
        "factor": ["Factor", "LeastSquares", "least_squares"],
        "distributions.gaussian": ["Gaussian"],
        "grouped": ["complements"],
        "inference.coefficients": ["Inference"],
        "kept": ["KeptRows"],
        "qed.linalg.low_rank": ["low_rank"],
        "moments": ["Moments"],
        "distributions.nested": ["fit_nested", "gaussian_cost"],
        "qed.linalg.projection": ["project_on_line"],
        "inference.wald": ["WaldTest"],
    },
)
