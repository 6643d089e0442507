"""Reduction: fewer columns that say nearly the same; one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "baselines.directions": ["johnson_lindenstrauss_min_dim", "random_directions"],
        "baselines.projection": ["GaussianRandomProjection", "SparseRandomProjection"],
        "baselines.selectors": ["RandomColumns", "TopVariance"],
        "feature_space": ["FeatureSpacePCA"],
        "hidden.factors": ["FactorAnalysis"],
        "hidden.probabilistic": ["ProbabilisticPCA"],
        "kernel_pca": ["KernelPCA"],
        "pca": ["PCA"],
        "pairs.cca": ["CCA"],
        "pairs.latent": ["SharedLatent"],
        "pairs.whitening": ["pearson", "whitening_matrix"],
        "views": ["deflation", "rayleigh_quotient", "stored"],
    },
)
