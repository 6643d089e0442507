"""What a search accepts for those of its parameters that no other model has."""

import numpy as np

from qed.base.models.parameters import Parameter

SEARCHABLE = Parameter(
    "a model (an object, not its class) with fit and get_params",
    lambda value: not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params"),
    "model",
)
ERROR_SCORE = Parameter(
    "'raise' or a number",
    lambda value: value == "raise" if isinstance(value, str) else isinstance(value, (int, float, np.number)),
)
REFITTING = Parameter(
    "True or False, the name of a scorer, or a function of the table",
    lambda value: isinstance(value, (bool, np.bool_, str)) or callable(value),
)
