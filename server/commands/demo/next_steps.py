"""What to type after the demonstration: the folder with its data, commands, and how an assistant gets it."""

import json
import shlex
import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from callwright.server.commands.demo.demo_folder import DEMO_DATA

_COMMANDS = (
    "calls list --outcome answered",
    "transcripts search --query morning",
    "call get_call_stats group_by=outcome,disposition",
)
"""What there is to look at after a demonstration."""


def show_next_steps(console: Console, data: Path) -> None:
    """Prints where the data is, the next commands, and what an MCP host is told."""
    program, folder = _program(), data.absolute()
    here = shlex.quote(str(data))
    said = console.print
    said(Text.assemble(("The data stays in ", "bold"), (str(folder), "cyan"), ". Type next:"), soft_wrap=True)
    for command in _COMMANDS:
        said(Text(f"  {program} {command} --data {here}"), soft_wrap=True)
    said(Text("Give it to an assistant, for example to Claude Code, or as the entry of any MCP host:"), soft_wrap=True)
    absolute = str(Path(sys.argv[0]).absolute())
    said(Text(f"  claude mcp add callwright -- {shlex.join([absolute, 'mcp', '--data', str(folder)])}"), soft_wrap=True)
    entry = {"callwright": {"command": absolute, "args": ["mcp", "--data", str(folder)]}}
    said(Text(f'  {{"mcpServers": {json.dumps(entry, ensure_ascii=False)}}}'), soft_wrap=True)
    again = f"{program} demo" if data == DEMO_DATA else f"{program} demo --data {here}"
    said(Text(f"Again: {again}. With people of your own: {again} --list people.csv"), soft_wrap=True)


def _program() -> str:
    """The name that starts this program in this shell."""
    found = shutil.which("callwright")
    started = Path(sys.argv[0])
    if found is not None and Path(found).resolve() == started.resolve():
        return "callwright"
    absolute, here = started.absolute(), Path.cwd()
    return shlex.quote(str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute))
