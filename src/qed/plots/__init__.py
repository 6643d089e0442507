"""Pictures of data and models: each a small function that takes arrays and, if you have them already, axes to draw on."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "bars": ["coefficients", "filters", "importances"],
        "bias_variance": ["bias_variance", "hypotheses"],
        "boundary": ["decision_boundary", "margins", "voronoi"],
        "curves": ["dependence", "learning_curve", "validation_curve"],
        "descent": ["descent"],
        "errors": ["confusion_matrix", "predicted_against_true", "residuals"],
        "iterations": ["trace"],
        "learning": ["policy", "regret"],
        "mixture": ["ellipses"],
        "scatter": ["clusters"],
        "table": ["histograms"],
        "tangency": ["tangency"],
        "theory": [
            "calibration",
            "coefficient_path",
            "convergence",
            "impurities",
            "losses",
            "precision_recall",
            "roc",
        ],
        "tree": ["export_svg", "plot_tree"],
    },
)
