"""Inbound routing: an address of the customer that decides, while a caller waits, what happens to the call."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.declaration.field_types import PhoneNumberId, PlainText, Timestamp
from callwright.contract.declaration.filters import Filter, MadeBetween
from callwright.contract.declaration.marks import DERIVED, ContactNumber, OwnText, UntrustedText
from callwright.contract.declaration.model import Input, Part, Resource
from callwright.contract.declaration.operation import listing, operation, removal
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.forwarding import ForwardTo, checked_forward
from callwright.contract.problems import INVALID_STATE_TRANSITION, NUMBER_NOT_CAPABLE

ROUTING_LIMIT_MS = 1_000
"""How long a question is waited for in all, from the look-up of the host to the last byte of the answer."""
SLOW_ROUTING_MS = 500
"""An answer should take less. One that takes longer counts, and is marked as slow."""
MOST_ANSWER_BYTES = 16_384
FAILURES_UNTIL_ALERT = 5
"""So many questions in a row without a usable answer, and the number counts as failing."""

RoutingAction = Literal["answer", "transfer", "reject"]
RoutingUrl = Annotated[
    OwnText,
    Field(
        min_length=1,
        max_length=2_048,
        description="HTTPS address that is asked. No credentials, no fragment, no private address.",
        examples=["https://example.com/who-answers"],
    ),
    PlainText,
]


class RoutingFallback(Part):
    """What a caller gets when the routing webhook gave no usable answer and no active deployment answers the number."""

    action: Annotated[
        Literal["reject", "forward"], Field(description="Refuse the call, or forward it to `forward_to`.")
    ] = "reject"
    forward_to: ForwardTo | None = None

    _has_number = model_validator(mode="after")(checked_forward)


class InboundRouting(Resource):
    """The routing webhook of a number. The secret itself is shown only where it is made."""

    url: OwnText
    enabled: Annotated[bool, Field(description="False: it is not asked; the bound deployment answers.")]
    fallback: Annotated[
        RoutingFallback | None,
        Field(description="Where neither webhook nor deployment says what to do; null: the busy tone."),
    ] = None
    secret_prefix: Annotated[OwnText, Field(description="The first characters of the secret, to recognise it by.")]
    failures: Annotated[
        int, Field(description="Callers in a row for whom it gave no usable answer. Tests do not count."), DERIVED
    ]
    failing_since: Annotated[
        Timestamp | None,
        Field(description=f"When {FAILURES_UNTIL_ALERT} in a row had failed; null while it works."),
        DERIVED,
    ] = None


class NewInboundRouting(InboundRouting):
    """The routing webhook of a number, with its secret if one was just made."""

    secret: Annotated[
        OwnText | None,
        Field(description="Signing secret. Keep it: it is not shown again. null: the one there was stays."),
    ] = None


class RoutingRequest(Resource):
    """One question to a routing webhook, and what came of it. It is kept for 30 days."""

    id: Annotated[str, Field(description="The `id` of the question.")]
    phone_number_id: str
    call_id: Annotated[str | None, Field(description="The call that came in; null for a test.")] = None
    is_test: Annotated[bool, Field(description="Asked by test_inbound_routing: nobody called.")]
    simulated: bool
    created_at: Timestamp
    from_number: Annotated[
        ContactNumber | None,
        Field(serialization_alias="from", validation_alias="from", description="The caller; null if withheld."),
    ] = None
    outcome: Annotated[AttemptOutcome, Field(description="succeeded: the answer was usable.")]
    action: Annotated[RoutingAction | None, Field(description="What a usable answer asked for.")] = None
    response_status: int | None = None
    response_excerpt: Annotated[UntrustedText, Field(description="The beginning of the answer, at most 4 KB.")] = ""
    detail: Annotated[UntrustedText, Field(description="Why the answer was not usable, in words.")] = ""
    latency_ms: Annotated[int, Field(description="From the look-up of the host to the end of the answer.")]
    slow: Annotated[bool, Field(description=f"It took longer than {SLOW_ROUTING_MS} ms.")]


class RoutingTest(RoutingRequest):
    """A question that was asked for a test, and what a caller would get now."""

    would_do: Annotated[
        OwnText | None,
        Field(description="What a caller would get now, in words; null where a repeated request asks nothing again."),
    ] = None


class SetInboundRouting(Input):
    """The routing webhook that a number is to have. What is left out takes its default."""

    id: PhoneNumberId
    url: RoutingUrl
    enabled: Annotated[bool, Field(description="false: keep it, and do not ask it.")] = True
    fallback: Annotated[
        RoutingFallback | None,
        Field(description="Where neither webhook nor deployment says what to do; left out: the busy tone."),
    ] = None
    new_secret: Annotated[
        bool, Field(description="true: make another secret and show it once. The one there was ends at once.")
    ] = False


class RemoveInboundRouting(Input):
    """The number whose routing webhook is removed, with its secret. The bound deployment answers from then on."""

    id: PhoneNumberId


class TestInboundRouting(Input):
    """The number whose routing webhook is asked now, with a made-up caller. Nobody is called."""

    id: PhoneNumberId


class ListRoutingRequests(MadeBetween, PageQuery):
    """Questions to the routing webhook of a number."""

    id: PhoneNumberId
    failed: Annotated[
        bool | None, Field(description="true: only those without a usable answer; false: only the others."), Filter()
    ] = None
    slow: Annotated[
        bool | None,
        Field(description=f"true: only those that took longer than {SLOW_ROUTING_MS} ms; false: only the others."),
        Filter(),
    ] = None


set_inbound_routing = operation(
    "set_inbound_routing",
    "PUT /phone_numbers/{id}/inbound_routing",
    takes=SetInboundRouting,
    gives=NewInboundRouting,
    problems=(NUMBER_NOT_CAPABLE,),
    summary="Set the address that decides what callers of a phone number get.",
)
remove_inbound_routing = removal(
    "remove_inbound_routing",
    "/phone_numbers/{id}/inbound_routing",
    takes=RemoveInboundRouting,
    summary="Remove the routing webhook of a phone number.",
)
test_inbound_routing = operation(
    "test_inbound_routing",
    "POST /phone_numbers/{id}/inbound_routing/test",
    takes=TestInboundRouting,
    gives=RoutingTest,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Ask the routing webhook of a phone number now, with a made-up caller.",
)
list_routing_requests = listing(
    "list_routing_requests",
    "/phone_numbers/{id}/routing_requests",
    takes=ListRoutingRequests,
    gives=RoutingRequest,
    counts_to=MOST_COUNTED,
    summary="List what the routing webhook of a phone number was asked and answered.",
)
