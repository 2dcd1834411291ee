"""One process at a time drives a campaign."""

from callwright.service.dialling import leases
from tests.support.campaigns import people, started
from tests.support.service import Tenant


async def test_a_campaign_is_the_holders_until_the_lease_runs_out(tenant: Tenant) -> None:
    services, made = tenant.services, await started(tenant, people(1))
    now_ms = services.clock.now_ms()

    async def takes(owner: str, *, lasts_ms: int) -> bool:
        given = ([made.id], owner, now_ms, now_ms + lasts_ms)
        return await services.database.write(leases.take, *given) == [made.id]

    assert await takes("wrk_one", lasts_ms=60_000)
    assert not await takes("wrk_other", lasts_ms=60_000)
    assert await takes("wrk_one", lasts_ms=-60_000)
    assert await takes("wrk_other", lasts_ms=60_000)
    assert not await takes("wrk_one", lasts_ms=60_000)
