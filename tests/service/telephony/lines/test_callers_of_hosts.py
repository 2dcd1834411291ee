"""Calls that came in, and the line hosts."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, Row, update

from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.tables.schema import legs
from callwright.service.telephony.answering import Answering
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.lines.line_host import LineHost
from tests.service.telephony.legs.interleavings import REQUEST
from tests.support.scripted_carrier import ScriptedCarrier
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
CALLER = replace(REQUEST, call_id="cal_caller", answering=Answering("agent"))


def _always(_connection: Connection, _request: CallRequest, _now_ms: int) -> bool:
    """Every call may be answered."""
    return True


@asynccontextmanager
async def host_with(
    tenant: Tenant, carrier: ScriptedCarrier, name: str, *call_ids: str, lines: int = 8
) -> AsyncGenerator[LineHost]:
    """A host to which the callers of these calls have come."""
    host = LineHost(
        tenant.database,
        tenant.services.clock,
        name,
        {carrier.name: carrier},
        lines=lines,
        may_place=_always,
        callers=lambda: call_ids,
        woken=WakeSignal(),
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(host.run)
        yield host
        tasks.cancel_scope.cancel()


async def came(tenant: Tenant, request: CallRequest = CALLER) -> None:
    """A caller whose leg waits."""
    given = replace(request, org_id=tenant.org_id)
    now_ms = tenant.services.clock.now_ms()
    await tenant.database.write(leg_rows.add, "scripted", given, now_ms, token_hash="of the caller")


async def leg_when(tenant: Tenant, holds: Callable[[Row[Any]], bool]) -> Row[Any]:
    with anyio.fail_after(30):
        while True:
            leg = await tenant.database.read(leg_rows.find, CALLER.call_id)
            if leg is not None and holds(leg):
                return leg
            await anyio.sleep(0.05)


@pytest.mark.requirement("SIP-06")
async def test_the_host_of_a_caller_answers_and_another_with_free_lines_does_not(tenant: Tenant) -> None:
    elsewhere, here = ScriptedCarrier(), ScriptedCarrier()
    async with host_with(tenant, elsewhere, "hst_elsewhere"):
        await came(tenant)
        await anyio.sleep(0.5)  # two looks
        async with host_with(tenant, here, "hst_here", CALLER.call_id):
            leg = await leg_when(tenant, lambda leg: leg.state == "ended")
    assert (elsewhere.placed, here.placed) == ([], [CALLER.to])
    assert leg_rows.result_of(leg).outcome == "answered"


async def test_a_host_that_takes_no_more_legs_has_no_room(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({CALLER.to: "long"})
    async with host_with(tenant, carrier, "hst_here", CALLER.call_id, lines=1) as host:
        assert host.has_room()
        await came(tenant)
        await leg_when(tenant, lambda leg: leg.answered_at is not None)
        assert not host.has_room()
        await host.drain(0.0)
        assert not host.has_room()


async def test_a_caller_whose_host_dies_before_the_answer_ends_at_once_and_nobody_has_to_decide(tenant: Tenant) -> None:
    def begun_and_lost(connection: Connection) -> None:
        lost = {"state": "placing", "placing_at": 1, "lease_owner": "hst_gone", "lease_until": 1}
        connection.execute(update(legs).where(legs.c.call_id == CALLER.call_id).values(lost))

    await came(tenant)
    await tenant.database.write(begun_and_lost)
    carrier = ScriptedCarrier()
    async with host_with(tenant, carrier, "hst_other"):
        leg = await leg_when(tenant, lambda leg: leg.state == "ended")
    result = leg_rows.result_of(leg)
    assert (result.outcome, result.hangup_cause, carrier.placed) == ("failed", "platform_error", [])
