"""What people call scores, and the names of the scorers that they mean."""

from collections.abc import Collection, Container, Mapping
from difflib import get_close_matches
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
        **dict.fromkeys(("msle", "mean_squared_log_error", "neg_msle"), "neg_mean_squared_log_error"),
        **dict.fromkeys(("rmsle", "root_mean_squared_log_error", "neg_rmsle"), "neg_root_mean_squared_log_error"),
        **dict.fromkeys(("poisson", "poisson_deviance", "mean_poisson_deviance"), "neg_mean_poisson_deviance"),
        **dict.fromkeys(("d2_absolute_error", "d2_mae"), "d2_absolute_error_score"),
        **dict.fromkeys(("d2_log_loss",), "d2_log_loss_score"),
        **dict.fromkeys(("d2_brier",), "d2_brier_score"),
        **dict.fromkeys(("tnr", "true_negative_rate"), "specificity"),
        **dict.fromkeys(("gini_coefficient", "normalized_gini"), "gini"),
        **dict.fromkeys(("f2_score", "f2-score"), "f2"),
        **dict.fromkeys(("f05", "f0.5_score", "f05_score"), "f0.5"),
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


def near_scores(called: str, known: Collection[str]) -> str:
    """Say which scores a word may mean, or else which there are.

    >>> near_scores("d2", ("d2_log_loss_score", "r2"))
    "Did you mean 'd2_log_loss_score'?"
    """
    small = called.casefold()
    words = [*known, *ALIASES]
    begun = sorted(word for word in known if word.startswith(f"{small}_"))
    near = begun or get_close_matches(small, words, n=3) or get_close_matches(f"neg_{small}", words, n=3)
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    short = {name: word for word, name in reversed(list(ALIASES.items())) if name.startswith("neg_")}
    listed = sorted(short.get(name, name) for name in known if not name.endswith(AVERAGED))
    return f"There are: {', '.join(listed)}."


# What is averaged over classes goes by the name of the score of one, with how.
AVERAGED = ("_macro", "_micro", "_weighted", "_samples", "_ovo", "_ovr")
