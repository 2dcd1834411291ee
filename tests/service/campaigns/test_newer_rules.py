"""Newer rules under campaigns that have started: they move to them, and wait for a review if people are concerned."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, select, update

from callwright.contract.deployments.deployments import Deployment
from callwright.service.app import running
from callwright.service.campaigns import newer_rules
from callwright.service.platform.clock.clock import SystemClock, milliseconds
from callwright.service.platform.ids import Ids
from callwright.service.rules.regions.rule_file import read_rules, shipped_rules
from callwright.service.settings import ServiceSettings
from callwright.service.tables import rules_files
from callwright.service.tables.schema import deployments
from tests.support.campaigns import draft, driver_of, lease, people, phone, rent, started
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

pytestmark = pytest.mark.usefixtures("shipped_law")
FRENCH_HOURS = ("10:00-13:00", "10:00-12:00")
FLORIDA = ('id = "US-FL.hours"\nkind = "hours"', 'id = "US-FL.hours-of-2027"\nkind = "hours"')


def at_noon() -> SystemClock:
    """A clock that begins at noon in New York, on a Friday."""
    return SystemClock(milliseconds(datetime(2026, 12, 4, 17, tzinfo=UTC)))


def opened(database_url: str, folder: Path) -> AbstractAsyncContextManager[Tenant]:
    return open_service(database_url, folder, workers=False, clock=at_noon())


async def load(tenant: Tenant, *changes: tuple[str, str], version: str = "2026.12.1") -> None:
    """Loads the shipped rules with changes as a newer version."""
    text = shipped_rules().text
    for before, after in (('version = "2026.11.1"', f'version = "{version}"'), *changes):
        assert before in text
        text = text.replace(before, after)
    await tenant.database.write(rules_files.load_rules, read_rules(text), tenant.services.clock.now_ms())


async def look(tenant: Tenant) -> None:
    await newer_rules.NewerRules(tenant.services).look()


async def version_of(tenant: Tenant, deployment_id: str) -> str | None:
    found = deployments.select().where(deployments.c.id == deployment_id)
    return (await tenant.database.read(lambda connection: connection.execute(found).one())).rules_version


async def reviews_of(tenant: Tenant, deployment_id: str) -> Sequence[tuple[str, str, bool]]:
    found = await tenant.client.compliance_reviews.list(subject_id=deployment_id)
    return [(one.category, one.status, one.blocking) for one in found.data]


async def french(tenant: Tenant, name: str = "French") -> Deployment:
    rows = [{"phone_number": "+33142685300", "first_name": "Person"}]
    return await started(tenant, rows, name, phone_number_ids=[(await rent(tenant)).id])


@pytest.mark.requirement("RULE-07")
async def test_a_campaign_whose_people_are_concerned_waits_until_its_review_is_approved(
    database_url: str, tmp_path: Path
) -> None:
    async with opened(database_url, tmp_path) as tenant:
        concerned, other = await french(tenant), await started(tenant, people(2), "American")
        await load(tenant, FRENCH_HOURS)
        await look(tenant)
        paused = await tenant.client.deployments.get(id=concerned.id)
        assert (paused.status, paused.status_reason) == ("paused", "compliance")
        assert await reviews_of(tenant, concerned.id) == [("rules_changed", "open", True)]
        assert (await tenant.client.deployments.get(id=other.id)).status == "active"
        assert await reviews_of(tenant, other.id) == []
        assert [await version_of(tenant, one.id) for one in (concerned, other)] == ["2026.12.1"] * 2
        async with refusal(422, "compliance_rejected"):
            await tenant.client.deployments.resume(id=concerned.id)
        (review,) = (await tenant.client.compliance_reviews.list(subject_id=concerned.id)).data
        assert review.facts["rules_version"] == "2026.12.1"
        await tenant.client.compliance_reviews.decide(id=review.id, decision="approve")
        assert (await tenant.client.deployments.resume(id=concerned.id)).status == "active"
        await look(tenant)
        assert (await tenant.client.deployments.get(id=concerned.id)).status == "active"


async def test_a_paused_campaign_gets_a_review_too_and_drafts_get_none(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as tenant:
        paused = await french(tenant)
        await tenant.client.deployments.pause(id=paused.id)
        planned = await draft(tenant, [{"phone_number": "+33142685301", "first_name": "A"}], "Draft")
        await load(tenant, FRENCH_HOURS)
        await look(tenant)
        assert (await tenant.client.deployments.get(id=paused.id)).status_reason == "manual"
        assert await reviews_of(tenant, paused.id) == [("rules_changed", "open", True)]
        assert await reviews_of(tenant, planned.id) == []
        assert await version_of(tenant, planned.id) is None


async def test_other_names_and_addresses_of_the_same_rules_concern_nobody(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as tenant:
        made = await started(tenant, people(1, area="305"))
        await load(tenant, FLORIDA, ('name = "Florida"', 'name = "The State of Florida"'))
        await look(tenant)
        assert (await tenant.client.deployments.get(id=made.id)).status == "active"
        assert await version_of(tenant, made.id) == "2026.12.1"


async def test_a_rule_of_one_state_concerns_the_whole_country_and_lists_that_name_states(
    database_url: str, tmp_path: Path
) -> None:
    change = ('name = "Florida"\nzones = [', 'name = "Florida"\nzones = [\n    "America/Denver",')
    async with opened(database_url, tmp_path) as tenant:
        californian = await started(tenant, people(1), "Californian")
        canadian = {"phone_number": phone(1, "416"), "first_name": "A"}
        toronto = await started(tenant, [canadian], "Toronto")
        moved = await started(tenant, [{**canadian, "state": "FL"}], "Moved to Florida")
        await load(tenant, change)
        await look(tenant)
        assert await reviews_of(tenant, californian.id) != []
        assert await reviews_of(tenant, toronto.id) == []
        assert await reviews_of(tenant, moved.id) != []


async def test_a_changed_default_and_former_rules_that_nobody_knows_concern_everybody(
    database_url: str, tmp_path: Path
) -> None:
    async with opened(database_url, tmp_path) as tenant:
        first = await started(tenant, people(1), "First")
        await load(
            tenant, ('windows = { mon-sat = "09:00-20:00" }\nholidays = "*"', 'windows = { mon = "09:00-20:00" }')
        )
        await look(tenant)
        assert await reviews_of(tenant, first.id) == [("rules_changed", "open", True)]
        second = await started(tenant, people(1, first=1), "Second")
        forgotten = update(deployments).where(deployments.c.id == second.id).values(rules_version="2026.1")
        await tenant.database.write(lambda connection: connection.execute(forgotten).rowcount)
        await look(tenant)
        assert await reviews_of(tenant, second.id) == [("rules_changed", "open", True)]


async def test_a_release_with_newer_rules_knows_those_of_the_former_one(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url, tmp_path) as tenant:
        concerned, other = await french(tenant), await started(tenant, people(2), "American")
    text = shipped_rules().text.replace('version = "2026.11.1"', 'version = "2027.1.1"').replace(*FRENCH_HOURS)
    released = read_rules(text)
    monkeypatch.setattr(rules_files, "shipped", lambda: released)
    settings = ServiceSettings(data=tmp_path, database_url=database_url)
    async with running(settings, workers=False, clock=at_noon()) as later:
        await newer_rules.NewerRules(later.services).look()
        found = select(deployments.c.id, deployments.c.status, deployments.c.rules_version)
        rows = await later.services.database.read(lambda connection: connection.execute(found).all())
    assert {row.id: (row.status, row.rules_version) for row in rows} == {
        concerned.id: ("paused", "2027.1.1"),
        other.id: ("active", "2027.1.1"),
    }


async def test_an_older_release_beside_a_newer_one_leaves_campaigns_by_the_newer_rules(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url, tmp_path) as tenant:
        made = await started(tenant, people(1))
        newer = update(deployments).values(rules_version="2099.1")
        await tenant.database.write(lambda connection: connection.execute(newer).rowcount)
        await look(tenant)
        assert await version_of(tenant, made.id) == "2099.1"
        assert await reviews_of(tenant, made.id) == []


async def test_several_processes_and_a_second_look_open_one_review_of_each_campaign(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newer_rules, "PAGE", 2)
    async with opened(database_url, tmp_path) as tenant:
        made = [await french(tenant, f"French {number}") for number in range(3)]
        await load(tenant, FRENCH_HOURS)
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(look, tenant)
        await look(tenant)
        for one in made:
            assert await reviews_of(tenant, one.id) == [("rules_changed", "open", True)]
        assert len((await tenant.client.events.list(type=["deployment.paused"])).data) == 3


async def test_campaigns_that_wait_are_all_counted_and_those_behind_a_page_of_held_ones_move(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newer_rules, "PAGE", 2)
    held: set[str] = set()
    move = newer_rules.move

    def move_unless_held(connection: Connection, ids: Ids, deployment_id: str, **given: Any) -> bool | None:
        return None if deployment_id in held else move(connection, ids, deployment_id, **given)

    monkeypatch.setattr(newer_rules, "move", move_unless_held)
    async with opened(database_url, tmp_path) as tenant:
        made = sorted([(await started(tenant, people(1), f"Campaign {number}")).id for number in range(5)])
        assert await tenant.database.read(newer_rules.still_older) == newer_rules.StillOlder()
        await load(tenant)
        held |= set(made[:4])
        assert await tenant.database.read(newer_rules.still_older) == newer_rules.StillOlder(5, made[:2])
        await look(tenant)
        assert await version_of(tenant, made[4]) == "2026.12.1"
        assert await tenant.database.read(newer_rules.still_older) == newer_rules.StillOlder(4, made[:2])


@pytest.mark.requirement("RULE-06")
async def test_a_campaign_that_could_not_move_yet_claims_no_call(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as tenant:
        made = await started(tenant, people(2))
        await load(tenant, FRENCH_HOURS)
        await lease(tenant, made.id, "wrk_test")
        with anyio.move_on_after(0.3):
            await driver_of(tenant).drive(made.id)
        assert (await tenant.client.deployments.get(id=made.id)).stats.attempts == 0
        await look(tenant)
        await driver_of(tenant).drive(made.id)
        assert (await tenant.client.deployments.get(id=made.id)).stats.attempts > 0
