"""`callwright users`."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from sqlalchemy import Connection

from callwright.server.commands.accounts.accounts import account_database, moment_data
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.output.tables import day, show
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.platform.ids import Ids


async def add(
    settings: ProgramSettings,
    email: str,
    org: str,
    name: str | None,
    role: str | None,
    quiet: bool,
    as_json: bool = False,
) -> None:
    """Puts a user into an organization, making the user if there is none; prints the id."""

    def work(connection: Connection, ids: Ids, now_ms: int) -> tuple[str, str]:
        org_id = accounts.find_organization(connection, org)
        user_id = accounts.add_member(connection, ids, org_id, email, now_ms, name=name, role=role)
        return user_id, next(row.role for row in accounts.users_of(connection, org_id) if row.id == user_id)

    async with account_database(settings) as (database, ids, now_ms):
        user_id, given = await database.write(work, ids, now_ms)
    if as_json:
        print_json({"id": user_id, "role": given})
        return
    if quiet:
        Console().out(user_id)
        return
    said = f"[bold]{escape(email.lower())}[/] {user_id} has the role {given} in {escape(org)}"
    Console().print(said, highlight=False, soft_wrap=True)


async def show_all(settings: ProgramSettings, org: str, as_json: bool = False) -> None:
    """Prints the users in an organization."""
    async with account_database(settings) as (database, _, _):
        org_id = await database.read(accounts.find_organization, org)
        found = await database.read(accounts.users_of, org_id)
    if as_json:
        print_json([_data(row) for row in found])
        return
    rows = ((row.email or "", row.name, (row.id,), (row.role,), day(row.joined_at)) for row in found)
    show(("e-mail", "name", "id", "role", "joined (UTC)"), rows)


def _data(row: Any) -> dict[str, Any]:
    joined = moment_data(row.joined_at)
    return {"id": row.id, "email": row.email, "name": row.name, "role": row.role, "joined_at": joined}


async def remove(settings: ProgramSettings, email: str, org: str) -> None:
    """Takes a user out of an organization; says which keys that touches."""

    def work(connection: Connection, ids: Ids, now_ms: int) -> int:
        org_id = accounts.find_organization(connection, org)
        return accounts.leave(connection, ids, org_id, accounts.find_user(connection, email).id, now_ms)

    async with account_database(settings) as (database, ids, now_ms):
        keys = await database.write(work, ids, now_ms)
    said = f"[bold]{escape(email)}[/] has left {escape(org)}"
    if keys:
        said += (
            f". Active keys they made there: {keys}. These still read and change, but make no agents and deployments "
            "and rent no numbers; `callwright keys list` shows them"
        )
    Console().print(said, highlight=False, soft_wrap=True)


async def delete(settings: ProgramSettings, email: str, force: bool) -> None:
    """Deletes a user for good."""

    def work(connection: Connection, ids: Ids, now_ms: int) -> None:
        accounts.delete_user(connection, ids, accounts.find_user(connection, email).id, now_ms, force=force)

    async with account_database(settings) as (database, ids, now_ms):
        await database.write(work, ids, now_ms)
    said = f"[bold]{escape(email)}[/] is deleted and has left every organization"
    Console().print(said, highlight=False, soft_wrap=True)
