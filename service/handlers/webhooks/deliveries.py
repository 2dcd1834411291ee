"""Deliveries to a webhook subscription: their log, test deliveries and replays."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, select

from callwright.contract import webhooks as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.events import WEBHOOK_TEST
from callwright.contract.events import WebhookTest as TestData
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.handlers.webhooks import subscriptions
from callwright.service.platform.clock.clock import iso_milliseconds, second_began
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.refusals import not_found
from callwright.service.tables.delivery_rows import Cause, delivery_row, queue, take_over
from callwright.service.tables.outbox import add_events, event_row
from callwright.service.tables.schema import deliveries, delivery_attempts, outbox
from callwright.service.tables.schema.events import UNARRIVED

_D = deliveries.c
_A = delivery_attempts.c
_O = outbox.c
_ONE = select(deliveries).where(_D.id == bindparam("id"), _D.webhook_id == bindparam("webhook"))
_ATTEMPTS = select(delivery_attempts).where(_A.delivery_id == bindparam("id")).order_by(_A.number)
_AGAIN = (
    select(_D.event_id, _D.event_type)
    .join(outbox, _O.id == _D.event_id)
    .where(_D.webhook_id == bindparam("webhook"), UNARRIVED, _D.cause != "test")
    .order_by(_D.created_at, _D.id)
)
COLUMNS = {name: _D[name] for name in ("status", "cause", "event_type", "event_id", "created_at")}
"""What lists of deliveries are filtered and sorted by."""
MESSAGE = "This is a test of your webhook subscription. Nothing has happened."


def to_resource(row: Row[Any]) -> contract.Delivery:
    """A delivery as callers see it."""
    return resource(contract.Delivery, row)


def _attempt(row: Row[Any]) -> contract.DeliveryAttempt:
    return resource(contract.DeliveryAttempt, row, started_at=iso_milliseconds(row.started_at))


@handles(contract.list_webhook_deliveries)
def list_webhook_deliveries(asked: contract.ListWebhookDeliveries, context: RequestContext) -> Page[contract.Delivery]:
    """A page of deliveries."""
    row = subscriptions.find(context, asked.id)
    if asked.event_id is None:
        rows = select(deliveries).where(_D.webhook_id == row.id)
    else:  # an expression keeps the index by subscription out, so that the index by event finds the few rows
        rows = select(deliveries).where(_D.webhook_id + "" == row.id)
    listing = Listing(contract.list_webhook_deliveries, rows, COLUMNS, _D.id, countable=("created_at", "event_id"))
    return context.page(listing, asked, to_resource)


@handles(contract.get_webhook_delivery)
def get_webhook_delivery(asked: contract.GetWebhookDelivery, context: RequestContext) -> contract.DeliveryWithAttempts:
    """One delivery with its attempts."""
    row = subscriptions.find(context, asked.id)
    found = context.connection.execute(_ONE, {"id": asked.delivery_id, "webhook": row.id}).one_or_none()
    if found is None:
        raise not_found()
    attempts = [_attempt(each) for each in context.connection.execute(_ATTEMPTS, {"id": found.id})]
    return resource(contract.DeliveryWithAttempts, found, attempts=attempts)


@handles(contract.test_webhook, brief=True)
def try_webhook(asked: contract.TestWebhook, context: RequestContext) -> contract.Delivery:
    """Queues an event that goes to this subscription alone."""
    row = subscriptions.find_active(context, asked.id)
    data = TestData(webhook_id=row.id, message=MESSAGE)
    event = event_row(context.ids, context.org_id, WEBHOOK_TEST, data, at_ms=context.now_ms)
    add_events(context.connection, [{**event, "fanned_out_at": context.now_ms}])
    (delivery_id,) = send(context, "test", [(row.id, event["id"], event["type"])])
    return to_resource(context.connection.execute(_ONE, {"id": delivery_id, "webhook": row.id}).one())


@handles(contract.replay_webhook)
def replay_webhook(asked: contract.ReplayWebhook, context: RequestContext) -> contract.Replayed:
    """Queues the deliveries that failed, the oldest first, each event once."""
    row = subscriptions.find_active(context, asked.id)
    found = context.connection.execute(_to_replay(asked), {"webhook": row.id}).all()
    again: dict[str, str] = {event_id: event_type for event_id, event_type in found[: contract.MOST_REPLAYED]}
    take_over(context.connection, row.id, list(again), context.now_ms)
    send(context, "replay", [(row.id, event_id, event_type) for event_id, event_type in again.items()])
    return contract.Replayed(queued=len(again), has_more=len(found) > contract.MOST_REPLAYED)


def count_to_replay(connection: Connection, asked: contract.ReplayWebhook) -> int:
    """How many events a replay would send now; one more than a replay sends where there are more.

    The caller has looked whose subscription it is.
    """
    events = _to_replay(asked).subquery()
    counted = select(func.count(events.c.event_id.distinct()))
    return connection.execute(counted, {"webhook": asked.id}).scalar_one()


def _to_replay(asked: contract.ReplayWebhook) -> Select[Any, Any]:
    """The deliveries that fit a replay, the oldest first; one more than it sends."""
    wanted = _AGAIN.where(_D.status.in_(asked.statuses), *_made_between(asked.created_from, asked.created_before))
    return wanted.limit(contract.MOST_REPLAYED + 1)


def _made_between(begin: datetime | None, end: datetime | None) -> list[Any]:
    return [
        *([] if begin is None else [_D.created_at >= second_began(begin)]),
        *([] if end is None else [_D.created_at < second_began(end)]),
    ]


def send(context: RequestContext, cause: Cause, wanted: Sequence[tuple[str, str, str]]) -> list[str]:
    """Queues a delivery for each `(webhook_id, event_id, event_type)`; returns the ids of the deliveries."""
    rows = [
        delivery_row(
            context.ids,
            org_id=context.org_id,
            webhook_id=webhook_id,
            event_id=event_id,
            event_type=event_type,
            cause=cause,
            now_ms=context.now_ms,
        )
        for webhook_id, event_id, event_type in wanted
    ]
    queue(context.connection, rows, context.now_ms)
    return [row["id"] for row in rows]
