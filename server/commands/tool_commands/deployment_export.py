"""`callwright deployments export`: the rows of a deployment as CSV or Parquet, in a file or on stdout."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import Data, Database, run
from callwright.server.commands.tool_commands.download_file import download_to
from callwright.server.commands.tool_commands.invoked import RevealNumbers, settings_for_person

if TYPE_CHECKING:
    from callwright.client.client import Client
    from callwright.client.download import DownloadRequest

EXPORTS_ROWS = "export_deployment"


def deployment_export(
    deployment: Annotated[str, typer.Argument(metavar="DEPLOYMENT", help="Id or name.")],
    of: Annotated[str, typer.Option("--of", help="contacts, calls, outcomes or rejects.")] = "contacts",
    import_id: Annotated[
        str | None, typer.Option("--import-id", metavar="IMPORT", help="With --of rejects: of this import alone.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Write to this file.")] = None,
    reveal_numbers: RevealNumbers = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """All contacts, calls, outcomes or refused rows of a deployment, whole and as they are at any length."""
    given: dict[str, Any] = {"of": of, "format": form}
    if import_id is not None:
        given["import_id"] = import_id
    settings = settings_for_person(data, database, reveal_numbers=reveal_numbers)
    given["masked"] = not settings.reveal_numbers

    async def asked(client: "Client") -> "DownloadRequest":
        return client.deployments.export(id=await _id_of(client, deployment), **given)

    run(download_to, settings, save, "the export", asked)
    if save is not None:
        typer.echo(f"The {of} are in {save}.", err=True)


async def _id_of(client: "Client", named: str) -> str:
    """The id of a deployment. Raises `CommandError` if none has this name."""
    if named.startswith("dep_"):
        return named
    found = (await client.deployments.list(name=named)).data
    if not found:
        raise CommandError(f'no deployment is called "{named}". `callwright deployments list` shows what exists.')
    return found[0].id
