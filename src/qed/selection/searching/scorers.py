"""What a search scores by: one scorer or several, by name, each speaking the same protocol.

A user gives a name, a `Scorer`, any callable ``scorer(model, X, y)``, several of them in a list or a dict, or nothing. That becomes a
mapping of names to `qed.base.models.searching.Scoring`, so that neither the search nor a model has to ask what kind of thing it was.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from qed.base.errors import NotAvailableError, ParameterError
from qed.base.models.parameters import calling
from qed.base.models.scoring import Scoring
from qed.selection.scoring import Scorer, check_scoring, get_scorer, role_of, takes

ScoringLike = str | Callable[..., Any] | Mapping[str, str | Callable[..., Any]] | Iterable[str] | None


@dataclass(frozen=True)
class CustomScorer:
    """A callable of the user's own, of which nothing is known but how it is called."""

    name: str
    function: Callable[..., Any]  # `function(model, X, y)` gives a number, or a dict of several with their names
    sign = 1
    additive = False
    on_single_rows = None

    def from_sums(self, weight: Any, squared_error: Any, scatter: Any) -> Any:
        """Refuse: it needs a model and rows."""
        raise NotAvailableError(f"Scorer {self.name!r} does not follow from sums: it needs the rows themselves.")

    def asks(self, model: object) -> str | None:
        """Give None: it may ask whatever it likes."""
        return None

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Score a fitted model on these rows."""
        if sample_weight is None:
            given = (X,) if y is None and not self._wants_target() else (X, y)
            with calling("scoring", self.function, "a fitted model, rows and their target"):
                return self.function(estimator, *given)
        if not takes(self.function, "sample_weight"):
            raise ParameterError(
                "scoring does not take sample_weight: give it that argument, or leave the weights out."
            )
        with calling("scoring", self.function, "a fitted model, rows, their target and weights"):
            return self.function(estimator, X, y, sample_weight=sample_weight)

    def _wants_target(self) -> bool:
        """Say whether the callable has a place for a target."""
        try:
            inspect.signature(self.function).bind(None, None, None)
        except TypeError:
            return False
        except ValueError:
            return True
        return True


def scorers_for(model: Any, scoring: ScoringLike, *, leave_one_out: bool = False) -> dict[str, Scoring]:
    """Give the scorers by name; a single one is called score.

    On single rows R² is not defined: a regressor's default is the squared error where one is left out.

    >>> list(scorers_for(None, ["r2", "neg_max_error"])), list(scorers_for(None, "r2"))
    (['r2', 'neg_max_error'], ['score'])
    """
    if isinstance(scoring, Mapping):
        found = {str(name): _spoken(str(name), get_scorer(one)) for name, one in scoring.items()}
    elif isinstance(scoring, (list, tuple, set)):
        found = {_name_of(one): _spoken(_name_of(one), get_scorer(one)) for one in scoring}
        if len(found) < len(scoring):
            raise ParameterError(f"scoring names a scorer twice: {list(scoring)}.")
    elif scoring is None and leave_one_out and role_of(model) == "regressor":
        found = {"score": get_scorer("neg_mean_squared_error")}
    else:
        found = {"score": _spoken("score", check_scoring(model, scoring))}  # type: ignore[arg-type]
    if not found:
        raise ParameterError("scoring is empty: name at least one scorer, or give None for the default.")
    if leave_one_out and any(scorer.on_single_rows == "undefined" for scorer in found.values()):
        raise ParameterError(
            "R² is not defined on a single row, so not when leaving one out: use scoring='neg_mean_squared_error'."
        )
    return found


def _name_of(scorer: str | Callable[..., object]) -> str:
    """Give the name of a scorer in a list."""
    name = scorer if isinstance(scorer, str) else getattr(scorer, "name", getattr(scorer, "__name__", "<lambda>"))
    if name == "<lambda>":
        raise ParameterError(f"scoring lists a callable without a name: give a dict, {{'its name': {scorer!r}}}.")
    return str(name)


def _spoken(name: str, scorer: Any) -> Scoring:
    return scorer if isinstance(scorer, Scorer) else CustomScorer(name, scorer)


def as_given(scorer: Scoring) -> Any:
    """Give a scorer as the user gave it."""
    return scorer.function if isinstance(scorer, CustomScorer) else scorer
