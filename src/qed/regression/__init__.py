"""Regression: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "robust.absolute": ["LeastAbsoluteDeviations"],
        "gaussian.map": ["GaussianMAP"],
        "greedy.best_subset": ["BestSubset"],
        "total.conic": ["Conic", "fit_conic"],
        "total.errors_in_variables": ["errors_in_variables_likelihood", "errors_in_variables_maximum"],
        "gaussian.linear_gaussian": ["Posterior", "linear_gaussian"],
        "gaussian.generalized": ["GeneralizedLeastSquares"],
        "linear.gradient_ridge": ["GradientRidge"],
        "kernel.generalized": ["GeneralizedKernelRidge"],
        "kernel.interpolator": ["KernelInterpolator"],
        "kernel.ridge": ["KernelRidge"],
        "kernel.ridge_path": ["KernelRidgePath", "kernel_ridge_path"],
        "robust.huber": ["HuberRegressor"],
        "sparse.elastic_net": ["ElasticNet"],
        "sparse.lasso": ["Lasso"],
        "sparse.constrained": ["ConstrainedLasso", "constrained_lasso"],
        "sparse.path": ["LassoPath", "elastic_net_path", "lasso_path"],
        "linear.least_squares": ["LinearRegression"],
        "greedy.matching_pursuit": ["MatchingPursuit"],
        "linear.mean": ["MeanRegressor"],
        "linear.noise_augmentation": ["noise_augmented_ridge"],
        "greedy.orthogonal_pursuit": ["OrthogonalMatchingPursuit"],
        "nonlinear.least_squares": ["NonlinearLeastSquares"],
        "sparse.pruning": ["prune"],
        "linear.ridge": ["Ridge"],
        "linear.ridge_path": ["RidgePath", "ridge_path"],
        "svm.linear_svr": ["LinearSVR"],
        "svm.svr": ["SVR"],
        "total.least_squares": ["TotalLeastSquares"],
    },
)
