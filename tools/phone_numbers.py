"""Tools for phone numbers. They are the organization's own, so they are shown in full."""

from callwright.contract import phone_numbers as contract
from callwright.contract.phone_numbers import AvailableNumber, Capabilities, PhoneNumber

from .text import amount, line, lines, listed, moment
from .tool import CHANGES, READS, Hints, Tool, one_a_line
from .use import Use


def _able(capabilities: Capabilities) -> str:
    found = {
        "outbound": capabilities.voice_outbound,
        "inbound": capabilities.voice_inbound,
        "sms": capabilities.sms,
    }
    return listed([name for name, able in found.items() if able]) or "no capability"


def _entry(number: PhoneNumber, _: Use) -> str:
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


def _whole(number: PhoneNumber, use: Use) -> str:
    renews = f"renews {moment(number.renews_at)}" if number.renews_at and number.auto_renew else None
    used_by = listed(number.outbound_deployment_ids)
    return lines(
        _entry(number, use),
        renews,
        f"used by {used_by}" if used_by else None,
    )


def _rented(number: PhoneNumber, use: Use) -> str:
    return lines(f"Rented {number.number} for {amount(number.monthly_cost)} a month.", _whole(number, use))


def _released(number: PhoneNumber, _: Use) -> str:
    return f"Released {number.number} ({number.id}); it is {number.status}."


def _available(number: AvailableNumber, _: Use) -> str:
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
            "Phone numbers the organization rents or has rented, newest first. Use it to find the phone_number_ids"
            " that a deployment calls from; status active leaves out released ones. For numbers that can be rented"
            " use search_available_numbers. Free, changes nothing. Gives id, number, country, state and "
            "capabilities."
        ),
        hints=READS,
        reply=one_a_line(
            _entry, empty="No number fits. search_available_numbers finds one, rent_phone_number rents it."
        ),
    ),
    Tool(
        operation=contract.search_available_numbers,
        toolset="numbers",
        title="Search numbers to rent",
        description=(
            "Phone numbers that can be rented now, by country, and if wished by type, area code or digits in it. "
            "Use it before rent_phone_number to show the person choices and prices. Numbers you already have are "
            "in list_phone_numbers. Free, rents nothing. Gives number, place, type and monthly price."
        ),
        hints=Hints(read_only=True, destructive=False, idempotent=True, open_world=True),
        reply=one_a_line(_available, empty="Nothing is free for this search. Drop area_code or contains."),
    ),
    Tool(
        operation=contract.rent_phone_number,
        toolset="numbers",
        title="Rent a phone number",
        description=(
            "SPENDS MONEY: charges the first month to the wallet at once, and again every month while auto_renew "
            "is true. Rents a number to call from. Look with list_phone_numbers first, one may be there already; "
            "choose with search_available_numbers and name it in number, or leave number out to get any that fits."
            " Ask the person before renting where the money is real. Calls nobody. Gives the phone_number_id and "
            "its price."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=_rented,
    ),
    Tool(
        operation=contract.get_phone_number,
        toolset="numbers",
        title="Get a phone number",
        description=(
            "One rented phone number: state, capabilities, price, renewal, and the deployments that "
            "call from it. Use list_phone_numbers to find the id. Free, changes nothing."
        ),
        hints=READS,
        reply=_whole,
    ),
    Tool(
        operation=contract.update_phone_number,
        toolset="numbers",
        title="Change a phone number",
        description=(
            "Changes label, renewal or notes of a rented number; the number itself stays. Costs "
            "nothing now, but auto_renew=true goes on charging every month. To give a number back use "
            "release_phone_number. Gives the number after the change."
        ),
        hints=CHANGES,
        reply=_whole,
    ),
    Tool(
        operation=contract.release_phone_number,
        toolset="numbers",
        title="Release a phone number",
        description=(
            "Gives a rented number back for good: it may never be had again. Refused while a deployment that is "
            "not finished calls from it. Ask the person first. To stop paying later instead, use "
            "update_phone_number with auto_renew=false. Gives the number and its new state."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=True),
        reply=_released,
    ),
)
