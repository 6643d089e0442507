"""Clusters in words and numbers: how many and why, whether they are worth the name, and what makes each different from the rest."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats

from qed.base.sources.block import as_dense
from qed.base.sources.layout import values_of
from qed.report.words import counted, number, plus_minus
from qed.selection.comparing.leaderboard import Comparison, Entry

MOST_TRAITS, MOST_TYPICAL, MOST_WORDS = 8, 3, 3
LEVEL = 0.95
# How clear a silhouette is, by Kaufman and Rousseeuw (1990), Finding groups in data.
CLEAR = ((0.7, "strong"), (0.5, "reasonable"), (0.25, "weak"), (-1.0, "faint"))


@dataclass(frozen=True)
class Trait:
    """How the rows of a cluster differ from all others in one encoded column."""

    column: str
    mean: float  # of the rows of the cluster that have a value; of a column of zeros and ones, their share
    # Its interval of 95 %: by Student's t, or for a share by Wilson.
    low: float
    high: float
    others: float  # the mean of all other rows
    difference: float  # between the two, in standard deviations of the column over all rows
    is_share: bool  # whether the column holds zeros and ones

    def words(self) -> str:
        """Write the difference, with the mean and its interval.

        >>> Trait("mass", 5076.0, 4985.0, 5167.0, 3711.0, 1.7, False).words()
        'mass 5076 [4985, 5167] against 3711 (+1.7 deviations)'
        """
        return f"{self.column} {self.interval()} against {self.write(self.others)} ({self.difference:+.1f} deviations)"

    def interval(self) -> str:
        return f"{self.write(self.mean)} [{self.write(self.low)}, {self.write(self.high)}]"

    def write(self, value: float) -> str:
        return f"{100 * value:.0f} %" if self.is_share else number(value)


@dataclass(frozen=True)
class Cluster:
    """One cluster: its size, what makes it different, the largest difference first, and the rows nearest to its middle."""

    number: int
    size: int
    share: float
    traits: list[Trait]
    typical: list[int]  # numbers of rows, counted from 1

    def words(self) -> list[str]:
        """Write the largest differences."""
        return [trait.words() for trait in self.traits[:MOST_WORDS]] or ["nothing sets it apart"]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "traits": [vars(trait) for trait in self.traits]}


def describe_clusters(comparison: Comparison) -> list[Cluster]:
    """Describe the clusters of the best model by the encoded columns, in their own units; values that are missing do not count."""
    model = comparison.best.model
    labels = np.asarray(model.predict(comparison.rows))
    scaled = _dense(model.encoded(comparison.rows).array().X)
    encoder, table = model.changes_[0], comparison.rows.array().X
    values = _dense(encoder.transform(comparison.rows)).astype(np.float64)
    names = [str(name) for name in encoder.get_feature_names_out()]
    for place, name in enumerate(names):
        # Holes were filled for the model; here they stay holes.
        if isinstance(table, pa.Table) and table.column_names.count(name) == 1 and table.column(name).null_count:
            values[values_of(table.column(name).is_null()), place] = np.nan
    found = []
    for cluster in np.unique(labels):
        mine = labels == cluster
        traits = [_trait(name, values[:, place], mine) for place, name in enumerate(names)]
        kept = sorted((one for one in traits if one is not None), key=lambda one: -abs(one.difference))
        away = ((scaled - scaled[mine].mean(axis=0)) ** 2).sum(axis=1)
        nearest = np.flatnonzero(mine)[np.argsort(away[mine], kind="stable")[:MOST_TYPICAL]]
        size = int(mine.sum())
        found.append(Cluster(int(cluster), size, size / len(labels), kept[:MOST_TRAITS], (nearest + 1).tolist()))
    return found


def _trait(name: str, column: np.ndarray, mine: np.ndarray) -> Trait | None:
    """Compare a column of a cluster with that of all other rows; None where one of them has no values, or all are equal."""
    there = np.isfinite(column)
    own, others = column[mine & there], column[~mine & there]
    deviation = column[there].std() if there.any() else 0.0
    if len(own) == 0 or len(others) == 0 or deviation == 0:
        return None
    is_share = bool(np.isin(column[there], (0.0, 1.0)).all())
    low, high = _wilson(own) if is_share else _student(own)
    mean = float(own.mean())
    return Trait(name, mean, low, high, float(others.mean()), float((mean - others.mean()) / deviation), is_share)


def _student(own: np.ndarray) -> tuple[float, float]:
    if len(own) == 1:
        return float(own[0]), float(own[0])
    half = stats.t.ppf((1 + LEVEL) / 2, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own))
    return float(own.mean() - half), float(own.mean() + half)


def _wilson(own: np.ndarray) -> tuple[float, float]:
    found = stats.binomtest(int(own.sum()), len(own)).proportion_ci(LEVEL, method="wilson")
    return float(found.low), float(found.high)


def _dense(X: Any) -> np.ndarray:
    return np.asarray(as_dense(X))


def shares_of_variance(X: np.ndarray) -> np.ndarray:
    """Give the share that each principal direction has in the variance, the largest first.

    >>> shares_of_variance(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]])).round(2)
    array([0.8, 0.2])
    """
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    return np.asarray(squares / max(float(squares.sum()), 1e-300))


def by_count(entry: Entry) -> list[tuple[int, int]]:
    """Give every number of clusters that could be fitted, with its best setting."""
    means = entry.scores.mean(axis=1)
    best: dict[int, int] = {}
    for place in np.flatnonzero(np.isfinite(means)):
        count = int(entry.path.counts[place])  # type: ignore[union-attr]
        if count not in best or means[place] > means[best[count]]:
            best[count] = int(place)
    return sorted(best.items())


def criterion_by_count(entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    """Give the numbers of clusters, and the least that the model's own criterion says of each, whatever the other settings."""
    assert entry.path is not None
    counts = np.array([count for count, _ in by_count(entry)])
    values = [entry.path.values[entry.path.counts == count] for count in counts]
    return counts, np.array([np.nanmin(some) if np.isfinite(some).any() else np.nan for some in values])


