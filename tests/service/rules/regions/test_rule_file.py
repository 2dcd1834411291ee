"""A rules file is read whole or refused, with the region, the rule, the field and the remedy."""

import contextlib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.regions.region_rules import HoursRule
from callwright.service.rules.regions.rule_file import MAX_BYTES, RuleFileError, read_rules, shipped_rules
from tests.house.tree import ROOT

RULE = """
[[regions.US.rules]]
id = "US.hours"
kind = "hours"
purposes = ["marketing"]
since = 2026-01-01
until = 2027-01-01
windows = { mon-fri = "09:00-13:00, 14:00-20:00", sat = "10:00-24:00" }
holidays = "US"
source = { title = "A statute", url = "https://example.com/statute", read = true }
"""
WHOLE = f"""
version = "2026.11.1"
published = 2026-11-26

[regions."*"]
name = "Everywhere else"

[[regions."*".rules]]
id = "*.hours"
kind = "hours"
windows = {{ mon-sat = "09:00-20:00" }}
source = {{ title = "The default", read = true }}

[regions.US]
name = "United States"
zones = ["America/New_York"]
{RULE}"""


def refusal(text: str) -> str:
    """What reading a file says that refuses it."""
    with pytest.raises(RuleFileError) as refused:
        read_rules(text)
    return str(refused.value)


def with_change(old: str, new: str) -> str:
    """The file with a change in one place."""
    assert WHOLE.count(old) == 1
    return WHOLE.replace(old, new)


def test_a_whole_file_is_read_with_the_dates_and_spans_it_has() -> None:
    rules = read_rules(WHOLE)
    (rule,) = rules.regions["US"].rules
    assert isinstance(rule, HoursRule)
    assert (rules.version, rules.published) == ("2026.11.1", date(2026, 11, 26))
    assert rule.windows == (((540, 780), (840, 1200)),) * 5 + (((600, 1440),), ())
    assert (rule.since, rule.until, rule.holidays) == (date(2026, 1, 1), date(2027, 1, 1), "US")
    assert rule.source.url == "https://example.com/statute"


@pytest.mark.requirement("RULE-05")
@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('version = "2026.11.1"', "", "the file, version"),
        ("published = 2026-11-26", "", "the file, published"),
        ("published = 2026-11-26", "published = 2026-11-26\nauthor = 'me'", "the file, author"),
        ('zones = ["America/New_York"]', "", "region US, zones"),
        ("America/New_York", "America/Gotham", "region US, zones"),
        ('name = "United States"', 'name = ""', "region US, name"),
        ('name = "United States"', 'name = "United States"\ncapital = "Washington"', "region US, capital"),
        ('id = "US.hours"', "", "region US, rule 1, id"),
        ('id = "US.hours"', 'id = "GB.hours"', "region US, rule GB.hours, id"),
        ('kind = "hours"\npurposes', 'kind = "curfew"\npurposes', "region US, rule US.hours, kind"),
        ('"marketing"', '"selling"', "region US, rule US.hours, purposes"),
        ('["marketing"]', '["marketing", "marketing"]', "region US, rule US.hours, purposes"),
        ("since = 2026-01-01", "since = '2026-02-30'", "region US, rule US.hours, since"),
        ("since = 2026-01-01", "since = 2026-01-01T00:00:00Z", "region US, rule US.hours, since"),
        ("since = 2026-01-01", "since = 2027-01-01", "region US, rule US.hours, until"),
        ("since = 2026-01-01", "since = 2026-01-01\nhour = 3", "region US, rule US.hours, hour"),
        ("14:00-20:00", "12:59-20:00", "region US, rule US.hours, windows"),
        ("14:00-20:00", "20:00-14:00", "region US, rule US.hours, windows"),
        ("14:00-20:00", "14:00-14:00", "region US, rule US.hours, windows"),
        ("10:00-24:00", "10:00-24:01", "region US, rule US.hours, windows"),
        ("10:00-24:00", "ten to noon", "region US, rule US.hours, windows"),
        (", sat =", ", fri =", "region US, rule US.hours, windows"),
        (", sat =", ", fri-mon =", "region US, rule US.hours, windows"),
        (", sat =", ", caturday =", "region US, rule US.hours, windows"),
        ('holidays = "US"', 'holidays = "US-ZZ"', "region US, rule US.hours, holidays"),
        ('holidays = "US"', 'holidays = "XNYS"', "region US, rule US.hours, holidays"),
        ('title = "A statute", ', "", "region US, rule US.hours, source, title"),
        ("https://example.com", "example.com", "region US, rule US.hours, source, url"),
        ('statute", read = true', 'statute"', "region US, rule US.hours, source, read"),
        ('statute", read = true', 'statute", read = true, seen = 1', "region US, rule US.hours, source, seen"),
    ],
)
def test_a_mistake_is_refused_with_its_place(old: str, new: str, place: str) -> None:
    said = refusal(with_change(old, new))
    assert said.startswith(f"{place}: ")
    assert ";" in said  # then the remedy


