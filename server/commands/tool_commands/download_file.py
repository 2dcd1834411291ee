"""A download of the service, written to a file or to stdout as it comes."""

import codecs
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.server.commands.command_error import CommandError
from callwright.server.settings import ProgramSettings

if TYPE_CHECKING:
    from callwright.client.client import Client
    from callwright.client.download import DownloadRequest

_MOST_BYTES = 1 << 40
"""As good as no limit: the table is the person's own, and ends."""


async def download_to(
    settings: ProgramSettings, save: Path | None, what: str, asked: "Callable[[Client], Awaitable[DownloadRequest]]"
) -> None:
    """Writes what is asked of the service. A file appears when it is whole.

    Raises:
        CommandError: the service refuses, or it cannot be written; `what` names it where it goes to stdout.
    """
    from callwright.client.errors import CallwrightError, ServiceProblem
    from callwright.server.embedded.embedded import embedded, remote

    opened = embedded(settings, _say_nothing) if settings.base_url is None else remote(settings)
    async with opened as client:
        try:
            async with await asked(client) as download:
                if save is not None:
                    await download.save(save, max_bytes=_MOST_BYTES)
                    return
                mark = codecs.BOM_UTF8  # for spreadsheets, which open files: what reads stdout is a program
                async for chunk in download.aiter_bytes():
                    sys.stdout.buffer.write(chunk.removeprefix(mark))
                    mark = b""
                sys.stdout.flush()
        except ServiceProblem as problem:
            raise CommandError(problem.message) from problem
        except CallwrightError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{save or what} cannot be written: {error.strerror or error}") from error


def _say_nothing(base_url: str) -> None:
    """The address ends with this command."""
