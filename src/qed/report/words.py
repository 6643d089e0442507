"""Numbers, times, scores and proofs in words: what the report and the terminal write alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qed.base.certificate import Certificate

# The marks between which a name stands apart from its neighbours.
APART = "\u2068\u2069"
PROVEN, NOT_PROVEN = "∎", "not proven"
# The mark of models that are as good as the best.
TIE = " ≈"


def counted(count: int, what: str) -> str:
    """Write a number of things.

    >>> counted(1, "row"), counted(3, "row")
    ('1 row', '3 rows')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def apart(text: str) -> str:
    """Mark a name off from its neighbours, so that one written from right to left does not turn what stands beside it.

    >>> apart("price"), len(apart("\u05e9\u05dc"))
    ('price', 4)
    """
    return text if text.isascii() else f"{APART[0]}{text}{APART[1]}"


SHORT = {
    "r2": "R²",
    "roc auc": "AUC",
    "roc auc ovr": "AUC (one against all)",
    "root mean squared error": "RMSE",
    "mean absolute error": "MAE",
    "mean squared error": "MSE",
    "log loss": "log-loss",
}


def score_words(scoring: str) -> tuple[str, int]:
    """Name a score for people, and give the sign by which it is shown: errors are shown as errors."""
    sign = -1 if scoring.startswith("neg_") else 1
    words = scoring.removeprefix("neg_").replace("_", " ")
    return SHORT.get(words, words), sign


def number(value: float) -> str:
    """Write a number in four digits.

    >>> number(0.98836), number(12345.678), number(-0.00012)
    ('0.9884', '12350', '-0.00012')
    """
    if not math.isfinite(value):
        return "–"
    short = f"{value:.4g}"
    return short if "e" not in short or abs(value) >= 1e9 or abs(value) < 1e-5 else f"{float(short):.0f}"


def decimals_for(error: float) -> int:
    """Say how many decimals show two digits of a standard error."""
    return min(6, max(0, 1 - math.floor(math.log10(error)))) if math.isfinite(error) and error > 0 else 4


def plus_minus(value: float, error: float, decimals: int | None = None) -> str:
    """Write a number with its standard error, in as many decimals as show two digits of the error, or as asked for.

    >>> plus_minus(0.988363, 0.002909), plus_minus(53.2, 1.9)
    ('0.9884 ± 0.0029', '53.2 ± 1.9')
    """
    if not math.isfinite(error):
        return number(value)
    places = decimals_for(error) if decimals is None else decimals
    return f"{value:.{places}f} ± {error:.{places}f}"


def setting_words(setting: Mapping[str, object]) -> str:
    """Write a setting of parameters."""
    words = {name: number(value) if isinstance(value, float) else str(value) for name, value in setting.items()}
    return ", ".join(f"no {name}" if setting[name] is None else f"{name}={value}" for name, value in words.items())


def seconds_words(seconds: float) -> str:
    """Write a time."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def proof_words(certificate: Certificate) -> str:
    """Say that a certificate holds, or what fails."""
    if certificate:
        return PROVEN
    if not certificate.failures:
        return "nothing claimed"
    worst = max(certificate.failures, key=lambda claim: claim.value / max(claim.bound, 1e-300))
    return f"{worst.says}: {worst.value:.1e} > {worst.bound:.1e}"
