"""Claims and certificates."""

import math

import pytest

from qed import Certificate, Claim


def test_a_claim_holds_up_to_its_bound():
    assert Claim("x", 1.0, 1.0).holds
    assert not Claim("x", 1.0 + 1e-12, 1.0).holds


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_proves_nothing(value):
    assert not Claim("x", value, 1.0).holds


def test_a_certificate_is_true_when_all_claims_hold_and_there_are_some():
    good, bad = Claim("good", 0.0, 1.0), Claim("bad", 2.0, 1.0)
    assert Certificate([good])
    assert not Certificate([good, bad])
    assert not Certificate([])
    assert Certificate([good, bad]).failures == (bad,)


def test_it_can_be_read_by_people_and_machines():
    certificate = Certificate([Claim("the gap is small", 1e-9, 1e-6), Claim("wrong", 5.0, 1.0)], source="statistics")
    assert Certificate.from_dict(certificate.to_dict()) == certificate
    text = str(certificate)
    assert "the gap is small" in text and "NO" in text and text.endswith("not proven")
    assert str(Certificate([Claim("x", 0.0, 1.0)])).endswith("∎")
    assert certificate["wrong"].value == 5.0
    with pytest.raises(KeyError, match="No claim begins"):
        certificate["absent"]


def test_it_can_not_be_changed():
    with pytest.raises(AttributeError):
        Certificate([]).claims = ()
