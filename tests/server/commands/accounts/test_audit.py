"""`callwright audit` as people and programs run it."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from callwright.server.commands.accounts.audit import summary
from callwright.service import accounts
from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.clock.clock import DAY, milliseconds
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.tables.audit_log import entry_row
from callwright.service.tables.schema import audit_log
from tests.support.accounts import by_key
from tests.support.processes.programs import run

FIRST_MS = milliseconds(datetime(2026, 11, 5, tzinfo=UTC))
ENTRIES = 250


async def fill(database_url: str) -> tuple[str, str]:
    """An organization with a key and 250 entries, one each hour; their ids."""
    ids = Ids(lambda: FIRST_MS)
    async with Database.opened(database_url) as database:
        org_id = await database.write(accounts.create_organization, ids, "Bright Dental", "pro", FIRST_MS - 400 * DAY)
        key = await database.write(accounts.create_key, ids, org_id, "nightly job", FIRST_MS - 400 * DAY)
        other = await database.write(accounts.create_organization, ids, "Other", "pro", FIRST_MS)
        rows = [entry(ids, org_id, key.id, hour) for hour in range(ENTRIES)] + [entry(ids, other, "key_other", 0)]
        await database.write(lambda connection: connection.execute(insert(audit_log), rows).rowcount)
    return org_id, key.id


def entry(ids: Ids, org_id: str, actor: str, hour: int) -> dict[str, Any]:
    changes = {"name": {"before": f"name {hour}", "after": f"name {hour + 1}"}}
    return entry_row(
        ids,
        org_id,
        "update_agent" if hour % 2 else "delete_agent",
        f"agt_{hour % 5}",
        at_ms=FIRST_MS + hour * DAY // 24,
        by=by_key(actor) if hour % 3 else SERVICE,
        request_id=f"req_{hour}",
        changes=changes,
        tool="update_agent" if hour % 2 else None,
    )


def said(home: Path, database_url: str, *flags: str) -> list[str]:
    """The lines that the command prints, without a word on stderr."""
    done = run(home, "audit", *flags, "--data", home / "data", f"--database={database_url}")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


@pytest.mark.requirement("AUTH-47")
async def test_the_log_is_a_table_of_the_newest_entries(database_url: str, tmp_path: Path) -> None:
    org_id, key_id = await fill(database_url)
    head, *lines = said(tmp_path, database_url, "--org=Bright Dental")
    assert head.split("  ")[0] == "time (UTC)"
    assert len(lines) == 50
    assert re.split(r"\s{2,}", lines[0].strip()) == [
        "2026-11-15 09:00",
        "platform",
        "update_agent agt_4",
        'name: "name 249" -> "name 250"',
    ]
    assert re.split(r"\s{2,}", lines[1].strip())[:2] == ["2026-11-15 08:00", f"{key_id} nightly job"]
    whole = said(tmp_path, database_url, f"--org={org_id}", "--limit=10000")
    assert len(whole) == 1 + ENTRIES + 3
    assert "organization.created" in "".join(whole[-3:])


@pytest.mark.requirement("AUTH-47")
async def test_programs_get_an_entry_a_line_with_all_there_is(database_url: str, tmp_path: Path) -> None:
    org_id, key_id = await fill(database_url)
    flags = ("--org=Bright Dental", "--json", "--since=2026-11-05", "--limit=10000")
    found = [json.loads(line) for line in said(tmp_path, database_url, *flags)]
    assert len(found) == ENTRIES
    first = found[-2]
    assert first.pop("id").startswith("adt_")
    assert first == {
        "at": "2026-11-05T01:00:00.000Z",
        "org_id": org_id,
        "actor": key_id,
        "user_id": None,
        "action": "update_agent",
        "subject": "agt_1",
        "request_id": "req_1",
        "tool": "update_agent",
        "changes": {"name": {"before": "name 1", "after": "name 2"}},
    }


async def test_entries_are_chosen_by_day_key_action_and_subject(database_url: str, tmp_path: Path) -> None:
    _, key_id = await fill(database_url)

    def hours(*flags: str) -> list[int]:
        lines = said(
            tmp_path, database_url, "--org=Bright Dental", "--json", "--limit=999", "--since=2026-11-05", *flags
        )
        return [int(json.loads(line)["request_id"][4:]) for line in reversed(lines)]

    assert hours("--until=2026-11-05") == list(range(24))
    assert hours("--until=2026-11-05T02:00:00Z") == [0, 1]
    assert hours("--since=2026-11-15T08:00:00") == [248, 249]
    assert hours("--since=2026-11-15T13:00:00+05:00") == [248, 249]
    assert hours("--action=update_agent", "--subject=agt_1") == list(range(1, ENTRIES, 10))
    assert hours(f"--key={key_id}", "--until=2026-11-05T06:00:00Z") == [1, 2, 4, 5]
    assert hours("--key=platform", "--limit=2") == [246, 249]
    assert hours("--subject=agt_none") == []
    assert said(tmp_path, database_url, "--org=Bright Dental", "--subject=x") == ["There is no such entry."]


async def test_what_cannot_be_shown_is_said_in_one_sentence(database_url: str, tmp_path: Path) -> None:
    for flags, words in {
        ("--org=none",): "callwright orgs list",
        ("--since=yesterday",): "--since 'yesterday' is no day or moment",
        ("--until=2026-13-01",): "--until '2026-13-01' is no day or moment",
        ("--until=9999-12-31",): "--until '9999-12-31' is no day or moment",
    }.items():
        done = run(tmp_path, "audit", *flags, "--data", tmp_path / "data", f"--database={database_url}")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert words in done.stderr


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"name": {"before": "A", "after": "B"}}, 'name: "A" -> "B"'),
        ({"start_at": {"before": None, "after": "2026-11-21T09:30:00Z"}}, 'start_at: null -> "2026-11-21T09:30:00Z"'),
        ({"name": {"after": "Zoë"}, "auto_renew": {"after": True}}, 'name: "Zoë"; auto_renew: true'),
        ({"name": {"before": "A"}}, 'name: was "A"'),
        ({"rows": {"after": {"count": 3}}}, 'rows: {"count": 3}'),
        ({"reason": "budget_reached"}, 'reason: "budget_reached"'),
        ({"fields": ["metadata", "name"], "too_long": True}, "metadata, name (too long to keep)"),
        ({"name": {"after": "x" * 50}}, f'name: "{"x" * 38}…'),
        ({"prompt": {"after": {"characters": 9, "sha256": "0", "begins": "Hello"}}}, 'prompt: "Hello"'),
        ({"name": {"after": "\x1b[31m\x9b"}}, 'name: "\\u001b[31m�"'),
    ],
)
def test_changes_are_told_in_a_line(changes: Mapping[str, Any], words: str) -> None:
    assert summary(changes) == words
