"""Explains, for each subscription, whether and why an event did or did not arrive."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from sqlalchemy import Row, bindparam, or_, select

from callwright.contract import event_log as contract
from callwright.service.handlers.events import arrival_explanations, log
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.tables.schema import deliveries, delivery_attempts, webhooks

MOST_EXCERPT = 200
"""Characters of an endpoint's answer that are shown."""
MOST_DELIVERIES = 1_000
"""The most deliveries of an event that are read, the newest first."""
_W, _D, _A = webhooks.c, deliveries.c, delivery_attempts.c
_HAS_DELIVERY = select(_D.id).where(_D.webhook_id == _W.id, _D.event_id == bindparam("event")).exists()
_WEBHOOKS = (
    select(webhooks)
    .where(_W.org_id == bindparam("org"), or_(_W.deleted_at.is_(None), _HAS_DELIVERY))
    .order_by(_W.created_at, _W.id)
)
_NEWEST = (
    select(deliveries)
    .where(_D.event_id == bindparam("event"), _D.org_id == bindparam("org"))
    .order_by(_D.created_at.desc(), _D.id.desc())
    .limit(MOST_DELIVERIES)
)
_ATTEMPTS = select(delivery_attempts).where(_A.delivery_id.in_(bindparam("ids", expanding=True))).order_by(_A.number)


@handles(contract.explain_event)
def explain_event(asked: contract.ExplainEvent, context: RequestContext) -> contract.EventExplanation:
    """Whether an event arrived, by subscription. If the event was replayed, its newest delivery is explained."""
    event = log.find(context, asked.id)
    given = {"event": event.id, "org": context.org_id}
    newest: dict[str, Row[Any]] = {}
    arrived: dict[str, int] = {}
    for row in context.connection.execute(_NEWEST, given):
        newest.setdefault(row.webhook_id, row)
        if row.status == "succeeded":
            arrived.setdefault(row.webhook_id, row.finished_at)
    attempts = context.connection.execute(_ATTEMPTS, {"ids": [row.id for row in newest.values()]})
    last = {row.delivery_id: row for row in attempts}
    shown = [
        _arrival(webhook, event, newest.get(webhook.id), last, arrived.get(webhook.id))
        for webhook in context.connection.execute(_WEBHOOKS, given)
    ]
    return contract.EventExplanation(event_id=event.id, event_type=event.type, summary=_summary(shown), webhooks=shown)


def _arrival(
    webhook: Row[Any], event: Row[Any], delivery: Row[Any] | None, attempts: dict[str, Row[Any]], arrived_ms: int | None
) -> contract.WebhookArrival:
    last = None if delivery is None else attempts.get(delivery.id)
    if delivery is None:
        words = arrival_explanations.without_delivery(webhook, event)
    else:
        words = arrival_explanations.of_delivery(webhook, delivery, last, arrived_ms=arrived_ms)
    return contract.WebhookArrival(
        webhook_id=webhook.id,
        url=webhook.url,
        arrival=words.arrival,
        attempt_count=0 if delivery is None else delivery.attempt_count,
        last_outcome=None if delivery is None else delivery.last_outcome,
        last_response_status=None if delivery is None else delivery.last_response_status,
        response_excerpt="" if last is None or words.arrival == "arrived" else last.response_excerpt[:MOST_EXCERPT],
        delivery_id=None if delivery is None else delivery.id,
        explanation=words.explanation,
        next_step=words.next_step,
    )


def _summary(found: Sequence[contract.WebhookArrival]) -> str:
    if not found:
        return (
            "It was sent to nobody: there is no webhook subscription. create_webhook makes one; then the event can be "
            "replayed."
        )
    counts = Counter(one.arrival for one in found)
    arrived = f"Arrived at {counts.pop('arrived', 0)} of {len(found)} webhook subscription{'s' * (len(found) > 1)}"
    others = [f"{counts[kind]} {kind.replace('_', ' ')}" for kind in get_args(contract.Arrival) if counts[kind]]
    return f"{arrived}; otherwise: {', '.join(others)}." if others else f"{arrived}."
