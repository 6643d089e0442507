"""Catalogue entries poly-count, S31 and O-POLYMAP (its counting): how many monomials there are, exactly, before any is made."""

import itertools
import math

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError

DEGREES = (1, 3, 5, 10, 25)
CELLS = {
    1: (2, 4, 6, 11, 26),
    3: (4, 20, 56, 286, 3276),
    5: (6, 56, 252, 3003, 142506),
    10: (11, 286, 3003, 184756, 183579396),
    25: (26, 3276, 142506, 183579396, 126410606437752),
}


@pytest.mark.parametrize("variables", CELLS)
def test_all_cells_of_the_table(variables):
    for degree, count in zip(DEGREES, CELLS[variables]):
        assert qed.monomial_count(variables, degree) == count
        factorials = math.factorial(variables + degree) // (math.factorial(variables) * math.factorial(degree))
        assert count == factorials and isinstance(qed.monomial_count(variables, degree), int)


def test_the_count_is_symmetric():
    for variables, degree in itertools.product(range(1, 12), range(1, 12)):
        assert qed.monomial_count(variables, degree) == qed.monomial_count(degree, variables)


def test_at_most_d_in_l_variables_is_exactly_d_in_one_more():
    for variables, degree in itertools.product(range(1, 5), range(1, 6)):
        exactly = sum(1 for _ in itertools.combinations_with_replacement(range(variables + 1), degree))
        assert qed.monomial_count(variables, degree) == exactly
        model = qed.PolynomialFeatures(degree).fit(np.ones((1, variables)))
        assert model.n_output_features_ == len(model.powers_) == exactly


def test_stars_and_bars():
    def monomial(word):
        return tuple(len(stars) for stars in word.split("|"))

    words = [
        "".join("|" if place in bars else "*" for place in range(8)) for bars in itertools.combinations(range(8), 2)
    ]
    assert len({monomial(word) for word in words}) == len(words) == qed.monomial_count(2, 6) == 28
    # The columns of our features, with what is missing to six for the power of one; among them is *|***|**.
    powers = qed.PolynomialFeatures(6).fit(np.ones((1, 2))).powers_
    assert {monomial(word) for word in words} == {(6 - int(a + b), int(a), int(b)) for a, b in powers}
    assert [3, 2] in powers.tolist() and monomial("*|***|**") == (6 - 5, 3, 2)


def test_distinct_products_are_not_all_monomials():
    assert qed.monomial_count(4, 3, interaction_only=True) == 1 + 4 + 6 + 4 == 15
    assert qed.monomial_count(4, 3) == 35
    X = np.ones((1, 4))
    assert qed.PolynomialFeatures(3, interaction_only=True).fit(X).n_output_features_ == 15
    assert qed.PolynomialFeatures(3).fit(X).n_output_features_ == 35


def test_dimensions_of_the_polynomial_kernel_and_their_growth():
    assert [qed.monomial_count(2, p) for p in (2, 3, 4)] == [6, 10, 15]
    for p in (2, 3):
        ratio = qed.monomial_count(2000, p) / qed.monomial_count(1000, p)
        assert abs(ratio / 2**p - 1) < 0.01


def test_the_count_is_checked_before_memory_is_asked_for():
    with pytest.raises(ParameterError, match=r"183579396 columns, 1\.47 GB for each row.*polynomial kernel"):
        qed.PolynomialFeatures(25).fit(np.ones((1, 10)))


def test_what_is_no_count():
    for bad in (-1, 2.0, "3", True):
        with pytest.raises(ParameterError, match="whole number"):
            qed.monomial_count(2, bad)
