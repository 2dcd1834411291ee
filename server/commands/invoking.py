"""Runs commands: reads settings from flags and environment, and prints errors for a person.

Importing it imports neither the service nor the client, so that help comes at once.
"""

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeVar

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.settings import BadSetting, ProgramSettings, read_settings

T = TypeVar("T")
Data = Annotated[Path | None, typer.Option("--data", help="Folder of the service (CALLWRIGHT_DATA, ~/.callwright).")]
Database = Annotated[
    str | None,
    typer.Option("--database", help="Database URL (CALLWRIGHT_DATABASE_URL), SQLite in the folder if absent."),
]
SharedDatabase = Annotated[
    str | None,
    typer.Option("--database", help="Postgres URL (CALLWRIGHT_DATABASE_URL); SQLite serves one process only."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone, for scripts.")]


def settings_of(
    data: Path | None, database: str | None, given: Mapping[str, str] = MappingProxyType({})
) -> ProgramSettings:
    """The settings; `given` overrides the environment. Exits with an error for an invalid setting."""
    try:
        return read_settings({**os.environ, **given}, data=data, database_url=database)
    except BadSetting as error:
        raise failed(str(error)) from error


def failed(message: str) -> typer.Exit:
    """Prints on stderr why a command failed. Returns the exception to raise, which exits with status 2."""
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True).print(f"[bold red]callwright:[/] {escape(message)}", highlight=False, soft_wrap=True)
    return typer.Exit(2)


def run(command: Callable[..., Awaitable[T]], *arguments: object, uvloop: bool = False) -> T:
    """Runs a command. Errors that a person can fix exit with a sentence and status 2."""
    import anyio

    try:
        return anyio.run(command, *arguments, backend_options={"use_uvloop": uvloop and sys.platform != "win32"})
    except Exception as error:
        from callwright.client.errors import CallwrightError, ServiceProblem
        from callwright.server.embedded.failures import first_cause, reason
        from callwright.service.platform.data_folder import DataFolderInUse

        cause = first_cause(error)
        if isinstance(cause, DataFolderInUse):
            raise failed(f"{cause}; give another --data, or stop it first (`callwright doctor` says which)") from error
        if isinstance(cause, CommandError | CallwrightError | BadSetting):
            raise failed(cause.message if isinstance(cause, ServiceProblem) else str(cause)) from error
        if (why := reason(cause)) is not None:
            raise failed(why) from error
        raise
    except BaseExceptionGroup as group:  # around an exit, for example when what reads the output has ended
        from callwright.server.embedded.failures import first_cause

        raise first_cause(group) from None
