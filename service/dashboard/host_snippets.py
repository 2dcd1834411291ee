"""What a person pastes so that a host of MCP servers, or a program, uses a key that was just made."""

import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Snippet:
    """A text to copy, and for what it is."""

    title: str
    text: str = field(repr=False)


def snippets(root: str, secret: str, *, personal: bool) -> list[Snippet]:
    """For a personal key the configuration of each host of MCP servers, for an API key a first request.

    `root` is the address of the service, such as `http://127.0.0.1:8080`.
    """
    if not personal:
        return [Snippet("A first request", f"curl {root}/v1/overview -H 'Authorization: Bearer {secret}'")]
    bearer = {"Authorization": f"Bearer {secret}"}
    address = f"{root}/mcp"
    remote = ["-y", "mcp-remote", address, "--header", f"Authorization: Bearer {secret}"]
    return [
        Snippet(
            "Claude Code",
            f"claude mcp add --transport http callwright {address} --header 'Authorization: Bearer {secret}'",
        ),
        Snippet(
            "Claude Desktop",
            _json({"mcpServers": {"callwright": {"command": "npx", "args": remote}}}),
        ),
        Snippet("Cursor", _json({"mcpServers": {"callwright": {"url": address, "headers": bearer}}})),
        Snippet("VS Code", _json({"servers": {"callwright": {"type": "http", "url": address, "headers": bearer}}})),
    ]


def _json(value: object) -> str:
    return json.dumps(value, indent=2)