def path_words(entry: Entry) -> str:
    """Write the silhouette of every number of clusters."""
    means = entry.scores.mean(axis=1)
    return "silhouette by number of clusters: " + ", ".join(f"{k}: {means[place]:.3f}" for k, place in by_count(entry))


def choice_words(entry: Entry) -> list[str]:
    """Say why so many clusters, and what other ways to choose would say."""
    assert entry.path is not None
    path, means, k = entry.path, entry.scores.mean(axis=1), int(entry.path.counts[entry.chosen])
    words = f"k = {k}: silhouette {plus_minus(entry.score, entry.standard_error)}"
    others = sorted(((means[place], count) for count, place in by_count(entry) if count != k), reverse=True)
    better = [(mean, count) for mean, count in others if mean > entry.score]
    if better:
        shaky = [f"k = {count} ({mean:.2f})" for mean, count in better if _stability(entry, count) < 0.5]
        near = [f"k = {count} ({mean:.2f})" for mean, count in better if _stability(entry, count) >= 0.5]
        if near:
            words += f"; {_listed(near)} no better than by one standard error, with more clusters"
        if shaky:
            words += f"; {_listed(shaky)} higher, but other rows give other clusters"
    elif others:
        words += f", next best k = {others[0][1]}: {others[0][0]:.2f}"
    most = max(count for count, _ in by_count(entry))
    found = [f"{words}{'; no more than that were tried' if k == most > 2 else ''}."]
    found.append(
        f"Stability {path.stability[entry.chosen]:.2f}: the agreement of fits to other rows about all rows, 1 being the same clusters."
    )
    second = second_opinion(entry)
    return [*found, second] if second else found


def _stability(entry: Entry, count: int) -> float:
    place = dict(by_count(entry))[count]
    return float(entry.path.stability[place])  # type: ignore[union-attr]


def _listed(parts: list[str]) -> str:
    return f"{', '.join(parts)} {'is' if len(parts) == 1 else 'are'}"


def second_opinion(entry: Entry) -> str:
    """Say what the criterion of the model itself would choose: the elbow of the inertia, or the least BIC."""
    assert entry.path is not None
    known = by_count(entry)
    counts, values = criterion_by_count(entry)
    if entry.path.criterion == "BIC":
        return f"The BIC is least at k = {counts[np.argmin(values)]}."
    if entry.path.criterion != "inertia" or len(known) < 3:
        return ""
    return f"The elbow of the inertia is at k = {elbow(counts, values)}."


def elbow(counts: np.ndarray, values: np.ndarray) -> int:
    """Give where a falling curve bends most: the point farthest below the line between its ends.

    >>> elbow(np.array([1, 2, 3, 4, 5]), np.array([100.0, 50.0, 10.0, 8.0, 6.0]))
    3
    """
    across = (counts - counts[0]) / max(counts[-1] - counts[0], 1)
    down = (values - values[-1]) / max(values[0] - values[-1], 1e-300)
    return int(counts[np.argmax(1 - across - down)])


def verdict_words(comparison: Comparison) -> str:
    """Say whether the clusters are worth the name."""
    reference, score = comparison.reference, comparison.best.score
    assert reference is not None
    even = (
        f"{len(reference.even)} tables of rows spread evenly, without clusters, reach up to {reference.even.max():.2f}"
    )
    if not comparison.is_clustered:
        return f"No clusters worth the name: {even}."
    if comparison.follows_from_columns:
        return (
            f"These groups follow from single columns: the same columns, each shuffled by itself, reach up to "
            f"{reference.shuffled.max():.2f}; look at the columns one by one."
        )
    clear = next(words for least, words in CLEAR if score > least)
    return f"Clusters worth the name, of {clear} structure: {even}."


def cluster_headline(comparison: Comparison) -> str:
    """Say in a sentence what came of it."""
    best = comparison.best
    k = counted(len(np.unique(best.model.predict(comparison.rows))), "cluster")
    silhouette = f"a silhouette of {plus_minus(best.score, best.standard_error)}"
    if not comparison.is_clustered:
        return f"There are no clusters worth the name: {best.name} finds {k}, no clearer than in rows without any."
    more = ", which follow from single columns" if comparison.follows_from_columns else ""
    return f"{best.name} finds {k}{more}, with {silhouette}."


def clusters_dict(comparison: Comparison) -> dict[str, Any]:
    """Give all about the clusters as lists, numbers and strings."""
    best, reference = comparison.best, comparison.reference
    assert best.path is not None and reference is not None
    means = best.scores.mean(axis=1)
    path = [
        {
            "clusters": count,
            "silhouette": float(means[place]),
            "stability": float(best.path.stability[place]),
            best.path.criterion or "criterion": float(best.path.values[place]),
        }
        for count, place in by_count(best)
    ]
    return {
        "worth_the_name": comparison.is_clustered,
        "follow_from_single_columns": comparison.follows_from_columns,
        "says": [*choice_words(best), verdict_words(comparison)],
        "path": path,
        "without_clusters": reference.even.tolist(),
        "shuffled_columns": reference.shuffled.tolist(),
        "clusters": [one.to_dict() for one in describe_clusters(comparison)],
    }
