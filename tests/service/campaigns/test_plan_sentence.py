"""The sentence a person says yes to."""

from dataclasses import replace

import pytest

from callwright.contract.deployments.dialling import CallingHours, Weekday, Window
from callwright.service.campaigns.plan_sentence import Proposal, sentence
from callwright.service.platform.clock.clock import HOUR

WORKDAYS: list[Weekday] = ["mon", "tue", "wed", "thu", "fri"]
OFFICE = CallingHours(windows=[Window(days=WORKDAYS, start="09:00", end="18:00")])
AT = 1_795_251_600_000
PLAIN = Proposal(
    simulated=False,
    goes_on=False,
    people=182,
    name="Spring check-in",
    agent="Anna",
    numbers=["+12025550150"],
    attempts=3,
    hours=OFFICE,
    start_ms=None,
    end_ms=None,
    cap_micros=54_000_000,
    high_micros=4_368_000,
)


def test_a_plan_reads_as_one_sentence() -> None:
    assert sentence(PLAIN) == (
        'Call 182 people for "Spring check-in" with agent Anna from +12025550150, ringing real telephones, '
        "up to 3 attempts each, Mon-Fri 09:00-18:00 in each person's own time zone and by the rules of their region, "
        "for at most 54.00 USD."
    )


def test_a_simulated_plan_says_so_first() -> None:
    rings_nobody = sentence(PLAIN).replace(" ringing real telephones,", "")
    assert sentence(replace(PLAIN, simulated=True)) == f"SIMULATED: {rings_nobody}"


def test_of_a_few_people_the_numbers_are_named_and_one_telephone_rings() -> None:
    said = sentence(replace(PLAIN, people=1, called=["+14155550777"]))
    assert said.startswith('Call 1 person (+14155550777) for "Spring check-in" with agent Anna from +12025550150, ')
    assert ", ringing a real telephone, " in said
    both = sentence(replace(PLAIN, people=2, called=["+14155550777", "+14155550778"]))
    assert both.startswith("Call 2 people (+14155550777, +14155550778) for ")


def test_without_a_budget_cap_the_high_end_is_told_and_rounded_up_to_cents() -> None:
    assert sentence(replace(PLAIN, cap_micros=None)).endswith(", for at most 4.37 USD.")
    assert sentence(replace(PLAIN, cap_micros=None, high_micros=0)).endswith(", for at most 0.00 USD.")
    assert sentence(replace(PLAIN, cap_micros=12_345)).endswith(", for at most 0.012345 USD.")
    beyond = ", for at most 54.00 USD and what calls under way cost beyond it, 0.97 USD."
    assert sentence(replace(PLAIN, overrun_micros=960_001)).endswith(beyond)


def test_what_goes_on_tells_who_is_left_and_what_may_be_added() -> None:
    said = sentence(replace(PLAIN, goes_on=True, people=1, attempts=1, cap_micros=12_500_000))
    assert said.startswith('Call 1 person left in "Spring check-in" with agent Anna')
    assert ", 1 attempt each, " in said
    assert said.endswith(", for at most 12.50 USD more.")
    assert sentence(replace(PLAIN, goes_on=True, cap_micros=None)).endswith(", for at most 4.37 USD more.")


def test_a_first_call_that_the_rules_put_off_is_told() -> None:
    said = sentence(replace(PLAIN, first_call_ms=AT))
    assert " by the rules of their region, THE FIRST CALL ON 2026-11-21 09:00 UTC, for at most " in said
    assert "FIRST CALL" not in sentence(PLAIN)


