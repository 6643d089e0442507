"""Selection: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "diagnosis.bias_variance": ["BiasVariance", "bias_variance", "bootstrap_bias_variance"],
        "comparing.comparison": ["Comparison", "compare"],
        "cross_validate": ["CrossValidation", "cross_val_predict", "cross_val_score", "cross_validate"],
        "diagnosis.curves": ["LearningCurve", "ValidationCurve", "learning_curve", "validation_curve"],
        "diagnosis.fit_diagnosis": ["FitDiagnosis", "diagnose_fit"],
        "splitting.holdout": ["HoldOut", "train_test_split"],
        "metrics.classification": [
            "accuracy_score",
            "balanced_accuracy_score",
            "cohen_kappa_score",
            "confusion_matrix",
            "error_rate",
            "matthews_corrcoef",
        ],
        "metrics.precision": [
            "f1_score",
            "fbeta_score",
            "precision_recall_fscore_support",
            "precision_score",
            "recall_score",
        ],
        "metrics.probability": ["brier_score_loss", "log_loss"],
        "metrics.ranking": ["average_precision_score", "precision_recall_curve", "roc_auc_score", "roc_curve"],
        "metrics.regression": [
            "explained_variance_score",
            "max_error",
            "mean_absolute_error",
            "mean_absolute_percentage_error",
            "mean_pinball_loss",
            "mean_squared_error",
            "median_absolute_error",
            "r2_score",
            "root_mean_squared_error",
        ],
        "metrics.report": ["ClassificationReport", "classification_report"],
        "diagnosis.polynomial_experiment": ["polynomial_experiment"],
        "scoring": ["Scorer", "get_scorer", "get_scorer_names", "make_scorer"],
        "searching.search": ["Search"],
        "metrics.silhouette": ["centre_silhouette"],
        "splitting.splits": ["KFold", "LeaveOneOut", "StratifiedKFold"],
        "comparing.table_model": ["TableModel"],
    },
)
