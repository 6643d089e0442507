"""By what models are judged: the score that decides, and others that people can read.

R² decides about numbers, and is shown with the error in the units of the target. Accuracy decides about classes as long as they are
balanced; where most rows are of one class, guessing that class is nearly always right and no use, so the area under the ROC curve
decides (of two classes) or the log-loss (of more).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.selection.inputs import Label
from qed.selection.scoring import Scorer, get_scorer, get_scorer_names
from qed.selection.searching.search import Search

# A class with more than this share of the rows makes guessing it look good.
MOST_OF_ONE = 0.75
# The mean absolute error does not follow from sums: of more rows than these it is not asked for.
MANY_ROWS = 100_000
ONE_OF_TWO = ("f1", "f2", "f0.5", "precision", "recall", "jaccard")


@dataclass(frozen=True)
class Judging:
    """What models are judged by."""

    name: str  # the score that decides
    scorer: Scorer
    others: dict[str, Scorer]  # further scores, which are only shown
    says: tuple[str, ...] = ()  # what people should know about the choice

    @property
    def scorers(self) -> dict[str, Scorer]:
        """All of them, the one that decides first."""
        return {self.name: self.scorer, **self.others}


def judging(task: str, y: np.ndarray, scoring: str | None, positive: object, *, complete: bool = True) -> Judging:
    """Choose the scores for a task.

    Where folds are not `complete`, some class is missing in one of them, and what judges probabilities is not defined there.

    >>> judging("classification", np.array([0] * 90 + [1] * 10), None, None).name
    'roc_auc'
    """
    name, says = _decisive(task, y, scoring, complete)
    scorer = get_scorer(name)
    if task == "regression":
        names = ["neg_root_mean_squared_error"] + (["neg_mean_absolute_error"] if len(y) <= MANY_ROWS else [])
        names += ["r2"]
    else:
        n_classes = len(np.unique(y.astype(str)))
        chances = (["roc_auc"] if n_classes == 2 else []) + ["neg_log_loss"] if complete else ["balanced_accuracy"]
        names = [*chances, "accuracy"]
    others = {other: get_scorer(other) for other in names if other != name}
    others = dict(list(others.items())[:2])
    chosen = with_positive(scorer, positive, y)
    if chosen.has_positive and "pos_label" in chosen.options:
        says = (*says, f"the positive class is {chosen.options['pos_label']!r}; --positive names another")
    kept = {other: with_positive(one, positive if one.has_positive else None, y) for other, one in others.items()}
    return Judging(name, chosen, kept, says)


def _decisive(task: str, y: np.ndarray, scoring: str | None, complete: bool) -> tuple[str, tuple[str, ...]]:
    """Name the score that decides, and say why it is not the usual one."""
    if scoring is None:
        return ("r2", ()) if task == "regression" else _of_classes(y, complete)
    name = get_scorer(str(scoring)).name
    fits = {other for other in get_scorer_names() if _judges_numbers(get_scorer(other)) == (task == "regression")}
    if name not in fits:
        raise ParameterError(f"{scoring!r} does not score {task}: choose one of {', '.join(sorted(fits))}.")
    if task == "classification" and len(np.unique(y.astype(str))) > 2:
        if name in ONE_OF_TWO:
            return f"{name}_macro", (
                f"there are more than two classes: {name} is averaged over all of them ({name}_macro)",
            )
        if name in ("roc_auc", "average_precision"):
            return "roc_auc_ovr", ("there are more than two classes: each is told from all others (roc_auc_ovr)",)
        if name in ("gini", "specificity"):
            raise ParameterError(
                f"{scoring!r} is for two classes, and the target has more: take auc or balanced_accuracy."
            )
    return name, ()


def _of_classes(y: np.ndarray, complete: bool) -> tuple[str, tuple[str, ...]]:
    labels, counts = np.unique(y.astype(str), return_counts=True)
    share = counts.max() / counts.sum()
    if share <= MOST_OF_ONE:
        return "accuracy", ()
    why = f"{100 * share:.0f} % of the rows are {str(labels[counts.argmax()])!r}: guessing that is right so often and no use, so "
    if not complete:
        return "balanced_accuracy", (
            f"{why}models are compared by their accuracy in each class, averaged (balanced accuracy)",
        )
    if len(labels) == 2:
        return "roc_auc", (f"{why}models are compared by the area under the ROC curve (0.5 is guessing)",)
    return "neg_log_loss", (f"{why}models are compared by their log-loss",)


def with_positive(scorer: Scorer, positive: object, y: np.ndarray | None) -> Scorer:
    """Give a scorer with its positive class: the one named, as it is or as text, or else 1, or the greater where that is no label."""
    if not scorer.has_positive:
        if positive is not None:
            named_class(positive, y)
        return scorer
    labels = [] if y is None else np.unique(y).tolist()
    if positive is None:
        return scorer.with_positive(labels[1]) if len(labels) == 2 and 1 not in labels else scorer
    return scorer.with_positive(named_class(positive, y))


def named_class(positive: object, y: np.ndarray | None) -> Label:
    """Find the one of two classes that is called positive, as it is or as text."""
    labels = [] if y is None else np.unique(y).tolist()
    chosen: list[Label] = [label for label in labels if label == positive or str(label) == str(positive)]
    if len(labels) != 2 or not chosen:
        words = ", ".join(map(repr, labels[:8])) + (" ..." if len(labels) > 8 else "")
        raise ParameterError(f"The positive class must be one of two, not {positive!r}: the target has {words}.")
    return chosen[0]


def _judges_numbers(scorer: Scorer) -> bool:
    return scorer.function is not None and scorer.function.__module__.endswith(
        ("metrics.regression", "metrics.deviance")
    )


def refuse_what_judges_targets(scoring: str | None, positive: object, out_of_bag: bool) -> None:
    """Refuse what can only be asked where there is a target."""
    if scoring not in (None, "silhouette"):
        raise InputError(f"Clusters are scored by their silhouette, not by {scoring!r}: leave the scoring out.")
    if positive is not None:
        raise ParameterError("Clusters have no positive class: leave it out.")
    if out_of_bag:
        raise ParameterError("Clusters are not judged out of bag: there is no target to judge by.")


def scores_of(
    model: Any,
    grid: dict[str, list[Any]],
    Z: Any,
    y: np.ndarray | None,
    cv: Any,
    judged: Judging,
    parts: np.ndarray | None = None,
) -> np.ndarray:
    """Score every setting of a model on the rows that each of some splits holds out, or out of bag ("oob") on `parts` of the rows.

    Gives scorers by settings by folds; NaN for what the model can not be asked. It is a search, so that a model which can tell the scores
    of all its settings at once does.
    """
    asked = {name: one for name, one in judged.scorers.items() if name == judged.name or one.asks(model) is not None}
    search = Search(model, grid, cv=cv, scoring=asked, refit=False).fit(Z, y, groups=parts)
    found = np.full((len(judged.scorers), len(search.cv_results_["params"]), search.n_splits_), np.nan)
    for place, name in enumerate(judged.scorers):
        if name in asked:
            found[place] = np.stack(
                [search.cv_results_[f"split{k}_test_{name}"] for k in range(search.n_splits_)], axis=1
            )
    return found
