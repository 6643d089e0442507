r"""Searching settings that are drawn at random.

Where several parameters are searched, a grid spends most of its fits on those that do not matter: of :math:`m^2` points it has :math:`m`
different values of each parameter only, while as many random points have :math:`m^2`. The best of :math:`m` random settings is among the
best share :math:`q` of all of them with probability :math:`1 - (1 - q)^m`: 60 draws are enough for the best twentieth, with 95 percent.
Draws depend on the seed alone. All that `Search` does with its candidates is done with these: asking the model for what is cheap first,
scores, refitting, certificates.

Bergstra and Bengio (2012), Random search for hyper-parameter optimization.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.no_effect import also_called, takes
from qed.base.models.parameters import Parameter, integer, random_state
from qed.base.random import Seed, generator, seed_of
from qed.selection.searching.candidates import Grid, candidates_of
from qed.selection.searching.choosing import Rule
from qed.selection.searching.fits import ErrorScore
from qed.selection.searching.scorers import ScoringLike
from qed.selection.searching.search import Search
from qed.selection.splitting.splits import Splitting

# A distribution stands where a list could.
Distributions = Grid


@also_called(estimator="model", param_distributions="distributions")
@takes("n_jobs", "verbose", "pre_dispatch")
class RandomSearch(Search):
    """Search settings drawn at random by cross-validation.

    Parameters
    ----------
    model : estimator
        The model to search; any estimator with scikit-learn's contract.
    distributions : dict of str to list or distribution, or list of such dicts
        For each parameter the values to choose from, each as likely, or a distribution with ``rvs`` such as those of
        ``scipy.stats``. Where all are lists, no setting is drawn twice.
    n_iter : int, default=10
        How many settings are drawn.
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
    random_state : None, int or numpy generator, default=None
        The seed of the draws.

    Attributes
    ----------
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
        For every candidate its parameters, scores, rank and times, under scikit-learn's names (``mean_test_<name>`` for several
        scorers); the scores of single folds where there are at most a thousand of them.
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
    >>> from scipy.stats import loguniform
    >>> X = np.vander(np.linspace(-1, 1, 60), 6)
    >>> y = np.sin(3 * X[:, 4]) + 0.1 * np.cos(40 * X[:, 4])
    >>> search = qed.RandomSearch(qed.Ridge(), {"alpha": loguniform(1e-3, 1e3)}, n_iter=8, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"]), search.how_
    (8, '5 folds from the sums of 1 pass, 8 alphas from one eigendecomposition each')
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        **{name: rule for name, rule in Search.parameters.items() if name != "grid"},
        "distributions": Parameter(
            "a dict, or a list of dicts", lambda value: isinstance(value, (Mapping, list, tuple))
        ),
        "n_iter": integer(1),
        "random_state": random_state(),
    }

    def __init__(
        self,
        model: object,
        distributions: Distributions,
        *,
        n_iter: int = 10,
        cv: Splitting = 5,
        scoring: ScoringLike = None,
        refit: bool | str | Callable[[dict[str, object]], int] = True,
        cheap: bool = True,
        random_state: Seed = None,
        error_score: ErrorScore = "raise",
        return_train_score: bool = False,
        rule: Rule = "best",
    ) -> None:
        self.model = model
        self.distributions = distributions
        self.n_iter = n_iter
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.cheap = cheap
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.rule = rule

    def _candidates(self) -> list[dict[str, object]]:
        return drawn(self.distributions, int(self.n_iter), seed_of(self.random_state))


def drawn(distributions: Distributions, many: int, seed: int) -> list[dict[str, object]]:
    """Draw settings, all different where they are chosen from lists alone.

    Examples
    --------
    >>> [one["a"] for one in drawn({"a": [1, 2, 3]}, 9, seed=0)]
    [1, 2, 3]
    """
    tables = [distributions] if isinstance(distributions, Mapping) else list(distributions)
    if not tables or not all(isinstance(table, Mapping) for table in tables):
        raise ParameterError(f"distributions must be a dict, or a list of dicts, not {distributions!r}.")
    if not any(hasattr(values, "rvs") for table in tables for values in table.values()):
        known = candidates_of(tables)
        if many >= len(known):
            return known
        return [known[place] for place in generator(seed, "settings").permutation(len(known))[:many]]
    found = []
    for number in range(many):
        random = generator(seed, "setting", number)
        table = tables[int(random.integers(len(tables)))]
        found.append({name: _draw(table[name], random, seed, number, name) for name in sorted(table)})
    return found


def _draw(values: Sequence[object], random: np.random.Generator, seed: int, number: int, name: str) -> object:
    if hasattr(values, "rvs"):
        # A generator of its own for each parameter: how many numbers a distribution takes is its own affair.
        value = values.rvs(random_state=generator(seed, "value", number, name))
        return value.item() if isinstance(value, np.generic) else value
    choices = [candidate[name] for candidate in candidates_of({name: values})]
    return choices[int(random.integers(len(choices)))]
