"""A database with one organization, and what tests of accounts look at."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from threading import Event
from typing import Any

import anyio
from anyio import to_thread
from sqlalchemy import Connection, select, text

from callwright.service import accounts
from callwright.service.accounts.principals import ApiKeyPrincipal
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.rules.organization_plans import PRICE_PLANS
from callwright.service.tables.schema import audit_log, memberships
from tests.support.tasks import tasks_within

NOW_MS = 1_800_000_000_000
IDS = Ids(lambda: NOW_MS)


def by_key(key_id: str) -> ApiKeyPrincipal:
    """Whoever acts by an API key with this id, of some organization."""
    return ApiKeyPrincipal(key_id=key_id, org_id="org_1", plan=PRICE_PLANS["starter"])


@asynccontextmanager
async def organization(url: str) -> AsyncGenerator[tuple[Database, str]]:
    """A database with the organization Clinic, which the operator owns."""
    async with Database.opened(url) as database:
        yield database, await database.write(accounts.create_organization, IDS, "Clinic", "starter", NOW_MS)


async def person(database: Database, org_id: str, name: str, role: str = "member", at_ms: int = NOW_MS + 1) -> str:
    """The id of a new user in an organization, with an e-mail address at example.com."""
    return await database.write(accounts.add_member, IDS, org_id, f"{name}@example.com", at_ms, role=role)


async def roles(database: Database, org_id: str) -> dict[str, str]:
    """Who is in an organization: role by e-mail address."""
    return {row.email: row.role for row in await database.read(accounts.users_of, org_id)}


async def entries(database: Database, org_id: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The audit entries of an organization in the order in which they were made: action, subject, changes."""

    def look(connection: Connection) -> list[tuple[str, str, dict[str, Any]]]:
        own = select(audit_log).where(audit_log.c.org_id == org_id).order_by(audit_log.c.at, audit_log.c.id)
        return [(row.action, row.subject, json.loads(row.changes)) for row in connection.execute(own)]

    return await database.read(look)


async def left_at(database: Database, user_id: str) -> list[int | None]:
    """When a user left the organizations they were in."""
    mine = select(memberships.c.left_at).where(memberships.c.user_id == user_id)
    return await database.read(lambda connection: list(connection.execute(mine).scalars()))


async def overlapping(
    database: Database, first: Callable[[Connection], object], second: Callable[[Connection], object]
) -> list[object]:
    """What two units of work return, or the `AccountError` that they raise. The second begins when the first has done
    its work, which is committed only when the second has ended or waits for it.
    """
    worked, commit = Event(), Event()
    outcomes: dict[str, object] = {}

    def held(connection: Connection) -> object:
        try:
            return first(connection)
        finally:
            worked.set()
            commit.wait(10)

    async def run(name: str, work: Callable[[Connection], object]) -> None:
        try:
            outcomes[name] = await database.write(work)
        except accounts.AccountError as error:
            outcomes[name] = error

    def is_anybody_waiting(connection: Connection) -> bool:
        mine = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        return not database.is_shared or connection.execute(text(mine)).scalar_one() > 0

    async with tasks_within(10) as tasks:
        tasks.start_soon(run, "first", held)
        await to_thread.run_sync(worked.wait, 10)
        tasks.start_soon(run, "second", second)
        while not commit.is_set():
            if "second" in outcomes or await database.read(is_anybody_waiting):
                commit.set()
            await anyio.sleep(0.005)
    return [outcomes["first"], outcomes["second"]]
