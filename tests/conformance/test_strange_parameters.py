"""Whatever stands in the place of a parameter, one sentence says what is wrong: no overflow, no traceback from inside NumPy, no NaN."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from qed.base.errors import ParameterError, QedError
from qed.base.models.parameters import check_parameters
from tests.conformance.specimens import estimators, specimen, table, target_for

NAMES = sorted(estimators())
X, NUMBER, LABEL = table(n=40)
# What no rule for numbers, choices or arrays can accept, with the words that say how to go on.
STRANGE = [
    (10**400, "No (whole )?number may be"),
    (-(10**5000), ""),
    (1e308, "No number may be above 1e\\+300|$"),
    (5e-324, "or nearer to 0 than 1e-300|$"),
    (Fraction(1, 2), "Write it as a float|$"),
    (Decimal("0.5"), ""),
    (1j, ""),
    (np.array(2), ""),
    ("x" * 10**6, ""),
    (object(), ""),
]
# Left out of fits, which they would only make as long as they say.
COUNTS = {"n_estimators", "max_iter", "n_init", "n_iter"}
ODD = [
    True,
    0,
    -1,
    1,
    0.5,
    1e-300,
    1e300,
    2**62,
    "auto",
    [],
    [1],
    {},
    (),
    np.int64(2),
    np.float32(0.5),
    np.str_("auto"),
]
ODD += [[np.nan] * 4, ["a", "b", "c", "d"], np.ones((4, 4)), np.array([None, 1], dtype=object), {1}, b"a", int, None]


@pytest.mark.parametrize("name", NAMES)
def test_values_of_strange_types_and_sizes_are_refused_in_a_sentence(name):
    for one, rule in specimen(name).parameters.items():
        for value, advice in STRANGE:
            model = specimen(name).set_params(**{one: value})
            if rule.accepts(value):  # what it has to be is checked where it is used
                continue
            with pytest.raises(ParameterError, match=f"(?s){one} must be .*({advice})") as error:
                check_parameters(model, {one: rule})
            assert len(str(error.value)) < 700 and "\n" not in str(error.value)


def takes_nothing():
    return 0


def gives_text(*args, **kwargs):
    return "text"


def gives_nothing(*args, **kwargs):
    return None


def gives_nan(*args, **kwargs):
    return np.nan


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_the_wrong_kind_are_refused_in_a_sentence_or_never_called(name):
    for one, rule in specimen(name).parameters.items():
        for function in (int, len, object, np.mean, takes_nothing, gives_text, gives_nothing, gives_nan):
            if not rule.accepts(function) or one == "random_state":
                continue
            model = specimen(name).set_params(**{one: function})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                try:
                    model.fit(X, target_for(model, NUMBER, LABEL))
                    found = [getattr(model, door)(X) for door in ("predict", "transform") if hasattr(model, door)]
                except QedError as error:
                    assert "\n" not in str(error), (one, function)
                    continue
            assert all(np.isfinite(values).all() for values in map(np.asarray, found) if values.dtype.kind == "f")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_odd_values_are_refused_in_a_sentence_or_make_a_model(name):
    for one in specimen(name).parameters:
        for value in (*ODD, *(value for value, _ in STRANGE)):
            if one in COUNTS and isinstance(value, int) and value > 1000:
                continue
            model = specimen(name).set_params(**{one: value})
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                warnings.simplefilter("ignore", UserWarning)
                try:
                    model.fit(X, target_for(model, NUMBER, LABEL))
                    found = [getattr(model, door)(X) for door in ("predict", "transform") if hasattr(model, door)]
                except QedError:
                    continue
            for values in found:
                values = values.toarray() if sparse.issparse(values) else np.asarray(values)
                assert values.dtype.kind != "f" or np.isfinite(values).all(), (one, value)
