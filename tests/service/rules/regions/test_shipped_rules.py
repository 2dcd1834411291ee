"""Every rule of the shipped file beside what its source says, written by hand: moments on both sides of each limit."""

from dataclasses import dataclass
from datetime import date, timedelta

import pytest

from callwright.service.rules.regions.holiday_calendars import is_holiday
from callwright.service.rules.regions.region_rules import (
    CapRule,
    ConsentRule,
    HoursRule,
    PauseRule,
    RecordingRule,
    RingRule,
    Rule,
)
from callwright.service.rules.regions.rule_file import shipped_rules
from tests.house.tree import ROOT

WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ALL, SALES, DEBTS, POLLS = (), ("marketing",), ("collections",), ("survey",)
RULES = {rule.id: rule for rule in shipped_rules().rules()}


@dataclass(frozen=True)
class Hours:
    """First and last minutes of each day's windows, a day without any left out; and a holiday of the calendar."""

    purposes: tuple[str, ...]
    days: dict[str, str]
    holiday: date | None = None
    since: date | None = None

    def check(self, rule: Rule) -> None:
        assert isinstance(rule, HoursRule)
        for number, day in enumerate(WEEK):
            named = next((spans for days, spans in self.days.items() if day in days.split()), "")
            for first, last in (span.split("-") for span in named.split(" and ") if named):
                assert not allowed(rule, number, minute(first) - 1), (day, first)
                assert allowed(rule, number, minute(first)), (day, first)
                assert allowed(rule, number, minute(last)), (day, last)
                assert not allowed(rule, number, minute(last) + 1), (day, last)
            if not named:
                assert not any(allowed(rule, number, at) for at in range(0, 24 * 60, 15)), day
        if self.holiday is None:
            assert rule.holidays is None
        else:
            assert rule.holidays is not None
            assert is_holiday(rule.holidays, self.holiday, regions=("US",))
            assert not is_holiday(rule.holidays, date(2026, 8, 4), regions=("US",))


@dataclass(frozen=True)
class Count:
    """So many calls in so many hours."""

    purposes: tuple[str, ...]
    most: int
    hours: int
    since: date | None = None

    def check(self, rule: Rule) -> None:
        assert isinstance(rule, CapRule)
        assert (rule.most, rule.hours) == (self.most, self.hours)


@dataclass(frozen=True)
class Pause:
    """After these outcomes, none for so many hours."""

    purposes: tuple[str, ...]
    outcomes: set[str]
    hours: int
    since: date | None = None

    def check(self, rule: Rule) -> None:
        assert isinstance(rule, PauseRule)
        assert (set(rule.outcomes), rule.hours) == (self.outcomes, self.hours)


@dataclass(frozen=True)
class Consent:
    """What kind of consent."""

    needs: str
    since: date | None = None
    purposes: tuple[str, ...] = SALES

    def check(self, rule: Rule) -> None:
        assert isinstance(rule, ConsentRule)
        assert rule.needs == self.needs


@dataclass(frozen=True)
class Recording:
    """Whether recording is announced."""

    announced: bool
    since: date | None = None
    purposes: tuple[str, ...] = ALL

    def check(self, rule: Rule) -> None:
        assert isinstance(rule, RecordingRule)
        assert rule.announcement is self.announced


@dataclass(frozen=True)
class Ring:
    """How long a telephone rings."""

    purposes: tuple[str, ...]
    seconds: int
    since: date | None = None

    def check(self, rule: Rule) -> None:
        assert isinstance(rule, RingRule)
        assert rule.least_seconds == self.seconds


def minute(clock: str) -> int:
    """A time of day as minutes from midnight."""
    return int(clock[:2]) * 60 + int(clock[3:])


def allowed(rule: HoursRule, weekday: int, at: int) -> bool:
    """Whether a minute of a weekday is in one of its windows."""
    return any(start <= at < end for start, end in rule.windows[weekday])


