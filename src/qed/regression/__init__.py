"""Regression: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "absolute": ["LeastAbsoluteDeviations"],
        "bayes": ["GaussianMAP"],
        "best_subset": ["BestSubset"],
        "conic": ["Conic", "fit_conic"],
        "errors_in_variables": ["errors_in_variables_likelihood", "errors_in_variables_maximum"],
        "gaussian": ["Posterior", "linear_gaussian"],
        "generalized": ["GeneralizedLeastSquares"],
        "gradient_ridge": ["GradientRidge"],
        "kernel_generalized": ["GeneralizedKernelRidge"],
        "kernel_interpolator": ["KernelInterpolator"],
        "kernel_ridge": ["KernelRidge"],
        "kernel_ridge_path": ["KernelRidgePath", "kernel_ridge_path"],
        "huber": ["HuberRegressor"],
        "elastic_net": ["ElasticNet"],
        "lasso": ["Lasso"],
        "lasso_constrained": ["ConstrainedLasso", "constrained_lasso"],
        "lasso_path": ["LassoPath", "elastic_net_path", "lasso_path"],
        "least_squares": ["LinearRegression"],
        "matching_pursuit": ["MatchingPursuit"],
        "mean": ["MeanRegressor"],
        "noise_augmentation": ["noise_augmented_ridge"],
        "orthogonal_pursuit": ["OrthogonalMatchingPursuit"],
        "nonlinear": ["NonlinearLeastSquares"],
        "pruning": ["prune"],
        "ridge": ["Ridge"],
        "ridge_path": ["RidgePath", "ridge_path"],
        "total": ["TotalLeastSquares"],
    },
)
