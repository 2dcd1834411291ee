"""`callwright mcp`: the MCP server over stdio, with the embedded service or with a remote one."""

import argparse
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from callwright.server.mcp.app import build, tune_garbage_collector
from callwright.server.mcp.session import ServerSession, SystemClock, random_id
from callwright.server.settings import BadSetting, ProgramSettings, read_settings
from callwright.tools.arguments.file_arguments import PATIENCE_S
from callwright.tools.serving.served import served_tools
from callwright.tools.toolsets import PROFILES

if TYPE_CHECKING:
    from mcp.server.mcpserver.tools import Tool

    from callwright.tools.runtime.tool_context import Caller, Clock

HANDSHAKE_S = 0.3
"""Seconds for the handshake before the embedded service is started without a tool call."""


def arguments_of(given: Sequence[str]) -> argparse.Namespace:
    """The flags of `callwright mcp`, under the names of the arguments of `read_settings`."""
    parser = argparse.ArgumentParser(
        prog="callwright mcp",
        description="The MCP server over stdio. CALLWRIGHT_BASE_URL and CALLWRIGHT_API_KEY name a service that runs "
        "elsewhere; without them an embedded one starts in this process.",
    )
    parser.add_argument("--data", type=Path, help="folder of the embedded service (CALLWRIGHT_DATA, ~/.callwright)")
    parser.add_argument(
        "--database",
        dest="database_url",
        help="its database, SQLite in the folder by default (CALLWRIGHT_DATABASE_URL)",
    )
    parser.add_argument(
        "--files",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="import_audience may read files of this folder; may be given several times (CALLWRIGHT_FILES)",
    )
    parser.add_argument(
        "--webhook-networks",
        help="networks that events may be sent to in development, with commas (CALLWRIGHT_WEBHOOK_NETWORKS)",
    )
    parser.add_argument("--profile", help=f"which tools there are: {', '.join(PROFILES)} (CALLWRIGHT_PROFILE, builder)")
    parser.add_argument("--toolsets", help="toolsets or tools, with commas, in place of the profile's")
    parser.add_argument("--exclude-tools", help="toolsets or tools, with commas, to leave out")
    parser.add_argument("--read-only", action="store_true", default=None, help="only tools that read")
    parser.add_argument(
        "--reveal-numbers", action="store_true", default=None, help="show contacts' telephone numbers whole"
    )
    return parser.parse_args(given)


def new_session(
    settings: ProgramSettings,
    clock: "Clock | None" = None,
    *,
    connected: "Caller | None" = None,
    secret: bytes | None = None,
) -> ServerSession:
    """A session with the service that the settings name. Nothing is imported or opened before it is needed.

    `clock` is the clock by which tools wait, by default the machine's. `connected` is a client that is open already;
    `secret` signs sentences that another process has to know again.
    """

    def connect() -> "AbstractAsyncContextManager[Caller]":
        from callwright.server.embedded.embedded import embedded, remote

        if settings.base_url is not None:
            from callwright.server.mcp.remote import learn

            return remote(settings, lambda client: learn(client, settings, session))

        def say_address(base_url: str) -> None:
            session.base_url = base_url

        return embedded(settings, say_address)

    session = ServerSession(
        connect,
        ids=random_id,
        clock=clock or SystemClock(),
        base_url=settings.base_url,
        masks=not settings.reveal_numbers,
        enabled=settings.tools_of(),
        confirm=settings.confirm,
        confirm_by=settings.confirm_by,
        secret=secret,
        connected=connected,
    )
    session.remote = settings.base_url is not None
    return session


def run(given: Sequence[str], *, clock: "Clock | None" = None) -> int:
    """Serves until stdin ends. Returns 2 if a setting is wrong. `clock` is the clock by which tools wait."""
    try:
        settings = read_settings(**vars(arguments_of(given)))
    except BadSetting as error:
        print(f"callwright: {error}", file=sys.stderr)  # noqa: T201  # the user reads stderr
        return 2
    if (wrong := wrong_files(settings)) is not None:
        print(f"callwright: {wrong}", file=sys.stderr)  # noqa: T201  # the user reads stderr
        return 2
    session = new_session(settings, clock)

    @asynccontextmanager
    async def opened() -> AsyncGenerator[ServerSession]:
        async with session.opened() as open_session, anyio.create_task_group() as tasks:
            tasks.start_soon(_begin_soon, session)
            yield open_session
            tasks.cancel_scope.cancel()

    server = build(opened, tools=tools_of(settings))
    tune_garbage_collector()
    # The thread that waits for stdin cannot be woken, so with Python's own handler Ctrl-C would do nothing until more
    # input comes. Exiting at once is as safe as a crash: the process's lock is released, and finished work is
    # committed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(server.run_stdio_async, backend_options={"use_uvloop": sys.platform != "win32"})
    return 0


def wrong_files(settings: ProgramSettings) -> str | None:
    """What is wrong with the rules or prices of an embedded service, found before a host has shaken hands; None if
    nothing is."""
    if settings.base_url is not None:
        return None
    if settings.rules_file is not None:
        from callwright.service.rules.regions.rule_file import RuleFileError, rules_in

        try:
            rules_in(settings.rules_file)
        except RuleFileError as error:
            return f"CALLWRIGHT_RULES: {error}"
    if settings.prices_file is not None:
        from callwright.service.rules.prices.installation_prices import prices_in
        from callwright.service.rules.prices.price_list import BadPriceList

        try:
            prices_in(settings.prices_file)
        except BadPriceList as error:
            return f"CALLWRIGHT_SERVICE_PRICES: {error}"
    return None


def tools_of(
    settings: ProgramSettings, folders: Sequence[Path] = (), *, patience_s: float = PATIENCE_S
) -> "list[Tool]":
    """The enabled tools. With folders, those given or those of the settings, some of them read and write files; a call
    that reads one takes about `patience_s`.
    """
    tools = served_tools(settings.tools_of())
    if not (settings.files or folders):
        return tools
    from callwright.tools.arguments.files import Folders
    from callwright.tools.serving.served_files import with_files

    files = Folders(folders or settings.files)
    return with_files(tools, files, writes=not settings.read_only, patience_s=patience_s)


async def _begin_soon(session: ServerSession) -> None:
    """Continues campaigns of an earlier run without waiting for a tool call."""
    await anyio.sleep(HANDSHAKE_S)
    session.begin()
