r"""Successive halving: many candidates on few rows, and the better half (or third) on more of them.

Round :math:`r` scores :math:`m / \eta^r` candidates on :math:`n / \eta^{R - r}` rows, so that every round costs about the same: the whole
search costs about :math:`R + 1` fits of all candidates to the fewest rows, where a grid search fits all of them to all rows. What is given
up is certainty: a candidate that is best on all rows may drop out on few. The last round is a plain search of those that are left, on
all rows. Rows are drawn once, by class where there are classes, and those of a round are among those of the next.

Jamieson and Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import each, table
from qed.base.models.checks import complete
from qed.base.models.estimator import Estimator
from qed.base.models.no_effect import also_called, takes
from qed.base.models.parameters import Parameter, choice, integer, random_state
from qed.base.models.scoring import Scoring
from qed.base.random import Seed, generator, seed_of
from qed.selection.scoring import role_of
from qed.selection.searching.candidates import Grid, fresh
from qed.selection.searching.choosing import Rule
from qed.selection.searching.fits import ErrorScore, Evaluation, Settings, evaluate
from qed.selection.searching.folds import Folds
from qed.selection.searching.results import ranks
from qed.selection.searching.samples import Data, Splits
from qed.selection.searching.scorers import ScoringLike
from qed.selection.searching.search import Search
from qed.selection.splitting.holdout import take_rows
from qed.selection.splitting.splits import Splitting
from qed.stats.parts import Part


@also_called(estimator="model", param_grid="grid")
@takes("n_jobs", "verbose", "pre_dispatch")
class HalvingSearch(Search):
    """Search a grid by successive halving: poor candidates drop out after few rows.

    Parameters
    ----------
    model : estimator
        The model to search; any estimator with scikit-learn's contract.
    grid : dict of str to list, or list of such dicts
        The values to try for each parameter.
    factor : int, default=3
        One of so many candidates is kept after each round, and the next has so many times as many rows.
    min_rows : "auto" or int, default="auto"
        How many rows the first round has at least. With as many as there are, there is one round: a plain search.
    cv : int, None, "loo", "oob", splitter or iterable of (train, test), default=5
        The folds: a number of them (consecutive; stratified for classifiers), "loo" to leave out each row in turn, a splitter, or the
        splits themselves. None means 5. For forests and bagging, "oob" takes none: each row is judged by the members that have not seen
        it, after one fit to all rows, and the scores are those of five parts of the rows, or of those that `groups` in ``fit`` names.
    scoring : str, Scorer, callable, list, tuple or dict of them, or None, default=None
        What to maximise; None means the model's own ``score`` (for regressors the mean squared error when leaving one out, where R² is
        not defined). Several scorers fill a table each; so does a callable that gives a dict of several scores.
    refit : bool, str or callable, default=True
        Whether to fit the best candidate to all rows. With several scorers, the name of the one that decides which is best, or False.
        A function takes ``cv_results_`` and gives the number of the best candidate.
    cheap : bool, default=True
        Whether to ask the model first for what it can do cheaply. The scores are the same without, to the solver's tolerance.
    error_score : "raise" or float, default="raise"
        What to do about a fit that fails: raise its error, with the candidate and the fold in the message, or give it this score.
    return_train_score : bool, default=False
        Whether to score on the training rows as well.
    rule : {"best", "one standard error"} or mapping of str to {"more", "less"}, default="best"
        Which candidate is taken: the one with the best mean score, or the simplest of those whose mean is at most one standard error
        of the best one's below it. The mapping says of each parameter whether more of it is simpler; of the usual ones that is known.
    random_state : None, int or numpy generator, default=0
        The seed of the draw of rows.

    Attributes
    ----------
    rounds_ : list of dict
        What every round before the last did: its number of rows, its candidates and their mean scores, by the scorer that decides.
    best_params_ : dict
        The best setting; with several scorers, by the one that `refit` names. It and what follows from it is missing when `refit` is
        False and there are several.
    best_score_ : float
        Its mean score over the folds, each counting the same.
    standard_error_ : float
        The standard error of that mean.
    best_index_ : int
        Its place among the candidates.
    best_estimator_ : estimator
        The model with these parameters, fitted to all rows.
    certificate_ : Certificate
        The proof of the best model's fit.
    cv_results_ : dict of arrays
        For every candidate of the last round, on all rows, its parameters, scores, rank and times, under scikit-learn's names
        (``mean_test_<name>`` for several scorers); the scores of single folds where there are at most a thousand of them.
    how_ : str
        How the scores were found, such as "5 folds from the sums of 1 pass".
    n_splits_ : int
        The number of folds.
    scorer_ : callable or dict of str to callable
        What was maximised; a dict when `scoring` named several.
    multimetric_ : bool
        Whether there are several scores.
    refit_time_ : float
        Seconds that the last fit took.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> grid = {"max_depth": range(1, 10)}
    >>> search = qed.HalvingSearch(qed.DecisionTreeRegressor(), grid, random_state=0).fit(X, y)
    >>> [(one["rows"], len(one["params"])) for one in search.rounds_], len(search.cv_results_["params"])
    ([(49, 9), (147, 3)], 1)
    """

    attributes: ClassVar = {"rounds_": each(table())}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **Search.parameters,
        "factor": integer(2),
        "min_rows": integer(2) | choice("auto"),
        "random_state": random_state(),
    }

    def __init__(
        self,
        model: Any,
        grid: Grid,
        *,
        factor: int = 3,
        min_rows: int | str = "auto",
        cv: Splitting = 5,
        scoring: ScoringLike = None,
        refit: bool | str | Callable[[dict[str, object]], int] = True,
        cheap: bool = True,
        random_state: Seed = 0,
        error_score: ErrorScore = "raise",
        return_train_score: bool = False,
        rule: Rule = "best",
    ) -> None:
        super().__init__(
            *(model, grid, cv, scoring, refit, cheap),
            error_score=error_score,
            return_train_score=return_train_score,
            rule=rule,
        )
        self.factor = factor
        self.min_rows = min_rows
        self.random_state = random_state

    def _tried(
        self,
        candidates: list[dict[str, object]],
        data: Data,
        folds: Splits,
        scorers: Mapping[str, Scoring],
        how: Settings,
    ) -> tuple[list[dict[str, object]], Evaluation]:
        n, order = len(data), _order(self.model, data, folds, seed_of(self.random_state))
        if isinstance(self.model, Estimator) and not data.is_nested:
            # A hole is named by its row among all.
            complete(data.open(fresh(self.model)), self.model)
        self.rounds_: list[dict[str, object]] = []
        for rows in self._sizes(n, len(candidates), data, folds.n_splits):
            chosen = np.sort(order[:rows])
            part = _some(self.model, data, chosen)
            found = evaluate(self.model, part, candidates, _inside(folds, chosen, part), scorers, how)
            name = self._decisive(list(found.scores)) or next(iter(found.scores))
            mean = found.scores[name].mean
            self.rounds_.append({"rows": int(rows), "params": candidates, "mean_test_score": mean})
            kept = max(1, math.ceil(len(candidates) / self.factor))
            # In the order of the grid, so that of equals the first one stays first.
            better = np.sort(np.argsort(ranks(mean), kind="stable")[:kept])
            candidates = [candidates[place] for place in better]
        return candidates, evaluate(self.model, data, candidates, folds, scorers, how)

    def _sizes(self, n: int, candidates: int, data: Data, n_splits: int) -> list[int]:
        """Give the numbers of rows of all rounds before the last."""
        classes = len(np.unique(np.asarray(data.y))) if role_of(self.model) == "classifier" else 1
        fewest = 2 * n_splits * classes if self.min_rows == "auto" else int(self.min_rows)
        wanted = math.ceil(math.log(max(candidates, 1), self.factor) - 1e-9)
        possible = math.floor(math.log(max(n / fewest, 1), self.factor) + 1e-9)
        return [n // self.factor**left for left in range(min(wanted, possible), 0, -1)]


def _order(model: Any, data: Data, folds: Splits, seed: int) -> np.ndarray:
    """Give all rows in the order in which rounds take them: at random, each class and each fold in its share."""
    order = generator(seed, "halving").permutation(len(data))
    codes = np.zeros(len(data), dtype=np.intp)
    if (assignment := getattr(folds, "assignment", None)) is not None:
        codes += assignment + 1
    if role_of(model) == "classifier" and np.ndim(data.y) == 1:
        codes += (folds.n_splits + 1) * np.unique(np.asarray(data.y), return_inverse=True)[1]
    _, codes = np.unique(codes[order], return_inverse=True)
    place = np.empty(len(order))
    for code in range(codes.max() + 1):
        mine = np.flatnonzero(codes == code)
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return np.asarray(order[np.argsort(place, kind="stable")])


def _inside(folds: Splits, chosen: np.ndarray, part: Data) -> Folds:
    """Give the folds as far as they are among some rows, which are numbered anew; those with fewer than two rows held out are left out."""
    place = np.full(int(chosen.max()) + 1, -1, dtype=np.intp)
    place[chosen] = np.arange(len(chosen))
    pairs = []
    for fold in folds:
        both = [rows[rows < len(place)] for rows in (folds.train(fold), folds.test(fold))]
        train, test = (place[rows][place[rows] >= 0] for rows in both)
        if len(train) and len(test) > 1:
            pairs.append((train, test))
    return Folds.of(pairs, part.X, None)


def _some(model: Any, data: Data, chosen: np.ndarray) -> Data:
    """Give some of the rows."""
    if data.streamed:
        inside = np.zeros(len(data), dtype=bool)
        inside[chosen] = True
        return Data(model, Part(data.X, inside), params=data.params)
    y = None if data.y is None else take_rows(data.y, chosen)
    params = {name: data._own(value, chosen) for name, value in data.params.items()}
    return Data(model, take_rows(data.X, chosen), y, None if data.weight is None else data.weight[chosen], params)
