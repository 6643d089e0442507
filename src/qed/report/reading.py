"""What curves and folds say, in sentences: would more rows help, is the model too simple or too free, do intervals hold what they say."""

import numpy as np

from qed.report.words import number, score_words
from qed.selection.comparing.leaderboard import Comparison
from qed.selection.diagnosis.curves import LearningCurve
from qed.selection.diagnosis.fit_diagnosis import diagnose_fit
from qed.selection.guarantees.coverage import Coverage
from qed.selection.guarantees.from_folds import interval_coverage, set_coverage

LEVEL = 0.9
# Scores whose best value is not one: of errors it is zero.
FEWEST = 2
# A model that misses less than this part of what guessing misses is neither too simple nor too free to be of use.
LITTLE = 0.05


def curve_words(curve: LearningCurve | None) -> str:
    """Say whether more rows would help, from the last two points of a learning curve, fold by fold."""
    if curve is None or len(curve.train_sizes) < FEWEST:
        return ""
    rises = curve.test_scores[-1] - curve.test_scores[-2]
    error = float(rises.std(ddof=1) / np.sqrt(len(rises))) if len(rises) > 1 else 0.0
    rise, first, last = float(rises.mean()), int(curve.train_sizes[-2]), int(curve.train_sizes[-1])
    if not np.isfinite(rise):
        return ""
    grown = f"From {first:,} to {last:,} training rows the score on rows held out"
    # Half of all digits: below that a rise is rounding.
    if rise <= 1e-8 * float(np.abs(curve.test_mean[-2:]).max()):
        return f"{grown} did not rise: more rows of the kind would hardly help."
    if rise > error:
        more = f"more than its standard error of {number(error)}: more rows would help"
        return f"{grown} still rose by {number(rise)}, {more}."
    return (
        f"{grown} rose by no more than its standard error of {number(error)}: more rows of the kind would hardly help."
    )


def freedom_words(curve: LearningCurve | None, comparison: Comparison) -> str:
    """Read bias and variance from the errors on rows of the fit and on rows held out."""
    if curve is None or comparison.baseline is None:
        return ""
    best = 0.0 if comparison.scoring.startswith("neg_") else 1.0
    train, test = float(curve.train_mean[-1]), float(curve.test_mean[-1])
    guess = best - comparison.baseline.score
    sign = score_words(comparison.scoring)[1]
    sentence = f"The score is {number(sign * train)} on the rows of the fit and {number(sign * test)} on rows held out."
    if not (np.isfinite([train, test, guess]).all() and guess > 0):
        return sentence
    gap, error = train - test, float(curve.test_error[-1])
    if best - test <= LITTLE * guess:
        return f"{sentence} Hardly anything is missing, so the model is as free as it has to be."
    if gap <= error:
        # Nothing is lost between the two: all that is missing is missing on the rows of the fit already.
        return f"{sentence} Nothing is lost in between, so variance is low: {_bias(best - train, guess)}"
    return f"{sentence} {diagnose_fit(max(best - train, 0.0), best - test, baseline=guess).words}"


def _bias(error: float, guess: float) -> str:
    if error > guess / 1.5:
        return "what is missing is bias; other columns or a freer model would be needed."
    return "the model is about as free as the rows allow."


def unseen_words(comparison: Comparison) -> list[str]:
    """Say so where there was no time to fit the best model without each fold."""
    best = comparison.best
    if comparison.task == "clustering" or best.model is None or best.out_of_bag:
        return []
    count = len(comparison.members)
    if count == comparison.n_folds:
        return []
    what = f"in {count} of {comparison.n_folds} folds only" if count else "in no fold"
    return [f"what the best model says of rows held out was looked at {what}, for want of time; --budget gives more"]


def coverage_of(comparison: Comparison) -> Coverage | None:
    """Count how often intervals or sets of the best model hold rows held out; None where that can not be told."""
    if comparison.task == "clustering" or comparison.predicted is None or comparison.forward or not comparison.members:
        return None
    y, folds = np.asarray(comparison.rows.array().y)[comparison.judged], comparison.folds[comparison.judged]
    if comparison.task == "regression":
        return interval_coverage(y, comparison.predicted, folds, LEVEL)
    if comparison.chances is None:
        return None
    classes = comparison.best.model.classes_
    codes = np.searchsorted(classes, y)
    return set_coverage(codes, comparison.chances, folds, LEVEL)


def coverage_words(found: Coverage | None, target: str | None) -> str:
    """Say how often the truth was held.

    >>> coverage_words(Coverage(0.9, 897, 1000, 24.0, "interval", 0.0), "y")
    '90 % intervals hold 89.7 % of held-out rows (87.6 to 91.5 % with 95 % confidence); they reach 12 to either side of the predicted y.'
    """
    if found is None:
        return ""
    low, high = (100 * one for one in found.between)
    held = f"hold {100 * found.share:.1f} % of held-out rows ({low:.1f} to {high:.1f} % with 95 % confidence)"
    if found.kind == "interval":
        reach = f"they reach {number(found.size / 2)} to either side of the predicted {target or 'value'}"
        return f"{100 * found.level:.0f} % intervals {held}; {reach}."
    return f"{100 * found.level:.0f} % sets of classes {held}; they have {found.size:.2f} classes on average."
