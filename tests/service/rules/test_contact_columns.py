"""Cells that say how a person is called."""

import pytest

from callwright.service.rules.contact_columns import language_written, moment_written, priority_written

NINE_UTC = 1_803_891_600_000
"""2027-03-01 09:00 UTC."""
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0", 0),
        ("9", 9),
        (" 3 ", 3),
        ("3.0", 3),
        ("10", None),
        ("-1", None),
        ("3.5", None),
        ("high", None),
        ("٣", None),
    ],
)
def test_a_priority_is_a_digit(text: str, read: int | None) -> None:
    assert priority_written(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("de-de", "de-DE"),
        ("DE", "de"),
        ("pt_BR", "pt-BR"),
        ("zh-hans-cn", "zh-Hans-CN"),
        ("German", None),
        ("d", None),
        ("de-", None),
        ("en-" + "a" * 40, None),
    ],
)
def test_a_language_is_a_tag_in_the_usual_case(text: str, read: str | None) -> None:
    assert language_written(text) == read


@pytest.mark.parametrize(
    ("text", "zones", "read"),
    [
        ("2027-03-01T09:00:00Z", ("Asia/Tokyo",), NINE_UTC),
        ("2027-03-01 10:00+01:00", (), NINE_UTC),
        ("2027-03-01 09:00", ("UTC",), NINE_UTC),
        ("2027-03-01 09:00:00", (), NINE_UTC),
        ("2027-03-01T18:00", ("Asia/Tokyo",), NINE_UTC),
        ("2027-03-01", ("America/New_York",), NINE_UTC - 4 * HOUR),
        ("2027-03-01", ("America/New_York", "America/Los_Angeles"), NINE_UTC - HOUR),
        ("01.03.2027", ("UTC",), None),
        ("03/01/2027", ("UTC",), None),
        ("tomorrow", ("UTC",), None),
        ("46447", ("UTC",), None),
        ("9999-12-31T23:59-12:00", ("UTC",), None),
    ],
)
def test_a_time_is_of_iso_8601_and_that_of_the_last_zone_where_the_person_may_be(
    text: str, zones: tuple[str, ...], read: int | None
) -> None:
    assert moment_written(text, zones) == read
