"""Looking for the numbers of new people among those whom an audience has."""

import pytest
from sqlalchemy import Connection, text

from callwright.service.campaigns.adding_people import take_rows
from callwright.service.campaigns.spending_cap import SpendingKey
from tests.support.campaigns import people
from tests.support.database.databases import Engine
from tests.support.service import Tenant

PIECES, PEOPLE = 20, 400
_READ = text("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'audience_rows'")
"""Rows that the transaction has read so far."""


@pytest.mark.requirement("UP-25")
@pytest.mark.parametrize("answer", ["no", "yes"])
async def test_of_the_people_of_a_new_audience_few_are_read_again_while_others_are_added(
    tenant: Tenant, engine: Engine, answer: str
) -> None:
    if engine != "postgres":
        pytest.skip("SQLite does not count the rows that it reads")
    audience = await tenant.client.audiences.create(name="New", dedupe="none")

    def added(connection: Connection) -> int:
        for piece in range(PIECES):
            rows = [{**row, "member": answer} for row in people(PEOPLE, first=PEOPLE * piece)]
            by = SpendingKey(None, None)
            take_rows(connection, tenant.services.ids, audience.id, rows, source="json", now_ms=0, by=by)
        return connection.execute(_READ).scalar_one()

    # Where nobody says no, there is nothing that a number's rows would have to share.
    assert await tenant.database.write(added) < (2 * PIECES * PEOPLE if answer == "no" else PEOPLE)
