"""`callwright keys`."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console
from sqlalchemy import Connection

from callwright.server.commands.accounts.accounts import account_database, amount_data, dollars, moment_data
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.output.tables import Cell, day, show
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import amount


@dataclass(frozen=True)
class NewKey:
    """A key to make. `user` is whose it is, by e-mail or id; `profile` and `spending_cap` (dollars, as text) are limits
    of a personal one.
    """

    org: str
    label: str = ""
    is_personal: bool = False
    profile: str | None = None
    spending_cap: str | None = None
    user: str | None = None


async def create(settings: ProgramSettings, wanted: NewKey, quiet: bool, as_json: bool = False) -> None:
    """Creates a key and prints it; it is shown only here."""
    if not wanted.is_personal and (wanted.profile is not None or wanted.spending_cap is not None):
        raise CommandError("--profile and --spending-cap are for a personal key; add --personal")
    limits: dict[str, Any] = {
        "profile": wanted.profile or accounts.DEFAULT_PROFILE,
        "spending_cap_micros": None if wanted.spending_cap is None else _cap(wanted.spending_cap),
    }

    def work(connection: Connection, ids: Ids, now_ms: int) -> accounts.NewKey:
        if wanted.org == accounts.DEFAULT_ORGANIZATION:
            org_id = accounts.default_organization(connection, ids, now_ms)
        else:
            org_id = accounts.find_organization(connection, wanted.org)
        user_id = None if wanted.user is None else accounts.find_user(connection, wanted.user).id
        make = partial(accounts.create_personal_key, **limits) if wanted.is_personal else accounts.create_key
        return make(connection, ids, org_id, wanted.label, now_ms, created_by_user_id=user_id)

    async with account_database(settings) as (database, ids, now_ms):
        made = await database.write(work, ids, now_ms)
    if as_json:
        print_json({"id": made.id, "secret": made.secret})
        return
    if quiet:
        Console().out(made.secret)
        return
    what = f"personal key {made.id} with the profile {limits['profile']}" if wanted.is_personal else made.id
    Console().print(f"{made.secret}\nThis is {what}. It is not shown again.", highlight=False, soft_wrap=True)


def _cap(text: str) -> int:
    cap = dollars("--spending-cap", text)
    if cap < 0:
        raise CommandError("--spending-cap is not below zero")
    return cap


async def show_all(settings: ProgramSettings, org: str, as_json: bool = False) -> None:
    """Prints the keys of an organization by their first 16 characters, and who made them."""
    async with account_database(settings) as (database, _, _):
        org_id = await database.read(accounts.find_organization, org)
        found = await database.read(accounts.keys_of, org_id)
    if as_json:
        print_json([_data(row) for row in found])
        return
    kind = ("kind", "profile", "cap (USD)", "state")
    columns = (("key", "id"), kind, "label", "made by", ("made (UTC)", "last used (UTC)"))
    show(columns, (_row(row) for row in found))


def _data(row: Any) -> dict[str, Any]:
    """A key as JSON data, without what checks its secret."""
    return {
        "id": row.id,
        "begins": row.identity,
        "kind": row.kind,
        "profile": row.profile,
        "spending_cap": amount_data(row.spending_cap_micros),
        "label": row.label,
        "created_by": row.creator_email or row.creator_name,
        "creator_left": bool(row.has_creator_left),
        "created_at": moment_data(row.created_at),
        "last_used_at": moment_data(row.last_used_at),
        "revoked_at": moment_data(row.revoked_at),
    }


def _row(row: Any) -> list[Cell]:
    cap = "" if row.spending_cap_micros is None else amount(row.spending_cap_micros)[:-4]
    state = "creator left" if row.has_creator_left else "active"
    return [
        (f"{row.identity}…", row.id),
        (row.kind, row.profile or "", cap, state if row.revoked_at is None else "Revoked"),
        row.label,
        row.creator_email or row.creator_name or "",
        (" ".join(day(row.created_at)), " ".join(day(row.last_used_at))),
    ]


async def revoke(settings: ProgramSettings, key: str) -> None:
    """Revokes a key."""
    async with account_database(settings) as (database, ids, now_ms):
        key_id = await database.write(accounts.revoke_key, ids, key, now_ms)
    Console().print(f"{key_id} is revoked", highlight=False)
