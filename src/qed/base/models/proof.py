"""What every certificate is checked for, whatever the model: usable numbers, a true statistic, and the data of the fit.

A model says in ``_prove`` what its theory claims. Three things need no theory. A number that is missing, or that no claim can be
computed from, is a claim that fails, not an error. What was folded from the rows (``statistic_``) is what they give again. And where a
proof fails, the fingerprint tells whether the data are others or the model is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError
from qed.base.models.fingerprint import Fingerprint
from qed.base.sources.rows import Rows

# What wrong values of fitted attributes can raise, here and in the libraries below.
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
# Two passes over the same rows in another order, or rows that were added and taken away again, agree at least so well.
ALIKE = 1e-6
SAME_DATA = "the data are those of the fit"


def examine(model: Any, rows: Rows) -> Certificate:
    """Compute a fitted model's claims from rows, and compare what it remembers of its own with these.

    Parameters
    ----------
    model : Estimator
        A fitted model, whatever its attributes have become.
    rows : Rows
        Checked rows, as ``_open`` gives them.
    """
    claims = [Claim(f"{name} is a number", math.inf, 0.0) for name in model._numbers_missing()]
    difference: str | None = None
    problem = None
    try:
        problem = model._evidence(rows)
        claims += model._prove(problem)
        claims += _remembered(model, problem)
        difference = model._difference(problem)
    except FAULTS as error:
        if problem is None and isinstance(error, InputError):
            raise  # the rows are to blame, not the model
        words = " ".join(str(error).split())
        claims.append(Claim(f"claims can be computed from the attributes ({words[:60]})", math.inf, 0.0))
    if difference is not None:
        claims.append(Claim(SAME_DATA, float(bool(difference)), 0.0))
    return Certificate(claims, difference=difference)


def difference_from(model: Any, now: Fingerprint | None) -> str | None:
    """Say how data differ from those that a model was fitted on; None where that is not known."""
    then = getattr(model, "fingerprint_", None)
    if then is None or now is None:
        return None
    try:
        difference: str = then.difference(now)
    except FAULTS:
        return "the model's fingerprint of them can not be read"
    return difference


def _remembered(model: Any, problem: Any) -> Iterator[Claim]:
    """Compare the statistic that a model has kept with that of the rows."""
    kept, now = getattr(model, "statistic_", None), getattr(problem, "statistic", None)
    if kept is None or now is None:
        return
    same = isinstance(kept, type(now)) and hasattr(kept, "apart")
    value = kept.apart(now) if same else float(bool(kept.fingerprint().difference(now.fingerprint())))
    yield Claim("statistic_ is that of the data", value, ALIKE)


def missing_numbers(attributes: dict[str, Any]) -> list[str]:
    """Name the attributes that hold a NaN: floats, and arrays of them.

    Examples
    --------
    >>> missing_numbers({"coef_": np.array([1.0, np.nan]), "rank_": 2, "condition_": math.inf})
    ['coef_']
    """
    found = {name: value for name, value in attributes.items() if isinstance(value, float | np.ndarray)}
    return [
        name for name, value in found.items() if np.asarray(value).dtype.kind in "fc" and bool(np.isnan(value).any())
    ]

