"""What a parameter may be, said once per model.

A model lists its parameters with a rule each and with their kind, as the course has it: a *model* parameter shapes the set of
hypotheses (a degree, a number of clusters), an *optimization* parameter belongs to the way a hypothesis is found (a penalty's
weight, a tolerance). Values are checked when ``fit`` is called, never in ``__init__``, as scikit-learn's contract asks.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from qed.base.errors import ParameterError, QedError, shown

Value = TypeVar("Value")
# Beyond these sizes sums and quotients of a few parameters and numbers of rows overflow, or vanish.
LEAST, LARGEST = 1e-300, 1e300
# What NumPy works out with: not fractions, nor other numbers of objects.
PLAIN = (int, float, np.integer, np.floating)
# Whole numbers from this on do not fit into 64 bits.
MOST = 2**63
# So many letters of an error that a function of the user's has raised are repeated.
MOST_SAID = 200


def _float(value: object) -> float:
    """Give a number as a float; NaN for what is none, infinity beyond the range of floats."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf  # of whichever sign: it is refused


def _advice(rule: Parameter, value: object) -> str:
    """Say what else to do about a number that was refused for its type or its size."""
    given = abs(_float(value))
    if isinstance(value, Integral) and given >= MOST and rule.accepts(MOST - 1):
        return f" No whole number may be {MOST} or more."
    if given > LARGEST or 0 < given < LEAST:
        infinite = isinstance(value, (float, np.floating)) and math.isinf(value)
        return "" if infinite else f" No number may be above {LARGEST:g}, or nearer to 0 than {LEAST:g}."
    return "" if not given > 0 or (isinstance(value, PLAIN) and given < MOST) else " Write it as a float."


@dataclass(frozen=True)
class Parameter:
    """A rule for one parameter.

    Parameters
    ----------
    wanted : str
        What is wanted, for the message: ``"a number >= 0"``.
    accepts : callable
        Says whether a value is right.
    kind : {"model", "optimization"}
        What the parameter shapes.
    """

    wanted: str
    accepts: Callable[[Any], bool]
    kind: str = "optimization"

    def checked(self, name: str, value: Value) -> Value:
        """Give a value that is right, or say under its name what was wanted."""
        if not self.accepts(value):
            raise ParameterError(f"{name} must be {self.wanted}, not {shown(value)}.{_advice(self, value)}")
        return value

    def __or__(self, other: Parameter) -> Parameter:
        """Accept what either rule accepts."""
        return Parameter(f"{self.wanted} or {other.wanted}", lambda v: self.accepts(v) or other.accepts(v), self.kind)

    def notice(self, owner: str, name: str, value: object) -> None:
        """Say what there is to say about a value that was accepted; see `qed.base.models.no_effect`."""


def number(
    low: float = -math.inf, high: float = math.inf, *, above: bool = False, kind: str = "optimization"
) -> Parameter:
    """Accept a finite number from `low` to `high`; with ``above=True`` it must be larger than `low`.

    What is so large, or so near to zero, that nothing can be worked out with it is refused.

    >>> number(0).accepts(0.5), number(0, above=True).accepts(0)
    (True, False)
    """
    wanted = "a finite number"
    if low > -math.inf:
        wanted += f" {'>' if above else '>='} {low:g}"
    if high < math.inf:
        wanted += f"{' and' if low > -math.inf else ''} <= {high:g}"

    def accepts(value: Any) -> bool:
        given = _float(value)
        plain = isinstance(value, PLAIN) and (given == 0 or LEAST <= abs(given) <= LARGEST)
        plain &= not isinstance(value, int) or abs(given) < MOST
        return plain and (given > low if above else given >= low) and given <= high

    return Parameter(wanted, accepts, kind)


def integer(low: int = 0, *, kind: str = "optimization") -> Parameter:
    """Accept a whole number of at least `low`, which 64 bits can hold."""

    def accepts(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)) and low <= int(value) < MOST

    return Parameter(f"a whole number >= {low}", accepts, kind)


def choice(*options: Any, kind: str = "optimization") -> Parameter:
    """Accept one of `options`; a word may be NumPy's.

    >>> choice("gini").accepts(np.str_("gini")), choice(1).accepts(True)
    (True, False)
    """
    wanted = " or ".join(repr(option) for option in options)

    def accepts(value: Any) -> bool:
        kind_of = str if isinstance(value, str) else type(value)
        return any(kind_of is type(option) and value == option for option in options)

    return Parameter(wanted, accepts, kind)


