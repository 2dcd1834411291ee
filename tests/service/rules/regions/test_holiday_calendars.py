"""Public holidays by calendar, with the days observed in their place."""

import subprocess
import sys
from datetime import date

import pytest

from callwright.service.rules.regions.holiday_calendars import is_calendar, is_holiday


@pytest.mark.parametrize(
    ("calendar", "day", "is_one"),
    [
        ("US", date(2026, 7, 4), True),
        ("US", date(2026, 7, 3), True),  # observed: the 4th is a Saturday
        ("US", date(2027, 12, 31), True),  # New Year's Day of the next year, observed
        ("US", date(2026, 7, 6), False),
        ("US", date(2026, 4, 27), False),
        ("US-AL", date(2026, 4, 27), True),
        ("GB", date(2026, 12, 28), True),  # observed: the 26th is a Saturday
        ("FR", date(2026, 5, 1), True),
        ("FR", date(2026, 5, 4), False),
        ("AU", date(2026, 4, 25), True),
    ],
)
def test_a_day_is_a_holiday_by_its_calendar(calendar: str, day: date, is_one: bool) -> None:
    assert is_holiday(calendar, day) is is_one


def test_the_own_calendar_is_that_of_the_regions_of_a_place() -> None:
    memorial = date(2026, 4, 27)  # of the Confederacy, in Alabama
    assert is_holiday("*", memorial, regions=("US", "US-AL"))
    assert not is_holiday("*", memorial, regions=("US", "US-NY"))
    assert is_holiday("*", memorial, regions=("US", "US-AL", "US-NY"))
    assert not is_holiday("*", memorial, regions=("US", "US-AL", "US-NY", "US-NJ"))
    assert not is_holiday("*", memorial, regions=("US",))
    assert is_holiday("*", date(2026, 7, 14), regions=("GB", "FR"))
    assert not is_holiday("*", date(2026, 7, 14), regions=())
    assert not is_holiday("*", date(2026, 7, 14), regions=("XK", "ZZ"))


@pytest.mark.parametrize(
    ("regions", "day", "is_one"),
    [
        pytest.param(("GB",), date(2027, 3, 29), True, id="Easter Monday, in three of four parts"),
        pytest.param(("GB", "GB-SCT"), date(2027, 3, 29), False, id="Easter Monday in Scotland"),
        pytest.param(("GB",), date(2027, 7, 12), False, id="the twelfth of July, in Northern Ireland alone"),
        pytest.param(("DE",), date(2027, 10, 31), True, id="Reformation Day, in nine of sixteen parts"),
        pytest.param(("DE",), date(2027, 1, 6), False, id="Epiphany, in three of sixteen parts"),
        pytest.param(("DE", "DE-BY"), date(2027, 1, 6), True, id="Epiphany in Bavaria"),
        pytest.param(("CA",), date(2027, 11, 11), True, id="Remembrance Day, in most provinces"),
        pytest.param(("CA", "CA-ON"), date(2027, 11, 11), False, id="Remembrance Day in Ontario"),
        pytest.param(("AU",), date(2027, 12, 27), True, id="the day observed for Christmas"),
        pytest.param(("XK", "GB"), date(2027, 3, 29), True, id="beside a country without a calendar"),
    ],
)
def test_where_the_part_is_not_known_a_holiday_of_half_of_the_parts_is_one(
    regions: tuple[str, ...], day: date, is_one: bool
) -> None:
    assert is_holiday("*", day, regions=regions) is is_one


@pytest.mark.parametrize("name", ["", "ZZ", "US-ZZ", "US-", "XNYS", "usa", "Holidays"])
def test_what_is_no_calendar_is_none(name: str) -> None:
    assert not is_calendar(name)


def test_importing_the_rules_of_regions_loads_no_calendar_and_no_numbers() -> None:
    program = (
        "import sys; import callwright.service.rules.regions.places, callwright.service.rules.regions.rule_file; "
        "print(*(name for name in ('holidays', 'phonenumbers') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""
