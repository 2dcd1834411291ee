"""The people whom the demonstration calls: forty of its own, or those of a list that the user has."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from rich.console import Console
from rich.text import Text

from callwright.contract.checks.counts import count_of
from callwright.list_files.name_columns import name_of
from callwright.server.commands.demo.assistant import Assistant, DemoFailed

OWN_PROMPT = """You call patients of the practice Bright Dental on behalf of its front desk.
- Ask whether they can come on {{day}}
- Ask whether the morning or the afternoon suits them better
- Confirm that their phone number is still the right one
The practice is at 12 Harbour Street. It is open from nine to five on weekdays. A check-up takes about thirty minutes.
A check-up is covered by most insurance plans. Parking is free behind the building."""
LIST_PROMPT = OWN_PROMPT.replace("on {{day}}", "next week")
_WELCOME = "this is Ada, the automated assistant of Bright Dental."
_NAMES = ("Maria", "James", "Aisha", "Chen", "Olga", "Tom", "Lucia", "Kofi", "Emma", "Ravi")
_DAYS = ("Tuesday", "Wednesday", "Thursday")
_OUTCOMES = 12
"""This many contacts have a reserved number each, which forces an outcome; the others are random."""
_MOST_ROWS = 1_000
"""Rows that one call of a tool takes."""
_UNDER_WAY = ("pending", "importing")
_REFUSED_SHOWN = 3
_PAUSE_S = 0.05
_LONGEST_IMPORT_S = 600.0


@dataclass(frozen=True, kw_only=True)
class OwnList:
    """A list of the user's own, CSV or XLSX. What is None is found out from the list."""

    file: Path
    phone_column: str | None = None
    country: str | None = None
    """The country of numbers without a +, as ISO 3166-1: US."""


@dataclass(frozen=True, kw_only=True)
class Called:
    """An audience, and what the agent says to the people in it."""

    audience_id: str
    count: int
    prompt: str
    welcome: str


async def own_people(assistant: Assistant, count: int, tag: str) -> Called:
    """An audience of the demonstration's own people."""
    people = _people(count)
    said = count_of(count, "patient")
    audience = await assistant.use("create_audience", said, name=f"Patients {tag}", rows=people[:_MOST_ROWS])
    for begin in range(_MOST_ROWS, count, _MOST_ROWS):
        await assistant.use("add_audience_rows", id=audience["id"], rows=people[begin : begin + _MOST_ROWS])
    welcome = f"Hello {{{{first_name}}}}, {_WELCOME}"
    return Called(audience_id=audience["id"], count=count, prompt=OWN_PROMPT, welcome=welcome)


def _people(count: int) -> list[dict[str, str]]:
    people: list[dict[str, str]] = []
    for index in range(count):
        reserved = index <= _OUTCOMES
        number = f"+120255501{index:02d}" if reserved else f"+1415{200 + index // 7_900:03d}{2_100 + index % 7_900:04d}"
        name, day = _NAMES[index % len(_NAMES)], _DAYS[index % len(_DAYS)]
        people.append({"phone_number": number, "first_name": name, "day": day})
    return people


async def listed_people(assistant: Assistant, console: Console, own: OwnList, tag: str) -> Called:
    """An audience of a list. Raises `DemoFailed` if none of its rows can be called."""
    how = {"phone_column": own.phone_column, "default_country": own.country}
    given = {name: value for name, value in how.items() if value is not None}
    audience = await assistant.use("create_audience", "empty", name=f"{own.file.stem[:40]} {tag}", **given)
    begun = await assistant.use("import_audience", own.file.name, id=audience["id"], path=str(own.file.absolute()))
    await _imported(assistant, console, audience["id"], begun["id"])
    found = await assistant.use("get_audience", "what is in it", id=audience["id"])
    callable_, refused = found["valid_count"], found["invalid_count"]
    people = count_of(callable_, "person", "people")
    column = f", phone numbers in the column {found['phone_column']}" if found.get("phone_column") else ""
    console.print(f"  {people} can be called, {count_of(refused, 'row')} not{column}", highlight=False, markup=False)
    if not callable_:
        raise DemoFailed(f"nobody on {own.file.name} can be called; --phone-column and --country say how to read it")
    name = _name_column([column["name"] for column in found["columns"]])
    greeting = f"Hello {{{{{name}|there}}}}," if name else "Hello,"
    return Called(audience_id=audience["id"], count=callable_, prompt=LIST_PROMPT, welcome=f"{greeting} {_WELCOME}")


async def _imported(assistant: Assistant, console: Console, audience_id: str, import_id: str) -> None:
    """Waits until the list is imported, and shows the first rows that were refused."""
    with anyio.fail_after(_LONGEST_IMPORT_S):
        state: Mapping[str, Any] = {"status": _UNDER_WAY[0]}
        while state["status"] in _UNDER_WAY:
            await anyio.sleep(_PAUSE_S)
            state = await assistant.use_quietly("get_audience_import", id=audience_id, import_id=import_id)
    for row in state.get("errors", [])[:_REFUSED_SHOWN]:
        said = f"  row {row['row_number']}: {row.get('message') or row['code']}"
        console.print(Text(said, "yellow"), soft_wrap=True)
    if state["status"] == "failed":
        raise DemoFailed(str(state.get("status_reason") or "the list cannot be read"))


def _name_column(columns: list[str]) -> str | None:
    """The column that holds the name by which a person is greeted; None if no heading says so."""
    whole = name_of({column: column for column in columns}) or ""
    return max((column for column in columns if whole.startswith(column)), key=len, default=None)
