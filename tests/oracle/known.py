"""Where the gate is known to answer otherwise than the page; whoever changes that deletes it here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import phonenumbers

from tests.oracle.law import Answer, Question
from tests.oracle.places import shows_zones

ALWAYS = [{"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "start": "00:00", "end": "24:00"}]
OPEN = {"timezone_mode": "callee", "windows": ALWAYS, "skip_public_holidays": False}


@dataclass(frozen=True)
class Known:
    """A kind of disagreement, with a question that shows it."""

    name: str
    gate_allows: bool
    """True: the gate makes a call that the page forbids; else it forbids one that the page allows."""
    concerns: Callable[[Question, Answer, Answer], bool]
    example: Question


def known(question: Question, law: Answer, gate: Answer) -> Known | None:
    """The known kind that a disagreement is of, if it is of one."""
    found = (kind for kind in KNOWN if kind.gate_allows == gate.allowed and kind.concerns(question, law, gate))
    return next(found, None)


def _shows_none(question: Question) -> bool:
    return question.timezone is None and not shows_zones(question.number)


def _crown_dependency(question: Question, _law: Answer, gate: Answer) -> bool:
    return _country(question) in ("GG", "IM", "JE") and "GB." in gate.rule


def _holiday_of_territory(question: Question, law: Answer, _gate: Answer) -> bool:
    return _country(question) == "PR" and "holiday" in law.rule


def _saskatchewan(question: Question, law: Answer, _gate: Answer) -> bool:
    there = question.state == "SK" or question.number.startswith(("+1306", "+1474", "+1639"))
    return there and "America/Edmonton" in law.rule


def _kentucky(question: Question, law: Answer, _gate: Answer) -> bool:
    return question.number.startswith("+1606") and "America/Chicago" in law.rule


def _shared_by_provinces(question: Question, _law: Answer, gate: Answer) -> bool:
    several = question.number.startswith(("+1782", "+1867", "+1902"))
    return several and question.state is None and ("*." in gate.rule or "CA-BC." in gate.rule)


def _mexico(question: Question, _law: Answer, _gate: Answer) -> bool:
    return _country(question) == "MX" and _shows_none(question)


def _country(question: Question) -> str | None:
    return phonenumbers.region_code_for_number(phonenumbers.parse(question.number))


def _example(number: str, at: datetime, **other: Any) -> Question:
    usual: dict[str, Any] = {"state": None, "timezone": None, "calling_hours": None, "earlier": (), "consent": True}
    return Question(number=number, at=at, purpose="informational", **{**usual, **other})


KNOWN = (
    Known(
        "The rules of GB hold for Guernsey, Jersey and the Isle of Man, which the page does not name.",
        False,
        _crown_dependency,
        _example(
            "+441481256789",
            datetime(2026, 9, 16, 12, 0, tzinfo=UTC),
            earlier=((datetime(2026, 9, 15, 14, 0, tzinfo=UTC), "voicemail"),),
        ),
    ),
    Known(
        "People in Puerto Rico are called on its own public holidays: only those of the whole US are known there.",
        True,
        _holiday_of_territory,
        _example("+17875550123", datetime(2026, 4, 3, 15, 0, tzinfo=UTC)),
    ),
    Known(
        "The west of Saskatchewan, which keeps the time of Alberta, is taken to keep that of Regina.",
        True,
        _saskatchewan,
        _example("+13067616701", datetime(2026, 2, 4, 15, 15, tzinfo=UTC)),
    ),
    Known(
        "Area code 606 is taken to keep Eastern time, although Clinton County, Kentucky, keeps Central time.",
        True,
        _kentucky,
        _example("+16068975885", datetime(2026, 6, 24, 13, 15, tzinfo=UTC)),
    ),
    Known(
        "An area code of two or three provinces is taken to be in every province, British Columbia too.",
        False,
        _shared_by_provinces,
        replace(
            _example("+19025551234", datetime(2026, 9, 13, 17, 0, tzinfo=UTC), calling_hours=OPEN), purpose="marketing"
        ),
    ),
    Known(
        "A toll-free number of Mexico is taken to be in America/New_York too, as phonenumbers lists it.",
        False,
        _mexico,
        _example("+528004562353", datetime(2022, 11, 3, 0, 15, tzinfo=UTC)),
    ),
)
