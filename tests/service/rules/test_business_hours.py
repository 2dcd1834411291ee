"""When callers are answered."""

from datetime import UTC, datetime

import pytest

from callwright.contract.deployments.inbound import BusinessHours
from callwright.service.rules.business_hours import are_open

HOURS = BusinessHours.model_validate(
    {
        "timezone": "Europe/Berlin",
        "windows": [
            {"days": ["mon", "fri"], "start": "09:00", "end": "12:00"},
            {"days": ["mon"], "start": "13:00", "end": "24:00"},
        ],
    }
)


@pytest.mark.parametrize(
    ("at", "open_"),
    [
        (datetime(2026, 11, 23, 8, 0, tzinfo=UTC), True),  # Monday 09:00 in Berlin
        (datetime(2026, 11, 23, 7, 59, tzinfo=UTC), False),
        (datetime(2026, 11, 23, 11, 0, tzinfo=UTC), False),  # the end of a window is not part of it
        (datetime(2026, 11, 23, 22, 59, tzinfo=UTC), True),  # to midnight
        (datetime(2026, 11, 23, 23, 0, tzinfo=UTC), False),  # Tuesday there
        (datetime(2026, 7, 24, 7, 0, tzinfo=UTC), True),  # Friday 09:00 in summer
        (datetime(2026, 11, 25, 9, 0, tzinfo=UTC), False),
    ],
)
def test_callers_are_answered_in_the_windows_of_the_zone(at: datetime, open_: bool) -> None:
    assert are_open(HOURS, round(at.timestamp() * 1_000)) is open_


def test_without_hours_callers_are_answered_at_any_time() -> None:
    assert are_open(None, 0)
