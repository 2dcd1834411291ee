"""Tools for phone numbers. They are the organization's own, so they are shown in full."""

from callwright.contract import phone_numbers as contract
from callwright.contract.inbound_routing import InboundRouting
from callwright.contract.phone_numbers import AvailableNumber, Capabilities, PhoneNumber
from callwright.tools.confirmation import what_to_confirm
from callwright.tools.runtime.tool import CHANGES, READS, Hints, Tool, projection_of
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import amount, line, lines, listed, moment

NumberState = projection_of(
    PhoneNumber,
    "NumberState",
    *("id", "number", "country", "status", "label", "simulated", "monthly_cost", "renews_at", "auto_renew"),
)
"""A number after it was rented, changed or released."""


def _able(capabilities: Capabilities) -> str:
    found = {
        "outbound": capabilities.voice_outbound,
        "inbound": capabilities.voice_inbound,
        "sms": capabilities.sms,
    }
    return listed([name for name, able in found.items() if able]) or "no capability"


def _entry(number: PhoneNumber, _: ToolContext) -> str:
    return line(
        number.id,
        number.number,
        number.country,
        number.number_type,
        number.status,
        number.label,
        _able(number.capabilities),
        f"{amount(number.monthly_cost)} a month",
        "simulated" if number.simulated else None,
    )


def _whole(number: PhoneNumber, context: ToolContext) -> str:
    renews = f"renews {moment(number.renews_at)}" if number.renews_at and number.auto_renew else None
    used_by = listed(number.outbound_deployment_ids)
    return lines(
        _entry(number, context),
        renews,
        f"used by {used_by}" if used_by else None,
        f"answered by {number.inbound_deployment_id}" if number.inbound_deployment_id else None,
        _routing(number.inbound_routing) if number.inbound_routing else None,
    )


def _routing(routing: InboundRouting) -> str:
    """The webhook that decides about callers, and whether it works."""
    fallback = routing.fallback.action if routing.fallback else None
    return line(
        f"asks {routing.url} about callers" + ("" if routing.enabled else ", not now: it is off"),
        f"fallback {fallback}" if fallback else None,
        f"failing since {moment(routing.failing_since)}" if routing.failing_since else None,
    )


def _rented(number: PhoneNumber, context: ToolContext) -> str:
    said = f"Rented {number.number} for {amount(number.monthly_cost)} a month."
    if number.status == "pending":
        said = (
            f"Paid for {number.number}, but Twilio has not answered yet; get_phone_number shows whether it is active."
        )
    return lines(said, _whole(number, context))


def _imported(number: PhoneNumber, context: ToolContext) -> str:
    return lines(f"Took in {number.number}. Calls from it really ring.", _whole(number, context))


def _released(number: PhoneNumber, _: ToolContext) -> str:
    return f"Released {number.number} ({number.id}); it is {number.status}."


def _available(number: AvailableNumber, _: ToolContext) -> str:
    return line(
        number.number,
        number.country,
        number.locality,
        number.number_type,
        _able(number.capabilities),
        f"{amount(number.monthly_cost)} a month",
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_phone_numbers,
        toolset="numbers",
        title="List phone numbers",
        description=(
            "Phone numbers, rented or owned, newest first, released too unless status is active. To find others use "
            "search_available_numbers. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No number fits. search_available_numbers finds one. rent_phone_number rents it.",
        default_fields=("id", "number", "country", "status", "label", "capabilities"),
        hidden=frozenset({"number", "number_type", "country", "created_from", "created_before", "sort", "fields"}),
    ),
    Tool(
        operation=contract.search_available_numbers,
        toolset="numbers",
        title="Search numbers to rent",
        description=(
            "Numbers to rent now, with monthly price. For rented ones use list_phone_numbers. Free; reserves nothing."
        ),
        hints=Hints(read_only=True, destructive=False, idempotent=True, open_world=True),
        reply=_available,
        empty="Nothing is free for this search. Drop area_code.",
        default_fields=("number", "locality", "number_type", "monthly_cost"),
        hidden=frozenset({"sort", "fields", "contains"}),
        argument_descriptions={
            "country": "Such as US.",
            "number_type": "local if left out.",
            "area_code": "Area code.",
            "provider": "twilio: real numbers.",
        },
    ),
    Tool(
        operation=contract.rent_phone_number,
        toolset="numbers",
        title="Rent a phone number",
        description=(
            "SPENDS MONEY: rents a number, for a month at once, then every month while auto_renew is true. Choose with "
            "search_available_numbers. Look with list_phone_numbers first. Ask the person where money is real."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=_rented,
        confirmation=what_to_confirm.rent,
        output_model=NumberState,
        omitted_fields=frozenset({"country", "label", "simulated", "renews_at", "auto_renew"}),
        hidden=frozenset({"metadata", "contains", "max_calls_per_day"}),
        argument_descriptions={
            "area_code": "Area code.",
            "auto_renew": "Pay each month.",
            "country": "Such as US.",
            "number": "Left out: any that fits.",
            "number_type": "Its kind.",
            "provider": "twilio: a real one, named.",
        },
    ),
    Tool(
        operation=contract.import_phone_number,
        toolset="upkeep",
        title="Take in an owned number",
        description=(
            "Takes in a phone number that the organization owns at its carrier; CALLS FROM IT REALLY RING. Costs "
            "nothing here; the carrier bills. Campaigns on the simulated network stay there: clone_deployment with "
            "this number makes a real one. To rent a number use rent_phone_number."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=_imported,
        output_model=NumberState,
        hidden=frozenset({"metadata"}),
    ),
    Tool(
        operation=contract.get_phone_number,
        toolset="upkeep",
        title="Get a phone number",
        description=(
            "One phone number: state, capabilities, price, renewal, and the deployments that call from it or "
            "answer it. Use it before giving a number back. To find numbers use list_phone_numbers. Free."
        ),
        hints=READS,
        reply=_whole,
    ),
    Tool(
        operation=contract.update_phone_number,
        toolset="upkeep",
        title="Change a phone number",
        description=(
            "Changes label or renewal of a rented number; the number itself stays. Costs nothing now, but "
            "auto_renew=true goes on charging every month. To give a number back at once use release_phone_number."
        ),
        hints=CHANGES,
        reply=_whole,
        confirmation=what_to_confirm.renew,
        output_model=NumberState,
        hidden=frozenset({"metadata"}),
    ),
    Tool(
        operation=contract.release_phone_number,
        toolset="removal",
        title="Release a phone number",
        description=(
            "Gives a number back for good, at Twilio too if rented there (an imported one stays at its carrier): "
            "it may never be had again, and what was paid is not paid back. "
            "Refused while a deployment that is not finished calls from it or answers it. To stop paying later "
            "instead, use update_phone_number with auto_renew=false. Ask the person first."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=True),
        reply=_released,
        output_model=NumberState,
    ),
)
