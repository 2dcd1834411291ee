"""Webhook subscriptions: which events are sent to which address, and the log of their deliveries."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.checks.names import Text
from callwright.contract.declaration.changes import TO_NO_ENTRIES, TO_NO_TEXT, Changes
from callwright.contract.declaration.field_types import DeliveryId, Metadata, PlainText, Stored, Timestamp, WebhookId
from callwright.contract.declaration.filters import Filter, FilterText, MadeBetween, OneOrMore
from callwright.contract.declaration.marks import DERIVED, OWN, OwnText, UntrustedText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation, removal
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.events import EventName
from callwright.contract.problems import INVALID_STATE_TRANSITION, PLAN_LIMIT_REACHED, SECRETS_STILL_SIGN

MOST_SUBSCRIPTIONS = 20
"""Subscriptions an organization may have at a time."""
MOST_REPLAYED = 2_000
"""Deliveries that one replay may make: so many take a moment, and more are asked for again."""
MOST_OVERLAP_S = 7 * 86_400
MOST_EARLIER_SECRETS = 3
"""Secrets that sign beside the present one."""

WebhookStatus = Literal["active", "disabled"]
DisabledReason = Literal["consecutive_failures", "endpoint_gone", "manual"]
DeliveryStatus = Literal["pending", "succeeded", "failed", "missed", "cancelled"]
DeliveryCause = Literal["event", "test", "replay"]

WebhookUrl = Annotated[
    OwnText,
    Field(
        min_length=1,
        max_length=2_048,
        description="HTTPS address that takes the events. No credentials, no fragment, no private address.",
        examples=["https://example.com/callwright-events"],
    ),
    PlainText,
]
Events = Annotated[
    list[EventName], Field(min_length=1, max_length=100, description="Names of events, or * for all, later ones too.")
]
Secret = Annotated[
    OwnText,
    Field(
        pattern=r"^whsec_\S{24,}$",
        max_length=200,
        description="Signing secret of your own: whsec_ and at least 24 characters. Left out: one is made.",
        examples=["whsec_0123456789abcdefghijklmn"],
    ),
    PlainText,
]


class Webhook(Stored):
    """A webhook subscription. The secret itself is shown only where it is made."""

    url: OwnText
    events: list[OwnText]
    description: OwnText
    secret_prefix: Annotated[OwnText, Field(description="The first characters of the secret, to recognise it by.")]
    previous_secret_until: Annotated[
        Timestamp | None,
        Field(description="Until then deliveries are signed with an earlier secret as well; the last end of several."),
    ] = None
    status: WebhookStatus
    disabled_reason: DisabledReason | None = None
    disabled_at: Timestamp | None = None
    consecutive_failures: Annotated[int, Field(description="Events in a row that did not arrive."), DERIVED]
    last_success_at: Annotated[Timestamp | None, DERIVED] = None
    last_failure_at: Annotated[Timestamp | None, DERIVED] = None
    last_response_status: Annotated[int | None, Field(description="What the endpoint answered last."), DERIVED] = None
    metadata: dict[str, OwnText]


class NewWebhook(Webhook):
    """A webhook subscription with its secret, which is shown this once."""

    secret: Annotated[OwnText, Field(description="Signing secret. Keep it: it is not shown again.")]


class DeliveryAttempt(Resource):
    """One attempt to deliver: what was sent, what came back, how long it took."""

    number: Annotated[int, Field(description="1 is the first.")]
    started_at: Annotated[OwnText, Field(description="With milliseconds.")]
    duration_ms: int
    outcome: AttemptOutcome
    url: OwnText
    request_headers: dict[str, OwnText]
    response_status: int | None = None
    response_excerpt: Annotated[UntrustedText, Field(description="The beginning of the answer, at most 4 KB.")] = ""
    detail: Annotated[UntrustedText, Field(description="What went wrong, in words, or that it was sent twice.")] = ""


class Delivery(Resource):
    """The delivery of an event to a subscription, with all its attempts."""

    id: str
    webhook_id: str
    event_id: str
    event_type: OwnText
    cause: DeliveryCause
    status: DeliveryStatus
    created_at: Timestamp
    attempt_count: int
    next_attempt_at: Annotated[Timestamp | None, Field(description="When it is tried again; null when it is not.")] = (
        None
    )
    finished_at: Timestamp | None = None
    last_outcome: AttemptOutcome | None = None
    last_response_status: int | None = None


class DeliveryWithAttempts(Delivery):
    """A delivery with its attempts, oldest first."""

    attempts: list[DeliveryAttempt]


class Replayed(Resource):
    """What a replay began."""

    queued: Annotated[int, Field(description="Deliveries that were made.")]
    has_more: Annotated[bool, Field(description="True when more fit than one replay makes: ask again.")]


class ListWebhooks(MadeBetween, PageQuery):
    """Subscriptions of the organization."""

    status: Annotated[OneOrMore[WebhookStatus], Field(description="Only these states.")] = None


class GetWebhook(Input):
    """One subscription."""

    id: WebhookId


class CreateWebhook(Input):
    """A new subscription. Events from now on are sent to it."""

    url: WebhookUrl
    events: Events
    description: Annotated[Text, OWN] = ""
    secret: Secret | None = None
    metadata: Metadata = {}


class UpdateWebhook(Changes):
    """Changes to a subscription."""

    id: WebhookId
    url: WebhookUrl | None = None
    events: Events | None = None
    description: Annotated[Text | None, OWN, TO_NO_TEXT] = None
    status: Annotated[
        WebhookStatus | None,
        Field(description="disabled stops sending; active sends again. What was missed can be replayed."),
    ] = None
    metadata: Annotated[Metadata | None, TO_NO_ENTRIES] = None


class DeleteWebhook(Input):
    """The subscription to delete. What waits to be sent to it is not sent."""

    id: WebhookId


class RotateWebhookSecret(Input):
    """A new secret. Until the overlap ends, deliveries are signed with the present one as well.

    Earlier secrets that still sign keep their own ends. At most three sign beside the newest.
    """

    id: WebhookId
    secret: Secret | None = None
    overlap_seconds: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_OVERLAP_S,
            description="How long the present secret still signs; one day by default. 0 ends it at once.",
        ),
    ] = 86_400


class TestWebhook(Input):
    """A subscription to try. One event webhook.test is sent to it, once."""

    id: WebhookId


class ListWebhookDeliveries(MadeBetween, PageQuery):
    """Deliveries to a subscription."""

    id: WebhookId
    status: Annotated[OneOrMore[DeliveryStatus], Field(description="Only these states.")] = None
    cause: Annotated[OneOrMore[DeliveryCause], Field(description="Only these causes.")] = None
    event_type: Annotated[OneOrMore[FilterText], Field(description="Only these events.")] = None
    event_id: Annotated[FilterText | None, Field(description="Only this event."), Filter()] = None


class GetWebhookDelivery(Input):
    """One delivery."""

    id: WebhookId
    delivery_id: DeliveryId


class ReplayWebhook(Input):
    """Which deliveries to make again: of events that have not arrived since and are not under way, each once."""

    id: WebhookId
    statuses: Annotated[
        list[Literal["failed", "missed"]], Field(min_length=1, max_length=2, description="failed, missed, or both.")
    ] = ["failed", "missed"]
    created_from: Annotated[Timestamp | None, Field(description="Only deliveries made at this moment or later.")] = None
    created_before: Annotated[Timestamp | None, Field(description="Only deliveries made before this moment.")] = None


list_webhooks = listing(
    "list_webhooks",
    "/webhooks",
    takes=ListWebhooks,
    gives=Webhook,
    sorts=("created_at", "updated_at"),
    summary="List webhook subscriptions.",
)
create_webhook = operation(
    "create_webhook",
    "POST /webhooks",
    takes=CreateWebhook,
    gives=NewWebhook,
    status=201,
    problems=(PLAN_LIMIT_REACHED,),
    summary="Subscribe to events.",
)
get_webhook = operation(
    "get_webhook", "GET /webhooks/{id}", takes=GetWebhook, gives=Webhook, summary="Get a webhook subscription."
)
update_webhook = operation(
    "update_webhook",
    "PATCH /webhooks/{id}",
    takes=UpdateWebhook,
    gives=Webhook,
    summary="Change, disable or enable a webhook subscription.",
)
delete_webhook = removal(
    "delete_webhook", "/webhooks/{id}", takes=DeleteWebhook, summary="Delete a webhook subscription."
)
rotate_webhook_secret = operation(
    "rotate_webhook_secret",
    "POST /webhooks/{id}/rotate_secret",
    takes=RotateWebhookSecret,
    gives=NewWebhook,
    problems=(SECRETS_STILL_SIGN,),
    summary="Give a webhook subscription a new secret.",
)
test_webhook = operation(
    "test_webhook",
    "POST /webhooks/{id}/test",
    takes=TestWebhook,
    gives=Delivery,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Send a test event to a webhook subscription.",
)
list_webhook_deliveries = listing(
    "list_webhook_deliveries",
    "/webhooks/{id}/deliveries",
    takes=ListWebhookDeliveries,
    gives=Delivery,
    counts_to=MOST_COUNTED,
    summary="List deliveries to a webhook subscription.",
)
get_webhook_delivery = operation(
    "get_webhook_delivery",
    "GET /webhooks/{id}/deliveries/{delivery_id}",
    takes=GetWebhookDelivery,
    gives=DeliveryWithAttempts,
    summary="Get a delivery with its attempts.",
)
replay_webhook = operation(
    "replay_webhook",
    "POST /webhooks/{id}/replay",
    takes=ReplayWebhook,
    gives=Replayed,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Send failed and missed events to a webhook subscription again.",
)
