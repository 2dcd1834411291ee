"""The log of events."""

import json
from typing import Any

from sqlalchemy import Row, bindparam, select

from callwright.contract import event_log as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.events import EVERY, WEBHOOK_TEST
from callwright.contract.webhooks import Delivery, Replayed
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.handlers.webhooks import deliveries as webhook_deliveries
from callwright.service.handlers.webhooks import subscriptions as webhooks
from callwright.service.platform.clock.clock import iso_milliseconds
from callwright.service.platform.database.listing import Listing, without_index
from callwright.service.tables.delivery_rows import take_over
from callwright.service.tables.schema import deliveries, outbox
from callwright.service.tables.schema import webhooks as subscriptions
from callwright.service.tables.schema.events import OF_EVERY_CALL, RARE_EVENTS

_O = outbox.c
_D = deliveries.c
_S = subscriptions.c
_FIND = select(outbox).where(_O.id == bindparam("id"), _O.org_id == bindparam("org"))
_ACTIVE = (
    select(_S.id, _S.events)
    .where(_S.org_id == bindparam("org"), _S.status == "active", _S.deleted_at.is_(None))
    .order_by(_S.id)
    .with_for_update(read=True)
)


def find(context: RequestContext, event_id: str) -> Row[Any]:
    """The event's row. Raises `Refusal`: not_found, also once the event is older than the log."""
    return context.one(_FIND, id=event_id)


def to_resource(row: Row[Any]) -> contract.Event:
    """An event as callers see it."""
    return resource(contract.Event, row, created_at=iso_milliseconds(row.created_at), data=json.loads(row.data))


@handles(contract.list_events)
def list_events(asked: contract.ListEvents, context: RequestContext) -> Page[contract.Event]:
    """A page of events."""
    columns = {name: _O[name] for name in ("type", "subject_id", "created_at")}
    org = _O.org_id if asked.subject_id is None else without_index(_O.org_id)  # else SQLite may read all of its events
    own = select(outbox).where(org == context.org_id)
    if asked.type is not None and not OF_EVERY_CALL & set(asked.type):
        own = own.where(RARE_EVENTS)
    listing = Listing(contract.list_events, own, columns, _O.id, countable=("subject_id",), is_long=True)
    return context.page(listing, asked, to_resource)


@handles(contract.get_event)
def get_event(asked: contract.GetEvent, context: RequestContext) -> contract.Event:
    """One event."""
    return to_resource(find(context, asked.id))


@handles(contract.list_event_deliveries)
def list_event_deliveries(asked: contract.ListEventDeliveries, context: RequestContext) -> Page[Delivery]:
    """A page of deliveries, also to subscriptions that were deleted."""
    event = find(context, asked.id)
    rows = select(deliveries).where(_D.event_id == event.id)
    listing = Listing(contract.list_event_deliveries, rows, {"created_at": _D.created_at}, _D.id)
    return context.page(listing, asked, webhook_deliveries.to_resource)


@handles(contract.replay_event, brief=True)
def replay_event(asked: contract.ReplayEvent, context: RequestContext) -> Replayed:
    """Queues an event again, whether or not it was delivered before."""
    event = find(context, asked.id)
    if asked.webhook_id is not None:
        chosen = [webhooks.find_active(context, asked.webhook_id, field="webhook_id").id]
    else:
        chosen = _wanting(context, event)
    for webhook_id in chosen:
        take_over(context.connection, webhook_id, [event.id], context.now_ms)
    webhook_deliveries.send(context, "replay", [(webhook_id, event.id, event.type) for webhook_id in chosen])
    return Replayed(queued=len(chosen), has_more=False)


def _wanting(context: RequestContext, event: Row[Any]) -> list[str]:
    """The active subscriptions that get the event. A test goes only to the subscription that it tests."""
    active = context.connection.execute(_ACTIVE, {"org": context.org_id}).all()
    if event.type == WEBHOOK_TEST.name:
        return [webhook_id for webhook_id, _ in active if webhook_id == event.subject_id]
    wanting = [webhook_id for webhook_id, names in active if {EVERY, event.type} & set(json.loads(names))]
    return [webhook_id for webhook_id in wanting if webhook_id != event.subject_id]
