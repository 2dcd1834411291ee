"""Talks: calls to an agent from a browser, without a telephone."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.field_types import E164, AgentId, PhoneNumberId, Timestamp
from callwright.contract.declaration.marks import OwnScript, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import operation
from callwright.contract.declaration.rows import Row
from callwright.contract.deployments.dialling import MaxCallDuration
from callwright.contract.problems import LINES_UNAVAILABLE, NOT_FOUND, NUMBER_NOT_CAPABLE, PLAN_LIMIT_REACHED


class TalkToAgent(Input):
    """Which agent to talk to."""

    id: AgentId
    variables: Annotated[
        Row, Field(description="Values for the placeholders of the agent's prompt, by name, such as first_name.")
    ] = {}
    max_call_duration_seconds: MaxCallDuration = 600


class TalkToNumber(Input):
    """Which number to call from a browser, and as whom."""

    id: PhoneNumberId
    caller: Annotated[
        E164 | None,
        Field(description="The number that is shown as the caller's, in E.164. Left out: the caller shows none."),
    ] = None


class Talk(Resource):
    """A talk that waits for its page to be opened."""

    call_id: Annotated[str, Field(description="The call, with its transcript and recording once it has ended.")]
    deployment_id: str
    url: Annotated[
        OwnScript,
        Field(description="The page. It opens the talk once, until expires_at: whoever has the link can talk."),
    ]
    expires_at: Timestamp
    hears: Annotated[
        bool, Field(description="Whether the agent understands speech. Without that, type in the page or use its keys.")
    ]
    notice: Annotated[OwnText | None, Field(description="What to set so that the agent hears; null if it does.")] = None


talk_to_agent = operation(
    "talk_to_agent",
    "POST /agents/{id}/talk",
    takes=TalkToAgent,
    gives=Talk,
    status=201,
    problems=(NOT_FOUND, PLAN_LIMIT_REACHED, LINES_UNAVAILABLE),
    summary="Make a link to talk to an agent in the browser; no telephone rings.",
)

talk_to_number = operation(
    "talk_to_number",
    "POST /phone_numbers/{id}/talk",
    takes=TalkToNumber,
    gives=Talk,
    status=201,
    problems=(NOT_FOUND, NUMBER_NOT_CAPABLE, PLAN_LIMIT_REACHED, LINES_UNAVAILABLE),
    summary="Make a link that calls a number from the browser; its inbound deployment answers, no telephone rings.",
)
