"""What the service says of a thing, where a tool can do without the answer."""

from typing import Any

from callwright.client.errors import NotOffered
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.tools.runtime.tool_context import ToolContext


async def looked_up(context: ToolContext, operation: AnyOperation, asked: Input) -> dict[str, Any]:
    """What the service says, nothing where it does not offer the question."""
    try:
        return (await context.client.ask_lenient(operation, asked)).data
    except NotOffered:
        return {}