DAILY, MON_SAT, MON_FRI, WEEKEND = " ".join(WEEK), " ".join(WEEK[:6]), " ".join(WEEK[:5]), "sat sun"
CHRISTMAS = date(2026, 12, 25)
EXPECTED: dict[str, Hours | Count | Pause | Consent | Recording | Ring] = {
    "*.hours": Hours(ALL, {MON_SAT: "09:00-19:59"}, CHRISTMAS),
    "*.caps-day": Count(ALL, 3, 24),
    "*.caps-week": Count(ALL, 7, 7 * 24),
    "*.consent": Consent("prior"),
    "*.recording": Recording(True),
    "*.ring": Ring(ALL, 15),
    "US.hours-marketing": Hours(SALES, {DAILY: "08:00-20:59"}),
    "US.hours-collections": Hours(DEBTS, {DAILY: "08:00-20:59"}),
    "US.caps-collections": Count(DEBTS, 7, 7 * 24, date(2021, 11, 30)),
    "US.pause-collections": Pause(DEBTS, {"answered", "transferred"}, 7 * 24, date(2021, 11, 30)),
    "US.consent": Consent("written"),
    "US.recording": Recording(False),
    "US.ring": Ring(SALES, 15),
    "US-AL.hours": Hours(SALES, {MON_SAT: "08:00-19:59"}, date(2026, 4, 27)),
    "US-CA.recording": Recording(True),
    "US-CT.hours": Hours(SALES, {DAILY: "09:00-19:59"}),
    "US-CT.recording": Recording(True),
    "US-DC.hours": Hours(SALES, {DAILY: "08:00-20:59"}),
    "US-DE.recording": Recording(True),
    "US-FL.hours": Hours(SALES, {DAILY: "08:00-19:59"}, since=date(2021, 7, 1)),
    "US-FL.caps": Count(SALES, 3, 24, date(2021, 7, 1)),
    "US-FL.recording": Recording(True),
    "US-IL.recording": Recording(True),
    "US-KY.hours": Hours(SALES, {DAILY: "10:00-20:59"}),
    "US-LA.hours": Hours(("marketing", "survey"), {MON_SAT: "08:00-19:59"}, date(2026, 2, 17)),
    "US-MA.hours": Hours(SALES, {DAILY: "08:00-19:59"}),
    "US-MA.recording": Recording(True),
    "US-MD.hours": Hours(SALES, {DAILY: "08:00-19:59"}, since=date(2024, 1, 1)),
    "US-MD.caps": Count(SALES, 3, 24, date(2024, 1, 1)),
    "US-MD.recording": Recording(True),
    "US-ME.hours": Hours(SALES, {MON_FRI: "09:00-16:59"}),
    "US-MI.hours": Hours(SALES, {DAILY: "09:00-20:59"}),
    "US-MI.recording": Recording(True),
    "US-MN.hours": Hours(SALES, {DAILY: "09:00-20:59"}),
    "US-MS.hours": Hours(SALES, {MON_SAT: "08:00-19:59"}),
    "US-MT.recording": Recording(True),
    "US-NH.recording": Recording(True),
    "US-NM.hours": Hours(SALES, {DAILY: "09:00-20:59"}),
    "US-NV.hours": Hours(SALES, {DAILY: "09:00-19:59"}),
    "US-NV.recording": Recording(True),
    "US-OK.hours": Hours(SALES, {DAILY: "08:00-19:59"}, since=date(2022, 11, 1)),
    "US-OK.caps": Count(SALES, 3, 24, date(2022, 11, 1)),
    "US-PA.hours": Hours(SALES, {MON_SAT: "08:00-20:59"}, since=date(2026, 10, 18)),
    "US-PA.recording": Recording(True),
    "US-RI.hours": Hours(SALES, {MON_FRI: "09:00-17:59", "sat": "10:00-16:59"}, date(2026, 8, 10)),
    "US-TX.hours": Hours(SALES, {MON_SAT: "09:00-20:59", "sun": "12:00-20:59"}),
    "US-UT.hours": Hours(SALES, {MON_SAT: "08:00-20:59"}, date(2026, 7, 24)),
    "US-WA.hours": Hours(SALES, {DAILY: "08:00-19:59"}),
    "US-WA.recording": Recording(True),
    "US-WY.hours": Hours(SALES, {DAILY: "08:00-19:59"}),
    "GB.consent": Consent("prior", date(2003, 12, 11)),
    "GB.pause-abandoned": Pause(ALL, {"abandoned"}, 72, date(2017, 3, 1)),
    "GB.pause-voicemail": Pause(ALL, {"voicemail", "voicemail_left"}, 24, date(2017, 3, 1)),
    "GB.ring": Ring(ALL, 15, date(2017, 3, 1)),
    "IE.consent": Consent("prior", date(2011, 7, 1)),
    "IN.hours": Hours(SALES, {DAILY: "10:00-20:59"}),
    "AU.hours-marketing": Hours(SALES, {MON_FRI: "09:00-19:59", "sat": "09:00-16:59"}, date(2026, 1, 26)),
    "AU.hours-survey": Hours(POLLS, {MON_FRI: "09:00-20:29", WEEKEND: "09:00-16:59"}, date(2026, 1, 26)),
    "CA.hours": Hours(SALES, {MON_FRI: "09:00-21:29", WEEKEND: "10:00-17:59"}),
    "CA.consent": Consent("prior"),
    "CA-BC.hours": Hours(SALES, {MON_FRI: "09:00-21:29", WEEKEND: "10:00-17:59"}, date(2026, 7, 1)),
    "DE.consent": Consent("prior"),
    "FR.hours": Hours(SALES, {MON_FRI: "10:00-12:59 and 14:00-19:59"}, date(2026, 7, 14), date(2023, 3, 1)),
    "FR.caps": Count(SALES, 4, 30 * 24, date(2023, 3, 1)),
    "FR.consent": Consent("prior", date(2026, 8, 11)),
}


