"""Is a model too simple or too flexible? A diagnosis from its error on training rows and on rows held out.

The training error shows bias, not variance; the test error shows both. A model whose training error is far above what noise
explains underfits; one whose test error is far above its training error overfits. How far is far is a setting, `ratio`.
"""

from dataclasses import dataclass

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.parameters import number
from qed.base.visible import ShownAsText


@dataclass(frozen=True, repr=False)
class FitDiagnosis(ShownAsText):
    """What two errors say about a model.

    Attributes
    ----------
    underfits, overfits : bool
        Whether bias, and whether variance, is high.
    words : str
        The diagnosis as a sentence, with what to try.
    """

    underfits: bool
    overfits: bool
    words: str

    def __str__(self) -> str:
        return self.words


def diagnose_fit(
    train_error: float,
    test_error: float,
    *,
    noise_variance: float = 0.0,
    baseline: float | None = None,
    ratio: float = 1.5,
) -> FitDiagnosis:
    """Tell underfitting and overfitting from mean squared errors.

    Parameters
    ----------
    train_error, test_error : float
        Mean squared errors on the training rows and on rows held out.
    noise_variance : float, default=0.0
        The irreducible part of both, where it is known.
    baseline : float, optional
        The error of predicting the mean. Without it, and without `noise_variance`, underfitting can not be told.
    ratio : float, default=1.5
        Overfitting is a test error of more than so many times the training error; underfitting a training error of more than so many times
        the noise variance, or, where that is not known, of more than ``1 / ratio`` of the baseline.

    Examples
    --------
    >>> print(diagnose_fit(0.1, 1.0))
    Overfits: the test error is 10 times the training error. Try fewer features, a larger penalty, or more rows.
    >>> print(diagnose_fit(0.95, 1.0, baseline=1.0))
    Underfits: the training error is high already, so bias dominates. Try better features or a smaller penalty; more rows will not help.
    """
    for name, value in (("train_error", train_error), ("test_error", test_error), ("noise_variance", noise_variance)):
        number(0).checked(name, value)
    if not ratio > 1:
        raise ParameterError(f"ratio must be above 1, not {ratio!r}.")
    overfits = test_error > ratio * train_error
    too_high = ratio * noise_variance if noise_variance > 0 else np.inf if baseline is None else baseline / ratio
    underfits = train_error > too_high
    said = []
    if underfits:
        said.append(
            "Underfits: the training error is high already, so bias dominates. Try better features or a smaller "
            "penalty; more rows will not help."
        )
    if overfits:
        times = "many" if train_error == 0 else f"{test_error / train_error:.3g}"
        said.append(
            f"Overfits: the test error is {times} times the training error. Try fewer features, a larger penalty, or "
            "more rows."
        )
    return FitDiagnosis(underfits, overfits, " ".join(said) or "Neither underfits nor overfits by these errors.")
