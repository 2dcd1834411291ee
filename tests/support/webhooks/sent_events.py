"""Subscriptions, events and deliveries as sending leaves them, put where the service keeps them."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table, insert, select, update

from callwright.contract.webhooks import NewWebhook
from callwright.service.tables.schema import deliveries, delivery_attempts, endpoint_queues, outbox
from tests.support.service import Tenant

URL = "https://example.com/events"
HAPPENED_MS = 1_795_262_400_123
"""2026-11-21T12:00:00.123Z."""


async def subscribe(tenant: Tenant, **fields: Any) -> NewWebhook:
    """A subscription to all events, unless told."""
    given: dict[str, Any] = {"url": URL, "events": ["*"], **fields}
    return await tenant.client.webhooks.create(**given)


async def put_event(
    tenant: Tenant, type_: str = "call.started", *, data: str = '{"call_id":"cal_1"}', **fields: Any
) -> str:
    """An event in the log that is fanned out already; its id."""
    event_id: str = fields.get("id") or tenant.services.ids.new("evt")
    row: dict[str, Any] = {
        "id": event_id,
        "org_id": tenant.org_id,
        "type": type_,
        "created_at": HAPPENED_MS,
        "data": data,
        "simulated": True,
        "subject_id": "cal_1",
        "fanned_out_at": HAPPENED_MS,
        **fields,
    }
    await _write(tenant, insert(outbox).values(row))
    return event_id


async def put_delivery(tenant: Tenant, webhook_id: str, event_id: str, **fields: Any) -> str:
    """A delivery that has arrived, unless told; its id."""
    delivery_id: str = fields.get("id") or tenant.services.ids.new("dlv")
    row: dict[str, Any] = {
        "id": delivery_id,
        "org_id": tenant.org_id,
        "webhook_id": webhook_id,
        "event_id": event_id,
        "event_type": "call.started",
        "cause": "event",
        "status": "succeeded",
        "created_at": HAPPENED_MS,
        "attempt_count": 1,
        **fields,
    }
    await _write(tenant, insert(deliveries).values(row))
    return delivery_id


async def put_attempt(tenant: Tenant, delivery_id: str, number: int, **fields: Any) -> None:
    """An attempt that the endpoint answered with 204, unless told."""
    row: dict[str, Any] = {
        "delivery_id": delivery_id,
        "number": number,
        "started_at": HAPPENED_MS + number,
        "duration_ms": 80,
        "outcome": "succeeded",
        "url": URL,
        "request_headers": json.dumps({"Content-Type": "application/json"}),
        "response_status": 204,
        "response_excerpt": "",
        "detail": "",
        **fields,
    }
    await _write(tenant, insert(delivery_attempts).values(row))


async def set_on(tenant: Tenant, table: Table, id_: str, **values: Any) -> None:
    """Changes a row, which must be there."""
    assert await _write(tenant, update(table).where(table.c.id == id_).values(**values)) == 1


async def endpoint_queue(tenant: Tenant, webhook_id: str) -> Any:
    """The endpoint queue of a subscription."""
    found = select(endpoint_queues).where(endpoint_queues.c.webhook_id == webhook_id)
    return await tenant.database.read(lambda connection: connection.execute(found).one())


async def rows_of(tenant: Tenant, table: Table, **wanted: Any) -> list[Mapping[str, Any]]:
    """The organization's rows of a table that have these values, by id."""
    found = select(table).where(table.c.org_id == tenant.org_id).order_by(table.c.id)
    for name, value in wanted.items():
        found = found.where(table.c[name] == value)
    return await tenant.database.read(lambda connection: [dict(row) for row in connection.execute(found).mappings()])


async def _write(tenant: Tenant, statement: Any) -> int:
    return await tenant.database.write(lambda connection: connection.execute(statement).rowcount)
