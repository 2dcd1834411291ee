"""`callwright call`: runs any tool by its name, with the arguments an assistant would give."""

import shutil
import sys
import textwrap
from difflib import get_close_matches
from typing import Annotated

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import AsJson, Data, Database, failed
from callwright.server.commands.tool_commands.declared import DeclaredArgument, DeclaredTool, declared_tools
from callwright.server.commands.tool_commands.invoked import RevealNumbers, ShellOptions, invoke
from callwright.server.commands.tool_commands.values import arguments_of
from callwright.tools.toolsets import ABOUT, TOOLSETS

_WIDEST = 100
"""The widest text of a help page, in characters."""


def call(
    context: typer.Context,
    tool: Annotated[str | None, typer.Argument(help="The tool; without one, all are listed.")] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="A JSON object, name=value, @FILE with a JSON object, or - for one on standard input."),
    ] = None,
    asks_help: Annotated[
        bool, typer.Option("--help", "-h", help="Show this message, or with a tool what it takes.")
    ] = False,
    as_json: AsJson = False,
    reveal_numbers: RevealNumbers = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Any tool of an assistant, by its name; without one, lists them.

    For example: callwright call get_call call_uuid=cal_… The service is that of the data folder, or the one that
    CALLWRIGHT_BASE_URL and CALLWRIGHT_API_KEY name. Status 1 if the tool refuses.
    """
    if tool is None:
        typer.echo(context.get_help() if asks_help else _list())
        return
    found = _named(tool)
    if asks_help:
        typer.echo(_help(found))
        return
    try:
        given = arguments_of(found, arguments or [], sys.stdin.read)
    except CommandError as error:
        raise failed(str(error)) from error
    shell = ShellOptions(data=data, database=database, as_json=as_json, reveal_numbers=reveal_numbers, for_people=False)
    invoke(found, given, shell)


def _named(name: str) -> DeclaredTool:
    tools = declared_tools()
    found = tools.get(name.replace("-", "_"))
    if found is None:
        close = get_close_matches(name, tools, n=3, cutoff=0.75)
        meant = f"; did you mean {' or '.join(close)}?" if close else ""
        raise failed(f"there is no tool {name[:60]!r}{meant} `callwright call` lists them all")
    return found


def _width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST)


def _list() -> str:
    tools = declared_tools().values()
    longest = max(len(tool.name) for tool in tools)
    room = _width() - longest - 4
    lines = ["Usage: callwright call TOOL [ARGUMENTS]...    callwright call TOOL --help", ""]
    for toolset in TOOLSETS:
        about = textwrap.shorten(f"{toolset.capitalize()}: {ABOUT[toolset]}", _width(), placeholder="…")
        lines.append(typer.style(about, bold=True))
        for tool in tools:
            if tool.toolset == toolset:
                said = textwrap.shorten(tool.summary, room, placeholder="…")
                lines.append(f"  {typer.style(f'{tool.name:<{longest}}', fg='cyan')}  {said}")
        lines.append("")
    return "\n".join(lines).rstrip()


def _help(tool: DeclaredTool) -> str:
    """What a tool does and takes."""
    width = _width()
    lines = [f"Usage: callwright call {tool.name} {_usage(tool)}".rstrip(), ""]
    lines += textwrap.wrap(tool.description, width, initial_indent="  ", subsequent_indent="  ")
    if tool.arguments:
        lines += ["", typer.style("Arguments:", bold=True)]
    longest = max((len(argument.name) for argument in tool.arguments), default=0)
    for argument in tool.arguments:
        said = _argument(argument)
        indent = " " * (longest + 4)
        wrapped = textwrap.wrap(said, max(width - len(indent), 30)) or [""]
        lines.append(f"  {typer.style(f'{argument.name:<{longest}}', fg='cyan')}  {wrapped[0]}")
        lines += [indent + line for line in wrapped[1:]]
    lines += ["", f"The same as a command: callwright {tool.command} --help"]
    return "\n".join(lines)


def _usage(tool: DeclaredTool) -> str:
    needed = [f"{argument.name}=…" for argument in tool.arguments if argument.required]
    optional = "[NAME=VALUE]..." if len(needed) < len(tool.arguments) else ""
    return " ".join(filter(None, [*needed, optional]))


def _argument(argument: DeclaredArgument) -> str:
    said = f"({argument.kind}{', required' if argument.required else ''}) {argument.help}"
    return said + (f" One of: {', '.join(argument.choices)}." if argument.choices else "")
