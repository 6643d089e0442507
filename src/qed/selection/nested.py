r"""Nested cross-validation: an honest score of a search, and how much its own score flatters.

The best mean of many candidates is the mean of the luckiest, too: :math:`\mathbb{E} \max_c \hat s_c \ge \max_c \mathbb{E} \hat s_c`. So
hold rows out of the search itself: for each outer fold, search on all other rows, choosing whatever they choose, and score the choice on
the fold. The mean of these scores judges the whole procedure. The mean difference between what the inner searches promised and what the
outer folds gave is the optimism. It costs k searches.

Stone (1974), Cross-validatory choice and assessment of statistical predictions; Cawley and Talbot (2010), On over-fitting in model
selection.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import ParameterError
from qed.base.visible import Lines, Shown
from qed.selection.searching.fits import Settings, evaluate
from qed.selection.searching.samples import Data, draw_folds
from qed.selection.searching.scorers import scorers_for
from qed.selection.splitting.splits import Splitting


@dataclass(frozen=True, eq=False, repr=False)
class NestedCrossValidation(Shown):
    """The scores of a search on rows that it has not seen, and what it promised.

    Attributes
    ----------
    scores : ndarray of shape (k,)
        The score of what was chosen without each outer fold, on that fold.
    promised : ndarray of shape (k,)
        The best inner score of the same searches.
    chosen : list of dict
        The parameters that each search has chosen.
    searches : list of Search
        The searches themselves, each fitted without its fold.
    """

    scores: np.ndarray
    promised: np.ndarray
    chosen: list[dict[str, object]]
    searches: list[Any] = field(repr=False)

    @property
    def mean(self) -> float:
        """The mean score over outer folds: what to expect of the procedure."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of that mean."""
        return _error(self.scores)

    @property
    def optimism(self) -> float:
        """By how much the best inner scores exceed the outer ones, on average; greater is more flattering."""
        return float((self.promised - self.scores).mean())

    @property
    def optimism_error(self) -> float:
        """The standard error of the optimism."""
        return _error(self.promised - self.scores)

    @property
    def agreement(self) -> float:
        """The share of searches that have chosen what most of them have."""
        words = [repr(sorted(one.items())) for one in self.chosen]
        return max(words.count(one) for one in words) / len(words)

    def _table(self) -> Lines:
        settings = [", ".join(f"{name}={value!r}" for name, value in one.items()) for one in self.chosen]
        lines = [
            [str(k), f"{s:.4g}", f"{p:.4g}", t] for k, (s, p, t) in enumerate(zip(self.scores, self.promised, settings))
        ]
        return ["fold", "held out", "promised", "chosen"], lines

    def _said(self) -> str:
        return (
            f"score on rows that the search has not seen: {self.mean:.4g} ± {self.standard_error:.2g}; "
            f"the searches promised {self.promised.mean():.4g} (optimism {self.optimism:.2g} ± {self.optimism_error:.2g})"
        )


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def nested_cross_validate(
    search: Any, X: Any, y: Any = None, cv: Splitting = 5, *, sample_weight: Any = None, groups: ArrayLike | None = None
) -> NestedCrossValidation:
    """Judge a search by rows that it has not seen, and measure how much its own score flatters.

    Parameters
    ----------
    search : Search, RandomSearch or HalvingSearch
        The search; it is not changed.
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features, as the model takes them.
    y : array-like, optional
        The target.
    cv : int, None, splitter or iterable of (train, test), default=5
        The outer folds; the inner ones are the search's own.
    sample_weight : array-like of shape (n,), optional
        Weights, for fitting and for scoring.
    groups : array-like of shape (n,), optional
        For splitters that keep groups of rows together.

    Returns
    -------
    NestedCrossValidation
        The scores, the promises, and what was chosen, fold by fold.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> search = qed.Search(qed.Ridge(), {"alpha": [0.01, 0.1, 1.0, 10.0]}, cv=5)
    >>> found = qed.nested_cross_validate(search, X, y, cv=3)
    >>> print(found)
    fold  held out  promised  chosen
    0     0.4692    0.4785    alpha=0.1
    1     0.4876    0.4675    alpha=0.1
    2     0.5066    0.4581    alpha=1.0
    score on rows that the search has not seen: 0.4878 ± 0.011; the searches promised 0.468 (optimism -0.02 ± 0.017)
    """
    if not getattr(search, "searches", False):
        raise ParameterError(
            f"nested_cross_validate judges a search, not {type(search).__name__}: give qed.Search(model, grid), or use cross_validate."
        )
    if not search.refit:
        raise ParameterError(
            "nested_cross_validate needs a search with refit=True, so that there is something to score."
        )
    data = Data(search, X, y, sample_weight)
    folds = draw_folds(search, cv, data, groups)
    known = scorers_for(search.model, search.scoring, leave_one_out=False)
    name = search.refit if isinstance(search.refit, str) and search.refit in known else next(iter(known))
    found = evaluate(search, data, [{}], folds, {name: known[name]}, Settings(keep_models=True))
    assert found.models is not None
    searches, table = found.models[0], found.scores[name].each
    assert table is not None
    promised = np.array([one.best_score_ for one in searches])
    return NestedCrossValidation(table[0], promised, [one.best_params_ for one in searches], searches)
