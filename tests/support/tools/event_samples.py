"""Good answers of the tools for webhook subscriptions and the log of events."""

from typing import Any

from callwright.contract.event_log import Event, EventExplanation, WebhookArrival
from callwright.contract.webhooks import Delivery, DeliveryAttempt, DeliveryWithAttempts, NewWebhook, Replayed, Webhook
from tests.support.tools.finding_samples import AT

URL = "https://example.com/events"
SECRET = "whsec_0123456789abcdefghijklmnopqrstuvwxyz"
ANSWER = "no such path"


def webhook(**changes: Any) -> Webhook:
    sample = Webhook(
        id="whk_1",
        created_at=AT,
        updated_at=AT,
        url=URL,
        events=["call.completed", "deployment.completed"],
        description="Our CRM",
        secret_prefix="whsec_0123",
        status="active",
        consecutive_failures=0,
        last_success_at=AT,
        last_response_status=200,
        metadata={},
    )
    return sample.model_copy(update=changes)


def new_webhook(**changes: Any) -> NewWebhook:
    return NewWebhook(**webhook().model_dump(), secret=SECRET).model_copy(update=changes)


def delivery(**changes: Any) -> Delivery:
    sample = Delivery(
        id="dlv_1",
        webhook_id="whk_1",
        event_id="evt_1",
        event_type="call.completed",
        cause="event",
        status="failed",
        created_at=AT,
        attempt_count=1,
        finished_at=AT,
        last_outcome="rejected",
        last_response_status=404,
    )
    return sample.model_copy(update=changes)


def attempt(**changes: Any) -> DeliveryAttempt:
    sample = DeliveryAttempt(
        number=1,
        started_at="2026-11-21T09:30:00.123Z",
        duration_ms=85,
        outcome="rejected",
        url=URL,
        request_headers={"Content-Type": "application/json"},
        response_status=404,
        response_excerpt=ANSWER,
        detail="The endpoint answered 404: it does not want the event.",
    )
    return sample.model_copy(update=changes)


def delivered(**changes: Any) -> DeliveryWithAttempts:
    sample = DeliveryWithAttempts(**delivery().model_dump(), attempts=[attempt()])
    return sample.model_copy(update=changes)


def event(**changes: Any) -> Event:
    sample = Event(
        id="evt_1",
        type="call.completed",
        created_at="2026-11-21T09:30:00.123Z",
        org_id="org_1",
        data={"call_id": "cal_1", "deployment_id": "dep_1", "outcome": "answered", "duration_seconds": 65},
        simulated=True,
        subject_id="cal_1",
    )
    return sample.model_copy(update=changes)


def arrival(**changes: Any) -> WebhookArrival:
    sample = WebhookArrival(
        webhook_id="whk_1",
        url=URL,
        arrival="failed",
        attempt_count=1,
        last_outcome="rejected",
        last_response_status=404,
        response_excerpt=ANSWER,
        delivery_id="dlv_1",
        explanation="Attempt 1 at 2026-11-21T09:30:00Z did not arrive: the endpoint answered 404.",
        next_step="Correct the path in the URL of the subscription, then replay the event.",
    )
    return sample.model_copy(update=changes)


def explanation(*arrivals: WebhookArrival, **changes: Any) -> EventExplanation:
    found = arrivals or (arrival(),)
    sample = EventExplanation(
        event_id="evt_1",
        event_type="call.completed",
        summary=f"Arrived at 0 of {len(found)} webhook subscription; otherwise: 1 failed.",
        webhooks=list(found),
    )
    return sample.model_copy(update=changes)


def singles() -> dict[str, Any]:
    """An answer for every operation that does not answer with a list."""
    return {
        "get_webhook": webhook(),
        "update_webhook": webhook(),
        "create_webhook": new_webhook(),
        "rotate_webhook_secret": new_webhook(previous_secret_until=AT),
        "delete_webhook": None,
        "test_webhook": delivery(cause="test", event_type="webhook.test", status="pending", attempt_count=0),
        "get_webhook_delivery": delivered(),
        "replay_webhook": Replayed(queued=3, has_more=False),
        "get_event": event(),
        "explain_event": explanation(),
        "replay_event": Replayed(queued=1, has_more=False),
    }


LISTED = {
    "list_webhooks": webhook,
    "list_webhook_deliveries": delivery,
    "list_events": event,
    "list_event_deliveries": delivery,
}
"""What an entry of each list is."""

ARGUMENTS: dict[str, dict[str, Any]] = {
    "create_webhook": {"url": URL, "events": ["call.completed"]},
    "get_webhook_delivery": {"webhook_id": "whk_1", "delivery_id": "dlv_1"},
}
"""Arguments for tools that need more than an id."""
