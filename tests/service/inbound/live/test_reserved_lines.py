"""Campaigns and callers share the lines of an organization, in any order."""

from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, Row, update

from callwright.contract.deployments.inbound import Overflow
from callwright.service.accounts import organizations as accounts
from callwright.service.dialling.limits.concurrency import read_lines
from callwright.service.dialling.queue import FIND
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.live.live_calls import LiveCaller, begin_live
from callwright.service.tables import call_counts
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import calls, deployments
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_results import not_opened
from tests.support.callers import answered_number
from tests.support.campaigns import ONCE, people, started
from tests.support.service import Tenant

INTERLEAVINGS = 100
"""On each of the two engines."""
STEPS, LINES = 16, 10
_D, _C = deployments.c, calls.c


class Sharing:
    """A campaign that takes all lines it may have, and callers of a number."""

    def __init__(self, tenant: Tenant, campaign_id: str, desk_id: str, reserved: int, random: Random) -> None:
        self.tenant, self.campaign_id, self.desk_id = tenant, campaign_id, desk_id
        self.reserved, self.random = reserved, random
        self.campaign_calls, self.refused = 0, 0
        self.callers: list[str] = []

    async def step(self) -> None:
        """Something happens."""
        happens = self.random.choice(
            (self.campaign_dials, self.campaign_dials, self.campaign_ends, *[self.rings] * 2, self.caller_ends)
        )
        await happens()
        assert self.campaign_calls + len(self.callers) <= LINES
        assert self.campaign_calls <= LINES - self.reserved

    async def campaign_dials(self) -> None:
        """The campaign claims every line that it may take."""

        def claim(connection: Connection) -> int:
            row: Row[Any] = connection.execute(FIND, {"id": self.campaign_id}).one()
            wallet_of(connection, row.org_id, lock=True)
            room = read_lines(connection, row, jumps=True).room
            self._add(connection, self.campaign_id, room)
            return room

        self.campaign_calls += await self.tenant.database.write(claim)

    async def campaign_ends(self) -> None:
        """Some of its calls end."""
        count = self.random.randint(0, self.campaign_calls)
        await self.tenant.database.write(self._add, self.campaign_id, -count)
        self.campaign_calls -= count

    async def rings(self) -> None:
        """Somebody calls."""
        services, before = self.tenant.services, len(self.callers)
        now_ms, call_id = services.clock.now_ms(), services.ids.new("cal")
        caller, arrival = LiveCaller("sip", "+12125550101", "+14155550123"), Arrival(call_id, "+14155550123", now_ms)
        received = await self.tenant.database.write(
            begin_live, services.ids, self.desk_id, caller, arrival, now_ms=now_ms
        )
        if received.is_refused:
            assert before >= self.reserved, "a line was reserved and free"
            assert self.campaign_calls + before == LINES
            self.refused += 1
            await self._over(call_id)
        else:
            self.callers.append(call_id)

    async def caller_ends(self) -> None:
        """A caller hangs up."""
        if self.callers:
            await self._over(self.callers.pop(self.random.randrange(len(self.callers))))

    async def end_all(self) -> None:
        """Nobody is on the line any more."""
        while self.callers:
            await self.caller_ends()
        await self.tenant.database.write(self._add, self.campaign_id, -self.campaign_calls)

    async def _over(self, call_id: str) -> None:
        def over(connection: Connection) -> None:
            leg = leg_rows.find(connection, call_id)
            assert leg is not None
            leg_rows.end(connection, not_opened(leg_rows.request_of(leg)), leg.created_at)
            connection.execute(update(calls).where(_C.id == call_id).values(ended_at=leg.created_at))
            call_counts.add(connection, [call_id])
            self._add(connection, self.desk_id, -1)

        await self.tenant.database.write(over)

    def _add(self, connection: Connection, deployment_id: str, count: int) -> None:
        connection.execute(update(deployments).where(_D.id == deployment_id).values(in_flight=_D.in_flight + count))


@pytest.mark.requirement("INB-15")
async def test_campaigns_never_take_the_lines_that_are_reserved_for_callers(tenant: Tenant) -> None:
    services = tenant.services
    desk = await answered_number(tenant, max_concurrency=LINES, overflow=Overflow(action="busy"))
    campaign = await started(tenant, people(30), retry_policy=ONCE, max_concurrency=LINES)
    refused = 0
    for seed in range(INTERLEAVINGS):
        random = Random(seed)
        reserved = random.randint(0, LINES - 1)
        given = (services.ids, tenant.org_id, services.clock.now_ms(), "starter")
        await tenant.database.write(accounts.change_plan, *given, reserved_inbound_concurrency=reserved)
        sharing = Sharing(tenant, campaign.id, desk.id, reserved, random)
        for _ in range(STEPS):
            await sharing.step()
        await sharing.end_all()
        refused += sharing.refused
    assert refused > 0
