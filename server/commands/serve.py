"""`callwright serve`: the service and its MCP server over HTTP, in one process."""

import errno
import shlex
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
from anyio.abc import TaskStatus
from rich.console import Console
from rich.markup import escape

from callwright.contract.checks.counts import count_of
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.open_dashboard import link, login_code
from callwright.server.commands.signals import stop_signals
from callwright.server.embedded.embedded import (
    LOOK_AGAIN_S,
    ServiceKeys,
    address_of,
    listener_on,
    listening,
    service_of,
)
from callwright.server.mcp.app import tune_garbage_collector
from callwright.server.mcp.session import random_id
from callwright.server.settings import ProgramSettings
from callwright.server.transport.hosts import BadHostName, HostNames, names_for
from callwright.server.transport.http import mcp_beside
from callwright.service.accounts import sessions
from callwright.service.accounts.errors import AccountError
from callwright.service.app import LAST_UNITS_S, Service
from callwright.service.platform.data_folder import DataFolder, DataFolderInUse
from callwright.service.platform.database.engines import file_of
from callwright.service.platform.database.sqlite.disk_space import StorageFull

_MONEY = {
    "simulated": "the money is play money",
    "stripe": "[bold]real money[/] pays top-ups, through Stripe",
}
"""What money is, by who takes that of top-ups."""


@dataclass(frozen=True)
class ServeOptions:
    """Address, host names and mode of the server.

    `allowed_hosts` are names by which clients reach this machine, beside the address it is bound to. `sticky` says that
    every client reaches the same process again, so that older clients can have sessions in it. None means yes on
    SQLite, which has one process, and no on Postgres. `starts_paused` pauses every campaign before anything is dialled.
    """

    host: str
    port: int
    allowed_hosts: tuple[str, ...] = ()
    sticky: bool | None = None
    starts_paused: bool = False


async def serve(settings: ProgramSettings, where: ServeOptions) -> None:
    """Serves until stopped (Ctrl-C or SIGTERM). Raises `DataFolderInUse`, `CommandError`."""
    folder = DataFolder(settings.data)
    try:
        names = names_for(where.host, where.allowed_hosts)
    except BadHostName as error:
        raise CommandError(str(error)) from error
    listener = bound(where.host, where.port)
    with listener, stop_signals() as told_to_stop:
        async with (
            service_of(settings, starts_paused=where.starts_paused) as (service, _),
            answering(service, settings, where, names, listener) as base_url,
            anyio.create_task_group() as tasks,
        ):
            tune_garbage_collector()
            await tasks.start(_announce, folder, base_url)
            service.services.terminal.show = _show
            _greet(settings, base_url, names, await _dashboard(service, settings, base_url))
            await told_to_stop()
            await drained(service, told_to_stop)
            service.services.database.shorten(LAST_UNITS_S)  # waiting requests are answered while possible
            tasks.cancel_scope.cancel()


def bound(host: str, port: int) -> socket.socket:
    """A listening socket. Raises `CommandError`."""
    try:
        return listener_on(host, port)
    except OSError as error:
        taken = "; choose another --port, or stop what has it" if error.errno == errno.EADDRINUSE else ""
        raise CommandError(f"cannot listen on {host}:{port}: {error.strerror}{taken}") from error


async def drained(service: Service, told_to_stop: Callable[[], Awaitable[object]]) -> None:
    """Lets the calls on the lines of this process end, until their time is up or a second signal comes."""
    under_way = service.calls_under_way
    if under_way:
        said = f"waits for {count_of(under_way, 'call')} to end; stop again to hang up at once"
        Console(stderr=True, highlight=False, soft_wrap=True).print(said)
    async with anyio.create_task_group() as tasks:

        async def until_stopped_again() -> None:
            await told_to_stop()
            tasks.cancel_scope.cancel()

        tasks.start_soon(until_stopped_again)
        await service.drain(service.services.settings.lines.drain_s)
        tasks.cancel_scope.cancel()
    await service.drain(0)  # hangs up what goes on after a second signal


