"""Telephone numbers in arguments, as people write them, over the protocol in both eras."""

import pytest

from tests.support.tools import samples
from tests.support.tools.lookups import BANGALORE, DESK, answer, caller, last, listing, refusal
from tests.support.tools.results import text_of


@pytest.mark.parametrize(
    ("masks", "note"), [(True, "read 987•••3210 as +9198•••3210"), (False, "read 98765 43210 as +919876543210")]
)
async def test_a_national_number_is_read_by_the_countries_of_ones_own_numbers(era: str, masks: bool, note: str) -> None:
    asked = caller(list_phone_numbers=listing(DESK, BANGALORE))
    result = await answer(asked, "list_calls", {"to": "98765 43210"}, era=era, masks=masks)
    assert text_of(result).splitlines()[0] == f"{note}  (IN)"
    assert last(asked, "list_calls")["to"] == "+919876543210"


@pytest.mark.parametrize("written", ["+12025550100", "+919876543210"])
async def test_a_number_in_e164_is_passed_on_and_costs_no_request(written: str) -> None:
    asked = caller()
    await answer(asked, "list_calls", {"to": written})
    assert asked.names() == ["list_calls"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("+44 (0)20 7946 0958", "+442079460958"),
        ("0049 30 901820", "+4930901820"),
        ("+1 (202) 555-0100", "+12025550100"),
    ],
)
async def test_an_international_number_is_read_without_asking_for_countries(written: str, read: str) -> None:
    asked = caller()
    await answer(asked, "list_contacts", {"deployment_id": "dep_1", "phone_number": written})
    assert asked.names() == ["list_contacts"]
    assert last(asked, "list_contacts")["phone_number"] == read


async def test_the_country_of_the_call_decides_and_ones_own_number_is_shown_whole() -> None:
    asked = caller()
    result = await answer(asked, "rent_phone_number", {"country": "GB", "number": "020 7946 0958"})
    assert text_of(result).splitlines()[0] == "read 020 7946 0958 as +442079460958  (GB)"
    assert "list_phone_numbers" not in asked.names()
    assert last(asked, "rent_phone_number")["number"] == "+442079460958"


async def test_a_number_that_two_countries_can_mean_is_asked_about() -> None:
    french = samples.number(number="+33612345670", country="FR")
    dutch = samples.number(number="+31612345670", country="NL")
    said = await refusal(caller(list_phone_numbers=listing(french, dutch)), "list_calls", {"to": "06 12 34 56 78"})
    assert said.startswith("Invalid arguments: to: may be +3361•••5678  (FR) or +3161•••5678  (NL); write it with +")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("12345", "to: is no valid telephone number in US; write it with + and the country code"),
        ("Maria", "to: is no valid telephone number; write it with +"),
        ("+999", "to: is no valid telephone number; write it with +"),
        ("+1202•••0100", "to: is masked, so nothing can be found by it"),
        ("", "to: is empty; leave it out"),
    ],
)
async def test_what_is_no_number_is_refused_by_field_with_the_form_that_is_wanted(written: str, words: str) -> None:
    asked = caller(list_phone_numbers=listing(DESK))
    said = await refusal(asked, "list_calls", {"to": written})
    assert said.startswith(f"Invalid arguments: {words}")
    assert "list_calls" not in asked.names()


async def test_without_numbers_of_ones_own_a_national_number_cannot_be_read() -> None:
    said = await refusal(caller(list_phone_numbers=listing()), "list_calls", {"to": "98765 43210"})
    assert said == (
        "Invalid arguments: to: is no valid telephone number; write it with + and the country code, "
        "for example +12025550100."
    )
