"""What a real process writes into its log when the database refuses a row: never a value of the row."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, text

from callwright.service import accounts
from callwright.service.app import running
from callwright.service.settings import ServiceSettings
from tests.support.database.databases import Engine
from tests.support.processes.programs import serving

PHONE = "+12025550143"
_INDEXES = (
    "CREATE UNIQUE INDEX uq_odd_audiences ON audiences (description)",
    "CREATE UNIQUE INDEX uq_odd_webhooks ON webhooks (description)",
)
"""For a unit in a thread and for a brief one. No index of the service refuses a number, so these stand for some."""


async def _key(database_url: str, data: Path) -> str:
    """A key of an organization whose database refuses a second row with the same number."""

    def index(connection: Connection) -> None:
        for statement in _INDEXES:
            connection.execute(text(statement))

    async with running(ServiceSettings(data=data, database_url=database_url), workers=False) as service:
        services = service.services
        await services.database.write(index)
        made = (services.ids, "tests", "enterprise", services.clock.now_ms())
        org_id = await services.database.write(accounts.create_organization, *made)
        key = await services.database.write(accounts.create_key, services.ids, org_id, "tests", services.clock.now_ms())
        return key.secret


def _sent(url: str, key: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize("kind", ["audiences", "webhooks"])
def test_a_row_that_the_database_refuses_leaves_no_number_in_the_log_of_a_process(
    kind: str, database_url: str, tmp_path: Path, engine: Engine
) -> None:
    data = tmp_path / "data"
    key = anyio.run(_key, database_url, data)
    with serving(tmp_path, data, CALLWRIGHT_DATABASE_URL=database_url) as served:

        def put(number: int) -> int:
            if kind == "webhooks":
                body = {"url": "https://example.com/events", "events": ["*"], "description": PHONE}
                return _sent(f"{served.base_url}/webhooks", key, body)[0]
            body = {"name": f"list {number}", "description": PHONE}
            return _sent(f"{served.base_url}/audiences", key, body)[0]

        assert put(1) < 300
        assert put(2) == 500
        log = served.log.read_text(encoding="utf-8")
    assert "a request failed" in log
    assert f"uq_odd_{kind}" in log or engine == "sqlite"
    assert PHONE not in log
    assert PHONE[1:] not in log
