"""The metrics behind named scorers, what each asks of a model, and its options: those of which more is better, and errors."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from qed.selection.metrics import binary as by_two
from qed.selection.metrics import classification as by_label
from qed.selection.metrics import deviance as by_amount
from qed.selection.metrics import precision as by_class
from qed.selection.metrics import probability as by_probability
from qed.selection.metrics import ranking as by_rank
from qed.selection.metrics import regression as by_number
from qed.selection.metrics.clusters import adjusted_rand_score
from qed.selection.metrics.top_k import top_k_accuracy_score

GAINS: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "r2": (by_number.r2_score,),
        "explained_variance": (by_number.explained_variance_score,),
        "accuracy": (by_label.accuracy_score,),
        "balanced_accuracy": (by_label.balanced_accuracy_score,),
        "matthews_corrcoef": (by_label.matthews_corrcoef,),
        "cohen_kappa": (by_label.cohen_kappa_score,),
        "roc_auc": (by_rank.roc_auc_score, "score"),
        "average_precision": (by_rank.average_precision_score, "score"),
        "top_k_accuracy": (top_k_accuracy_score, "score"),
        "adjusted_rand_score": (adjusted_rand_score,),
        "d2_brier_score": (by_probability.d2_brier_score, "predict_proba"),
        "d2_log_loss_score": (by_probability.d2_log_loss_score, "predict_proba"),
        "d2_absolute_error_score": (by_amount.d2_absolute_error_score,),
        "specificity": (by_two.specificity_score,),
        "gini": (by_two.gini_score, "score"),
        "f2": (by_class.fbeta_score, "predict", {"beta": 2.0}),
        "f2_macro": (by_class.fbeta_score, "predict", {"beta": 2.0, "average": "macro"}),
        "f0.5": (by_class.fbeta_score, "predict", {"beta": 0.5}),
        "f0.5_macro": (by_class.fbeta_score, "predict", {"beta": 0.5, "average": "macro"}),
    }
)
LOSSES: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "neg_mean_squared_error": (by_number.mean_squared_error,),
        "neg_root_mean_squared_error": (by_number.root_mean_squared_error,),
        "neg_mean_absolute_error": (by_number.mean_absolute_error,),
        "neg_median_absolute_error": (by_number.median_absolute_error,),
        "neg_mean_absolute_percentage_error": (by_number.mean_absolute_percentage_error,),
        "neg_max_error": (by_number.max_error,),
        "neg_error_rate": (by_label.error_rate,),
        "neg_log_loss": (by_probability.log_loss, "predict_proba"),
        "neg_brier_score": (by_probability.brier_score_loss, "predict_proba"),
        "neg_mean_squared_log_error": (by_amount.mean_squared_log_error,),
        "neg_root_mean_squared_log_error": (by_amount.root_mean_squared_log_error,),
        "neg_mean_poisson_deviance": (by_amount.mean_poisson_deviance,),
    }
)
# Scores of one class, which are averaged over several.
BY_CLASS: Mapping[str, Any] = MappingProxyType(
    {
        "precision": by_class.precision_score,
        "recall": by_class.recall_score,
        "f1": by_class.f1_score,
        "jaccard": by_class.jaccard_score,
    }
)
