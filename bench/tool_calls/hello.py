"""The bare baseline: an MCP server over stdio with one tool that answers a constant."""

from mcp.server import MCPServer

server = MCPServer("hello", version="1")


@server.tool()
async def hello(name: str) -> str:
    """Says hello."""
    return f"Hello {name}"


if __name__ == "__main__":
    server.run()
