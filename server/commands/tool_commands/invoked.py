"""From the words of a shell to the answer of a tool, for `callwright call` and the commands by noun."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import failed, run, settings_of
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.tool_commands.declared import CONSENT, DeclaredTool, in_commands
from callwright.server.settings import ProgramSettings
from callwright.tools.arguments.file_arguments import READS_FILES

if TYPE_CHECKING:
    from callwright.server.commands.tool_commands.running import ToolAnswer

_UNDER_WAY = (("deployments", "active"), ("audiences", "pending"), ("audiences", "importing"))
"""The states of campaigns and imports that need a process to go on."""
_ADDS_NUMBERS = ("add_do_not_call", "import_do_not_call")
"""The tools whose answers count numbers of the do-not-call list that were added, and those that were refused."""
REFUSED = 1
"""The exit status when a tool refuses."""
RevealNumbers = Annotated[
    bool, typer.Option("--reveal-numbers", help="Show contacts' telephone numbers whole (CALLWRIGHT_REVEAL_NUMBERS).")
]


@dataclass(frozen=True, kw_only=True)
class ShellOptions:
    """The flags of every command that runs a tool. `for_people` prints tables and fields, not what a model reads."""

    data: Path | None
    database: str | None
    as_json: bool
    reveal_numbers: bool
    for_people: bool
    save: Path | None = None
    """The file for the sound of an answer."""


def invoke(tool: DeclaredTool, arguments: Mapping[str, Any], options: ShellOptions) -> None:
    """Runs a tool and prints its answer.

    Exits with 1 if it refuses, an import fails or has not ended, or nothing of a list is taken, with 2 if it is not
    asked.
    """
    settings = settings_for_person(options.data, options.database, reveal_numbers=options.reveal_numbers)
    if tool.name not in settings.tools_of():
        raise failed(f"{tool.name} is switched off by CALLWRIGHT_PROFILE, CALLWRIGHT_TOOLSETS or their like")
    answer = run(_asked, settings, tool, arguments, options.save is not None)
    sys.stdout.flush()
    if answer.refused:
        _say_refusal(answer.words, is_asked=CONSENT in answer.words and CONSENT not in arguments, options=options)
        raise typer.Exit(REFUSED)
    _show(answer, options, arguments.get("fields") or (), tool.name)
    if options.save is not None:
        _save(answer.sound, options.save)
    if tool.name in _ADDS_NUMBERS:
        say_refused_rows(answer.data)
    if answer.served_here and (tool.noun, answer.data.get("status")) in _UNDER_WAY:
        _say_it_waits(settings)
    if tool.name == READS_FILES and not _is_taken(answer.data, waits="wait_seconds" not in arguments):
        raise typer.Exit(REFUSED)


def _is_taken(data: Mapping[str, Any], *, waits: bool) -> bool:
    """Whether all of a list was taken, or is imported and nobody wanted to wait. Says what was not taken."""
    if (row := data.get("next_row")) is not None:
        typer.echo(f"Nothing from row {row} on was sent. Go on with --from-row {row}.", err=True)
    status = data.get("status")
    if status == "uploading" or (waits and status in ("pending", "importing")):
        where = f"callwright audiences get-import {data.get('audience_id')} {data.get('id')}"
        typer.echo(f"The import has not ended. How it goes: {where}", err=True)
        return False
    return row is None and status != "failed"


def say_refused_rows(data: Mapping[str, Any]) -> None:
    """How many refused rows are not shown. Exits with 1 if there are some, and nothing was added."""
    from rich.console import Console

    hidden = data["refused"] - len(data["errors"])
    if hidden > 0:
        from callwright.contract.checks.counts import count_of  # --help has to be quick

        Console(stderr=True, highlight=False).print(f"{count_of(hidden, 'more refused row')} not shown.", style="dim")
    if data["refused"] and not data["added"] and not data["extended"]:
        raise typer.Exit(REFUSED)


def settings_for_person(data: Path | None, database: str | None, *, reveal_numbers: bool) -> ProgramSettings:
    """The settings. A person at a shell has every tool, unless the environment says which."""
    chosen = {"CALLWRIGHT_PROFILE": os.environ.get("CALLWRIGHT_PROFILE", "").strip() or "all"}
    if reveal_numbers:
        chosen["CALLWRIGHT_REVEAL_NUMBERS"] = "true"
    return settings_of(data, database, chosen)


async def _asked(
    settings: ProgramSettings, tool: DeclaredTool, arguments: Mapping[str, Any], hears: bool
) -> "ToolAnswer":
    from rich.console import Console

    from callwright.server.commands.tool_commands.asked_in_terminal import asker
    from callwright.server.commands.tool_commands.running import answer_of

    unknown = [name for name in arguments if tool.argument(name) is None]
    named = _file(arguments)
    notes = Console(stderr=True, highlight=False)

    def tell(words: str) -> None:
        notes.print(words, style="dim", markup=False)

    return await answer_of(
        settings,
        tool.name,
        arguments if named is None else {**arguments, "path": str(named)},
        asks=asker(),
        unknown=unknown,
        folders=(named.parent if named else Path(),) if tool.name == READS_FILES else (),
        tell=tell if notes.is_terminal else None,
        hears=hears,
    )


def _file(arguments: Mapping[str, Any]) -> Path | None:
    """The whole path of the file that the person named. Its folder may be read: it is theirs, as is the command."""
    path = arguments.get("path")
    if not isinstance(path, str):
        return None
    named = Path(path).expanduser().absolute()
    if not named.parent.is_dir():
        raise CommandError(f"path: there is no folder {named.parent}")
    return named


def _show(answer: "ToolAnswer", options: ShellOptions, wanted: Sequence[str], tool: str) -> None:
    from rich.console import Console

    from callwright.server.commands.tool_commands.answers import show_answer
    from callwright.server.commands.tool_commands.cells import visible
    from callwright.server.commands.tool_commands.fitted_table import IN_ORDER

    if options.as_json:
        print_json(answer.data)
        return
    if options.for_people and answer.data:
        notes = Console(stderr=True, highlight=False)
        show_answer(_in_commands(answer.data), Console(highlight=False), notes, wanted, IN_ORDER.get(tool, ()))
        if answer.data.get("errors_not_shown"):
            notes.print(_ALL_ERRORS.format(**answer.data), style="dim", soft_wrap=True)
    else:
        typer.echo(visible(answer.words))


def _in_commands(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data with commands in place of tools, where the service says what to do next."""
    said = {name: _SAID[name](value) if name in _SAID and value else value for name, value in data.items()}
    return said | {name: words for name, words in _NONE.items() if data.get(name) == []}


