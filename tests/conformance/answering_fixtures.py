"""Fixtures of the conformance suite that answer by themselves: content of every kind, progress, resources, prompts.

Their names, texts and schemas are fixed by the suite.
"""

import base64
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Audio, Image, MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import EmbeddedResource, ImageContent, TextContent, TextResourceContents
from pydantic import AnyUrl, Field

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
"""One red point."""
WAV = (
    b"RIFF"
    + (38).to_bytes(4, "little")
    + b"WAVEfmt "
    + bytes.fromhex("10000000 01000100 401f0000 803e0000 02001000")
    + b"data"
    + (2).to_bytes(4, "little")
    + b"\0\0"
)
"""One sample of silence."""
_A_MOMENT_S = 0.05


def _resource(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, text=text, mime_type=mime_type))


def schema_tool() -> Tool:
    """A tool whose schema uses what JSON Schema 2020-12 brought: it has to be listed as it is."""
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }

    async def nothing() -> str:
        return "done"

    return Tool(
        fn=nothing,
        name="json_schema_2020_12_tool",
        title="JSON Schema 2020-12",
        description="Tool with JSON Schema 2020-12 features",
        parameters=schema,
        fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=None),
        is_async=True,
        context_kwarg=None,
        annotations=None,
    )


def add_answering_tools(server: MCPServer[Any]) -> None:
    """Tools that give content, or fail, or report progress."""

    @server.tool(structured_output=False)
    async def test_simple_text() -> str:
        """Gives one text."""
        return "This is a simple text response for testing."

    @server.tool(structured_output=False)
    async def test_image_content() -> Image:
        """Gives one image."""
        return Image(data=PNG, format="png")

    @server.tool(structured_output=False)
    async def test_audio_content() -> Audio:
        """Gives one sound."""
        return Audio(data=WAV, format="wav")

    @server.tool(structured_output=False)
    async def test_embedded_resource() -> list[EmbeddedResource]:
        """Gives one embedded resource."""
        return [_resource("test://embedded-resource", "This is an embedded resource content.")]

    @server.tool(structured_output=False)
    async def test_multiple_content_types() -> list[Any]:
        """Gives text, an image and an embedded resource."""
        return [
            TextContent(type="text", text="Multiple content types test:"),
            ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png"),
            _resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ]

    @server.tool(structured_output=False)
    async def test_error_handling() -> str:
        """Always fails."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool(structured_output=False)
    async def test_tool_with_progress(context: Context[Any, Any]) -> str:
        """Reports progress three times."""
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await anyio.sleep(_A_MOMENT_S)
        return "done"

    @server.tool(structured_output=False)
    async def test_reconnection(context: Context[Any, Any]) -> str:
        """Closes the stream of its own request; the answer comes after the client has connected again."""
        await context.close_sse_stream()
        await anyio.sleep(_A_MOMENT_S * 2)
        return "Reconnection test completed successfully."

    @server.tool(structured_output=False)
    async def test_trigger_tool_change(context: Context[Any, Any]) -> str:
        """Says that the list of tools has changed."""
        await context.notify_tools_changed()
        return "done"

    @server.tool(structured_output=False)
    async def test_trigger_prompt_change(context: Context[Any, Any]) -> str:
        """Says that the list of prompts has changed."""
        await context.notify_prompts_changed()
        return "done"

    @server.tool(structured_output=False)
    async def test_header_parameter(
        region: Annotated[str, Field(description="A region.", json_schema_extra={"x-mcp-header": "Region"})],
    ) -> str:
        """Takes an argument that travels in a header too."""
        return f"region {region}"


def add_resources_and_prompts(server: MCPServer[Any]) -> None:
    """Resources and prompts of every kind."""

    @server.resource("test://static-text", mime_type="text/plain")
    async def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    async def static_binary() -> bytes:
        """An image."""
        return PNG

    @server.resource("test://watched-resource", mime_type="text/plain")
    async def watched_resource() -> str:
        """A text that clients subscribe to."""
        return "Watched."

    @server.resource("test://template/{id}/data", mime_type="application/json")
    async def template_data(id: str) -> str:
        """Data for an id."""
        return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'

    @server.prompt()
    async def test_simple_prompt() -> str:
        """A prompt without arguments."""
        return "This is a simple prompt for testing."

    @server.prompt()
    async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    async def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # fixed by the suite
        """A prompt that embeds a resource."""
        found = _resource(str(AnyUrl(resourceUri)), "Embedded resource content for testing.")
        return [UserMessage(found), UserMessage("Please process the embedded resource above.")]

    @server.prompt()
    async def test_prompt_with_image() -> list[UserMessage]:
        """A prompt with an image."""
        image = ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")
        return [UserMessage(image), UserMessage("Please analyze the image above.")]
