"""Which number a trunk means, and who calls."""

import pytest

from callwright.service.telephony.carriers.called_number import caller_number, own_number

OWN = ("+493023125001", "+14155550100")


@pytest.mark.parametrize(
    ("called", "found"),
    [
        (("+493023125001",), "+493023125001"),
        (("493023125001",), "+493023125001"),
        (("00493023125001",), "+493023125001"),
        (("03023125001",), "+493023125001"),
        (("4155550100",), "+14155550100"),
        (("bob-0x55", "+1 (415) 555-0100"), "+14155550100"),
        (("01",), None),
        (("100",), None),
        (("+493023125002",), None),
        (("bob",), None),
        ((), None),
    ],
)
def test_a_number_is_known_as_trunks_write_it(called: tuple[str, ...], found: str | None) -> None:
    assert own_number(called, OWN, account="bob") == found


def test_an_end_that_two_numbers_have_means_none_of_them() -> None:
    assert own_number(("5550100",), ("+14155550100", "+12125550100")) is None


def test_a_trunk_that_calls_the_account_means_the_only_number() -> None:
    assert own_number(("bob-0x55", "bob"), OWN[:1], account="bob") == OWN[0]
    assert own_number(("alice",), OWN[:1], account="bob") is None
    assert own_number(("",), OWN[:1]) is None


@pytest.mark.parametrize(
    ("caller", "called", "found"),
    [
        ("+4915112345678", "+493023125001", "+4915112345678"),
        ("004915112345678", "+493023125001", "+4915112345678"),
        ("4915112345678", "493023125001", "+4915112345678"),
        ("4915112345678", "+493023125001", "+4915112345678"),
        ("015112345678", "+493023125001", "+4915112345678"),
        ("+14155550123", "+493023125001", "+14155550123"),
        ("", "+493023125001", ""),
        ("100", "+493023125001", ""),
        ("anna", "+493023125001", ""),
    ],
)
def test_a_caller_has_a_number_in_e164_or_none(caller: str, called: str, found: str) -> None:
    assert caller_number(caller, (called,), "+493023125001") == found