@pytest.mark.requirement("RULE-01")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_rule_holds_as_its_source_says(name: str) -> None:
    rule, expected = RULES[name], EXPECTED[name]
    expected.check(rule)
    assert rule.purposes == expected.purposes
    purpose = rule.purposes[0] if rule.purposes else "informational"
    assert rule.holds(purpose, date(2026, 11, 26))
    assert (rule.since, rule.until) == (expected.since, None)
    if rule.since is not None:
        assert rule.holds(purpose, rule.since)
        assert not rule.holds(purpose, rule.since - timedelta(days=1))


def test_every_rule_has_a_case() -> None:
    assert set(RULES) - set(EXPECTED) == set()


def test_the_page_names_the_case_of_every_rule() -> None:
    page = (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8")
    name = test_a_rule_holds_as_its_source_says.__name__
    assert f"{__name__.replace('.', '/')}.py::{name}`" in page
    assert [rule for rule in RULES if f"`{name}[{rule}]`" not in page] == []


def test_every_state_and_the_capital_are_regions_with_zones() -> None:
    states = [region for code, region in shipped_rules().regions.items() if code.startswith("US-")]
    assert len(states) == 51
    assert all(region.zones for region in states)
    assert {"US", "GB", "IE", "IN", "AU", "CA", "DE", "FR"} <= set(shipped_rules().regions)


def test_a_state_is_called_in_the_hours_of_its_country_and_its_own() -> None:
    found = shipped_rules().in_force(("US", "US-WA"), "marketing", date(2026, 11, 26)).hours
    assert {"US.hours-marketing", "US-WA.hours"} <= {rule.id for rule in found}


@pytest.mark.requirement("RULE-02")
def test_the_strict_default_holds_beside_a_rule_whose_source_was_not_read() -> None:
    day = date(2026, 11, 26)
    sure = shipped_rules().in_force(("FR",), "marketing", day)
    unsure = shipped_rules().in_force(("IN",), "marketing", day)
    assert {rule.id for rule in sure.hours} == {"FR.hours"}
    assert {rule.id for rule in unsure.hours} == {"IN.hours", "*.hours"}
