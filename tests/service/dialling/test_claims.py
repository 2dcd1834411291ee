"""The claim decides by what is so at its moment, not by what was so when it was looked whom to call."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection

from callwright.contract.declaration.words import Spend
from callwright.service.dialling.claims import Allowance, allowance
from callwright.service.dialling.queue import FIND
from callwright.service.platform.money import PRICES, money
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.simulated.engine import SimulatedEngine
from tests.support.campaign_invariants import evidence
from tests.support.campaigns import (
    Interrupted,
    SomeRounds,
    claim_and_die,
    draft,
    driver_of,
    lease,
    leave_in_wallet,
    people,
)
from tests.support.service import Door, open_service


class Pausing(SimulatedEngine):
    """A network that pauses the campaign after the look whom to call, and before the claim."""

    def __init__(self, door: Door, deployment_id: str) -> None:
        super().__init__(door.service.services.database)
        self._door, self._deployment_id = door, deployment_id

    async def foresee(self, requests: Sequence[CallRequest]) -> list[CallResult]:
        await self._door.client.deployments.pause(id=self._deployment_id)
        return await super().foresee(requests)


async def test_nobody_is_claimed_once_the_campaign_is_paused(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        made = await draft(door, people(5))
        await door.client.deployments.start(id=made.id)
        await lease(door, made.id, "wrk_test")
        await driver_of(door, engine=Pausing(door, made.id)).drive(made.id)
        found = await evidence(door.service.services.database, made.id)
        assert (found.deployment.status, found.calls, found.dials) == ("paused", [], [])


async def test_a_number_in_a_call_of_another_campaign_is_not_claimed(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        calling, waiting = await draft(door, people(3)), await draft(door, people(3), "Other")
        for made in (calling, waiting):
            await door.client.deployments.start(id=made.id)
        await claim_and_die(door, calling.id)
        await lease(door, waiting.id, "wrk_other")
        database = door.service.services.database
        with pytest.raises(Interrupted):
            await driver_of(door, "wrk_other", engine=SomeRounds(database)).drive(waiting.id)
        found = await evidence(database, waiting.id)
        assert (found.deployment.in_flight, found.calls, found.dials) == (0, [], [])
        assert {contact.status for contact in found.contacts} == {"pending"}


async def test_what_is_held_back_for_calls_under_way_covers_no_other_call(database_url: str, tmp_path: Path) -> None:
    call = PRICES.reservation()
    async with open_service(database_url, tmp_path, workers=False) as door:
        made = await draft(door, people(10), max_concurrency=20)
        await door.client.deployments.start(id=made.id)
        await claim_and_die(door, made.id)

        def allowed(connection: Connection) -> Allowance:
            return allowance(connection, connection.execute(FIND, {"id": made.id}).one())

        database = door.service.services.database
        assert await database.read(allowed) == Allowance(10)
        await door.client.deployments.update(id=made.id, budget_cap=Spend(amount=money(13 * call).amount))
        assert await database.read(allowed) == Allowance(3)
        await leave_in_wallet(door, 12 * call)
        assert await database.read(allowed) == Allowance(2)
