"""What a search accepts for those of its parameters that no other model has."""

import numpy as np

from qed.base.models.parameters import Parameter


def searchable() -> Parameter:
    """Accept a model: an object that can be fitted and copied."""

    def accepts(value: object) -> bool:
        return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")

    return Parameter("a model (an object, not its class) with fit and get_params", accepts, "model")


def error_score() -> Parameter:
    """Accept what stands for the score of a fit that failed."""

    def accepts(value: object) -> bool:
        return value == "raise" if isinstance(value, str) else isinstance(value, (int, float, np.number))

    return Parameter("'raise' or a number", accepts)


def refitting() -> Parameter:
    """Accept whether, and by which score, the best candidate is chosen and fitted to all rows."""

    def accepts(value: object) -> bool:
        return isinstance(value, (bool, np.bool_, str)) or callable(value)

    return Parameter("True or False, the name of a scorer, or a function of the table", accepts)