async def _announce(folder: DataFolder, base_url: str, *, task_status: TaskStatus[None]) -> None:
    """Publishes the address for other programs until cancelled.

    On Postgres several processes may share a folder. One of them publishes its address, and when it ends another one
    does.
    """
    is_begun = False
    while True:
        is_holder = is_announced = False
        with suppress(DataFolderInUse):
            folder.hold()
            is_holder = True
        try:
            is_announced = is_holder and folder.announce(base_url)
            if not is_begun:
                task_status.started()
                is_begun = True
            await (anyio.sleep_forever() if is_announced else anyio.sleep(LOOK_AGAIN_S))
        finally:
            if is_holder:
                folder.withdraw()
                folder.let_go()


@asynccontextmanager
async def answering(
    service: Service, settings: ProgramSettings, where: ServeOptions, names: HostNames, listener: socket.socket
) -> AsyncGenerator[str]:
    """Answers REST and MCP inside the context. Yields the base URL of REST, with the version prefix."""
    keys = ServiceKeys(service)
    base_url = _address_for_clients(settings, where, listener)
    service.services.own_address.bound = base_url.removesuffix("/v1")
    sticky = file_of(settings.database_url) is not None if where.sticky is None else where.sticky
    async with mcp_beside(
        service.asgi,
        keys,
        names=names,
        seal=await keys.sealing_secret(),
        base_url=base_url,
        ids=random_id,
        keeps_sessions=sticky,
        tools_of=settings.tools_of,
        confirm=settings.confirm,
        confirm_by=settings.confirm_by,
        masks=not settings.reveal_numbers,
    ) as (application, requests):
        proxies = [str(network) for network in settings.proxies]
        async with listening(application, listener, proxies=proxies) as base_url, requests:
            yield base_url


def _address_for_clients(settings: ProgramSettings, where: ServeOptions, listener: socket.socket) -> str:
    """The base URL of REST for clients: the public one, else with the first allowed host, else the bound address."""
    if settings.public_url is not None:
        return f"{settings.public_url}/v1"
    if not where.allowed_hosts:
        return address_of(listener)
    name = where.allowed_hosts[0]
    states_port = name.rpartition(":")[2].isdigit()
    return f"http://{name if states_port else f'{name}:{listener.getsockname()[1]}'}/v1"


async def _dashboard(service: Service, settings: ProgramSettings, base_url: str) -> str:
    """How to open the dashboard. While nobody is logged in, with a link that logs the first owner in once."""
    services = service.services
    root = settings.public_url or base_url.removesuffix("/v1")
    later = _with_data(settings, "callwright open")
    if await services.database.read(sessions.has_sessions):
        return later
    try:
        code = await services.database.write(login_code, services.ids, None, None, services.clock.now_ms())
    except (AccountError, StorageFull):
        return f"{later} --org NAME"
    return f"{link(root, code)} (once, within 15 minutes; later: {later})"


def _greet(settings: ProgramSettings, base_url: str, names: HostNames, dashboard: str) -> None:
    root = base_url.removesuffix("/v1")
    mcp = f"[bold]{root}/mcp[/] (older clients: {root}/sse)"
    unnamed = "[yellow]not served[/]: --allowed-host NAME names the host that clients use"
    said = (
        f"[bold green]Callwright[/] serves [bold]{base_url}[/] (data in {escape(str(settings.data))})",
        f"  MCP           {mcp if names.names else unnamed}",
        f"  dashboard     {escape(dashboard)}",
        f"  pages         {root}/ and {root}/docs (for programs {root}/openapi.json)",
        f"  API key       {escape(_new_key(settings))}",
        f"  network       {_network(settings)}, {_MONEY[settings.payments]}",
    )
    Console(stderr=True, highlight=False, soft_wrap=True).print("\n".join(said))


def _show(text: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(escape(text))


def _network(settings: ProgramSettings) -> str:
    lines = settings.lines
    numbers = [count_of(len(lines.sip_numbers), "number") + " of the SIP trunk"] if lines.sip_trunk is not None else []
    numbers += ["numbers of the Twilio account"] if lines.twilio_account_sid is not None else []
    if not numbers:
        return "[yellow]simulated[/]: no telephone rings"
    return f"[bold red]telephones ring[/] from {' and '.join(numbers)}; rented numbers are simulated"


def _new_key(settings: ProgramSettings) -> str:
    """The command that creates a key."""
    return _with_data(settings, "callwright keys create")


def _with_data(settings: ProgramSettings, command: str) -> str:
    """A command for what is served. It omits the URL of another database, which has a password in it."""
    command = f"{command} --data {shlex.quote(str(settings.data))}"
    return command if file_of(settings.database_url) else f"{command} --database URL"
