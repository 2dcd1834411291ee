"""The judge of killed campaigns finds whatever is wrong with the rows."""

from pathlib import Path
from random import Random

import pytest
from sqlalchemy import Connection, delete, select, update

from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.database.database import Database
from callwright.service.tables.schema import calls, deployment_contacts, outbox, simulated_dials, wallets
from tests.kills.campaigns import PLACES, start_campaigns
from tests.kills.run import KilledRun
from tests.kills.violations import Figures, judged

NEW_YORKER = PLACES[0][0].format(PLACES[0][1])
pytestmark = pytest.mark.usefixtures("shipped_law")


def _spoiled(connection: Connection) -> Figures:
    """What is found once one row of each table is wrong, and all calls were made at one moment of the night."""
    first = connection.execute(select(calls).order_by(calls.c.id)).first()
    assert first is not None
    told = [
        row.id for row in connection.execute(select(outbox)) if row.type == "call.completed" and first.id in row.data
    ]
    connection.execute(delete(outbox).where(outbox.c.id.in_(told)))
    connection.execute(update(simulated_dials).where(simulated_dials.c.call_id == first.id).values(times=2))
    connection.execute(
        update(deployment_contacts).where(deployment_contacts.c.id == first.contact_id).values(attempts=9)
    )
    connection.execute(update(wallets).values(reserved_micros=1))
    night = calls.c.created_at % HOUR + 12 * HOUR
    connection.execute(
        update(calls).values(created_at=night, ended_at=night + HOUR, evidence=None, to_number=NEW_YORKER)
    )
    return judged(connection)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_rows_that_are_wrong_are_found_by_what_they_violate(database_url: str, tmp_path: Path) -> None:
    await start_campaigns(database_url, tmp_path / "made", 60)
    figures = await KilledRun(database_url, tmp_path, Random(1), processes=1).figures(kills=1)
    assert figures.holds, figures.violations
    async with Database.opened(database_url) as database:
        found = await database.write(_spoiled)
    assert [name for name, violations in found.violations.items() if not violations] == []
