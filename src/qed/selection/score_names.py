"""What people call scores, and the names of the scorers that they mean."""

from collections.abc import Container, Mapping
from types import MappingProxyType

# What people call them, in small letters.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("r²", "r^2", "r_2", "rsquared", "r_squared"), "r2"),
        **dict.fromkeys(("rmse", "root_mean_squared_error", "neg_rmse"), "neg_root_mean_squared_error"),
        **dict.fromkeys(("mse", "mean_squared_error", "neg_mse", "l2"), "neg_mean_squared_error"),
        **dict.fromkeys(("mae", "mean_absolute_error", "neg_mae", "l1"), "neg_mean_absolute_error"),
        **dict.fromkeys(("median_absolute_error", "medae"), "neg_median_absolute_error"),
        **dict.fromkeys(("mape", "mean_absolute_percentage_error"), "neg_mean_absolute_percentage_error"),
        **dict.fromkeys(("max_error",), "neg_max_error"),
        **dict.fromkeys(("acc",), "accuracy"),
        **dict.fromkeys(("error", "error_rate", "misclassification"), "neg_error_rate"),
        **dict.fromkeys(("balanced", "bacc"), "balanced_accuracy"),
        **dict.fromkeys(("auc", "auroc", "roc", "rocauc", "roc-auc"), "roc_auc"),
        **dict.fromkeys(("ap", "auprc", "pr_auc", "aucpr"), "average_precision"),
        **dict.fromkeys(("logloss", "log_loss", "log-loss", "cross_entropy", "neg_logloss"), "neg_log_loss"),
        **dict.fromkeys(("brier", "brier_score"), "neg_brier_score"),
        **dict.fromkeys(("mcc", "matthews"), "matthews_corrcoef"),
        **dict.fromkeys(("kappa", "cohens_kappa"), "cohen_kappa"),
        **dict.fromkeys(("f1_score", "f-score"), "f1"),
        **dict.fromkeys(("sensitivity", "tpr"), "recall"),
        **dict.fromkeys(("ppv",), "precision"),
    }
)


def scorer_name(called: str, known: Container[str]) -> str:
    """Give the name of the scorer that people mean by a word; the word itself where there is none.

    >>> scorer_name("RMSE", ()), scorer_name("F1", ("f1",))
    ('neg_root_mean_squared_error', 'f1')
    """
    small = called.casefold()
    return ALIASES.get(small) or (small if small in known else called)