def test_start_and_end_are_told_when_they_are_set() -> None:
    said = sentence(replace(PLAIN, start_ms=AT, end_ms=AT + 8 * HOUR))
    early = sentence(replace(PLAIN, instead_of_ms=AT))
    assert ", BEGINNING AT ONCE instead of at 2026-11-21 09:00 UTC, for at most" in early
    assert ", not before 2026-11-21 09:00 UTC, no new call from 2026-11-21 17:00 UTC on, for at most" in said


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "from no active number,"),
        (2, "from +12025550150 and +12025550151,"),
        (3, "from +12025550150, +12025550151 and +12025550152,"),
        (100, "from +12025550150, +12025550151, +12025550152 and 97 more,"),
    ],
)
def test_a_few_numbers_are_told_and_the_rest_counted(count: int, said: str) -> None:
    assert said in sentence(replace(PLAIN, numbers=[f"+1202555{150 + index:04d}" for index in range(count)]))


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        ([(WORKDAYS, "09:00", "18:00")], "Mon-Fri 09:00-18:00"),
        ([(["mon"], "09:00", "12:00"), (["tue"], "09:00", "12:00")], "Mon-Tue 09:00-12:00"),
        ([(["mon", "wed", "thu", "sun"], "09:00", "12:00")], "Mon, Wed-Thu, Sun 09:00-12:00"),
        ([(WORKDAYS, "09:00", "18:00"), (["sat"], "10:00", "14:00")], "Mon-Fri 09:00-18:00 and Sat 10:00-14:00"),
        ([(["mon"], f"{hour:02d}:00", f"{hour + 1:02d}:00") for hour in range(9, 15)], "and in 2 more windows"),
    ],
)
def test_calling_hours_read_as_days_and_times(windows: list[tuple[list[Weekday], str, str]], said: str) -> None:
    made = [Window(days=days, start=start, end=end) for days, start, end in windows]
    rules = CallingHours(timezone_mode="fixed", timezone="Europe/Berlin", windows=made)
    assert f"{said} in the time zone Europe/Berlin and by the rules of their region, " in sentence(
        replace(PLAIN, hours=rules)
    )


def test_public_holidays_are_told_when_people_are_called_on_them() -> None:
    rules = OFFICE.model_copy(update={"skip_public_holidays": False})
    told = " in each person's own time zone, on public holidays too and by the rules of their region, "
    assert told in sentence(replace(PLAIN, hours=rules))


def test_without_calling_hours_those_that_the_rules_give_to_all_alike_are_told_or_that_they_differ() -> None:
    week = (((480, 1290),),) * 5 + (((600, 1080),), ())
    told = ", Mon-Fri 08:00-21:30 and Sat 10:00-18:00 in each person's own time zone and by the rules of their region, "
    assert told in sentence(replace(PLAIN, hours=None, week=week))
    said = sentence(replace(PLAIN, hours=None))
    assert ", in the hours that the rules of each person's region allow, " in said


def test_a_name_cannot_break_out_of_the_sentence() -> None:
    sly = 'A" with agent Bob, for at most 0.01 USD.\nSIMULATED: \u202e\u200b' + "x" * 150
    said = sentence(replace(PLAIN, name=sly, agent='Bob for "free"'))
    assert said.startswith("Call 182 people for \"A' with agent Bob, for at most 0.01 USD. SIMULATED: xxx")
    assert 'x" with agent "Bob for \'free\'" from' in said
    assert said.count("x") == 150
    assert said.count('"') == 4
    assert said.isprintable()


def test_the_longest_sentence_fits_what_a_person_can_be_asked() -> None:
    windows = [
        Window(days=["mon", "wed", "fri", "sun"], start=f"{hour:02d}:00", end=f"{hour:02d}:45") for hour in range(21)
    ]
    zone = "America/Argentina/ComodRivadavia"
    longest = Proposal(
        simulated=True,
        goes_on=True,
        people=5_000_000,
        name="n" * 200,
        agent="a " * 100,
        numbers=["+123456789012345"] * 100,
        attempts=10,
        hours=CallingHours(timezone_mode="fixed", timezone=zone, windows=windows),
        start_ms=None,
        instead_of_ms=AT,
        end_ms=AT,
        cap_micros=999_999_999_999_999,
        high_micros=0,
    )
    assert len(sentence(longest)) < 1_000


def test_whoever_may_be_called_to_take_a_call_over_is_named_with_the_number() -> None:
    desks = [("front desk", "+14155550177"), ("after hours", "+14155550178")]
    one = sentence(replace(PLAIN, transfers_to=desks[:1]))
    assert ', handing calls over to "front desk" (+14155550177), whose telephone may ring too, up to 3 ' in one
    both = sentence(replace(PLAIN, transfers_to=desks))
    named = 'handing calls over to "front desk" (+14155550177) and "after hours" (+14155550178)'
    assert f", {named}, whose telephones may ring too, " in both
    assert f", {named}, up to 3 " in sentence(replace(PLAIN, simulated=True, transfers_to=desks))
    many = sentence(replace(PLAIN, transfers_to=[*desks, *desks]))
    assert f'{named.replace(" and ", ", ")}, "front desk" (+14155550177) and 1 more, whose' in many
