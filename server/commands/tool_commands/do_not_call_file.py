"""`callwright do-not-call export`: the whole list as CSV, in a file or on stdout."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import Data, Database, run
from callwright.server.commands.tool_commands.invoked import settings_for_person
from callwright.server.settings import ProgramSettings


def export(
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Write to this file.")] = None,
    simulated: Annotated[
        bool | None,
        typer.Option("--simulated/--no-simulated", help="Only the simulated network's list, or only the real one."),
    ] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """The do-not-call list as CSV, with whole numbers, as it can be imported again."""
    settings = settings_for_person(data, database, reveal_numbers=True)
    run(_exported, settings, save, simulated)
    if save is not None:
        typer.echo(f"The list is in {save}.")


async def _exported(settings: ProgramSettings, save: Path | None, simulated: bool | None) -> None:
    from callwright.server.embedded.embedded import embedded, remote

    opened = embedded(settings, _say_nothing) if settings.base_url is None else remote(settings)
    async with opened as client, client.do_not_call.export(simulated=simulated) as download:
        try:
            if save is not None:
                await download.save(save)
                return
            async for chunk in download.aiter_bytes():
                sys.stdout.buffer.write(chunk)
            sys.stdout.flush()
        except OSError as error:
            raise CommandError(f"{save or 'the list'} cannot be written: {error.strerror or error}") from error


def _say_nothing(base_url: str) -> None:
    """The address ends with this command."""
