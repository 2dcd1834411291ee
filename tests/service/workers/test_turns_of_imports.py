"""Imports of several organizations: a long one of one organization delays no other one's."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from callwright.service.platform.clock.clock import HOUR
from callwright.service.tables.schema import imports as import_table
from callwright.service.workers import imports
from callwright.service.workers.import_turns import Turns
from tests.support.campaigns import Interrupted, make_audience, phone
from tests.support.imports import FailingIds
from tests.support.service import Tenant, open_service


async def begin(tenant: Tenant, name: str, rows: int = 1) -> tuple[str, str]:
    audience = await make_audience(tenant, [], name)
    csv = "phone_number\n" + "".join(f"{phone(row)}\n" for row in range(rows))
    begun = await tenant.client.audiences.import_csv(id=audience.id, csv=csv)
    return audience.id, begun.id


async def status(tenant: Tenant, which: tuple[str, str]) -> str:
    audience_id, import_id = which
    return (await tenant.client.audiences.get_import(id=audience_id, import_id=import_id)).status


@pytest.mark.requirement("UP-12")
async def test_of_an_organization_one_import_runs_at_a_time_and_others_go_on(database_url: str, tmp_path: Path) -> None:
    async with (
        open_service(database_url, tmp_path, workers=False) as tenant,
        tenant.another_organization() as other,
    ):
        long, behind, small = await begin(tenant, "Long", 3), await begin(tenant, "Behind"), await begin(other, "Small")
        services = tenant.services
        dying = replace(services, ids=FailingIds(services.clock.now_ms, 2))
        with pytest.raises(Interrupted):
            await imports.work_on_one(dying, "one")
        assert await status(tenant, long) == "importing"
        assert await imports.work_on_one(services, "another")
        assert (await status(other, small), await status(tenant, behind)) == ("completed", "pending")
        assert not await imports.work_on_one(services, "another"), "the organization's second list waits for its first"
        assert await imports.work_on_one(services, "one")
        assert await imports.work_on_one(services, "another")
        assert (await status(tenant, long), await status(tenant, behind)) == ("completed", "completed")


@pytest.mark.requirement("UP-12")
async def test_organizations_take_turns_whoever_has_more_files(database_url: str, tmp_path: Path) -> None:
    async with (
        open_service(database_url, tmp_path, workers=False) as tenant,
        tenant.another_organization() as other,
        tenant.another_organization() as third,
    ):
        mine = [await begin(tenant, name) for name in ("First", "Second", "Third")]
        begun = [(tenant, which) for which in mine] + [
            (other, await begin(other, "One")),
            (other, await begin(other, "Two")),
        ]
        begun.append((third, await begin(third, "Alone")))
        turns, order = Turns(), list[int]()
        for _ in begun:
            assert await imports.work_on_one(tenant.services, "one", turns)
            ended = [place for place, (whose, which) in enumerate(begun) if await status(whose, which) == "completed"]
            order += [place for place in ended if place not in order]
        assert order == [0, 3, 5, 1, 4, 2]


@pytest.mark.requirement("UP-12")
async def test_a_file_that_is_being_fetched_delays_no_other_import(tenant: Tenant) -> None:
    fetched, behind = await begin(tenant, "Fetched"), await begin(tenant, "Behind")
    held = {"lease_owner": "wrk_other", "lease_until": tenant.services.clock.now_ms() + HOUR}
    fetching = update(import_table).where(import_table.c.id == fetched[1])
    fetching = fetching.values(source_url="https://example.com/people.csv", csv=None, **held)
    await tenant.database.write(lambda connection: connection.execute(fetching).rowcount)
    assert await imports.work_on_one(tenant.services, "one")
    assert (await status(tenant, behind), await status(tenant, fetched)) == ("completed", "pending")


@pytest.mark.requirement("UP-12")
async def test_a_file_with_more_rows_than_an_audience_may_have_takes_nobody(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "MAX_ROWS", 2)
    which = await begin(tenant, "Long", 3)
    assert await imports.work_on_one(tenant.services, "one")
    found = await tenant.client.audiences.get_import(id=which[0], import_id=which[1])
    assert (found.status, found.added) == ("failed", 0)
    assert found.status_reason is not None
    assert "more than 2 rows" in found.status_reason
