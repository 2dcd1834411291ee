"""The command line of the MCP Inspector, an MCP client that shares no code with this project."""

import os
from pathlib import Path

from tests.support.processes.npm import installed, node

LAUNCHER = Path("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")


def inspector() -> list[str]:
    """The start of the Inspector's command line, `[node, launcher]`. Raises RuntimeError when npm fails."""
    return [str(node()), str(installed(Path(__file__).parent) / LAUNCHER)]


def environment(home: Path) -> dict[str, str]:
    """The environment to run the Inspector with: its settings folder, `~/.mcp-inspector`, is made below `home`."""
    return {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "NO_COLOR": "1"}
