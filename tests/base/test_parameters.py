"""Rules for parameters: what they accept and what they say."""

from fractions import Fraction

import numpy as np
import pytest

from qed.base.errors import ParameterError
from qed.base.models.parameters import boolean, check_parameters, choice, integer, number
from qed.base.random import generator, seed_of


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (number(0), [0, 0.5, np.float32(2)], [-1, np.nan, np.inf, "1", None, True, 10**400, Fraction(1, 2), 1e-310]),
        (number(0, above=True), [1e-300], [0, 5e-324]),
        (number(0, 1), [0, 1], [1.1]),
        (integer(1), [1, np.int64(3)], [0, 1.0, True, 2**63]),
        (choice("a", 2), ["a", 2], ["b", 2.0, True]),
        (boolean(), [True, np.bool_(False)], [0, 1, None]),
        (number(0) | choice(None), [1.0, None], ["x"]),
    ],
)
def test_rules(rule, good, bad):
    assert all(rule.accepts(value) for value in good)
    assert not any(rule.accepts(value) for value in bad)


def test_the_message_names_model_parameter_and_value():
    class Model:
        degree = -3

    with pytest.raises(ParameterError, match="Model: degree must be a whole number >= 1, not -3"):
        check_parameters(Model(), {"degree": integer(1)})


@pytest.mark.parametrize(("rule", "words"), [(integer(2), "No whole number"), (number(0), "Write it as a float")])
def test_the_advice_for_huge_whole_numbers_is_what_helps(rule, words):
    with pytest.raises(ParameterError, match=words):
        rule.checked("n", 2**70)


def test_draws_depend_on_seed_and_purpose_alone():
    assert generator(1, "a", 2).random() == generator(1, "a", 2).random()
    assert generator(1, "a", 2).random() != generator(1, "a", 3).random()
    assert generator(1, "a").random() != generator(1, "b").random()
    assert generator(1, "a").random() != generator(2, "a").random()


def test_seeds():
    assert seed_of(5) == 5 and seed_of(np.int64(5)) == 5
    assert seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    assert seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    assert seed_of(None) != seed_of(None)
    with pytest.raises(ParameterError, match="random_state"):
        seed_of("seed")
