"""What a tool's result says."""

from mcp.types import CallToolResult, TextContent


def text_of(result: CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text
