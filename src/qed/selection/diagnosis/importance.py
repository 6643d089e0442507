r"""What a model needs each column for: how much of its score is lost when the column is shuffled.

.. math:: I_j = s(h; X, y) - s(h; X^{\pi(j)}, y)

where :math:`X^{\pi(j)}` has the values of column j in random order, so that they keep their distribution and lose what they know of the
target and of the other columns. Over several shuffles the mean is the importance and the standard deviation its spread. It is measured on
the columns of the raw table: all dummies of a variable are shuffled together, and count as one effect. Rows that the model has not seen
tell what holds beyond the fit. Columns that say the same share their importance, or hide it: without one of them, the model still has the
other. Cost: one prediction for each column and shuffle; of a `TableModel` the rows are encoded once.

Breiman (2001), Random forests; Fisher, Rudin and Dominici (2019), All models are wrong, but many are useful.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.models.parameters import integer, number
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.block import is_sparse
from qed.base.visible import Lines, Shown
from qed.plots import bars
from qed.selection.comparing.table_model import TableModel
from qed.selection.diagnosis.columns import column_at, names_of, opened, places_of, reordered, with_column
from qed.selection.inputs import count_rows, weights
from qed.selection.scoring import check_scoring
from qed.selection.splitting.holdout import take_rows


@dataclass(frozen=True, eq=False, repr=False)
class PermutationImportance(Shown):
    """How much of a score is lost by shuffling each column.

    Attributes
    ----------
    names : tuple of str
        The columns.
    importances : ndarray of shape (n_columns, n_repeats)
        What each shuffle of each column loses.
    score : float
        The score as the columns are.
    """

    names: tuple[str, ...]
    importances: np.ndarray
    score: float

    @property
    def importances_mean(self) -> np.ndarray:
        """The mean loss of each column."""
        return np.asarray(self.importances.mean(axis=1))

    @property
    def importances_std(self) -> np.ndarray:
        """The standard deviation of the loss over the shuffles."""
        return np.asarray(self.importances.std(axis=1))

    @property
    def order(self) -> np.ndarray:
        """The numbers of the columns, the most important first."""
        return np.argsort(-self.importances_mean, kind="stable")

    def to_dict(self) -> dict[str, object]:
        """Give everything as numbers and strings, the most important column first."""
        mean, spread = self.importances_mean.tolist(), self.importances_std.tolist()
        lines = [{"column": self.names[j], "mean": mean[j], "spread": spread[j]} for j in self.order.tolist()]
        return {"score": self.score, "columns": lines}

    def _table(self) -> Lines:
        mean, spread = self.importances_mean, self.importances_std
        return ["column", "score lost", "spread"], [
            [self.names[j], f"{mean[j]:.4g}", f"{spread[j]:.2g}"] for j in self.order
        ]

    def _said(self) -> str:
        return f"score as the columns are: {self.score:.4g}; {self.importances.shape[1]} shuffles of each"

    def plot(self, ax: Any = None) -> Any:
        """Draw the columns as bars, the most important first, with their spread."""
        return bars.importances(self.names, self.importances, ax)


def permutation_importance(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    scoring: str | Callable[..., Any] | None = None,
    n_repeats: int = 5,
    columns: Sequence[str | int] | None = None,
    max_samples: int | float = 1.0,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
) -> PermutationImportance:
    """Measure how much of its score a fitted model loses when the values of a column are shuffled.

    Parameters
    ----------
    model : estimator
        A fitted model of qed or of anybody's.
    X, y : array-like, frame, Arrow table or Rows, and its target
        The rows to measure on; best those that the model has not seen. `y` is None for Rows that know their target.
    scoring : str or callable, optional
        The score that may be lost: the name of a scorer, such as "r2" or "accuracy", or a function of model, X and y; by default the
        model's own ``score``.
    n_repeats : int, default=5
        How often each column is shuffled.
    columns : list of str or int, optional
        The columns to shuffle; all of them when not given.
    max_samples : int or float, default=1.0
        How many rows to measure on, drawn at random, or which share of them.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the score.
    random_state : None, int or numpy generator, default=0
        The seed. A shuffle depends on the seed, the number of the column and that of the repeat alone.

    Returns
    -------
    PermutationImportance
        The losses, column by column.

    Examples
    --------
    >>> import qed
    >>> table = qed.data.load("diabetes").table
    >>> model = qed.TableModel(qed.Ridge()).fit(qed.rows(table[:300], target="progression"))
    >>> found = qed.permutation_importance(model, qed.rows(table[300:], target="progression"))
    >>> [found.names[j] for j in found.order[:2]]
    ['ltg', 'bmi']
    """
    X, y = opened(X, y)
    repeats = integer(1).checked("n_repeats", n_repeats)
    seed, n = seed_of(random_state), count_rows(X)
    if y is not None and count_rows(y) != n:
        raise InputError(f"X has {n} rows, but y has {count_rows(y)} values.")
    weight = weights(sample_weight, n)
    chosen = _sample(n, max_samples, seed)
    if chosen is not None:
        X, y = take_rows(X, chosen), None if y is None else take_rows(y, chosen)
        weight = None if weight is None else weight[chosen]
    names, places = names_of(X), places_of(X, columns)
    ask, base = _asking(model, X, y, weight, check_scoring(model, scoring))
    orders = [[generator(seed, "permutation", j, k).permutation(count_rows(X)) for k in range(repeats)] for j in places]
    tasks = (partial(ask, place, order) for place, each in zip(places, orders) for order in each)
    scores = np.array(list(work(tasks)), dtype=np.float64).reshape(len(places), repeats)
    return PermutationImportance(tuple(names[j] for j in places), base - scores, base)


def together(parts: Sequence[PermutationImportance]) -> PermutationImportance:
    """Put the shuffles of several models of the same columns together, such as those of all folds."""
    importances = np.concatenate([one.importances for one in parts], axis=1)
    return PermutationImportance(parts[0].names, importances, float(np.mean([one.score for one in parts])))


def _sample(n: int, most: int | float, seed: int) -> np.ndarray | None:
    """Choose rows at random, in their order; None for all of them."""
    if isinstance(most, (int, np.integer)):
        count = int(integer(1).checked("max_samples", most))
    else:
        count = max(1, int(n * float(number(0, 1, above=True).checked("max_samples", most))))
    if count >= n:
        return None
    return np.sort(generator(seed, "rows of a permutation").permutation(n)[:count])


def _asking(
    model: Any, X: Any, y: Any, weight: np.ndarray | None, score: Callable[..., Any]
) -> tuple[Callable[[int, np.ndarray], float], float]:
    """Give what scores the table with one column in another order, and the score of the table as it is."""
    extra = {} if weight is None else {"sample_weight": weight}
    encoded = _encoded(model, X)
    if encoded is None:

        def ask(place: int, order: np.ndarray) -> float:
            return float(score(model, with_column(X, place, reordered(column_at(X, place), order)), y, **extra))

        return ask, float(score(model, X, y, **extra))
    Z, groups = encoded
    # The matrix has no names of columns, so the model behind the encoder is asked without them as well.
    inner = copy(model.model_)
    inner.__dict__.pop("feature_names_in_", None)
    base = float(score(inner, Z, y, **extra))

    def ask_encoded(place: int, order: np.ndarray) -> float:
        if not groups[place]:
            return base
        changed = Z.copy()
        changed[:, groups[place]] = Z[order][:, groups[place]]
        return float(score(inner, changed, y, **extra))

    return ask_encoded, base


def _encoded(model: Any, X: Any) -> tuple[np.ndarray, list[list[int]]] | None:
    """Encode the rows once where each column of a table becomes columns of its own; with the numbers of these."""
    if not isinstance(model, TableModel) or model.degree > 1 or not hasattr(model, "changes_"):
        return None
    encoder = model.changes_[0]
    if not hasattr(encoder, "columns_"):
        return None
    Z = model.encoded(X).array().X
    if is_sparse(Z):
        return None
    groups: list[list[int]] = [[] for _ in range(model.n_features_in_)]
    start = 0
    for column in encoder.columns_:
        width = len(column.labels(""))
        groups[column.place] += range(start, start + width)
        start += width
    return (Z, groups) if start == Z.shape[1] else None
