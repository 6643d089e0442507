"""Keywords that only choose a way to the same answer: taken, checked, and said to have no effect.

Code written for scikit-learn is full of ``solver=``, ``n_jobs=``, ``copy_X=`` and the like. They choose how something is computed, which is
chosen here by the library, or in another place (``qed.threads``, ``qed.watch``). So that such code runs as it stands, a model or a
function takes them too: one line, ``@takes(...)``, extends its signature. For a model they are parameters like others, kept, cloned,
saved, shown where they were changed, and refused at ``fit`` where they make no sense. A value that asks for something other than the
default is said to have no effect, once for each class and keyword in a process.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from numbers import Integral
from typing import Protocol, TypeVar, cast

from qed.base.errors import NoEffectWarning, ParameterError, level_of_user, shown
from qed.base.models.parameters import Parameter, anything, array, boolean, choice, integer, number
from qed.base.random import seed_of

Taker = TypeVar("Taker", bound=Callable[..., object])

_said: set[tuple[str, str]] = set()


@dataclass(frozen=True)
class NoEffect(Parameter):
    """A rule for a keyword that only chooses a way.

    Parameters
    ----------
    default : object
        Its default in scikit-learn.
    instead : str
        What is done here, for the message; empty where what was asked for is true anyway, and nothing need be said.
    """

    default: object = None
    instead: str = ""

    def notice(self, owner: str, name: str, value: object) -> None:
        """Say once that a value other than the default has no effect."""
        same = type(value) is type(self.default) and value == self.default
        if self.instead and not same and (owner, name) not in _said:
            _said.add((owner, name))
            message = f"{owner} makes no use of {name}={shown(value)}: {self.instead}. (This is said once.)"
            warnings.warn(message, NoEffectWarning, stacklevel=level_of_user())


def no_effect(rule: Parameter, default: object, instead: str = "") -> NoEffect:
    """Make a keyword without effect of a rule, its default and what is done instead."""
    return NoEffect(rule.wanted, rule.accepts, "optimization", default, instead)


def one_of(
    *options: object, instead: str = "the way is chosen by the data, and the certificate says how good it was"
) -> NoEffect:
    """Make a keyword that chooses among ways by name; the first is the default."""
    return no_effect(choice(*options), options[0], instead)


def with_default(name: str, default: object) -> NoEffect:
    """Give a keyword that is listed in `NO_EFFECT` another default."""
    return replace(NO_EFFECT[name], default=default)


def _whole() -> Parameter:
    def accepts(value: object) -> bool:
        return value is None or (isinstance(value, Integral) and value != 0)

    return Parameter("None or a whole number other than 0", accepts)


def _seed() -> Parameter:
    def accepts(value: object) -> bool:
        try:
            # A generator would be moved on by asking it, and for None one would be made.
            return (
                value is None or hasattr(value, "bit_generator") or hasattr(value, "get_state") or seed_of(value) >= 0
            )
        except ParameterError:
            return False

    return Parameter("None, a non-negative integer or a NumPy generator", accepts)


THREADS = "with qed.threads(n): or the variable QED_THREADS sets the threads, and the answer does not depend on them"
UNTOUCHED = "data are never written to, and are copied where there is need"
PROGRESS = "with qed.watch(progress=True): shows the progress of any fit"
CLOSED = "the problem is solved to full precision"
NO_EFFECT: dict[str, NoEffect] = {
    "copy": no_effect(boolean(), True, UNTOUCHED),
    "copy_X": no_effect(boolean(), True, UNTOUCHED),
    "copy_x": no_effect(boolean(), True, UNTOUCHED),
    "max_iter": no_effect(integer(1) | choice(None), None, CLOSED),
    "n_jobs": no_effect(_whole(), None, THREADS),
    "order": one_of("C", "F", instead="new columns are made row by row"),
    "pre_dispatch": no_effect(anything("a number of jobs or an expression"), "2*n_jobs", THREADS),
    "precompute": no_effect(
        boolean() | choice("auto") | array(), False, "the Gram matrix is made of the data where that is cheaper"
    ),
    "random_state": no_effect(_seed(), None),
    "selection": one_of("cyclic", "random", instead="the order of the coordinates is chosen by the solver"),
    "tol": no_effect(number(0), 1e-4, CLOSED),
    "verbose": no_effect(boolean() | integer(0), 0, PROGRESS),
    "warm_start": no_effect(boolean(), False, "fit begins anew, and resume goes on from where the last fit ended"),
}

RIDGE = {"solver": one_of("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")}
LOGISTIC = {
    "dual": no_effect(boolean(), False, "the way is chosen by the data, and the certificate says how good it was"),
    "intercept_scaling": no_effect(number(0, above=True), 1, "the intercept is not penalised"),
    "multi_class": no_effect(
        Parameter(
            "'multinomial', one model of all classes",
            lambda v: isinstance(v, str) and v in ("auto", "multinomial", "deprecated"),
        ),
        "auto",
    ),
    "solver": one_of("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),
}


def takes(*names: str, **more: NoEffect) -> Callable[[Taker], Taker]:
    """Let a model or a function take keywords that have no effect.

    Parameters
    ----------
    *names : str
        Keywords that are listed in `NO_EFFECT`.
    **more : NoEffect
        Others.

    Examples
    --------
    >>> @takes("n_jobs")
    ... def double(x):
    ...     return 2 * x
    >>> double(3, n_jobs=None), str(inspect.signature(double))
    (6, '(x, *, n_jobs=None)')
    """
    keywords = {**{name: NO_EFFECT[name] for name in names}, **more}

    def extend(taker: Taker) -> Taker:
        return cast(Taker, _model(taker, keywords) if isinstance(taker, type) else _function(taker, keywords))

    return extend


def also_called(**names: str) -> Callable[[Taker], Taker]:
    """Let arguments be given by other names as well.

    Parameters
    ----------
    **names : str
        For each other name the one that the argument has here.

    Examples
    --------
    >>> @also_called(estimator="model")
    ... def kind(model):
    ...     return type(model).__name__
    >>> kind(estimator=3)
    'int'
    """

    def extend(taker: Taker) -> Taker:
        function = taker.__init__ if isinstance(taker, type) else taker  # type: ignore[misc]

        @wraps(function)
        def call(*args: object, **given: object) -> object:
            for other, name in names.items():
                if other in given and name not in given:
                    given[name] = given.pop(other)
            return function(*args, **given)

        if not isinstance(taker, type):
            return cast(Taker, call)
        taker.__init__ = call  # type: ignore[misc]
        return taker

    return extend


def without_effect(model: object) -> set[str]:
    """Name the parameters of a model that have no effect."""
    return {name for name, rule in getattr(model, "parameters", {}).items() if isinstance(rule, NoEffect)}


class _Model(Protocol):
    parameters: Mapping[str, Parameter]
    __init__: Callable[..., None]


def _model(kind: type[_Model], keywords: dict[str, NoEffect]) -> type[_Model]:
    plain = kind.__init__  # type: ignore[misc]

    @wraps(plain)
    def constructor(self: object, *args: object, **given: object) -> None:
        values = {name: given.pop(name, one.default) for name, one in keywords.items()}
        plain(self, *args, **given)
        # Last: the constructor of a base class that takes the same keywords has put their defaults.
        vars(self).update(values)

    constructor.__signature__ = _extended(plain, keywords)  # type: ignore[attr-defined]
    kind.__init__ = constructor  # type: ignore[misc]
    kind.parameters = {**kind.parameters, **keywords}
    return kind


def _function(function: Callable[..., object], keywords: dict[str, NoEffect]) -> Callable[..., object]:
    @wraps(function)
    def call(*args: object, **given: object) -> object:
        for name, one in keywords.items():
            value = given.pop(name, one.default)
            if not one.accepts(value):
                raise ParameterError(f"{function.__name__}: {name} must be {one.wanted}, not {shown(value)}.")
            one.notice(function.__name__, name, value)
        return function(*args, **given)

    call.__signature__ = _extended(function, keywords)  # type: ignore[attr-defined]
    return call


def _extended(function: Callable[..., object], keywords: dict[str, NoEffect]) -> inspect.Signature:
    plain = inspect.signature(function)
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default) for name, one in keywords.items()
    ]
    return plain.replace(parameters=[*plain.parameters.values(), *extra])
