"""When a contact that asked for another call wants it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from callwright.contract.agents.call_tools import CallBackTool
from callwright.service.dialling.queue import Rules, contacts_by_id
from callwright.service.platform.clock.clock import milliseconds, moment
from callwright.service.platform.clock.zones import zone_of
from callwright.service.rules.call_tools import tools_in
from callwright.service.telephony.engine import CallRequest, CallResult


def callback_ms(request: CallRequest, result: CallResult, *, ended_ms: int, zone: str) -> int | None:
    """The moment that the contact of a call asked for, always after its end; None if it asked for none.

    A time of day is meant in the time zone that the agent's call tool `call_back_at` names, else in `zone`, that of the
    person.
    """
    if result.callback_said is not None:
        named = (tool.time_zone for tool in tools_in(request.agent.call_tools) if isinstance(tool, CallBackTool))
        said = moment(ended_ms).astimezone(zone_of(next(filter(None, named), zone)))
        return milliseconds(result.callback_said.at(said))
    return None if result.callback_after_s is None else ended_ms + round(result.callback_after_s * 1_000)


def zones_of(connection: Connection, rules: Rules, contact_ids: Sequence[str]) -> Mapping[str, str]:
    """The time zones of contacts by their ids; UTC for all others."""
    contacts = contacts_by_id(connection, rules.row.id, contact_ids) if contact_ids else {}
    return defaultdict(
        lambda: "UTC", {name: rules.open_hours(contact).place.zone for name, contact in contacts.items()}
    )
