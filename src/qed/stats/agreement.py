r"""Whether what a model remembers of its rows is theirs: two statistics of the same rows agree but for rounding.

What rounding can do to each is known (:attr:`qed.stats.Moments.noise`), so there is no tolerance to choose: entries of the scatter
differ by no more than :math:`h_j h_k + h'_j h'_k`, those of a QR factor by the rounding of its columns.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS, TINY
from qed.base.summary import Summary
from qed.linalg.root import factor_rounding
from qed.stats.factor import Factor
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments

Known = KeptRows | Moments | Factor
# Sums of weights are compared to so many roundings.
WEIGHTS = 1e-10


def remembered_claim(said: Known, seen: KeptRows | Moments) -> Claim:
    """Claim that what a model remembers is what is seen of its rows; the value is what is more than rounding, in units of it.

    Examples
    --------
    >>> from qed.base.sources.open import rows
    >>> one = rows(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0])).fold(Moments.of)
    >>> remembered_claim(one, one).value
    0.0
    """
    return Claim(
        "what is remembered of the rows is theirs, but for rounding", max(disagreement(said, seen) - 1, 0.0), 0.0
    )


def disagreement(said: Known, seen: KeptRows | Moments) -> float:
    """Say by how many times what rounding can do two statistics differ, at most; infinite where they are not of the same shape."""
    try:
        with np.errstate(all="ignore"):
            found = max(_about_weights(said, seen), _about_sums(said, seen))
    except (ValueError, TypeError, IndexError, AttributeError):
        return np.inf
    return found if np.isfinite(found) else np.inf


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


def summary_claim(said: Summary, seen: Summary) -> Claim:
    """Claim that what a model remembers of its columns, one by one, is theirs; where rows were forgotten, their range is not known.

    Examples
    --------
    >>> from qed.base.sources.block import Block
    >>> one = Summary.of(Block(np.array([[0.0], [1.0], [2.0]])))
    >>> summary_claim(one, one).value
    0.0
    """
    more = max(_about_columns(said, seen) - 1, 0.0)
    return Claim("what is remembered of the columns is theirs, but for rounding", more, 0.0)


def _about_columns(said: Summary, seen: Summary) -> float:
    if said.count != seen.count or not np.array_equal(said.missing, seen.missing):
        return np.inf
    spread = np.sqrt(seen.variance)
    size = np.abs(seen.mean) + spread
    # Summaries are added mean by mean, so that each addition rounds by the size of the column; a thousand of them are allowed for.
    rounding = 1e-12
    gaps = [
        _over(said.weight - seen.weight, WEIGHTS * seen.weight),
        _over(said.mean - seen.mean, rounding * size + TINY),
        _over(said.deviation - seen.deviation, rounding * seen.weight * size * (spread + rounding * size) + TINY),
    ]
    known = not (np.isnan(said.low).all() and np.isnan(said.high).all())
    same = np.array_equal(said.low, seen.low) and np.array_equal(said.high, seen.high)
    return max(gaps) if same or not known else np.inf


def _about_weights(said: Known, seen: KeptRows | Moments) -> float:
    if said.count != seen.count or said.n_features != seen.n_features:
        return np.inf
    return abs(said.weight - seen.weight) / (WEIGHTS * abs(seen.weight))


def _about_sums(said: Known, seen: KeptRows | Moments) -> float:
    if isinstance(said, KeptRows) and isinstance(seen, KeptRows):
        return _about_kept(said, seen)
    known = seen.moments()
    if isinstance(said, Factor):
        square = said.R.T @ said.R
        blur = factor_rounding(len(said.mean)) * np.abs(np.outer(*[np.sqrt(square.diagonal())] * 2))
        return max(_over(square - known.scatter, blur + _product(known)), _about_means(said, known, factor_rounding(1)))
    told = said.moments()
    if not (
        np.isfinite(told.roundings)
        and told.roundings >= 1
        and (told.bulk >= np.diagonal(known.scatter) * (1 - 1e-9)).all()
    ):
        return np.inf
    off = _over(told.scatter - known.scatter, _product(told) + _product(known))
    return max(off, _about_means(told, known, told.roundings * EPS, told.bulk))


def _about_means(said: Moments | Factor, seen: Moments, rounding: float, bulk: np.ndarray | None = None) -> float:
    spread = np.sqrt(np.maximum(seen.bulk if bulk is None else bulk, seen.bulk) / seen.weight)
    allowed = (rounding + seen.roundings * EPS) * spread + EPS * np.abs(seen.mean)
    return _over((said.mean - seen.mean) + (said.rest - seen.rest), allowed)


def _about_kept(said: KeptRows, seen: KeptRows) -> float:
    rounding, p = (said.count + 16) * EPS, said.n_features
    both = [(kept.design(), kept.target(), kept.mean + kept.rest) for kept in (said, seen)]
    (mine, target, mean), (theirs, other, center) = both
    length, size = theirs.lengths, np.sqrt((other**2).sum(axis=0))
    spread = np.append(length, size) / np.sqrt(seen.weight) + np.abs(center)
    return max(
        _over(mean - center, 4 * rounding * spread),
        _over(mine.lengths - length, rounding * (length + np.sqrt(seen.weight) * np.abs(center[:p]))),
        _over(mine.back(target) - theirs.back(other), 4 * rounding * np.outer(length, size)),
        _over(target.T @ target - other.T @ other, 4 * rounding * np.outer(size, size)),
    )


def _product(moments: Moments) -> np.ndarray:
    return np.multiply.outer(moments.noise, moments.noise)


def _over(gap: np.ndarray, allowed: np.ndarray) -> float:
    if gap.shape != allowed.shape or not np.isfinite(gap).all():
        return np.inf
    return float(np.max(np.where(gap == 0, 0.0, np.abs(gap) / allowed), initial=0.0))
