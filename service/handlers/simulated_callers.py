"""Callers of the simulated network who are to call a number."""

from typing import Any
from zlib import crc32

from sqlalchemy import Row

from callwright.contract import simulated_callers as contract
from callwright.contract.problems import NUMBER_NOT_CAPABLE, PLAN_LIMIT_REACHED
from callwright.service.campaigns import spending_cap
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.called_numbers import check_answered, shown_caller
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.inbound import callers
from callwright.service.platform.clock.clock import DAY, MINUTE, milliseconds, moment
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.telephony.number_inventory import rentable
from callwright.service.telephony.simulated.steering import CALLERS, check_steering

MOST_AHEAD_MS = 31 * DAY
"""How far ahead a caller may be meant to call."""


@handles(contract.simulate_inbound_call)
def simulate_inbound_call(asked: contract.SimulateInboundCall, context: RequestContext) -> contract.SimulatedCallers:
    """Callers who call from now on, as fast as was said."""
    if context.spending_key.cap_micros is not None:
        raise spending_cap.unbounded(context.spending_key)
    number = number_handlers.find(context, asked.id)
    if not number.simulated:
        raise Refusal(NUMBER_NOT_CAPABLE, "the number is a real one: call it with a telephone")
    check_answered(number)
    numbers = _numbers(asked, number)
    to_come = callers.to_come(context.connection, context.org_id)
    if to_come + asked.count > contract.MOST_TO_COME:
        details = {"limit": contract.MOST_TO_COME, "current": to_come}
        raise Refusal(PLAN_LIMIT_REACHED, f"{to_come} callers are still to call; wait for them", details=details)
    first_ms = context.now_ms if asked.start_at is None else max(milliseconds(asked.start_at), context.now_ms)
    apart_ms = 0.0 if asked.per_minute is None else MINUTE / asked.per_minute
    last_ms = first_ms + round(apart_ms * (asked.count - 1))
    if last_ms > context.now_ms + MOST_AHEAD_MS:
        raise invalid("start_at", "is too far ahead: the last caller must call within 31 days")
    ids = sorted(context.ids.new("cal") for _ in range(asked.count))
    for name, value in asked.steering.items():
        if (wrong := check_steering(name, value, CALLERS)) is not None:
            raise invalid("steering", f"cannot be used: {wrong}")
    steering = json_text(asked.steering)
    callers.add(
        context.connection,
        [
            {
                "id": call_id,
                "org_id": context.org_id,
                "deployment_id": number.inbound_deployment_id,
                "at_ms": first_ms + round(apart_ms * place),
                "from_number": numbers[(crc32(ids[0].encode()) + place) % len(numbers)],
                "steering": steering,
            }
            for place, call_id in enumerate(ids)
        ],
    )
    return contract.SimulatedCallers(
        phone_number_id=number.id,
        deployment_id=number.inbound_deployment_id,
        count=asked.count,
        first_call_id=ids[0],
        first_at=moment(first_ms),
        last_at=moment(last_ms),
    )


def _numbers(asked: contract.SimulateInboundCall, called: Row[Any]) -> list[str]:
    """The numbers that call, in turns; one that is empty is withheld."""
    if asked.withheld:
        if asked.caller is not None:
            raise invalid("caller", "is not shown with withheld; send one of the two")
        return [""]
    if asked.caller is None:
        made_up = (one.number for kind in ("local", "mobile") for one in rentable(called.country, kind, None, None))
        return [one for one in made_up if one != called.number] or [""]
    return [shown_caller(asked.caller, called)]
