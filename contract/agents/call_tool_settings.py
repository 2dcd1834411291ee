"""Giving an agent its call tools, and those tools their secrets."""

from typing import Annotated

from pydantic import AfterValidator, Field

from callwright.contract.agents.agents import Agent
from callwright.contract.agents.call_tools import CallTools, CallToolSecret, HeaderName, ToolName
from callwright.contract.checks.header_fields import header_value
from callwright.contract.declaration.field_types import AgentId
from callwright.contract.declaration.marks import SECRET, OwnText
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import operation


class SetCallTools(Input):
    """All tools that the agent has from now on. It makes a version; started campaigns keep theirs."""

    id: AgentId
    call_tools: CallTools


class SetCallToolSecret(Input):
    """The value of a secret header. It stays with the agent, for this tool and this address, in all its versions."""

    id: AgentId
    tool: ToolName
    header: HeaderName
    value: Annotated[
        OwnText,
        SECRET,
        Field(
            max_length=2_000,
            repr=False,
            description="It is stored encrypted and never shown again. Empty: there is none.",
            examples=["Bearer 0123456789abcdef"],
            json_schema_extra={"writeOnly": True},
        ),
        AfterValidator(header_value),
    ]


set_call_tools = operation(
    "set_call_tools",
    "PUT /agents/{id}/call-tools",
    takes=SetCallTools,
    gives=Agent,
    summary="Set what an agent can do on a call beside talking.",
)
set_call_tool_secret = operation(
    "set_call_tool_secret",
    "PUT /agents/{id}/call-tool-secrets",
    takes=SetCallToolSecret,
    gives=CallToolSecret,
    summary="Set a secret header of a call tool.",
    creator_bound="owner",
    no_tool="its secret would stand in the conversation; `callwright agents secret` asks for it at a terminal",
)
