"""Regression: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "bayes": ["GaussianMAP"],
        "conic": ["Conic", "fit_conic"],
        "gaussian": ["Posterior", "linear_gaussian"],
        "generalized": ["GeneralizedLeastSquares"],
        "gradient_ridge": ["GradientRidge"],
        "least_squares": ["LinearRegression"],
        "mean": ["MeanRegressor"],
        "ridge": ["Ridge"],
        "ridge_path": ["RidgePath", "ridge_path"],
    },
)
