"""Where a person may be: regions and time zones by number, and by what a list says."""

import time
from typing import Any

import pytest

from callwright.service.rules.regions.places import Place, place_of
from callwright.service.rules.regions.rule_file import shipped_rules

NEW_YORK, CHICAGO = "America/New_York", "America/Chicago"


def place(number: str, **said: Any) -> Place:
    """The place of a number, with what a list says of its owner."""
    return place_of(shipped_rules(), number, **{"state": None, "timezone": None, "fallback_zone": None, **said})


@pytest.mark.parametrize(
    ("number", "regions", "zones"),
    [
        ("+12125550123", ("US", "US-NY"), {NEW_YORK}),
        ("+18505550123", ("US", "US-FL"), {NEW_YORK, CHICAGO}),  # its west is in another zone
        ("+14482345678", ("US", "US-FL"), {NEW_YORK, CHICAGO}),  # laid over it
        ("+16892345678", ("US", "US-FL"), {NEW_YORK}),  # Orlando, which libphonenumber takes for Chicago's zone
        ("+12195550123", ("US", "US-IN"), {CHICAGO, "America/Indiana/Indianapolis"}),  # what is left of it after 2002
        ("+12605550123", ("US", "US-IN"), {"America/Indiana/Indianapolis"}),  # split off it
        ("+19155550123", ("US", "US-TX"), {"America/Denver"}),
        ("+12025550123", ("US", "US-DC"), {NEW_YORK}),
        ("+14165550123", ("CA", "CA-ON"), {"America/Toronto"}),
        ("+14742345678", ("CA", "CA-SK"), {"America/Regina", "America/Edmonton"}),
        ("+19025551234", ("CA", "CA-NS", "CA-PE"), {"America/Halifax"}),
        ("+447400123456", ("GB",), {"Europe/London"}),
        ("+447911123456", ("GB", "GG"), {"Europe/London"}),
        ("+919876543210", ("IN",), {"Asia/Kolkata"}),
        ("+33612345678", ("FR",), {"Europe/Paris"}),
        ("+491512345678", ("DE",), {"Europe/Berlin"}),
        ("+17872345678", ("US",), {"America/Puerto_Rico"}),
        ("+13405551234", ("US",), {"America/St_Thomas"}),
        ("+262692123456", ("FR",), {"Indian/Reunion", "Indian/Mayotte"}),
        ("+12425551234", ("BS",), {"America/Nassau"}),
    ],
)
def test_a_number_shows_the_regions_and_zones_it_may_be_in(
    number: str, regions: tuple[str, ...], zones: set[str]
) -> None:
    found = place(number)
    assert found.regions == regions
    assert set(found.zones) == zones


@pytest.mark.requirement("RULE-04")
def test_a_toll_free_number_may_be_in_every_state_and_zone_and_the_fallback_zone() -> None:
    found = place("+18005550123", fallback_zone="Europe/Paris")
    states = [region for region in found.regions if region.startswith("US-")]
    assert (found.regions[0], len(states)) == ("US", 51)
    assert {"Pacific/Honolulu", "America/Anchorage", NEW_YORK, "Europe/Paris"} <= set(found.zones)


def test_a_mobile_number_of_many_zones_may_be_in_all_of_the_country_and_the_fallback_zone() -> None:
    found = place("+61412345678", fallback_zone="Europe/Paris")
    assert found.regions[0] == "AU"
    assert {"Australia/Perth", "Australia/Sydney", "Australia/Darwin", "Europe/Paris"} <= set(found.zones)
    assert set(place("+61412345678", state="Western Australia").zones) == {"Australia/Perth", "Australia/Eucla"}


@pytest.mark.requirement("RULE-03")
@pytest.mark.parametrize("written", ["FL", "fl", " Florida ", "US-FL", "us-fl", "FLORIDA"])
def test_the_state_in_a_column_wins_over_the_area_code(written: str) -> None:
    found = place("+12125550123", state=written)
    assert found.regions == ("US", "US-FL")
    assert set(found.zones) == {NEW_YORK, CHICAGO}
    assert place("+18005550123", state=written).regions == ("US", "US-FL")


@pytest.mark.parametrize(
    ("number", "written", "region"),
    [
        ("+14165550123", "Québec", "CA-QC"),
        ("+14165550123", "quebec", "CA-QC"),
        ("+61412345678", "NSW", "AU-NSW"),
        ("+61412345678", "WA", "AU-WA"),
        ("+12125550123", "WA", "US-WA"),
        ("+12125550123", "Washington, D.C.", "US-DC"),
        ("+12125550123", "District of Columbia", "US-DC"),
    ],
)
def test_parts_of_a_country_are_known_by_code_and_name(number: str, written: str, region: str) -> None:
    assert place(number, state=written).regions == (region.partition("-")[0], region)


