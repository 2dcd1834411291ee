"""`callwright do-not-call export`: the whole list as CSV, in a file or on stdout."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.server.commands.invoking import Data, Database, run
from callwright.server.commands.tool_commands.download_file import download_to
from callwright.server.commands.tool_commands.invoked import settings_for_person

if TYPE_CHECKING:
    from callwright.client.client import Client
    from callwright.client.download import DownloadRequest


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

    async def asked(client: "Client") -> "DownloadRequest":
        return client.do_not_call.export(simulated=simulated)

    run(download_to, settings, save, "the list", asked)
    if save is not None:
        typer.echo(f"The list is in {save}.")
