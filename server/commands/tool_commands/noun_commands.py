"""The commands by noun, `callwright calls list` and so on: one for each tool, with a flag for each argument."""

import sys
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import AsJson, Data, Database, failed
from callwright.server.commands.tool_commands.declared import (
    DeclaredArgument,
    DeclaredTool,
    Kind,
    in_commands,
    nouns,
)
from callwright.server.commands.tool_commands.deployment_export import EXPORTS_ROWS, deployment_export
from callwright.server.commands.tool_commands.invoked import RevealNumbers, ShellOptions, invoke
from callwright.server.commands.tool_commands.person_export import EXPORTS, NUMBER, person_export
from callwright.server.commands.tool_commands.report import report
from callwright.server.commands.tool_commands.values import value_of

_METAVARS: dict[Kind, str] = {
    "text": "TEXT",
    "integer": "N",
    "number": "N",
    "yes or no": "",
    "list": "A,B,…",
    "object": "JSON",
}
_OWN: dict[str, Any] = {"as_json": AsJson, "reveal_numbers": RevealNumbers, "data": Data, "database": Database}
"""The flags of every command beside the arguments of its tool."""
SENDS_SOUND = "inline"
"""The argument by which a tool sends sound along. Its command can write the sound to a file."""
_SOUND: dict[str, Any] = {
    "save": Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Write the sound to this file.")]
}
_GIVEN = "given_"
"""Begins the name of a tool's argument in Python, where a name such as `from` could not stand."""


def groups() -> Iterator[tuple[str, typer.Typer]]:
    """The group of each noun with its commands, by its name."""
    for noun, tools in nouns().items():
        verbs = ", ".join([*(tool.verb for tool in tools), *(["report"] if noun == "deployments" else [])])
        if noun == "overview":  # `get` alone would say nothing
            verbs = "What there is: campaigns, agents, numbers, wallet."
        about = f"What can be done with {noun}, as an assistant does it."
        group = typer.Typer(help=about, short_help=verbs, no_args_is_help=True)
        for tool in tools:
            if tool.name == EXPORTS:
                group.command(tool.verb, short_help="Everything that is kept about a person, as JSON.")(person_export)
                continue
            if tool.name == EXPORTS_ROWS:
                said = "Contacts, calls, outcomes or refused rows as CSV or Parquet."
                group.command(tool.verb, short_help=said)(deployment_export)
                continue
            group.command(tool.verb, help=_help(tool), short_help=in_commands(tool.summary))(_command(tool))
        if noun == "deployments":
            group.command("report", short_help="The results as CSV: a line for each person.")(report)
        group.callback()(_nothing)
        yield noun, group


def _nothing() -> None:
    return None


def _help(tool: DeclaredTool) -> str:
    return f"{in_commands(tool.description)}\n\nThe tool {tool.name} of an assistant."


def _command(tool: DeclaredTool) -> Callable[..., None]:
    """A function that Typer takes for a command: its signature is made of the tool's arguments."""

    flags = _OWN | (_SOUND if tool.argument(SENDS_SOUND) else {})

    def run_it(**given: Any) -> None:
        own = {name: given.pop(name) for name in flags}
        try:
            arguments = dict(_arguments(tool, given))
        except CommandError as error:
            raise failed(str(error)) from error
        invoke(tool, arguments, ShellOptions(**own, for_people=True))

    annotations = {f"{_GIVEN}{one.name}": _annotation(one) for one in tool.arguments} | flags
    required = {f"{_GIVEN}{one.name}" for one in tool.arguments if one.required}
    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=found, default=_default(name, required))
        for name, found in annotations.items()
    ]
    command = cast("Any", run_it)
    command.__signature__ = Signature(parameters)
    command.__annotations__ = annotations
    return run_it


def _default(name: str, required: set[str]) -> Any:
    if name in required:
        return Parameter.empty
    return False if _OWN.get(name) in (AsJson, RevealNumbers) else None


def _annotation(argument: DeclaredArgument) -> Any:
    """The argument as Typer reads it: positional if it names what the tool is about, otherwise a flag."""
    said = in_commands(argument.help)
    if argument.in_path or (argument.name == NUMBER and argument.required):
        return Annotated[str if argument.required else str | None, typer.Argument(metavar=_place(argument), help=said)]
    if argument.kind == "yes or no":
        flags = f"{argument.flag}/--no-{argument.flag[2:]}"
        return Annotated[bool if argument.required else bool | None, typer.Option(flags, help=said)]
    if argument.kind == "text" and argument.choices:
        chosen: Any = Literal[argument.choices]  # pyright: ignore[reportInvalidTypeForm]  # of the declaration
        return Annotated[chosen if argument.required else chosen | None, typer.Option(argument.flag, help=said)]
    if argument.choices:
        said = f"{said} Of {', '.join(argument.choices)}."
    if argument.kind == "list":
        several: Any = list[str] if argument.required else list[str] | None
        return Annotated[several, typer.Option(argument.flag, metavar=_METAVARS["list"], help=said)]
    return Annotated[
        str if argument.required else str | None,
        typer.Option(argument.flag, metavar=_METAVARS[argument.kind], help=said),
    ]


def _place(argument: DeclaredArgument) -> str:
    return argument.name.removesuffix("_uuid").upper() if argument.name != "call_uuid" else "ID"


def _arguments(tool: DeclaredTool, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments that were given, as values of their kinds."""
    for argument in tool.arguments:
        found = given[f"{_GIVEN}{argument.name}"]
        if found is None or found == []:
            continue
        if isinstance(found, bool):
            yield argument.name, found
        elif isinstance(found, list):
            several = cast("list[str]", found)
            values = [value_of(argument, one, sys.stdin.read) for one in several]
            yield argument.name, _joined(values)
        else:
            yield argument.name, value_of(argument, str(found), sys.stdin.read)


def _joined(values: list[Any]) -> Any:
    """The values of a flag that was given several times, in one list."""
    if len(values) == 1:
        return values[0]
    joined: list[Any] = []
    for value in values:
        joined += cast("list[Any]", value) if isinstance(value, list) else [value]
    return joined
