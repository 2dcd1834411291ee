"""`callwright orgs` and `callwright keys`.

They write to the database at the side of a service that may be running: each command is one short transaction, which
SQLite and Postgres both keep apart from the service's own.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from anyio import to_thread
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.domain.clock import SystemClock
from callwright.service.domain.ids import Ids
from callwright.service.domain.money import MICROS, amount, micros
from callwright.service.storage import migrate
from callwright.service.storage.database import Database, opened

MOST_FUNDED = 1_000_000
"""Dollars of play money that one command adds at most."""
TABLE_WIDTH = 160
"""Columns of text a table takes at least: no id may be cut, since other commands want it whole."""


class CommandError(Exception):
    """What was asked cannot be done; the text says why."""


@asynccontextmanager
async def _database(settings: ProgramSettings) -> AsyncGenerator[tuple[Database, Ids, int]]:
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    await to_thread.run_sync(migrate.upgrade, settings.database_url)
    clock = SystemClock(settings.clock_begins_ms)
    refused: accounts.AccountError | None = None
    async with opened(settings.database_url) as database:
        try:
            yield database, Ids(clock.now_ms), clock.now_ms()
        except accounts.AccountError as error:
            refused = error
    if refused is not None:
        raise CommandError(str(refused)) from refused


def _show(table: Table) -> None:
    console = Console(highlight=False)
    console.width = max(console.width, TABLE_WIDTH)
    console.print(table, soft_wrap=True)


def _day(ms: int | None) -> str:
    return "never" if ms is None else datetime.fromtimestamp(ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M")


async def create_organization(settings: ProgramSettings, name: str, plan: str, quiet: bool) -> None:
    """Makes an organization; prints its id."""
    async with _database(settings) as (database, ids, now_ms):
        org_id = await database.write(accounts.create_organization, ids, name, plan, now_ms)
    if quiet:
        Console().out(org_id)
    else:
        said = f"[bold]{escape(name)}[/] {org_id}, plan {plan}, 100.00 USD of play money"
        Console().print(said, highlight=False, soft_wrap=True)


async def list_organizations(settings: ProgramSettings) -> None:
    """Prints the organizations."""
    async with _database(settings) as (database, _, _):
        found = await database.read(accounts.organizations_of)
    table = Table("name", Column("id", no_wrap=True), "plan", "play money (USD)", "made (UTC)", box=None)
    for row in found:
        table.add_row(escape(row.name), row.id, row.plan, amount(row.balance_micros)[:-4], _day(row.created_at))
    _show(table)


async def fund(settings: ProgramSettings, name: str, text: str) -> None:
    """Adds play money; prints the new balance."""
    added = _micros("--amount", text)
    if added > MOST_FUNDED * MICROS:
        raise CommandError(f"--amount adds at most {MOST_FUNDED:,}.00 at a time")
    async with _database(settings) as (database, ids, now_ms):
        org_id = await database.read(accounts.find_organization, name)
        balance = await database.write(accounts.fund, ids, org_id, added, now_ms)
    Console().print(f"[bold]{escape(name)}[/] has {amount(balance)[:-4]} USD of play money", highlight=False)


@dataclass(frozen=True)
class KeyWanted:
    """A key to make. `profile` and `spending_cap` (dollars, as text) are limits of a personal one."""

    org: str
    label: str = ""
    is_personal: bool = False
    profile: str | None = None
    spending_cap: str | None = None


async def create_key(settings: ProgramSettings, wanted: KeyWanted, quiet: bool) -> None:
    """Makes a key; prints it, this once."""
    if not wanted.is_personal and (wanted.profile is not None or wanted.spending_cap is not None):
        raise CommandError("--profile and --spending-cap are for a personal key; add --personal")
    limits: dict[str, Any] = {
        "profile": wanted.profile or accounts.DEFAULT_PROFILE,
        "spending_cap_micros": None if wanted.spending_cap is None else _cap(wanted.spending_cap),
    }
    async with _database(settings) as (database, ids, now_ms):
        if wanted.org == accounts.DEFAULT_ORGANIZATION:
            org_id = await database.write(accounts.default_organization, ids, now_ms)
        else:
            org_id = await database.read(accounts.find_organization, wanted.org)
        make = partial(accounts.create_personal_key, **limits) if wanted.is_personal else accounts.create_key
        made = await database.write(make, ids, org_id, wanted.label, now_ms)
    if quiet:
        Console().out(made.secret)
        return
    what = f"personal key {made.id} with the profile {limits['profile']}" if wanted.is_personal else made.id
    Console().print(f"{made.secret}\nThis is {what}. It is not shown again.", highlight=False, soft_wrap=True)


def _cap(text: str) -> int:
    cap = _micros("--spending-cap", text)
    if not 0 <= cap <= MOST_FUNDED * MICROS:
        raise CommandError(f"--spending-cap is from 0 to {MOST_FUNDED:,}.00")
    return cap


def _micros(flag: str, text: str) -> int:
    try:
        return micros(text)
    except (ArithmeticError, ValueError) as error:
        raise CommandError(f"{flag} {text!r} is not an amount; write for example 50.00") from error


async def list_keys(settings: ProgramSettings, org: str) -> None:
    """Prints the keys of an organization by their first 16 characters."""
    async with _database(settings) as (database, _, _):
        org_id = await database.read(accounts.find_organization, org)
        found = await database.read(accounts.keys_of, org_id)
    whole = (Column("key", no_wrap=True), Column("id", no_wrap=True))
    table = Table(*whole, "kind", "profile", "cap (USD)", "label", "made (UTC)", "last used", "state", box=None)
    for row in found:
        state = "active" if row.revoked_at is None else "Revoked"
        cap = "" if row.spending_cap_micros is None else amount(row.spending_cap_micros)[:-4]
        limits = (row.kind, row.profile or "", cap)
        table.add_row(
            f"{row.identity}…", row.id, *limits, escape(row.label), _day(row.created_at), _day(row.last_used_at), state
        )
    _show(table)


async def revoke_key(settings: ProgramSettings, key: str) -> None:
    """Revokes a key."""
    async with _database(settings) as (database, ids, now_ms):
        key_id = await database.write(accounts.revoke_key, ids, key, now_ms)
    Console().print(f"{key_id} is revoked", highlight=False)
