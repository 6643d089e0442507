"""What every certificate is checked for, whatever the model: usable numbers, a true statistic, and the data of the fit.

A model says in ``_prove`` what its theory claims. Three things need no theory. A number that is missing, or that no claim can be
computed from, is a claim that fails, not an error. What was folded from the rows (``statistic_``) is what they give again. And where a
proof fails, the fingerprint tells whether the data are others or the model is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from qed.base.certificate import Certificate, Claim
from qed.base.engine import fitting
from qed.base.errors import InputError
from qed.base.fitted import FAULTS, check_fitted
from qed.base.models.checks import complete
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.parts import parts_of
from qed.base.models.problem import Problem
from qed.base.numbers import TINY, largest_share
from qed.base.sources.rows import Rows
from qed.base.threads.interrupts import deferred

SAME_DATA = "the data are those of the fit"
FOLLOWING = "attributes that do not follow from the data"
REMEMBERED = "what is remembered of the rows is theirs"


class Examined(Protocol):
    """What is asked of a model that is certified."""

    def _evidence(self, rows: Rows) -> Problem: ...
    def _prove(self, problem: Problem) -> list[Claim]: ...
    def _restate(self, problem: Problem) -> list[Claim]: ...
    def _difference(self, problem: Problem) -> str | None: ...


def certify(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Certificate:
    """Recompute a model's certificate from its public attributes and the data.

    Nothing the solver believed is used: whoever has the model and the data can check the proof. Where it fails, the certificate says
    which it is: other data than those of the fit, or a model whose numbers do not follow from them.

    Parameters
    ----------
    model : fitted estimator
        Any model of qed; or a pipeline or a search of scikit-learn, whose models of qed are then all looked at.
    X, y, sample_weight
        The data it was fitted on; files and Dask collections too.

    Returns
    -------
    Certificate
        True when all claims hold.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.Ridge(alpha=0.5).fit(X, y)
    >>> bool(qed.certify(model, X, y))
    True
    >>> model.coef_[0] *= 1.001
    >>> qed.certify(model, X, y).verdict
    'These are the data of the fit: it is the model that they do not bear out.'
    >>> qed.certify(model, X, 2 * y).verdict
    'These are not the data of the fit: another target.'
    """
    parts = parts_of(model, X)
    if len(parts) > 1 or parts[0][0]:
        # The steps before the last learn without weights.
        weights = [*([None] * (len(parts) - 1)), sample_weight]
        proofs = [(name, certify(part, table, y, weight)) for (name, part, table), weight in zip(parts, weights)]
        return Certificate([replace(claim, says=name + claim.says) for name, proof in proofs for claim in proof])
    model = parts[0][1]
    model._check_fitted()
    with deferred(), fitting():
        rows = complete(model._open(X, y, sample_weight, reset=False, target=model.target), model)
        return examine(model, rows)


def examine(model: Examined, rows: Rows) -> Certificate:
    """Compute a fitted model's claims from rows, and compare what it remembers of its own with these.

    Parameters
    ----------
    model : Estimator
        A fitted model, whatever its attributes have become.
    rows : Rows
        Checked rows, as ``_open`` gives them.
    """
    claims = [
        Claim(f"attributes are as declared ({fault.rstrip('.')})", math.inf, 0.0) for fault in check_fitted(model)
    ]
    problem, difference = None, None
    try:
        problem = model._evidence(rows)
        if not claims:  # kernels trust what is declared: a tree with a circle in it would be walked for ever
            with np.errstate(all="ignore"):  # numbers that were changed may overflow or vanish
                claims += model._prove(problem)
                claims += _together([*model._restate(problem), *_remembered(model, problem)])
    except FAULTS as error:
        if isinstance(error, InputError):
            if problem is None:
                raise  # the rows are to blame, not the model
            _read(rows)
        claims.append(_spoilt(error))
    try:
        with np.errstate(all="ignore"):
            difference = None if problem is None else model._difference(problem)
    except FAULTS as error:
        claims.append(_spoilt(error))
    if difference is not None:
        claims.append(Claim(SAME_DATA, float(bool(difference)), 0.0))
    return Certificate(claims, difference=difference)


def _read(rows: Rows) -> None:
    """Read rows to their end, so that bad ones are refused in their own words; many are not read before a proof needs them."""
    for _ in rows.blocks():
        pass


def _together(claims: list[Claim]) -> list[Claim]:
    """Count the attributes that are not what follows from the data, and name those alone."""
    failing = [claim for claim in claims if not claim.holds]
    return [Claim(FOLLOWING, float(len(failing)), 0.0), *failing] if claims else []


def _spoilt(error: Exception) -> Claim:
    words = " ".join(str(error).split())
    return Claim(f"claims can be computed from the attributes ({words[:60]})", math.inf, 0.0)


def difference_from(model: object, now: Fingerprint | None) -> str | None:
    """Say how data differ from those that a model was fitted on; None where that is not known."""
    then: Fingerprint | None = getattr(model, "fingerprint_", None)
    if then is None or now is None:
        return None
    try:
        return then.difference(now, getattr(getattr(model, "statistic_", None), "loss", 1.0))
    except FAULTS:
        return "what the model remembers of them can not be read"


def _remembered(model: object, problem: Problem) -> Iterator[Claim]:
    """Compare the statistic that a model has kept with that of the rows."""
    kept = getattr(model, "statistic_", None)
    if kept is None or not hasattr(problem, "statistic"):
        return
    now = problem.statistic
    if type(kept) is not type(now) and hasattr(kept, "moments") and hasattr(now, "moments"):
        kept, now = kept.moments(), now.moments()
    if isinstance(kept, type(now)) and hasattr(kept, "apart"):
        yield remembered_claim(kept, now)
    elif hasattr(kept, "fingerprint") and hasattr(now, "fingerprint"):
        yield Claim(REMEMBERED, float(bool(kept.fingerprint().difference(now.fingerprint()))), 0.0)


def remembered_claim(kept: Any, now: Any) -> Claim:
    """Claim that a statistic that a model has kept is that of the rows: by how many times what rounding can do they differ."""
    return Claim(f"{REMEMBERED} (in units of rounding)", kept.apart(now), 1.0)


def whole(p: int, rank: object, *values: object) -> list[Claim]:
    """Give a claim that fails where fitted numbers are not finite, or a rank is none of p columns; nothing where all is well.

    Examples
    --------
    >>> whole(3, 2, 1.5, np.ones(3)), len(whole(3, 2.5)), len(whole(3, 2, np.nan))
    ([], 1, 1)
    """
    is_rank = isinstance(rank, int | np.integer) and 0 <= rank <= p
    if is_rank and all(np.isfinite(np.asarray(value, dtype=np.float64)).all() for value in values):
        return []
    return [Claim("fitted numbers are finite and in range", np.inf, 0.0)]


def restated_weights(kept: np.ndarray | None, given: np.ndarray | None, n: int) -> Claim:
    """Claim that the weights a model has kept are those of the n rows; none are as good as ones.

    >>> restated_weights(np.ones(2), None, 2).holds, restated_weights(np.array([1.0, 2.0]), None, 2).holds
    (True, False)
    """
    if kept is None and given is None:
        return restated("weight_fit_", None, None)
    return restated("weight_fit_", *(np.ones(n) if one is None else one for one in (kept, given)))


def restated(
    name: str, value: ArrayLike | None, wanted: ArrayLike | None, *, scale: ArrayLike | None = None, slack: float = 1e-9
) -> Claim:
    """Claim that an attribute is what follows from the data, relative to its largest entry or to `scale`.

    Examples
    --------
    >>> restated("var_", np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    Claim(says='var_ follows from the data (difference, relative)', value=0.5, bound=1e-09)
    >>> restated("rank_", 3, 3).holds, restated("rank_", None, 3).holds, restated("var_", None, None).holds
    (True, False, True)
    """
    says = f"{name} follows from the data (difference, relative)"
    if value is None or wanted is None:
        return Claim(says, 0.0 if value is wanted else math.inf, slack)
    size = np.abs(np.asarray(wanted, dtype=np.float64)).max(initial=0.0) if scale is None else scale
    return Claim(says, largest_share(value, wanted, np.maximum(size, TINY)), slack)