def test_a_code_of_no_region_and_a_part_without_its_country_are_refused() -> None:
    assert refusal(WHOLE.replace("regions.US", "regions.usa")).startswith("region usa: is no code of a region;")
    part = WHOLE.replace("regions.US", "regions.US-FL").replace('"US.hours"', '"US-FL.hours"')
    assert refusal(part) == "region US-FL: its country US is missing; add [regions.US] with zones"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ('kind = "cap"\nhours = 24', "most"),
        ('kind = "cap"\nmost = 0\nhours = 24', "most"),
        ('kind = "cap"\nmost = 3\nhours = true', "hours"),
        ('kind = "pause"\noutcomes = ["hung_up"]\nhours = 24', "outcomes"),
        ('kind = "pause"\nhours = 24', "outcomes"),
        ('kind = "consent"\nneeds = "oral"', "needs"),
        ('kind = "recording"\nannouncement = "yes"', "announcement"),
        ('kind = "ring"\nleast_seconds = 600', "least_seconds"),
        ('kind = "hours"\nwindows = {}', "windows"),
    ],
)
def test_a_rule_of_each_kind_is_refused_with_its_field(fields: str, field: str) -> None:
    rule = f'[[regions.US.rules]]\nid = "US.more"\n{fields}\nsource = {{ title = "A", read = false }}\n'
    assert refusal(WHOLE + rule).startswith(f"region US, rule US.more, {field}: ")


def test_two_rules_of_one_id_are_refused() -> None:
    again = RULE.replace("since = 2026-01-01", "since = 2028-01-01").replace("until = 2027-01-01\n", "")
    assert "region US has a rule of this id" in refusal(WHOLE + again)


def test_hours_of_one_purpose_may_follow_each_other_and_not_hold_at_once() -> None:
    later = RULE.replace("US.hours", "US.hours-later").replace("until = 2027-01-01\n", "")
    following = later.replace("since = 2026-01-01", "since = 2027-01-01")
    assert len(read_rules(WHOLE + following).regions["US"].rules) == 2
    assert len(read_rules(WHOLE + later.replace("marketing", "survey")).regions["US"].rules) == 2
    overlapping = refusal(WHOLE + following.replace("2027-01-01", "2026-12-31"))
    assert overlapping.startswith("region US, rule US.hours-later, since: rule US.hours says the hours")


def test_a_file_without_the_default_or_its_hours_is_refused() -> None:
    assert refusal(
        WHOLE.replace('"*"', "GB").replace("*.hours", "GB.hours").replace("Everywhere else", "x")
    ).startswith("region GB, zones")
    assert 'has no region "*"' in refusal(
        WHOLE.replace('"*"]', 'GB]\nzones = ["Europe/London"]', 1).replace('"*".', "GB.").replace("*.hours", "GB.hours")
    )
    assert 'has no rule of kind "hours" for all purposes' in refusal(
        WHOLE.replace('kind = "hours"\nwindows', 'kind = "hours"\npurposes = ["survey"]\nwindows')
    )


def test_an_impossible_date_is_refused_with_its_region() -> None:
    said = refusal(with_change("since = 2026-01-01", "since = 2026-02-30"))
    assert said.startswith("region US: this is not TOML: ")


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed() -> None:
    assert f"at most {MAX_BYTES:,}" in refusal("x = [" + "1," * MAX_BYTES)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_and_never_an_error_of_another_kind(text: str) -> None:
    for written in (text, WHOLE + text, WHOLE.replace("United States", text)):
        with contextlib.suppress(RuleFileError):
            assert read_rules(written).version == "2026.11.1"


def test_the_shipped_file_is_read_once() -> None:
    assert shipped_rules() is shipped_rules()


DEFAULT = 'windows = { mon-sat = "09:00-20:00" }'
LATER = """

[[regions."*".rules]]
id = "*.hours-later"
kind = "hours"
since = 2027-02-01
windows = { mon-sat = "09:00-18:00" }
source = { title = "The default", read = true }
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (with_change(DEFAULT, f"{DEFAULT}\nuntil = 2026-12-01"), "rule *.hours, until: no hours hold from this day on"),
        (with_change(DEFAULT, f"{DEFAULT}\nsince = 2030-12-01"), "rule *.hours, since: no hours hold before this day"),
        (
            with_change(DEFAULT, f"{DEFAULT}\nuntil = 2027-01-01") + LATER,
            "rule *.hours-later, since: is not the day on which the hours before it end",
        ),
    ],
)
def test_default_hours_that_leave_days_without_hours_are_refused(text: str, why: str) -> None:
    assert why in refusal(text)


def test_default_hours_may_change_on_a_day() -> None:
    text = with_change(DEFAULT, f"{DEFAULT}\nuntil = 2027-02-01") + LATER
    assert len(read_rules(text).regions["*"].rules) == 2


def test_the_file_of_the_page_is_right() -> None:
    page = (ROOT / "docs" / "rules-files.md").read_text(encoding="utf-8")
    example = page.partition("```toml\n")[2].partition("```")[0]
    assert read_rules(example).version == "2026.11.2"
