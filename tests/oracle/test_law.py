"""The gate and the oracle in the suite: fewer questions than `scripts/oracle` asks, and the same ones at every run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.oracle.adapter import gate_answer
from tests.oracle.compare import Asked, compared
from tests.oracle.law import Answer, Question, may_call

QUESTIONS = 2_000
SEED = 1
BROKEN_QUESTIONS = 600
"""Enough to notice each of the broken gates."""
WEDNESDAY_NOON = datetime(2026, 11, 18, 17, 0, tzinfo=UTC)
IN_NEW_YORK = Question("+12125550100", WEDNESDAY_NOON, None, None, None, "informational", (), True)


@pytest.mark.requirement("RULE-11")
def test_the_gate_allows_what_the_page_of_rules_allows_and_nothing_else() -> None:
    figures = compared(seed=SEED, first=0, count=QUESTIONS)
    assert figures.disagreements == ()
    assert figures.questions == QUESTIONS
    assert QUESTIONS / 10 < figures.allowed < QUESTIONS * 9 / 10
    assert len(figures.rules) > 20


ALWAYS = [{"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "start": "00:00", "end": "24:00"}]
OPEN = {"timezone_mode": "callee", "windows": ALWAYS, "skip_public_holidays": False}
GUERNSEY = replace(
    IN_NEW_YORK,
    number="+441481256789",
    at=datetime(2026, 9, 16, 12, tzinfo=UTC),
    earlier=((datetime(2026, 9, 15, 14, tzinfo=UTC), "voicemail"),),
)
NOVA_SCOTIA = replace(
    IN_NEW_YORK,
    number="+19025551234",
    at=datetime(2026, 9, 13, 17, tzinfo=UTC),
    calling_hours=OPEN,
    purpose="marketing",
)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(GUERNSEY, id="the rules of GB hold in Guernsey too"),
        pytest.param(
            replace(IN_NEW_YORK, number="+17875550123", at=datetime(2026, 4, 3, 15, tzinfo=UTC)),
            id="a holiday of Puerto Rico",
        ),
        pytest.param(
            replace(IN_NEW_YORK, number="+13067616701", at=datetime(2026, 2, 4, 15, 15, tzinfo=UTC)),
            id="the west of Saskatchewan keeps the time of Alberta",
        ),
        pytest.param(
            replace(IN_NEW_YORK, number="+16068975885", at=datetime(2026, 6, 24, 13, 15, tzinfo=UTC)),
            id="Clinton County, Kentucky, keeps Central time",
        ),
        pytest.param(NOVA_SCOTIA, id="an area code of two provinces is in none but these"),
        pytest.param(
            replace(IN_NEW_YORK, number="+528004562353", at=datetime(2022, 11, 3, 0, 15, tzinfo=UTC)),
            id="a toll-free number of Mexico is in Mexico alone",
        ),
    ],
)
def test_gate_and_page_agree_where_they_once_did_not(asked: Question) -> None:
    assert gate_answer(asked).allowed == may_call(asked).allowed


def _allows_all(_question: Question) -> Answer:
    return Answer(allowed=True, rule="")


def _sees_no_state(question: Question) -> Answer:
    return may_call(replace(question, state=None))


def _forgets_earlier_calls(question: Question) -> Answer:
    return may_call(replace(question, earlier=()))


def _is_a_minute_late(question: Question) -> Answer:
    return may_call(replace(question, at=question.at - timedelta(minutes=1)))


def _calls_on_holidays(question: Question) -> Answer:
    hours = question.calling_hours
    return may_call(replace(question, calling_hours=hours and {**hours, "skip_public_holidays": False}))


@pytest.mark.parametrize(
    "broken", [_allows_all, _sees_no_state, _forgets_earlier_calls, _is_a_minute_late, _calls_on_holidays]
)
def test_a_broken_gate_is_found(broken: Asked) -> None:
    assert compared(seed=SEED, first=0, count=BROKEN_QUESTIONS, asked=broken).disagreements != ()


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        (IN_NEW_YORK, ""),
        (replace(IN_NEW_YORK, at=datetime(2026, 11, 26, 17, 0, tzinfo=UTC)), "skip_public_holidays"),
        (replace(IN_NEW_YORK, at=datetime(2026, 11, 18, 14, 0, tzinfo=UTC)), ""),
        (replace(IN_NEW_YORK, at=datetime(2026, 11, 18, 13, 59, 59, tzinfo=UTC)), "calling_hours"),
        (replace(IN_NEW_YORK, state="CA", at=datetime(2026, 11, 18, 16, 0, tzinfo=UTC)), "calling_hours"),
        (replace(IN_NEW_YORK, purpose="marketing", consent=False), "US.consent"),
        (
            replace(IN_NEW_YORK, earlier=[(WEDNESDAY_NOON - timedelta(hours=n), "busy") for n in (1, 2, 3)]),
            "*.caps-day",
        ),
        (replace(IN_NEW_YORK, earlier=[(WEDNESDAY_NOON - timedelta(hours=n), "busy") for n in (1, 2, 24)]), ""),
        (
            replace(IN_NEW_YORK, purpose="collections", earlier=[(WEDNESDAY_NOON - timedelta(days=6), "answered")]),
            "US.pause-collections",
        ),
        (
            replace(IN_NEW_YORK, state="KY", purpose="marketing", at=datetime(2026, 11, 18, 15, 30, tzinfo=UTC)),
            "US-KY.hours",
        ),
    ],
)
def test_the_oracle_says_what_stands_on_the_page(question: Question, rule: str) -> None:
    answer = may_call(question)
    assert answer.allowed == (rule == "")
    assert rule in answer.rule
