"""test_webhook: sends the test event, waits for the answer of the endpoint, and describes it."""

from callwright.client.errors import CallwrightError, NotOffered
from callwright.contract.attempts import AttemptOutcome
from callwright.contract.event_log import ExplainEvent, WebhookArrival, explain_event
from callwright.contract.webhooks import (
    Delivery,
    DeliveryWithAttempts,
    GetWebhookDelivery,
    TestWebhook,
    get_webhook_delivery,
    test_webhook,
)
from callwright.tools.replies.untyped_answers import untyped_reply
from callwright.tools.runtime.tool import Projection, Reply, data_of
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import lines

LONGEST_S = 12.0
"""Seconds to wait: the endpoint may take five, and earlier deliveries are sent first."""
WHAT = "What the endpoint answered."
_UNKNOWN = "The test is being sent. This service does not show its result: look at the endpoint."
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 1.0
_GROWTH = 1.5


class WebhookTested(Projection):
    """The result of a test."""

    webhook_id: str
    delivery_id: str
    event_id: str
    arrived: bool
    status: str
    outcome: AttemptOutcome | None = None
    response_status: int | None = None
    duration_ms: int | None = None
    response_excerpt: str | None = None
    explanation: str | None = None
    next_step: str | None = None


async def tried(context: ToolContext, asked: TestWebhook) -> Reply:
    """Whether a test arrived, what the endpoint answered, and what to repair if it did not."""
    response = await context.client.ask_lenient(
        test_webhook, asked, idempotency_key=context.key or context.session.ids()
    )
    if response.answer is None:
        return untyped_reply(response.data, context)
    sent = response.answer
    found = await _settled(context, sent)
    last = found.attempts[-1] if found is not None and found.attempts else None
    now: Delivery = found or sent
    arrived = now.status == "succeeded"
    why = None if arrived or last is None else await _why(context, now)
    excerpt = last.response_excerpt if last is not None else ""
    result = WebhookTested(
        webhook_id=now.webhook_id,
        delivery_id=now.id,
        event_id=now.event_id,
        arrived=arrived,
        status=now.status,
        outcome=last.outcome if last is not None else None,
        response_status=last.response_status if last is not None else None,
        duration_ms=last.duration_ms if last is not None else None,
        response_excerpt=excerpt or None,
        explanation=cleaned(why.explanation) if why is not None else None,
        next_step=cleaned(why.next_step) if why is not None else None,
    )
    text = lines(
        _said(result, context) if found is not None else _UNKNOWN,
        f"Next: {result.next_step}" if result.next_step else None,
        fenced([excerpt[:200]], tag=context.session.ids(), what=WHAT) if excerpt and not arrived else None,
    )
    return Reply(text=text, data=data_of(result), untrusted=("response_excerpt",) if excerpt else ())


def _said(result: WebhookTested, context: ToolContext) -> str:
    if result.arrived:
        return (
            f"The test arrived at {result.webhook_id}: the endpoint answered {result.response_status} after "
            f"{result.duration_ms} ms."
        )
    later = context.hint(f"get_webhook_delivery with delivery_id {result.delivery_id} shows its attempts.")
    if result.outcome is None:
        return lines(f"The test was not sent within {LONGEST_S:g} seconds; it waits for its turn.", later)
    what = result.explanation or f"Its outcome is {result.outcome}."
    return lines(f"The test did not arrive at {result.webhook_id}. {what}", later)


async def _settled(context: ToolContext, sent: Delivery) -> DeliveryWithAttempts | None:
    """The delivery once an attempt was made, or when the time is up; None where the service does not show it."""
    clock = context.session.clock
    deadline, pause = clock.monotonic() + LONGEST_S, _FIRST_PAUSE_S
    question = GetWebhookDelivery(id=sent.webhook_id, delivery_id=sent.id)
    while True:
        try:
            found = await context.client.ask(get_webhook_delivery, question)
        except NotOffered:
            return None
        left = deadline - clock.monotonic()
        if found.attempts or found.status != "pending" or left <= 0:
            return found
        await clock.sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)


async def _why(context: ToolContext, delivery: Delivery) -> WebhookArrival | None:
    """The service's explanation of a test that did not arrive, if it gives one."""
    try:
        found = await context.client.ask(explain_event, ExplainEvent(id=delivery.event_id))
    except CallwrightError:  # the outcome of the test is known; only its explanation is missing
        return None
    return next((one for one in found.webhooks if one.webhook_id == delivery.webhook_id), None)