def _each_in_commands(texts: list[str]) -> list[str]:
    return [in_commands(text) for text in texts]


_SAID: Mapping[str, Callable[[Any], Any]] = {
    "status_reason": in_commands,
    "summary": in_commands,
    "problems": _each_in_commands,
    "warnings": _each_in_commands,
}
"""Fields with sentences of the service."""
_NONE: Mapping[str, str] = {"differences": "none: it says the same as in that version"}
"""What empty lists mean that were asked for."""
_ALL_ERRORS = "All of them: callwright audiences list-import-errors {audience_id} {id}"


def _save(sound: bytes | None, file: Path) -> None:
    if sound is None:
        raise failed(
            f"nothing is written to {file}: the sound is too large for a tool; `callwright serve` has it over REST"
        )
    try:
        file.write_bytes(sound)
    except OSError as error:
        raise failed(f"--save {file} cannot be written: {error.strerror or error}") from error
    typer.echo(f"The sound is in {file}.", err=True)


def _say_refusal(words: str, *, is_asked: bool, options: ShellOptions) -> None:
    from callwright.server.commands.tool_commands.cells import visible

    typer.echo(visible(in_commands(words) if options.for_people else words), err=True)
    if is_asked:
        how = f"--{CONSENT.replace('_', '-')} '…'" if options.for_people else f"{CONSENT}='…'"
        typer.echo(f"At a terminal you are asked instead. Elsewhere, pass the sentence on as {how}.", err=True)


def _say_it_waits(settings: ProgramSettings) -> None:
    """That what is under way needs a process that serves the folder, which this one does no longer."""
    typer.echo(
        f"It goes on while something serves this folder: `callwright serve --data {shlex.quote(str(settings.data))}`, "
        "an assistant, or another command, such as `callwright deployments get ID --wait-seconds 45`.",
        err=True,
    )
