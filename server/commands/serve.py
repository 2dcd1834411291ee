"""`callwright serve`: the service over HTTP, in one process."""

import signal
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import anyio
from rich.console import Console

from callwright.server.embedded import listener_on, listening, service_of
from callwright.server.settings import ProgramSettings
from callwright.service.data_folder import DataFolder

from .accounts import CommandError


async def serve(settings: ProgramSettings, host: str, port: int) -> None:
    """Serves until it is told to stop (Ctrl-C or SIGTERM). Raises `DataFolderInUse`, `CommandError`."""
    folder = DataFolder(settings.data)
    try:
        listener = listener_on(host, port)
    except OSError as error:
        raise CommandError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    with listener, _signals() as told_to_stop:
        async with service_of(settings) as (service, _), listening(service, listener) as base_url:
            folder.announce(base_url)
            try:
                _greet(settings, base_url)
                await told_to_stop()
            finally:
                folder.withdraw()


@contextmanager
def _signals() -> Generator[Callable[[], Awaitable[object]]]:
    """Something to await until a signal has come; one that comes while the service starts counts too."""
    if sys.platform == "win32":  # asyncio cannot watch signals there; Ctrl-C raises in the loop instead
        yield anyio.sleep_forever
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        yield signals.__anext__


def _greet(settings: ProgramSettings, base_url: str) -> None:
    root = base_url.removesuffix("/v1")
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"[bold green]Callwright[/] serves [bold]{base_url}[/] (data in {settings.data})")
    console.print(f"  description   {root}/openapi.json")
    console.print("  API key       callwright keys create --data DIR")
    console.print("  network       [yellow]simulated[/]: no telephone rings, the money is play money")
