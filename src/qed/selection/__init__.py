"""Selection: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "bias_variance": ["BiasVariance", "bias_variance", "bootstrap_bias_variance"],
        "comparison": ["Comparison", "compare"],
        "cross_validate": ["CrossValidation", "cross_val_predict", "cross_val_score", "cross_validate"],
        "curves": ["LearningCurve", "ValidationCurve", "learning_curve", "validation_curve"],
        "fit_diagnosis": ["FitDiagnosis", "diagnose_fit"],
        "holdout": ["HoldOut", "train_test_split"],
        "metrics_classification": [
            "accuracy_score",
            "balanced_accuracy_score",
            "cohen_kappa_score",
            "confusion_matrix",
            "error_rate",
            "matthews_corrcoef",
        ],
        "metrics_precision": [
            "f1_score",
            "fbeta_score",
            "precision_recall_fscore_support",
            "precision_score",
            "recall_score",
        ],
        "metrics_probability": ["brier_score_loss", "log_loss"],
        "metrics_ranking": ["average_precision_score", "precision_recall_curve", "roc_auc_score", "roc_curve"],
        "metrics_regression": [
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
        "metrics_report": ["ClassificationReport", "classification_report"],
        "polynomial_experiment": ["polynomial_experiment"],
        "scoring": ["Scorer", "get_scorer", "get_scorer_names", "make_scorer"],
        "search": ["Search"],
        "silhouette": ["centre_silhouette"],
        "splits": ["KFold", "LeaveOneOut", "StratifiedKFold"],
        "table_model": ["TableModel"],
    },
)
