"""Many calls in the database, of which many were made in the same moment."""

from collections.abc import Sequence
from random import Random
from typing import Any

from sqlalchemy import Connection

from callwright.service.tables import call_counts, calls_by_name
from tests.support.service import Tenant

FIRST_MS = 1_800_000_000_000


def call_row(tenant: Tenant, index: int, at_ms: int, chance: Random, **fields: Any) -> dict[str, Any]:
    """A call as the dialler leaves it. Few lengths and few ends, so that many calls are equal in them."""
    return {
        "id": f"cal_{chance.randrange(10**24):024d}",
        "org_id": tenant.org_id,
        "call_type": "outbound",
        "simulated": True,
        "deployment_id": "dep_1",
        "contact_id": f"ctc_{index}",
        "agent_id": "agt_1",
        "attempt_number": 1,
        "from_number": "+12125550150",
        "to_number": f"+1202{2_000_000 + index}",
        "status": "completed",
        "outcome": chance.choice(("answered", "busy")),
        "created_at": at_ms,
        "ended_at": FIRST_MS + chance.randrange(9) * 60_000,
        "duration_ms": chance.randrange(5) * 1_000,
        "language": "en-US",
        **fields,
    }


async def put(tenant: Tenant, rows: Sequence[dict[str, Any]]) -> None:
    """Writes calls."""

    def write(connection: Connection) -> None:
        calls_by_name.put(connection, rows)
        call_counts.add(connection, [row["id"] for row in rows])

    await tenant.database.write(write)


async def put_many(tenant: Tenant, count: int, chance: Random, **fields: Any) -> set[str]:
    """Calls of which seven at a time, and in one place a whole page, are made in the same moment; their ids."""
    long = range(count // 2, count // 2 + 250)
    moments = [FIRST_MS + (long.start if index in long else index) // 7 for index in range(count)]
    rows = [call_row(tenant, index, at_ms, chance, **fields) for index, at_ms in enumerate(moments)]
    await put(tenant, rows)
    return {row["id"] for row in rows}
