"""Certificates: what a fitted model claims, with numbers that anyone can recompute.

A claim is a sentence, a value and a bound; it holds when ``value <= bound``. A certificate is a few claims together.
Claims are computed from the model's public attributes and the data, not from what a solver believed, and never say
more than is true: a method that finds local optima claims that its answer is stationary, not that it is best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, ClassVar

from qed.base.attributes import each, floats, of, table, text
from qed.base.saving.known import savable
from qed.base.visible import ShownAsText, html_table

# The most that a claim of a relative error may allow rounding to do.
MOST_ROUNDING = 1e-3
# A claim of more letters is printed on several lines, so that its numbers stay on a page.
MOST_LETTERS = 70
# What is said of columns that only rounding tells from dependent ones.
ALIKE = " (columns alike up to rounding being dependent)"


@savable
@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence about a model that holds when `value` is at most `bound`.

    Parameters
    ----------
    says : str
        What is claimed, in words.
    value : float
        The number that was computed.
    bound : float
        The largest value for which the claim holds, rounding included.

    Examples
    --------
    >>> Claim("residuals are orthogonal to every column", 3e-16, 1e-10).holds
    True
    """

    attributes: ClassVar = {
        "says": text(),
        "value": floats(finite=False),
        "bound": floats(finite=False),
    }
    says: str
    value: float
    bound: float

    @classmethod
    def within(cls, says: str, value: float, tol: float, rounding: float, most: float = MOST_ROUNDING) -> Claim:
        """Claim that a relative value is at most `tol`, but for what rounding can do to it.

        Where rounding could hide more than `most` the value says nothing. Then what rounding can do is counted in, and the
        claim does not hold: a bound that anything would meet proves nothing.

        Examples
        --------
        >>> Claim.within("above the minimum, at most", 2e-9, 1e-9, 1e-8).holds
        True
        >>> Claim.within("above the minimum, at most", 2e-9, 1e-9, 1300.0)
        Claim(says='above the minimum, at most', value=1300.000000002, bound=0.001000001)
        """
        lost = 0.0 if rounding <= most else rounding
        return cls(says, value + lost, tol + min(rounding, most))

    @property
    def holds(self) -> bool:
        return math.isfinite(self.value) and self.value <= self.bound

    def to_dict(self) -> dict[str, object]:
        return {"says": self.says, "value": float(self.value), "bound": float(self.bound), "holds": bool(self.holds)}


@savable
@dataclass(frozen=True, slots=True, repr=False)
class Certificate(ShownAsText):
    """The claims of one fitted model. True when all of them hold.

    Parameters
    ----------
    claims : tuple of Claim
        What is claimed.
    source : {"data", "statistics"}
        Whether the values were computed from the rows themselves, or from the statistics folded from them during the fit.
    difference : str, optional
        How the data differ from those of the fit, in words; empty where they are the same, None where nobody looked.

    Examples
    --------
    >>> certificate = Certificate((Claim("the gradient vanishes", 2e-9, 1e-6),))
    >>> bool(certificate)
    True
    >>> print(certificate)
    claim                      value     bound  holds
    the gradient vanishes    2.0e-09   1.0e-06    yes
    ∎
    """

    attributes: ClassVar = {
        "claims": each(of(Claim) | table()),
        "source": text(),
    }
    claims: tuple[Claim, ...]
    source: str = "data"
    difference: str | None = None

    def __init__(self, claims: Iterable[Claim], source: str = "data", difference: str | None = None) -> None:
        object.__setattr__(self, "claims", tuple(claims))
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "difference", difference)

    def __bool__(self) -> bool:
        return bool(self.claims) and all(claim.holds for claim in self.claims)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, says: str) -> Claim:
        """Find the claim whose sentence is, or begins with, `says`."""
        for claim in self.claims:
            if claim.says.startswith(says):
                return claim
        raise KeyError(f"No claim begins with {says!r}; there are: {[claim.says for claim in self.claims]}.")

    @property
    def failures(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if not claim.holds)

    @property
    def shortfall(self) -> str:
        """Say in a sentence which claim is furthest off, and by how much; nothing where all hold.

        Examples
        --------
        >>> Certificate([Claim("the gradient vanishes", 2e-3, 1e-6)]).shortfall
        "'the gradient vanishes' is 2.0e-03, wanted at most 1.0e-06."
        """
        if not self.failures:
            return ""
        worst = max(self.failures, key=_how_far)
        return f"'{worst.says}' is {worst.value:.1e}, wanted at most {worst.bound:.1e}."

    @property
    def verdict(self) -> str:
        """Say what to blame for a proof that fails: the data, or the model; empty where it holds, or where nobody looked."""
        if self or self.difference is None:
            return ""
        if self.difference:
            return f"These are not the data of the fit: {self.difference}."
        return "These are the data of the fit: it is the model that they do not bear out."

    def to_dict(self) -> dict[str, Any]:
        claims = [claim.to_dict() for claim in self.claims]
        return {"holds": bool(self), "source": self.source, "difference": self.difference, "claims": claims}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Certificate:
        claims = (Claim(item["says"], float(item["value"]), float(item["bound"])) for item in content["claims"])
        source, difference = content.get("source", "data"), content.get("difference")
        if not isinstance(source, str) or not isinstance(difference, (str, type(None))):
            raise TypeError("A certificate says in words what it was made from, and what differed.")
        return cls(claims, source, difference)

    def __str__(self) -> str:
        said = [wrap(claim.says, MOST_LETTERS, subsequent_indent="  ") or [""] for claim in self.claims]
        width = max([len(line) for lines in said for line in lines], default=5) + 2
        lines = [f"{'claim':<{width}}{'value':>9}{'bound':>10}  holds"]
        for claim, (*first, last) in zip(self.claims, said):
            answer = "yes" if claim.holds else "NO"
            lines += [*first, f"{last:<{width}}{claim.value:>9.1e}{claim.bound:>10.1e}{answer:>7}"]
        if not self.claims:
            lines.append("nothing is claimed")
        lines.append("∎" if self else "not proven")
        return "\n".join([*lines, self.verdict] if self.verdict else lines)

    def _repr_html_(self) -> str:
        numbers = ((c.says, f"{c.value:.1e}", f"{c.bound:.1e}", "yes" if c.holds else "NO") for c in self.claims)
        end = " ".join(part for part in ("∎" if self else "not proven", self.verdict) if part)
        return html_table(["claim", "value", "bound", "holds"], list(numbers), end)


def _how_far(claim: Claim) -> float:
    return claim.value / max(claim.bound, 1e-300) if math.isfinite(claim.value) else math.inf
