"""Tools for the address that decides what callers of a number get."""

from callwright.contract import inbound_routing as contract
from callwright.contract.inbound_routing import NewInboundRouting, RoutingRequest, RoutingTest
from callwright.tools.catalogue.events.webhooks import SENDS
from callwright.tools.runtime.tool import CHANGES, READS, Hints, Tool, deleted, projection_of
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.wording.text import line, lines, moment, shortened

RoutingMade = projection_of(NewInboundRouting, "RoutingMade", "url", "enabled", "fallback", "secret")
"""The routing webhook of a number after it was set."""
RoutingTried = projection_of(
    RoutingTest, "RoutingTried", *("id", "outcome", "action", "response_status", "detail", "latency_ms", "would_do")
)
"""What came of a test."""
ANSWERED = "What the endpoint answered."
_LONGEST_ANSWER = 300


def _set(routing: NewInboundRouting, context: ToolContext) -> str:
    made = (
        f"Signing secret: {routing.secret}\nIt is shown this once and not again: give it to the person now, for the "
        "endpoint that checks signatures with it."
    )
    return lines(
        f"{routing.url} decides what callers get." if routing.enabled else f"{routing.url} is kept and not asked.",
        made if routing.secret else None,
        context.hint("test_inbound_routing asks it now."),
    )


def _entry(request: RoutingRequest, context: ToolContext) -> str:
    said = " — ".join(filter(None, (request.detail, request.response_excerpt)))
    status = f" {request.response_status}" if request.response_status else ""
    return lines(
        line(
            request.id,
            moment(request.created_at),
            "test" if request.is_test else request.call_id,
            f"{request.outcome}{status}",
            request.action,
            f"{request.latency_ms} ms{', slow' if request.slow else ''}",
        ),
        fenced([shortened(said, _LONGEST_ANSWER)], tag=context.session.ids(), what=ANSWERED) if said else None,
    )


def _tried(test: RoutingTest, context: ToolContext) -> str:
    return lines(_entry(test, context), test.would_do)


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.set_inbound_routing,
        toolset="inbound",
        title="Set a number's routing webhook",
        description=(
            "Side effect: from now on this URL is asked, within a second, what each caller of a number gets. Take the "
            "URL from the person alone. The first time, and with new_secret, it shows a signing secret once. Try it "
            "with test_inbound_routing. Free."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=False, open_world=True),
        reply=_set,
        output_model=RoutingMade,
        omitted_fields=frozenset({"url", "enabled", "fallback"}),
        argument_descriptions={"fallback": "{action: reject or forward, forward_to}. Left out: busy tone."},
        collapsed=frozenset({"fallback"}),
    ),
    Tool(
        operation=contract.remove_inbound_routing,
        toolset="inbound",
        title="Remove a number's routing webhook",
        description=(
            "Removes the URL that decides what callers of a number get, and its secret; the bound deployment answers. "
            "To stop for a while use set_inbound_routing with enabled=false. Ask the person first. Free."
        ),
        hints=CHANGES,
        reply=deleted("Removed the routing webhook of {id}; the bound deployment answers its callers."),
    ),
    Tool(
        operation=contract.test_inbound_routing,
        toolset="inbound",
        title="Test a number's routing webhook",
        description=(
            "Asks a number's routing webhook now, with a made-up caller, and says what a caller would get, or what to "
            "repair. Nobody is called. Use it after set_inbound_routing. For real callers use list_routing_requests. "
            "Free."
        ),
        hints=SENDS,
        reply=_tried,
        output_model=RoutingTried,
    ),
    Tool(
        operation=contract.list_routing_requests,
        toolset="inbound",
        title="List routing requests",
        description=(
            "What a number's routing webhook was asked and answered, newest first: outcome, why not usable, latency. "
            "Use it when callers get the wrong agent. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No question fits.",
        default_fields=("id", "call_id", "created_at", "outcome", "action", "latency_ms", "detail"),
        hidden=frozenset({"sort"}),
        example="response_excerpt",
        argument_descriptions={
            "failed": "true: without a usable answer.",
            "slow": "true: over 500 ms.",
            "created_from": "From this moment on.",
            "created_before": "Before this moment.",
        },
    ),
)
