"""Calls of tools over the protocol: what reaches the service, and what is said where nothing does."""

from typing import Any

from mcp.types import CallToolResult

from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.results import text_of

DRAFT: dict[str, Any] = {"name": "C", "agent_id": "agt_1", "audience_id": "aud_1", "phone_number_ids": ["num_1"]}
"""Good arguments of create_deployment."""


async def sent(name: str, /, **given: Any) -> tuple[CallToolResult, FakeCaller]:
    caller = FakeCaller()
    async with assistant(server(caller), "auto") as client:
        return await client.call_tool(name, given), caller


async def taken(name: str, /, **given: Any) -> dict[str, Any]:
    """What reached the service."""
    result, caller = await sent(name, **given)
    assert not result.is_error, text_of(result)
    return caller.asked[-1].asked.model_dump(mode="json", exclude_unset=True)


async def refused(name: str, /, **given: Any) -> str:
    """What was said, and that nothing reached the service."""
    result, caller = await sent(name, **given)
    assert result.is_error, caller.asked
    assert caller.asked == []
    return text_of(result).removeprefix("Invalid arguments: ")


async def first_line(name: str, /, **given: Any) -> str:
    result, _ = await sent(name, **given)
    assert not result.is_error, text_of(result)
    return text_of(result).splitlines()[0]
