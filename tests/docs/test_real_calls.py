"""The page about real calls: by its rules a softphone rings at any hour."""

import re
from datetime import UTC, datetime
from pathlib import Path

from callwright.service.dialling.eligibility.gate import Allowed, Candidate, Deferred, gate
from callwright.service.platform.clock.clock import HOUR, milliseconds
from callwright.service.rules.open_hours import open_hours
from callwright.service.rules.regions.places import place_of
from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.rules.regions.rule_file import read_rules, shipped_rules

PAGE = (Path(__file__).parents[2] / "docs" / "real-calls.md").read_text(encoding="utf-8")
RULES = re.search(r"<<'END'\n(.*?)^END$", PAGE, re.MULTILINE | re.DOTALL)
CALLED = "+14155550123"
HOLIDAY_MS = milliseconds(datetime(2026, 11, 26, 0, tzinfo=UTC))
"""A day before and in Thanksgiving."""


def decisions(rules: RegionRules) -> list[type[object]]:
    """What the gate says of the number that is called, at each hour of three days."""
    place = place_of(rules, CALLED, state=None, timezone=None, fallback_zone=None)
    hours = open_hours(rules, place, None, "informational")
    moments = range(HOLIDAY_MS, HOLIDAY_MS + 72 * HOUR, HOUR)
    return [type(gate(Candidate("c", CALLED, at_ms, hours), at_ms)) for at_ms in moments]


def test_by_the_rules_of_the_page_the_softphone_rings_at_any_hour_and_by_the_shipped_ones_it_does_not() -> None:
    assert RULES is not None
    assert set(decisions(read_rules(RULES[1]))) == {Allowed}
    assert Deferred in decisions(shipped_rules())


def test_the_number_that_is_called_is_the_softphones() -> None:
    assert f"<sip:{CALLED}@127.0.0.1:5070>" in PAGE
    assert f"--to {CALLED}" in PAGE
