"""What fits are made of: solvers and losses, usable by themselves."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "conditioning": ["condition_number", "descent_iterations", "ridge_condition"],
        "conjugate": ["Conjugate", "conjugate_gradients"],
        "convexity": ["Findings", "Witness", "check_convexity", "check_smoothness", "check_strong_convexity"],
        "coordinate": ["CoordinateDescent"],
        "critical": ["CriticalPoint", "classify"],
        "curvature": ["Curvature", "estimate_curvature"],
        "derivatives": ["check_gradient", "gradient", "hessian", "hessian_product", "jacobian"],
        "gap": ["Gap", "duality_gap"],
        "gauss_newton": ["GaussNewton", "LevenbergMarquardt", "cost_change", "largest_change"],
        "gradient_descent": ["GradientDescent"],
        "gram": ["Solution", "solve"],
        "lbfgs": ["LBFGS"],
        "line_search": ["LineSearch"],
        "losses": ["AbsoluteLoss", "HuberLoss", "LogisticLoss", "Loss", "SquaredLoss"],
        "method": ["Method"],
        "minimize": ["Minimum", "minimize"],
        "momentum": ["HeavyBall", "Nesterov"],
        "newton": ["Newton", "ridged"],
        "objective": ["FiniteSum", "Objective"],
        "penalties": ["L1", "L1L2", "L2", "Penalty"],
        "rates": ["LipschitzRate", "SmoothRate", "StrongLipschitzRate", "StrongSmoothRate", "certify_rate"],
        "residuals": ["Residuals"],
        "root": ["Root", "RootNewton", "find_root"],
        "searches": ["Armijo", "Exact", "GoldenSection", "Grid", "Wolfe"],
        "step_rules": [
            "Diminishing",
            "InverseDecay",
            "InverseSmoothness",
            "RootDecay",
            "StepRule",
            "largest_curvature",
        ],
        "stochastic": ["StochasticGradient", "iterations_per_epoch"],
        "subgradient": ["Subgradient"],
    },
)
