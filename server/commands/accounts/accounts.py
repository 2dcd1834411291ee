"""Shared code of the commands about organizations, users and keys.

They write to the database while a service may be running: each command is one short transaction, which SQLite and
Postgres both isolate from the service's own.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread

from callwright.server.commands.command_error import CommandError
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.platform.clock.clock import SystemClock, iso_milliseconds
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import money, written_micros
from callwright.service.tables.migrations import upgrade


@asynccontextmanager
async def account_database(settings: ProgramSettings) -> AsyncGenerator[tuple[Database, Ids, int]]:
    """The database, its schema current, with ids and the present time in ms. Raises `CommandError` for refusals."""
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    await to_thread.run_sync(upgrade.upgrade, settings.database_url, settings.data)
    clock = SystemClock(settings.clock_begins_ms)
    refused: accounts.AccountError | None = None
    async with Database.opened(settings.database_url) as database:
        try:
            yield database, Ids(clock.now_ms), clock.now_ms()
        except accounts.AccountError as error:
            refused = error
    if refused is not None:
        raise CommandError(str(refused)) from refused


def dollars(flag: str, text: str) -> int:
    """An amount as written by a person, in micros. Raises `CommandError`, which names the flag."""
    try:
        return written_micros(text, flag)
    except ValueError as error:
        raise CommandError(str(error)) from error


def amount_data(amount_micros: int | None) -> dict[str, Any] | None:
    """An amount as JSON data, as the REST service writes it."""
    return None if amount_micros is None else money(amount_micros).model_dump()


def moment_data(ms: int | None) -> str | None:
    """A moment as JSON data: `2026-11-21T09:00:00.000Z`."""
    return None if ms is None else iso_milliseconds(ms)
