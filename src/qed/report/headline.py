"""What came of a comparison, in a sentence or two: how good it is, whether that beats guessing, and whether a simpler model would do."""

from qed.report.clusters import cluster_headline
from qed.report.data import Data
from qed.report.words import number, plus_minus, score_words
from qed.selection.comparing.leaderboard import Comparison

UNSEEN = "rows it has not seen"


def headline(data: Data, comparison: Comparison) -> str:
    """Say in a sentence what came of it."""
    best = comparison.best
    score, error = best.score, best.standard_error
    if comparison.task == "clustering":
        return cluster_headline(comparison)
    words, sign = score_words(comparison.scoring)
    if not comparison.beats_guessing:
        baseline = comparison.baseline
        assert baseline is not None
        guess = f"guessing has {aan(words)} of {number(sign * baseline.score)}"
        return f"No model beats guessing {data.target}: {best.name} has {plus_minus(sign * score, error)}, {guess}."
    if comparison.scoring == "r2" and score <= 0:
        best_words = f"the best, {best.name}, has an R² of {plus_minus(score, error)}"
        return f"No model explains {data.target}: {best_words}, and the mean of these rows 0."
    unseen = "later rows" if comparison.forward else UNSEEN
    if comparison.scoring in ("accuracy", "r2"):
        percent = f"{plus_minus(100 * score, 100 * error)} %"
        if comparison.scoring == "accuracy":
            return f"{best.name} tells {data.target} right in {percent} of {unseen}."
        return f"{best.name} explains {percent} of the variance of {data.target} in {unseen}."
    return f"{best.name} predicts {data.target} with {aan(words)} of {plus_minus(sign * score, error)} in {unseen}."


def more_words(data: Data, comparison: Comparison) -> list[str]:
    """Say what belongs to it: the error in the units of the target, what guessing gives, and whether a simpler model would do."""
    best, baseline, found = comparison.best, comparison.baseline, []
    if comparison.task == "clustering" or not comparison.beats_guessing:
        return []
    parts = [
        f"{score_words(name)[0]} is {number(score_words(name)[1] * best.other(name))}" for name in comparison.others
    ]
    if parts:
        guess = _guess(comparison)
        unit = f", in units of {data.target}" if comparison.task == "regression" and comparison.scoring == "r2" else ""
        found.append(f"Its {' and its '.join(parts)}{unit}{guess}.")
    elif baseline is not None:
        words, sign = score_words(comparison.scoring)
        found.append(f"Guessing has {aan(words)} of {number(sign * baseline.score)}.")
    simplest = comparison.simplest
    if simplest is not best and not simplest.is_baseline:
        found.append(f"{simplest.name} is as good within one standard error, and simpler: it is the one to explain.")
    return found


def _guess(comparison: Comparison) -> str:
    baseline = comparison.baseline
    if baseline is None:
        return ""
    words = [(comparison.scoring, baseline.score)] if comparison.task == "classification" else []
    words += [(name, baseline.other(name)) for name in comparison.others[: 1 if comparison.task == "regression" else 0]]
    scores_said = ", ".join(f"{score_words(name)[0]} {number(score_words(name)[1] * value)}" for name, value in words)
    return f"; guessing has {scores_said}"


def aan(words: str) -> str:
    """Put the article before a word.

    >>> aan("AUC"), aan("log-loss"), aan("RMSE")
    ('an AUC', 'a log-loss', 'an RMSE')
    """
    return f"{'an' if words[:1].lower() in 'aei' or words[:2] in ('RM', 'R²', 'MA', 'MS') else 'a'} {words}"
