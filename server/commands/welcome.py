"""What bare `callwright` says at a terminal: what it is, what to type first, where help is."""

import typer

from callwright.server.commands.demo.demo_folder import DEMO_DATA

_FIRST = (
    ("callwright demo", "40 simulated people are called"),
    (f"callwright calls list --data {DEMO_DATA}", "how the calls went"),
    ("callwright call", "every tool of an assistant"),
    ("callwright mcp", "the MCP server; a host starts it"),
    ("callwright serve", "REST and MCP over HTTP"),
)
_DATA = "Without --data the folder is ~/.callwright, for all but the demo."


def welcome() -> str:
    """The text, at most 80 columns wide."""
    longest = max(len(command) for command, _ in _FIRST)
    return "\n".join(
        (
            f"{typer.style('Callwright', bold=True)} is a voice-agent platform that an AI assistant can run: agents,",
            "campaigns, calls, and what was said on them. The telephone network is simulated:",
            "no telephone rings, and the money is play money.",
            "",
            "Type first:",
            *(f"  {typer.style(f'{command:<{longest}}', fg='cyan')}  {said}" for command, said in _FIRST),
            "",
            _DATA,
            "Help: callwright --help, callwright COMMAND --help, docs/commands.md",
        )
    )