def class_weights() -> Parameter:
    """Make a rule for what classes count: all the same, as much as each other, or what a mapping says."""
    return choice(None, "balanced") | Parameter("a dict", lambda value: isinstance(value, Mapping))


def boolean(*, kind: str = "model") -> Parameter:
    """Accept True or False."""
    return Parameter("True or False", lambda value: isinstance(value, (bool, np.bool_)), kind)


def array(kind: str = "model") -> Parameter:
    """Accept an array, a list or a frame; its content is checked where it is used."""

    def accepts(value: Any) -> bool:
        return getattr(value, "ndim", 1) > 0 and (hasattr(value, "__array__") or isinstance(value, (list, tuple)))

    return Parameter("an array", accepts, kind)


def infinity() -> Parameter:
    """Accept infinity, where it means that there is no limit."""
    return Parameter("infinity", lambda value: isinstance(value, (float, np.floating)) and bool(value == math.inf))


def numbers(kind: str = "optimization", *, finite: bool = True) -> Parameter:
    """Accept an array or a list of numbers, at least one; without `finite`, what else they have to be is checked where they are used.

    Examples
    --------
    >>> numbers().accepts([0.5, 2]), numbers().accepts(["x"]), numbers().accepts([]), numbers().accepts([math.nan])
    (True, False, False, False)
    """

    def accepts(value: Any) -> bool:
        if not array().accepts(value):
            return False
        try:
            found = np.asarray(value, dtype=np.float64)
            return bool(found.size and (not finite or np.isfinite(found).all()))
        except (TypeError, ValueError, OverflowError):
            return False

    return Parameter("an array of finite numbers", accepts, kind)


def anything(wanted: str = "anything", kind: str = "model") -> Parameter:
    """Accept everything; what it has to be is checked where it is used."""
    return Parameter(wanted, lambda value: True, kind)


def numeric_type() -> Parameter:
    """Accept the type of numbers, such as ``float`` or ``"float32"``.

    Examples
    --------
    >>> numeric_type().accepts(np.float32), numeric_type().accepts("text")
    (True, False)
    """

    def accepts(value: Any) -> bool:
        try:
            return value is not None and np.dtype(value).kind in "biuf"
        except (TypeError, ValueError):
            return False

    return Parameter("a numeric type such as numpy.float32", accepts, "model")


def random_state() -> Parameter:
    """Accept what :func:`qed.base.random.seed_of` accepts, which checks it."""
    return anything("None, a non-negative integer or a NumPy generator", "optimization")


@contextmanager
def calling(what: str, function: object, wanted: str) -> Iterator[None]:
    """Say in a sentence that a function which was given as a parameter does not take, or not give, what is wanted.

    Its own error is the cause of that sentence, so that a mistake inside it is found where it is.

    Examples
    --------
    >>> with calling("metric", len, "two rows and give a number"):
    ...     len([1.0], [2.0])
    Traceback (most recent call last):
    ...
    qed.base.errors.ParameterError: metric: len has to take two rows and give a number, but it raises TypeError: len() takes exactly ...
    """
    try:
        yield
    except QedError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        name = getattr(function, "__name__", None) or shown(function)
        said = " ".join(str(error).split())[:MOST_SAID].rstrip(".")
        raise ParameterError(
            f"{what}: {name} has to take {wanted}, but it raises {type(error).__name__}: {said}."
        ) from error


@cache
def _usual(kind: Any) -> dict[str, object]:
    """Give the defaults that the rules of a class accept: about these there is nothing to say, at any fit."""
    given = inspect.signature(kind.__init__).parameters
    defaults = {name: given[name].default for name in kind.parameters if name in given}
    return {
        name: value
        for name, value in defaults.items()
        if value is not inspect.Parameter.empty and kind.parameters[name].accepts(value)
    }


def check_parameters(model: Any, rules: Mapping[str, Parameter]) -> None:
    """Raise a `ParameterError` for the first parameter of `model` that breaks its rule."""
    kind: Any = type(model)
    usual = _usual(kind) if rules is getattr(kind, "parameters", None) else {}
    for name, rule in rules.items():
        value = getattr(model, name)
        if name in usual and value is usual[name]:
            continue
        if not rule.accepts(value):
            raise ParameterError(
                f"{type(model).__name__}: {name} must be {rule.wanted}, not {shown(value)}.{_advice(rule, value)}"
            )
        rule.notice(type(model).__name__, name, value)
