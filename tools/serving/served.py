"""Tools for the protocol server: their definitions, and how a call runs.

Only definitions are read at the start. The contract and the catalogue are imported when a tool first runs.
"""

from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from mcp.types import Tool as ProtocolTool

from callwright.tools.toolsets import stored_definitions
from callwright.tools.wording.mentions import Offers, everything, offered_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from callwright.contract.declaration.model import Input
    from callwright.tools.runtime.tool import Reply
    from callwright.tools.runtime.tool import Tool as CatalogueTool
    from callwright.tools.runtime.tool_context import Session, Sessions, ToolContext


class ServedTool(Tool):
    """A tool of the catalogue behind the protocol. Arguments are checked by the contract's own model."""

    toolset: str

    def behind(self) -> "CatalogueTool":
        """The tool of the catalogue behind it."""
        from callwright.tools.catalogue.registry import tool_named

        return tool_named(self.name)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult | InputRequiredResult:
        """Runs the tool once, or asks the person first.

        Raises:
            ToolError: it failed; the text says what happened and what to do next.
        """
        session = cast("Sessions", context.request_context.lifespan_context).current()
        if not session.offers(self.name):
            raise ToolError(f"There is no tool {self.name} here: it is not among the tools that were switched on.")
        try:
            reply = await _run(self.behind(), arguments, session, context)
            return reply if isinstance(reply, InputRequiredResult) else _result(reply)
        except (ToolError, MCPError) as error:
            from callwright.contract.checks.tracebacks import without_tracebacks

            without_tracebacks(error)
            raise
        except Exception as error:
            said = f"{self.name} failed inside the server. This is a fault of the server: report it, do not try again."
            raise UnexpectedToolError(said) from error


def served_tools(enabled: frozenset[str] | None = None) -> list[Tool]:
    """The tools of `enabled`, or all, ready for `MCPServer(tools=…)`. Their descriptions name only enabled tools."""
    offers: Offers = everything if enabled is None else enabled.__contains__
    return [_served(_worded(found, offers)) for found in stored_definitions() if offers(found["name"])]


def offered(tools: list[ProtocolTool], offers: Offers) -> list[ProtocolTool]:
    """The tools that are switched on for a caller. Their descriptions name no other tool."""
    found = [tool for tool in tools if offers(tool.name)]
    if len(found) == len(tools):
        return tools  # the descriptions of served tools are made for all of them
    return [
        tool.model_copy(
            update={
                "description": offered_words(tool.description or "", offers),
                "input_schema": _worded(tool.input_schema, offers),
                "output_schema": tool.output_schema and _worded(tool.output_schema, offers),
            }
        )
        for tool in found
    ]


def _worded(node: dict[str, Any], offers: Offers) -> dict[str, Any]:
    """A definition or a schema without the sentences of its descriptions that name switched-off tools."""
    return node if offers is everything else {name: _reworded(name, value, offers) for name, value in node.items()}


def _reworded(name: str, value: Any, offers: Offers) -> Any:
    if isinstance(value, dict):
        return _worded(cast("dict[str, Any]", value), offers)
    return offered_words(value, offers) if name == "description" and isinstance(value, str) else value


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


async def _run(
    tool: "CatalogueTool", arguments: dict[str, Any], session: "Session", request: Context[Any, Any]
) -> "Reply | InputRequiredResult":
    from callwright.client.errors import CallwrightError
    from callwright.client.transport import tool_name
    from callwright.tools.arguments.arguments import validated
    from callwright.tools.arguments.extras import separated, with_extra
    from callwright.tools.catalogue.registry import tool_named
    from callwright.tools.confirmation.consent import confirmed
    from callwright.tools.references.names import resolved
    from callwright.tools.replies.errors import explained_to
    from callwright.tools.runtime.guarded import client_of
    from callwright.tools.runtime.tool_context import ToolContext

    async def progress(now: float, total: float | None, words: str) -> None:
        await request.report_progress(now, total, words)

    running, key = tool_name.set(tool.name), session.ids() if tool.keyed else ""
    try:
        own, extra = separated(arguments, session.extras.get(tool.name, {}))
        found = await resolved(tool, own, session, tool_named)
        asked = validated(tool, found.arguments)
        client = with_extra(await client_of(session), tool.operation, extra)
        context = ToolContext(client=client, session=session, progress=progress, key=key)
        if tool.confirmation is not None:
            outcome = await confirmed(request, tool.confirmation, context, asked, tool.name)
            if isinstance(outcome, InputRequiredResult):
                return outcome
            asked, context = outcome
            key = context.key
        return await _done(tool, context, asked, found.noted)
    except CallwrightError as error:
        raise ToolError(explained_to(session, error, tool, key=key)) from error
    finally:
        tool_name.reset(running)


async def _done(
    tool: "CatalogueTool", context: "ToolContext", asked: "Input", noted: "Callable[[Reply], Reply]"
) -> "Reply":
    """Runs the tool. If the result is unknown, the same answer of a person may be used again, with the same key."""
    from callwright.tools.replies.size_limit import answered

    try:
        return await answered(tool, context, asked, noted=noted)
    except BaseException:
        if tool.keyed:
            context.session.used_answers.give_back(context.key)
        raise


def _result(reply: "Reply") -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=reply.text), *reply.more],
        structured_content=reply.data,
        _meta={"callwright/untrusted": list(reply.untrusted)} if reply.untrusted else None,
    )