def test_a_part_of_the_other_country_with_plus_one_adds_its_country() -> None:
    assert place("+12125550123", state="Ontario").regions == ("US", "CA", "CA-ON")


def test_the_holidays_of_a_territory_count_beside_those_of_its_country() -> None:
    assert place("+17875550123") == Place(("US",), ("America/Puerto_Rico",), ("PR",))
    islands = {place(number).calendars for number in ("+590590387523", "+590590301234")}
    assert islands == {("GP",), ("MF",)}


@pytest.mark.parametrize("written", ["", "?", "-", "12", "unknown", "N/A", "none", "Other", "--None--", "k. A.", "NaN"])
def test_a_cell_that_says_no_state_leaves_the_area_code(written: str) -> None:
    assert place("+18505550123", state=written) == place("+18505550123")


@pytest.mark.parametrize("written", ["Bavaria", "x" * 10_000, "Calfornia", "Los Angeles", "USA", "active", "Île"])
def test_a_state_that_is_not_understood_may_be_each_of_the_country_and_its_zones(written: str) -> None:
    # The area code alone would have people who moved away called in the middle of their night.
    found = place("+18505550123", state=written)
    assert (found.regions[0], len(found.regions)) == ("US", 52)
    assert {"Pacific/Honolulu", "America/Anchorage", "America/Los_Angeles", NEW_YORK} <= set(found.zones)
    canada = place("+14165550123", state=written)
    assert (canada.regions[0], len(canada.regions)) == ("CA", 14)
    assert {"America/Vancouver", "America/St_Johns"} <= set(canada.zones)
    australia = place("+61212345678", state=written)
    assert (len(australia.regions), "Australia/Perth" in australia.zones) == (9, True)


def test_a_state_is_passed_over_where_no_rules_know_parts_of_the_country() -> None:
    assert place("+491512345678", state="Bayern") == place("+491512345678")
    assert place("+12425551234", state="New Providence") == place("+12425551234")


def test_the_time_zone_in_a_column_is_the_only_one() -> None:
    found = place("+18505550123", timezone="America/Los_Angeles", fallback_zone="Europe/Paris")
    assert found.zones == ("America/Los_Angeles",)
    assert found.regions == ("US", "US-FL")
    assert place("+18505550123", timezone="Mars").zones == place("+18505550123").zones


def test_a_stored_abbreviation_of_a_time_zone_is_that_of_the_country_or_none() -> None:
    assert place("+18505550123", timezone="EST").zones == (NEW_YORK,)
    assert place("+18505550123", timezone="Pacific").zones == ("America/Los_Angeles",)
    assert place("+447400123456", timezone="EST") == place("+447400123456")
    assert place("+447400123456", timezone="localtime") == place("+447400123456")


def test_the_old_and_the_new_name_of_a_zone_are_one_zone() -> None:
    assert place("+919876543210", timezone="Asia/Calcutta") == place("+919876543210", timezone="Asia/Kolkata")
    assert place("+919876543210").zones == ("Asia/Kolkata",)


def test_a_number_of_no_country_is_in_no_region_and_in_the_fallback_zone() -> None:
    assert place("+881612345678", fallback_zone="Europe/Paris") == Place((), ("Europe/Paris",))
    assert place("+881612345678") == Place((), ("UTC",))
    assert place("nonsense") == Place((), ("UTC",))


def test_every_area_code_is_of_a_known_part_and_reaches_only_its_zones() -> None:
    rules = shipped_rules()
    assert len(rules.area_codes) > 400
    for code, parts in rules.area_codes.items():
        zones = {zone for part in parts for zone in rules.regions[part].zones}
        assert set(rules.area_zones.get(code, ())) <= zones, code
        assert len(zones) == 1 or len(parts) > 1 or code in rules.area_zones or parts == ("CA-SK",), code


def test_ten_thousand_places_take_less_than_half_a_second_once_area_codes_are_known() -> None:
    numbers = [f"+1{code}555{index:04}" for index in range(25) for code in shipped_rules().area_codes]
    for number in numbers[:1_000]:
        place(number)
    begun = time.process_time()
    for number in numbers[:10_000]:
        place(number)
    assert time.process_time() - begun < 0.5
