"""Scorers: metrics that know how to ask a model for what they judge.

A scorer is called as ``scorer(model, X, y)``; it takes the labels, the probabilities or the ranking scores that its metric wants, and
gives a number of which *greater is better*: errors are negated, hence names like "neg_mean_squared_error". Scorers are values. A search
can read which metric is behind one, and whether it follows from sums that were folded once, fold by fold (`Scorer.additive`), in which
case no model has to predict anything.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from qed.base.errors import InputError, NotAvailableError, ParameterError, SavingError
from qed.base.models.no_effect import also_called
from qed.base.models.roles import usual_score
from qed.base.models.scoring import OnSingleRows
from qed.base.saving.known import savable
from qed.base.sources.layout import did_you_mean
from qed.selection.inputs import Label, Numbers
from qed.selection.metrics import classification as by_label
from qed.selection.metrics import ranking as by_rank
from qed.selection.metrics import regression as by_number
from qed.selection.score_names import near_scores, scorer_name
from qed.selection.score_table import BY_CLASS, GAINS, LOSSES

RESPONSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "predict": ("predict",),
        "predict_proba": ("predict_proba",),
        "decision_function": ("decision_function",),
        "score": ("decision_function", "predict_proba"),
    }
)


@savable
@dataclass(frozen=True)
class Scorer:
    """A metric, its sign, and what it asks of a model.

    Parameters
    ----------
    name : str
        What it is called.
    function : callable or None
        The metric, ``function(y, response, **options)``; None stands for the model's own ``score``.
    sign : {1, -1}
        -1 for an error, so that greater is better.
    response : {"predict", "predict_proba", "decision_function", "score"}, or a tuple of them
        What the metric judges, or the first of them that the model has: predictions, probabilities, decision values, or
        whichever scores the model has to rank rows by (decision values rather than probabilities). For two classes,
        probabilities and scores are one column: those of the positive class.
    options : mapping
        Further arguments of the metric.

    Examples
    --------
    >>> scorer = get_scorer("neg_mean_squared_error")
    >>> scorer.sign, scorer.additive, float(scorer.from_sums(weight=10.0, squared_error=5.0, scatter=20.0))
    (-1, True, -0.5)
    """

    name: str
    function: Callable[..., Any] | None
    sign: int = 1
    response: str | tuple[str, ...] = "predict"
    options: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not all(name in RESPONSES for name in self._responses):
            raise ParameterError(f"response must be one of {', '.join(RESPONSES)}, or several, not {self.response!r}.")
        if self.sign not in (1, -1):
            raise ParameterError(f"sign must be 1 (greater is better) or -1, not {self.sign!r}.")

    @property
    def _responses(self) -> tuple[str, ...]:
        return (self.response,) if isinstance(self.response, str) else self.response

    def _methods(self) -> list[str]:
        """Name the methods of a model that would do, the best first."""
        return [method for name in self._responses for method in RESPONSES[name]]

    @cached_property
    def _accepted(self) -> dict[str, object]:
        """What the metric takes, with its defaults: to find out takes as long as to judge some rows."""
        known = {} if self.function is None else inspect.signature(self.function).parameters
        return {name: one.default for name, one in known.items()}

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score a fitted model on these rows; greater is better."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if self.function is None:
            return float(estimator.score(X, y, **given))
        if y is None and self.function.__module__.startswith("qed."):
            raise InputError(f"Scorer {self.name!r} compares the model with a target: give y.")
        if given and not takes(self.function, "sample_weight"):
            raise ParameterError(f"The metric of scorer {self.name!r} does not accept sample_weight.")
        response, implied = self._ask(estimator, X)
        found = self.function(y, response, **implied, **self.options, **given)
        if np.size(found) != 1:
            raise ParameterError(
                f"The metric of scorer {self.name!r} gives {np.size(found)} numbers, not one: average them."
            )
        return float(self.sign * found)

    def to_dict(self) -> dict[str, str]:
        """Give what a file can hold: the name of a named scorer."""
        if self.function is not None and SCORERS.get(self.name) != self:
            raise SavingError(
                f"The scorer {self.name!r} holds a function of your own, which can not be stored: a model file holds data only. "
                f"Use a named scorer: {', '.join(get_scorer_names()[:3])} ..."
            )
        return {"name": self.name}

    @classmethod
    def from_dict(cls, saved: Mapping[str, str]) -> Scorer:
        """Find the scorer of that name."""
        return SCORERS.get(saved["name"]) or cls(saved["name"], None)

    @property
    def additive(self) -> bool:
        """Whether the score follows from the total weight, the sum of squared errors and the scatter of y."""
        return self.function in by_number.FROM_SUMS and not self.options

    @property
    def on_single_rows(self) -> OnSingleRows:
        """What the score is on one row, but for its sign; None where that is something else."""
        if self.options or self.function is None:
            return None
        return by_number.ON_SINGLE_ROWS.get(self.function) or by_label.ON_SINGLE_ROWS.get(self.function)

    @property
    def has_positive(self) -> bool:
        """Whether the score judges one of two classes, the positive one."""
        return "pos_label" in self._accepted and self.options.get("average", "binary") == "binary"

    def with_positive(self, label: Label) -> Scorer:
        """Give the same scorer with another positive class.

        Parameters
        ----------
        label : int or str
            The positive one of two classes.

        Examples
        --------
        >>> get_scorer("f1").with_positive("spam").options
        {'pos_label': 'spam'}
        """
        if not self.has_positive:
            known = ", ".join(name for name, one in sorted(SCORERS.items()) if one.has_positive)
            raise ParameterError(
                f"Scorer {self.name!r} treats all classes alike: no class is the positive one, as it is for {known}."
            )
        return replace(self, options={**self.options, "pos_label": label})

    def asks(self, model: object) -> str | None:
        """Name the method of a model that is asked; None where it has none of those that would do."""
        if self.function is None:
            return "score"
        return next((name for name in self._methods() if hasattr(model, name)), None)

    def from_sums(self, weight: Numbers, squared_error: Numbers, scatter: Numbers) -> Numbers:
        """Give the score from sums over the rows, element by element: for many folds, models and outputs at once.

        Parameters
        ----------
        weight : float or ndarray
            The total weight of the rows.
        squared_error : float or ndarray
            The weighted sum of squared errors. For several outputs, average the scores over their axis.
        scatter : float or ndarray
            The weighted sum of squares of y about its mean over these rows.
        """
        if not self.additive:
            raise NotAvailableError(f"Scorer {self.name!r} does not follow from sums: it needs the rows themselves.")
        assert self.function is not None
        return by_number.FROM_SUMS[self.function](weight, squared_error, scatter) * self.sign

    def _ask(self, estimator: Any, X: Any) -> tuple[np.ndarray, dict[str, object]]:
        """Give the response of the model, and what its classes imply for the arguments of the metric."""
        method = self.asks(estimator)
        if method is None:
            wanted = " or ".join(self._methods())
            raise ParameterError(
                f"Scorer {self.name!r} needs {wanted}, which {type(estimator).__name__} does not have: "
                "choose another scorer."
            )
        response = getattr(estimator, method)(X)
        if isinstance(response, list):
            # Models of several outputs give a table of probabilities for each: here, for rows of several classes, those of having it.
            return np.column_stack([np.asarray(one)[:, -1] for one in response]), {}
        classes = getattr(estimator, "classes_", None)
        if method == "predict" or classes is None:
            return response, {}
        implied: dict[str, object] = {}
        if "labels" in self._accepted and "labels" not in self.options:
            implied["labels"] = classes
        if len(classes) != 2:
            return response, implied
        positive = self.options.get("pos_label", self._accepted.get("pos_label"))
        if positive is None:
            positive = classes[1]
            if "pos_label" in self._accepted and "pos_label" not in self.options:
                implied["pos_label"] = positive
        return _of_positive(np.asarray(response), is_first=bool(positive == classes[0])), implied


def takes(function: Callable[..., Any], name: str) -> bool:
    """Say whether a function takes an argument of that name; where it does not say what it takes, it is believed to."""
    try:
        accepted = inspect.signature(function).parameters
    except ValueError:
        return True
    return name in accepted or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in accepted.values())


def _of_positive(response: np.ndarray, is_first: bool) -> np.ndarray:
    """Give the scores of the positive one of two classes: a column of probabilities, or decision values of its sign."""
    if response.ndim == 2 and response.shape[1] == 2:
        return response[:, 0 if is_first else 1]
    return -response if is_first else response


@also_called(response_method="response", score_func="function")
def make_scorer(
    function: Callable[..., Any],
    *,
    greater_is_better: bool = True,
    response: str | Sequence[str] = "predict",
    name: str | None = None,
    **options: Any,
) -> Scorer:
    """Make a scorer of a metric.

    Parameters
    ----------
    function : callable
        ``function(y_true, response, **options)``, giving a number.
    greater_is_better : bool, default=True
        False for errors, whose sign is then turned.
    response : {"predict", "predict_proba", "decision_function", "score"}, or a list of them
        What the metric judges, or the first of them that the model has (scikit-learn's ``response_method`` is the same);
        "score" takes decision values, or probabilities where there are none.
    name : str, optional
        What to call it; the default is the name of the function.
    **options
        Further arguments of the metric, such as ``beta=2.0``.

    Examples
    --------
    >>> from qed.selection.metrics.precision import fbeta_score
    >>> make_scorer(fbeta_score, beta=2.0).name
    'fbeta_score'
    """
    if not callable(function):
        raise ParameterError(f"A scorer is made of a function of (y_true, y_pred), not of {function!r}.")
    for option in options:
        if not takes(function, option):
            known = [*inspect.signature(function).parameters, "greater_is_better", "response", "name"]
            called = getattr(function, "__name__", repr(function))
            raise ParameterError(
                f"Neither make_scorer nor the metric {called} has an argument {option!r}. {did_you_mean(option, known)}"
            )
    called = name if name is not None else getattr(function, "__name__", type(function).__name__)
    asked = response if isinstance(response, str) else tuple(response)
    return Scorer(called, function, 1 if greater_is_better else -1, asked, options)


def _named() -> dict[str, Scorer]:
    """Make all scorers that have a name."""
    found = {name: Scorer(name, what[0], 1, *what[1:]) for name, what in GAINS.items()}
    found |= {name: Scorer(name, what[0], -1, *what[1:]) for name, what in LOSSES.items()}
    for short, function in BY_CLASS.items():
        found[short] = Scorer(short, function)
        for average in ("macro", "micro", "weighted", "samples"):
            found[f"{short}_{average}"] = Scorer(f"{short}_{average}", function, options={"average": average})
    for scheme in ("ovr", "ovo"):
        for suffix, average in (("", "macro"), ("_weighted", "weighted")):
            name = f"roc_auc_{scheme}{suffix}"
            options = {"multi_class": scheme, "average": average}
            found[name] = Scorer(name, by_rank.roc_auc_score, 1, "predict_proba", options)
    return found


SCORERS: Mapping[str, Scorer] = MappingProxyType(_named())


def get_scorer_names() -> list[str]:
    """List the names that `get_scorer` knows.

    Examples
    --------
    >>> get_scorer_names()[:2]
    ['accuracy', 'adjusted_rand_score']
    """
    return sorted(SCORERS)


def get_scorer(scoring: str | Callable[..., Any]) -> Any:
    """Give the scorer of a name; a scorer, or any callable ``scorer(model, X, y)``, is given back.

    Parameters
    ----------
    scoring : str, Scorer or callable
        Such as "r2", "neg_log_loss" or "f1_macro"; `get_scorer_names` lists them.

    Examples
    --------
    >>> get_scorer("roc_auc").response
    'score'
    """
    if isinstance(scoring, str):
        scoring = scorer_name(scoring, SCORERS)
        if scoring in SCORERS:
            return SCORERS[scoring]
        raise ParameterError(f"There is no score {scoring!r}. {near_scores(scoring, SCORERS)}")
    if not callable(scoring):
        raise ParameterError(
            f"scoring must be the name of a scorer or a callable scorer(model, X, y), not {scoring!r}."
        )
    code = getattr(scoring, "__code__", None)
    if code is not None and code.co_varnames[:1] == ("y_true",):
        raise ParameterError(
            f"{scoring.__name__} is a metric of (y_true, y_pred), not a scorer: "
            f"wrap it with make_scorer({scoring.__name__})."
        )
    return scoring


def default_scorer(task: Any) -> Scorer:
    """Give the scorer of a task or a model: R² and accuracy where these are its ``score``, or else the model's own ``score``.

    >>> default_scorer("classifier").name
    'accuracy'
    """
    named = {"regressor": "r2", "classifier": "accuracy"}
    if isinstance(task, str):
        if task not in named:
            raise ParameterError(f"task must be 'regressor' or 'classifier', not {task!r}.")
        return SCORERS[named[task]]
    if hasattr(task, "score"):
        usual = usual_score(task)
        return Scorer("score", None) if usual is None else SCORERS[usual]
    if role_of(task) not in named:
        raise ParameterError(f"{type(task).__name__} has no score of its own: give scoring.")
    return SCORERS[named[role_of(task)]]


def check_scoring(estimator: Any, scoring: str | Callable[..., Any] | None = None) -> Any:
    """Give the scorer that `scoring` means for a model; None means its `default_scorer`."""
    return default_scorer(estimator) if scoring is None else get_scorer(scoring)


def role_of(estimator: Any) -> str:
    """Give what an estimator says it is, such as "regressor"; nothing where it does not say."""
    tags = getattr(estimator, "__sklearn_tags__", None)
    return (tags().estimator_type or "") if tags is not None else ""
