"""The ledger of every organization adds up when a test is over."""

from sqlalchemy import Connection, select

from callwright.service.platform.database.database import Database
from callwright.service.tables.ledger import check
from callwright.service.tables.schema import wallets


def _problems(connection: Connection) -> dict[str, list[str]]:
    org_ids = connection.execute(select(wallets.c.org_id)).scalars().all()
    return {org_id: found for org_id in org_ids if (found := check(connection, org_id))}


async def check_ledgers(database: Database) -> None:
    """Fails for an organization whose ledger does not add up."""
    found = await database.read(_problems)
    assert not found, f"a ledger does not add up: {found}"
