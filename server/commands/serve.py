"""`callwright serve`: the service over HTTP, in one process."""

import signal
import sys

import anyio
from rich.console import Console

from callwright.server.embedded import listening, service_of
from callwright.server.settings import ProgramSettings
from callwright.service.data_folder import DataFolder


async def serve(settings: ProgramSettings, host: str, port: int) -> None:
    """Serves until it is told to stop (Ctrl-C or SIGTERM). Raises `DataFolderInUse`, OSError."""
    folder = DataFolder(settings.data)
    stopped = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, stopped)
        async with service_of(settings) as (service, _), listening(service, host=host, port=port) as base_url:
            folder.announce(base_url)
            try:
                _greet(settings, base_url)
                await stopped.wait()
            finally:
                folder.withdraw()
        tasks.cancel_scope.cancel()


async def _watch(stopped: anyio.Event) -> None:
    if sys.platform == "win32":  # asyncio cannot watch signals there; Ctrl-C raises in the loop instead
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            stopped.set()
            return


def _greet(settings: ProgramSettings, base_url: str) -> None:
    root = base_url.removesuffix("/v1")
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"[bold green]Callwright[/] serves [bold]{base_url}[/] (data in {settings.data})")
    console.print(f"  description   {root}/openapi.json")
    console.print("  API key       callwright keys create --data DIR")
    console.print("  network       [yellow]simulated[/]: no telephone rings, the money is play money")
