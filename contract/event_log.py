"""The log of events: what happened, to whom it was sent, and why it did not arrive."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.declaration.field_types import EventId, ExactTimestamp, WebhookId
from callwright.contract.declaration.filters import Filter, FilterText, OneOrMore
from callwright.contract.declaration.marks import OwnText, UntrustedText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.events import EventEnvelope
from callwright.contract.problems import INVALID_STATE_TRANSITION
from callwright.contract.webhooks import Delivery, Replayed

Arrival = Literal["arrived", "waiting", "failed", "missed", "cancelled", "not_subscribed", "subscribed_later"]


class Event(EventEnvelope):
    """An event as it is sent, with what it is about."""

    simulated: bool
    subject_id: Annotated[str | None, Field(description="The call, deployment, audience or other thing it is about.")]


class WebhookArrival(Resource):
    """Whether an event arrived at one subscription, and why not."""

    webhook_id: str
    url: OwnText
    arrival: Arrival
    attempt_count: int
    last_outcome: AttemptOutcome | None = None
    last_response_status: int | None = None
    response_excerpt: Annotated[
        UntrustedText, Field(description="The beginning of what the endpoint answered where it did not take the event.")
    ] = ""
    delivery_id: str | None = None
    explanation: Annotated[OwnText, Field(description="What happened, in words.")]
    next_step: Annotated[OwnText, Field(description="What to do; empty when there is nothing to do.")]


class EventExplanation(Resource):
    """Why an event did or did not arrive, at each subscription there is."""

    event_id: str
    event_type: OwnText
    summary: OwnText
    webhooks: list[WebhookArrival]


class ListEvents(PageQuery):
    """Events of the organization, of the last 30 days."""

    created_from: Annotated[
        ExactTimestamp | None,
        Field(description="Only those made at this moment or later, to the millisecond."),
        Filter("created_at", "from"),
    ] = None
    created_before: Annotated[
        ExactTimestamp | None,
        Field(description="Only those made before this moment, to the millisecond."),
        Filter("created_at", "before"),
    ] = None
    type: Annotated[OneOrMore[FilterText], Field(description="Only these events.")] = None
    subject_id: Annotated[
        FilterText | None,
        Field(description="Only events about this call, deployment, audience or other thing."),
        Filter(),
    ] = None


class GetEvent(Input):
    """One event."""

    id: EventId


class ExplainEvent(Input):
    """The event to explain."""

    id: EventId


class ListEventDeliveries(PageQuery):
    """Deliveries of an event."""

    id: EventId


class ReplayEvent(Input):
    """The event to send again: to one subscription, or to all that are active and want it."""

    id: EventId
    webhook_id: Annotated[WebhookId | None, Field(description="Only to this subscription.")] = None


list_events = listing(
    "list_events", "/events", takes=ListEvents, gives=Event, counts_to=MOST_COUNTED, summary="List events."
)
get_event = operation("get_event", "GET /events/{id}", takes=GetEvent, gives=Event, summary="Get an event.")
list_event_deliveries = listing(
    "list_event_deliveries",
    "/events/{id}/deliveries",
    takes=ListEventDeliveries,
    gives=Delivery,
    summary="List deliveries of an event.",
)
explain_event = operation(
    "explain_event",
    "GET /events/{id}/explanation",
    takes=ExplainEvent,
    gives=EventExplanation,
    summary="Explain why an event did or did not arrive.",
)
replay_event = operation(
    "replay_event",
    "POST /events/{id}/replay",
    takes=ReplayEvent,
    gives=Replayed,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Send an event again.",
)
