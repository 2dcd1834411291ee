"""`callwright audit`: what was done in an organization, newest first: a table for people, JSON for programs."""

import json
import re
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import typer
from rich.console import Console
from sqlalchemy import Row

from callwright.server.commands.accounts.accounts import account_database
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.output.tables import day
from callwright.server.commands.output.tables import show as show_table
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.platform.clock.clock import iso_milliseconds, milliseconds
from callwright.service.platform.database.database import Database
from callwright.service.tables import audit_log
from callwright.service.tables.audit_log import EntryFilter, Position

AT_ONCE = 200
"""Entries that are read at a time."""
SHORT = 40
"""Characters of a value that the table shows."""
NARROW = 110
"""Below this width of a terminal the key is printed below the subject, not beside it."""
Words = tuple[str, ...]
_SHOWN = ("id", "org_id", "actor", "user_id", "action", "subject", "request_id", "tool")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


async def show(settings: ProgramSettings, asked: tuple[str | None, ...], limit: int, as_json: bool) -> None:
    """Prints the entries. `asked` is what the flags `--org`, `--since`, `--until`, `--key`, and so on say."""
    org, since, until, key, action, subject = asked
    wanted = EntryFilter(_moment("--since", since), _moment("--until", until, through=True), key, action, subject)
    async with account_database(settings) as (database, _, _):
        org_id = await database.read(accounts.find_organization, org or "")
        entries = _entries(database, org_id, wanted, limit)
        if as_json:
            async for entry in entries:
                print_json(_whole(entry), indent=None)
            return
        labels = await database.read(audit_log.labels_of, org_id)
        rows = [_cells(entry, labels) async for entry in entries]
    if not rows:
        typer.echo("There is no such entry.")
        return
    console = Console(highlight=False)
    if console.is_terminal and console.width < NARROW:
        folded = [(when, what + who, changed) for when, who, what, changed in rows]
        show_table(("time (UTC)", "action, subject, who", "changed"), folded, console)
    else:
        show_table(("time (UTC)", "who", "action and subject", "changed"), rows, console)


async def _entries(database: Database, org_id: str, wanted: EntryFilter, limit: int) -> AsyncGenerator[Row[Any]]:
    after: Position | None = None
    while limit > 0:
        size = min(limit, AT_ONCE)
        found = await database.read(audit_log.entries, org_id, wanted, after=after, limit=size)
        for entry in found:
            yield entry
        if len(found) < size:
            return
        limit -= size
        after = Position(found[-1].at, found[-1].id)


def _moment(flag: str, text: str | None, *, through: bool = False) -> int | None:
    """Milliseconds of a time, or of a day's start, with `through` of its end."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if _DAY.fullmatch(text):
            moment += timedelta(days=1 if through else 0)
        return milliseconds(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise CommandError(f"{flag} {text!r} is no day or moment; write for example 2026-11-01") from error


def _cells(entry: Row[Any], labels: Mapping[str, str]) -> tuple[Words, Words, Words, str]:
    who = (entry.actor, labels.get(entry.actor, ""))
    return day(entry.at), who, (entry.action, entry.subject), summary(json.loads(entry.changes))


def _whole(entry: Row[Any]) -> dict[str, Any]:
    said = {name: getattr(entry, name) for name in _SHOWN}
    return {"at": iso_milliseconds(entry.at), **said, "changes": json.loads(entry.changes)}


def summary(changes: Mapping[str, Any]) -> str:
    """The changes of an entry in a line: `name: "A" -> "B"; label: "new"`."""
    if changes.get("too_long"):
        return f"{', '.join(changes['fields'])} (too long to keep)"
    return "; ".join(f"{name}: {_change(change)}" for name, change in changes.items())


def _change(change: Any) -> str:
    if not isinstance(change, dict):
        return _value(change)
    sides = cast("dict[str, Any]", change)
    if set(sides) == {"before", "after"}:
        return f"{_value(sides['before'])} -> {_value(sides['after'])}"
    if set(sides) == {"before"}:
        return f"was {_value(sides['before'])}"
    return _value(sides["after"] if set(sides) == {"after"} else sides)


def _value(value: Any) -> str:
    if isinstance(value, dict) and "begins" in value:
        value = cast("dict[str, Any]", value)["begins"]
    said = json.dumps(value, ensure_ascii=False)
    text = "".join(character if character.isprintable() else "�" for character in said)  # a terminal executes some
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
