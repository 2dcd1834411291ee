"""Who joins a campaign that calls already, and who is asked before: rows and files that come through a tool."""

import io
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.hosts import ERAS, Answer, Era, Host, Person, ScriptedClock, host
from tests.support.campaigns import ONCE, audience_of, draft, make_agent, people, rent
from tests.support.service import Tenant, open_service

both_eras = pytest.mark.parametrize("era", ERAS)
NEWER = 201
"""More than one page of a list."""


@asynccontextmanager
async def open_host_session(
    url: str, folder: Path, era: Era, answer: Answer | None
) -> AsyncGenerator[tuple[Tenant, Host]]:
    async with open_service(url, folder / "service", workers=False) as tenant:
        async with host(tenant, folder, "memory", era, Person(answer), clock=ScriptedClock()) as found:
            yield tenant, found


def file_of(count: int, *, first: int) -> str:
    """A CSV file of that many people."""
    text = io.StringIO()
    text.write("phone_number,first_name\n")
    for person in people(count, first=first):
        text.write(f"{person['phone_number']},{person['first_name']}\n")
    return text.getvalue()


@both_eras
async def test_nobody_joins_unasked_however_many_campaigns_are_newer(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with open_host_session(database_url, tmp_path, era, "decline") as (tenant, found):
        campaign = await draft(tenant, people(2, sim_outcome="busy"), "Oldest", retry_policy=ONCE)
        audience = audience_of(campaign)
        await tenant.client.deployments.start(id=campaign.id)
        for number in range(NEWER):
            await tenant.client.deployments.create(
                name=f"Newer {number}",
                agent_id=campaign.agent_id,
                audience_id=audience,
                phone_number_ids=campaign.phone_number_ids,
            )
        said = await found.refused("add_audience_rows", audience_id=audience, rows=people(500, first=100))
        assert "did not agree" in said
        said = await found.refused("import_audience", audience_id=audience, csv=file_of(30, first=700))
        assert "did not agree" in said
        assert "500 people" in found.person.asked[0]
        assert "30 people" in found.person.asked[1]
        assert all('"Oldest"' in message and "Newer" not in message for message in found.person.asked)
        assert (await tenant.client.deployments.get(id=campaign.id)).stats.contacts == 2
        assert (await tenant.client.audiences.get(id=audience)).row_count == 2


@both_eras
async def test_every_running_campaign_counts_beyond_the_first_page(era: Era, database_url: str, tmp_path: Path) -> None:
    """Scheduled, paused and active ones are asked for by the database, page by page."""
    async with open_host_session(database_url, tmp_path, era, "decline") as (tenant, found):
        first = await draft(tenant, people(1), "Campaign 0", start_at=datetime(2099, 1, 1, tzinfo=UTC))
        audience, made = audience_of(first), [first]
        for number in range(1, NEWER):
            given: dict[str, Any] = {
                "agent_id": first.agent_id,
                "audience_id": audience,
                "start_at": datetime(2099, 1, 1, tzinfo=UTC),
            }
            made.append(
                await tenant.client.deployments.create(
                    name=f"Campaign {number}", phone_number_ids=first.phone_number_ids, **given
                )
            )
        for one in made:
            await tenant.client.deployments.start(id=one.id)
        assert "did not agree" in await found.refused(
            "add_audience_rows", audience_id=audience, rows=people(1, first=9)
        )
        assert all(f'"{one.name}"' in found.person.asked[0] for one in made)


@both_eras
async def test_while_an_import_waits_nobody_is_asked_and_nothing_starts(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with open_host_session(database_url, tmp_path, era, "accept") as (tenant, found):
        campaign = await draft(tenant, people(100, sim_outcome="busy"), retry_policy=ONCE)
        made = await tenant.client.audiences.import_csv(id=audience_of(campaign), csv=file_of(500, first=200))
        plan = await found.data("preview_deployment", deployment_id=campaign.id)
        said = await found.refused("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"])
        assert made.id in said
        assert "import" in said
        assert found.person.asked == []
        assert (await tenant.client.deployments.get(id=campaign.id)).status == "draft"


@both_eras
async def test_an_import_that_comes_while_the_question_stands_starts_nothing(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with open_host_session(database_url, tmp_path, era, "accept") as (tenant, found):
        campaign = await draft(tenant, people(100, sim_outcome="busy"), retry_policy=ONCE)
        plan = await found.data("preview_deployment", deployment_id=campaign.id)

        async def a_file_comes() -> None:
            await tenant.client.audiences.import_csv(id=audience_of(campaign), csv=file_of(500, first=200))

        found.person.before_answer = a_file_comes
        said = await found.refused("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"])
        assert "changed" in said
        assert len(found.person.asked) == 1
        assert (await tenant.client.deployments.get(id=campaign.id)).status == "draft"


@both_eras
async def test_people_join_only_the_campaigns_that_the_person_read(era: Era, database_url: str, tmp_path: Path) -> None:
    async with open_host_session(database_url, tmp_path, era, "accept") as (tenant, found):
        campaign = await draft(tenant, people(2, sim_outcome="busy"), "First", retry_policy=ONCE)
        audience = audience_of(campaign)
        agent, number = await make_agent(tenant, "Second's agent"), await rent(tenant)
        second = await tenant.client.deployments.create(
            name="Second", agent_id=agent.id, audience_id=audience, phone_number_ids=[number.id]
        )
        await tenant.client.deployments.start(id=campaign.id)

        async def another_starts() -> None:
            await tenant.client.deployments.start(id=second.id)

        found.person.before_answer = another_starts
        rows = people(5, first=50)
        said = await found.refused("add_audience_rows", audience_id=audience, rows=rows)
        assert "changed" in said
        assert '"Second"' in said
        assert (await tenant.client.audiences.get(id=audience)).row_count == 2

        async def nothing_happens() -> None: ...

        found.person.before_answer = nothing_happens
        await found.data("add_audience_rows", audience_id=audience, rows=rows)
        assert "Add 5 people" in found.person.asked[-1]
        assert all(name in found.person.asked[-1] for name in ('"First"', '"Second"'))
        for one in (campaign, second):
            assert (await tenant.client.deployments.get(id=one.id)).stats.contacts == 7


@both_eras
async def test_people_of_a_file_on_the_disk_are_counted_and_a_file_that_grows_meanwhile_is_not_sent(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    people_csv = files / "people.csv"
    people_csv.write_text(file_of(30, first=100), encoding="utf-8")
    async with open_service(database_url, tmp_path / "service", workers=False) as tenant:
        person = Person("accept")
        async with host(tenant, tmp_path, "memory", era, person, files=files) as found:
            campaign = await draft(tenant, people(2, sim_outcome="busy"), retry_policy=ONCE)
            audience = audience_of(campaign)
            await tenant.client.deployments.start(id=campaign.id)

            async def the_file_grows() -> None:
                people_csv.write_text(file_of(31, first=100), encoding="utf-8")

            person.before_answer = the_file_grows
            said = await found.refused(
                "import_audience", audience_id=audience, path="people.csv", from_row=11, wait_seconds=0
            )
            assert "Add 20 people" in person.asked[0]
            assert "changed" in said
            assert (await tenant.client.audiences.get(id=audience)).last_import_id is None
            made = await found.data(
                "import_audience", audience_id=audience, path="people.csv", from_row=11, wait_seconds=0
            )
            assert "Add 21 people" in person.asked[1]
            assert made["audience_id"] == audience


@both_eras
async def test_a_text_with_a_row_of_a_megabyte_is_counted_as_the_service_counts_it(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with open_host_session(database_url, tmp_path, era, "decline") as (tenant, found):
        campaign = await draft(tenant, people(2, sim_outcome="busy"), retry_policy=ONCE)
        await tenant.client.deployments.start(id=campaign.id)
        large = ",".join("x" * 118_000 for _ in range(8))
        said = await found.refused(
            "import_audience", audience_id=audience_of(campaign), csv=file_of(300, first=100) + large
        )
        assert "did not agree" in said
        assert "Add 301 people" in found.person.asked[0]


@pytest.mark.parametrize("text", ['phone_number\n"+14155550150\n', "phone_number,x\n+14155550150," + "x" * 200_000])
@both_eras
async def test_nobody_is_asked_about_people_who_cannot_be_counted_and_none_of_them_join(
    era: Era, text: str, database_url: str, tmp_path: Path
) -> None:
    async with open_host_session(database_url, tmp_path, era, "accept") as (tenant, found):
        campaign = await draft(tenant, people(2, sim_outcome="busy"), retry_policy=ONCE)
        audience = audience_of(campaign)
        await tenant.client.deployments.start(id=campaign.id)
        said = await found.refused("import_audience", audience_id=audience, csv=text)
        assert "Nothing was imported" in said
        assert found.person.asked == []
        assert (await tenant.client.audiences.get(id=audience)).last_import_id is None
