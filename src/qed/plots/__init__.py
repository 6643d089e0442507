"""Pictures of data and models: each a small function that takes arrays and, if you have them already, axes to draw on."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "bars": ["coefficients"],
        "bias_variance": ["bias_variance", "hypotheses"],
        "confusion": ["confusion_matrix"],
        "curves": ["learning_curve", "validation_curve"],
        "descent": ["descent"],
        "errors": ["predicted_against_true", "residuals"],
        "iterations": ["trace"],
        "mixture": ["ellipses"],
        "scatter": ["clusters"],
        "table": ["histograms"],
        "tangency": ["tangency"],
        "tree": ["export_svg", "plot_tree"],
    },
)
