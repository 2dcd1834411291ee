"""The question before something dials or spends, put to the person at this terminal."""

import sys
from typing import Any

import anyio
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult
from rich.console import Console
from rich.text import Text

_YES = ("y", "yes")


def asker() -> ElicitationFnT | None:
    """What asks the person; None where nobody is at a terminal to be asked."""
    return _ask if sys.stdin.isatty() and sys.stderr.isatty() else None


async def _ask(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    del context
    if not isinstance(params, ElicitRequestFormParams):
        return ElicitResult(action="decline")
    console = Console(stderr=True, highlight=False)
    console.print(Text(params.message))
    console.print(Text("Do this? [y/N] ", "bold"), end="")
    answer = await _line()
    # The form has one box: whether the person agrees. All else is no.
    content: dict[str, Any] = {name: answer in _YES for name in params.requested_schema.get("properties", {})}
    return ElicitResult(action="accept", content=content) if answer in _YES else ElicitResult(action="decline")


async def _line() -> str:
    """The line that is typed. The service of this process goes on meanwhile."""
    if sys.platform != "win32":  # only sockets can be waited for there
        await anyio.wait_readable(sys.stdin)
    return sys.stdin.readline().strip().lower()
