"""Clustering: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "spectral.kernel_kmeans": ["KernelKMeans"],
        "spectral.path": ["SpectralPath", "spectral_path"],
        "spectral.spectral_clustering": ["SpectralClustering"],
        "mixtures.model": ["GaussianMixture"],
        "mixtures.line": ["LineMixture"],
        "mixtures.path": ["MixturePath", "mixture_path"],
        "mixtures.em": ["EMResult", "em"],
        "mixtures.bound": [
            "expected_log_likelihood",
            "jensen_gap",
            "log_likelihood",
            "lower_bound",
            "posterior",
        ],
        "axioms": ["DistanceAxioms", "check_distance"],
        "means.kmeans": ["KMeans"],
        "means.path": ["KMeansPath", "kmeans_path"],
        "means.kmedians": ["KMedians"],
        "means.soft": ["SoftKMeans"],
    },
)
