"""Tools as the protocol server holds them: their definitions, and how a call runs.

Only definitions are read at the start. The contract and the catalogue are imported when a tool first runs.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent, ToolAnnotations

if TYPE_CHECKING:
    from .tool import Reply
    from .use import Session, Sessions

_FILE = Path(__file__).with_name("definitions.json")


class ServedTool(Tool):
    """A tool of the catalogue behind the protocol. Arguments are checked by the contract's own model."""

    toolset: str

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult:
        """Runs the tool once. Failures are raised as `ToolError` with the next step in their text."""
        session = cast("Sessions", context.request_context.lifespan_context).current()
        if not session.offers(self.name):
            raise ToolError(f"There is no tool {self.name} here: it is not among the tools that were switched on.")
        try:
            return _result(await _run(self.name, arguments, session, context))
        except (ToolError, MCPError):
            raise
        except Exception as error:
            said = f"{self.name} failed inside the server. This is a fault of the server: report it, do not try again."
            raise UnexpectedToolError(said) from error


def served_tools() -> list[Tool]:
    """Every tool, ready for `MCPServer(tools=…)`."""
    return [_served(found) for found in json.loads(_FILE.read_text(encoding="utf-8"))]


def _served(found: dict[str, Any]) -> ServedTool:
    hints = found["annotations"]
    return ServedTool(
        name=found["name"],
        title=found["title"],
        description=found["description"],
        parameters=found["inputSchema"],
        toolset=found["toolset"],
        annotations=ToolAnnotations(
            read_only_hint=hints["readOnlyHint"],
            destructive_hint=hints["destructiveHint"],
            idempotent_hint=hints["idempotentHint"],
            open_world_hint=hints["openWorldHint"],
        ),
        fn=_run,
        is_async=True,
        context_kwarg=None,
        fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=found["outputSchema"]),
    )


async def _run(name: str, arguments: dict[str, Any], session: "Session", context: Context[Any, Any]) -> "Reply":
    from callwright.client.errors import CallwrightError

    from .arguments import validated
    from .catalogue import tool_named
    from .errors import explained
    from .tool import asked_plainly
    from .use import Use

    async def progress(now: float, total: float | None, words: str) -> None:
        await context.report_progress(now, total, words)

    tool = tool_named(name)
    asked = validated(tool, arguments)
    try:
        use = Use(client=await session.client(), session=session, progress=progress)
        return await (tool.act(use, asked) if tool.act else asked_plainly(tool, use, asked))
    except CallwrightError as error:
        raise ToolError(explained(error, tool)) from error


def _result(reply: "Reply") -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=reply.text), *reply.more],
        structured_content=reply.data,
        _meta={"callwright/untrusted": list(reply.untrusted)} if reply.untrusted else None,
    )
