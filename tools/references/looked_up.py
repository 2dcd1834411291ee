"""Reads a resource of the service, for tools that also work without it."""

from typing import Any

from callwright.client.errors import NotOffered
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.tools.runtime.tool_context import ToolContext


async def looked_up(context: ToolContext, operation: AnyOperation, asked: Input) -> dict[str, Any]:
    """The resource as JSON; empty if the service does not offer the operation."""
    try:
        return (await context.client.ask_lenient(operation, asked)).data
    except NotOffered:
        return {}
