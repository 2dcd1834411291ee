"""Campaigns in which something happens after it was looked whom to call, and before the claim."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from sqlalchemy import Row

from callwright.service.dialling.claims import Claimed, Draft
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.dialling.schedule import Schedule
from tests.support.campaign_invariants import CampaignRecords, campaign_records
from tests.support.campaigns import lease
from tests.support.service import Tenant


@dataclass(frozen=True, kw_only=True)
class InterposedWrites(DriverWrites):
    """The writes of a runner where something happens after the look whom to call, and before the claim."""

    interposed: Callable[[], Awaitable[object]]

    async def claim(
        self,
        rules: Rules,
        drafts: Sequence[Draft],
        schedule: Schedule,
        contacts: Mapping[str, Row[Any]],
        *,
        jumps: bool = False,
    ) -> Claimed:
        await self.interposed()
        return await super().claim(rules, drafts, schedule, contacts, jumps=jumps)


async def driven(tenant: Tenant, deployment_id: str, interposed: Callable[[], Awaitable[object]]) -> CampaignRecords:
    """What a campaign has left once it has stopped."""
    given = tenant.services
    await lease(tenant, deployment_id, "wrk_test")
    writes = InterposedWrites(
        database=given.database,
        clock=given.clock,
        ids=given.ids,
        owner="wrk_test",
        lease_ms=60_000,
        interposed=interposed,
    )
    await Runner(writes, time_scale=inf).drive(deployment_id)
    return await campaign_records(given.database, deployment_id)
