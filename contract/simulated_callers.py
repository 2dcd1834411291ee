"""Callers of the simulated network: they call a number, so that its agent, its hours and its routing can be tried."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.field_types import E164, PhoneNumberId, Timestamp
from callwright.contract.declaration.marks import OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import operation
from callwright.contract.problems import NUMBER_NOT_CAPABLE, PLAN_LIMIT_REACHED, SPENDING_CAP_REACHED

MOST_CALLERS = 1_000
"""Callers of one request."""
MOST_TO_COME = 20_000
"""Callers of an organization who are still to call."""


class SimulateInboundCall(Input):
    """Who calls, and when. Each caller gets what a real one would: the routing webhook is really asked."""

    id: PhoneNumberId
    caller: Annotated[
        E164 | None,
        Field(description="Who calls, in E.164. Left out: each caller has a made-up number of the same country."),
    ] = None
    withheld: Annotated[bool, Field(description="The callers show no number.")] = False
    count: Annotated[int, Field(ge=1, le=MOST_CALLERS, description="How many call.")] = 1
    per_minute: Annotated[
        float | None, Field(gt=0, le=6_000, description="How many call in a minute; left out: all at once.")
    ] = None
    start_at: Annotated[Timestamp | None, Field(description="When the first calls; left out: now.")] = None
    steering: Annotated[
        dict[str, Annotated[OwnText, Field(max_length=1_000)]],
        Field(max_length=30, description="What the callers do: `sim.*` columns without the prefix, as persona."),
    ] = {}


class SimulatedCallers(Resource):
    """Callers who are on their way."""

    phone_number_id: str
    deployment_id: str
    count: int
    first_call_id: Annotated[str, Field(description="The call of the first caller, as soon as they have called.")]
    first_at: Timestamp
    last_at: Timestamp


simulate_inbound_call = operation(
    "simulate_inbound_call",
    "POST /phone_numbers/{id}/simulated_callers",
    takes=SimulateInboundCall,
    gives=SimulatedCallers,
    problems=(NUMBER_NOT_CAPABLE, PLAN_LIMIT_REACHED, SPENDING_CAP_REACHED),
    summary="Have callers of the simulated network call a number.",
)
