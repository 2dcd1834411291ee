"""Placing one call: a deployment of one person."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.field_types import E164, AgentId, PhoneNumberId
from callwright.contract.declaration.marks import PERSONAL
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import operation
from callwright.contract.declaration.rows import Row
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import BudgetCap, CallingHours, MaxCallDuration, RetryPolicy, Voicemail
from callwright.contract.problems import (
    BUDGET_REACHED,
    COMPLIANCE_REJECTED,
    INSUFFICIENT_CREDITS,
    NOT_FOUND,
    PLAN_LIMIT_REACHED,
    PLAN_REQUIRED,
    SPENDING_CAP_REACHED,
    WALLET_FROZEN,
)

ONE_ATTEMPT = RetryPolicy(max_attempts=1)


class PlaceCall(Input):
    """Whom to call, from which number, and who speaks."""

    agent_id: AgentId
    phone_number_id: PhoneNumberId
    to: Annotated[E164, PERSONAL, Field(description="Whom to call, in E.164; refused if on the do-not-call list.")]
    variables: Annotated[
        Row, Field(description="Values for the placeholders of the agent's prompt, by name, such as first_name.")
    ] = {}
    auto_start: Annotated[
        bool,
        Field(
            description=(
                "Call now. False: a draft is made, to be previewed and started. Where telephones really ring it has to "
                "be false, because a start needs a plan."
            )
        ),
    ] = True
    calling_hours: CallingHours | None = None
    retry_policy: RetryPolicy = ONE_ATTEMPT
    voicemail: Voicemail = Voicemail()
    max_call_duration_seconds: MaxCallDuration = 600
    budget_cap: BudgetCap | None = None


place_call = operation(
    "place_call",
    "POST /calls",
    takes=PlaceCall,
    gives=Deployment,
    status=201,
    problems=(
        *(NOT_FOUND, BUDGET_REACHED, COMPLIANCE_REJECTED, INSUFFICIENT_CREDITS),
        *(PLAN_LIMIT_REACHED, PLAN_REQUIRED, SPENDING_CAP_REACHED, WALLET_FROZEN),
    ),
    summary="Call one person: makes a deployment of one, and starts it.",
    creator_bound="member",
)
