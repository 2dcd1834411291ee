"""What bare `callwright` says at a terminal: what it is, what to type first, where help is."""

import typer

_FIRST = (
    ("callwright demo", "forty simulated people are called, and one is heard"),
    ("callwright calls list", "their calls; so do agents, audiences, numbers, deployments"),
    ("callwright call", "every tool an assistant has, by its name"),
    ("callwright mcp", "the MCP server; a host starts it (docs/hosts)"),
    ("callwright serve", "REST and MCP over HTTP, until Ctrl-C"),
)
_DATA = "Each takes --data DIR; the folder is ~/.callwright if it is left out."


def welcome() -> str:
    """The text, at most 80 columns wide."""
    longest = max(len(command) for command, _ in _FIRST)
    return "\n".join(
        (
            f"{typer.style('Callwright', bold=True)} is a voice-agent platform that an AI assistant can run: agents,",
            "campaigns, calls, and what was said on them. The telephone network is simulated: no",
            "telephone rings, and the money is play money.",
            "",
            "Type first:",
            *(f"  {typer.style(f'{command:<{longest}}', fg='cyan')}  {said}" for command, said in _FIRST),
            "",
            _DATA,
            "Help: callwright --help, callwright COMMAND --help, docs/commands.md",
        )
    )
