"""Uploads that nobody ends: what holds up a start, until when, and how a person ends it."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from callwright.contract.audiences import AudienceImport, BegunImport
from callwright.service.platform.clock.clock import HOUR, MINUTE
from callwright.service.platform.uploads import Uploads
from callwright.service.tables.import_uploads import BEGINS_MS, GOES_ON_MS, LONGEST_MS
from callwright.service.tables.schema import api_keys
from callwright.service.workers import imports, sweeps
from tests.support.campaigns import ONCE, audience_of, draft, people
from tests.support.clock_set_by_test import Wall
from tests.support.fixtures import held
from tests.support.http.raw_requests import AsyncClient, raw_client, refused
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

DATA = b"phone,first_name\n+12125550161,Ada\n+12125550162,Bob\n"


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
async def timed(database_url: str, tmp_path: Path, wall: Wall) -> AsyncGenerator[Tenant]:
    """A service whose clock the test sets, and whose workers the test runs."""
    async with held(open_service(database_url, tmp_path, workers=False, clock=wall.clock())) as tenant:
        yield tenant


@pytest.fixture
async def sender(timed: Tenant) -> AsyncGenerator[AsyncClient]:
    async with held(raw_client(timed, key=None)) as http:
        yield http


async def begun(tenant: Tenant, audience_id: str) -> tuple[BegunImport, str]:
    waiting = await tenant.client.audiences.import_csv(id=audience_id)
    assert waiting.upload_url is not None
    return waiting, waiting.upload_url


async def after(tenant: Tenant, wall: Wall, ms: int, waiting: AudienceImport) -> AudienceImport:
    """The import so much later, when the sweep has run."""
    wall.ahead_ms += ms
    await sweeps.run(tenant.services)
    return await tenant.client.audiences.get_import(id=waiting.audience_id, import_id=waiting.id)


def part(begin: int, end: int) -> dict[str, str]:
    return {"Content-Range": f"bytes {begin}-{end - 1}/{len(DATA)}"}


@pytest.mark.requirement("UP-10")
async def test_a_start_names_the_upload_it_waits_for_and_delete_at_its_address_lets_it_start(
    timed: Tenant, sender: AsyncClient
) -> None:
    campaign = await draft(timed, people(3, sim_outcome="busy"), retry_policy=ONCE)
    waiting, url = await begun(timed, audience_of(campaign))
    assert (await sender.put(url, content=DATA[:9], headers=part(0, 9))).status_code == 308
    async with refusal(409, "audience_importing") as kept:
        await timed.client.deployments.start(id=campaign.id)
    assert waiting.id in kept[0].message
    assert "waits for its file until 20" in kept[0].message
    assert "DELETE" in kept[0].message
    answer = await sender.delete(url)
    assert (answer.status_code, answer.content) == (204, b"")
    ended = await timed.client.audiences.get_import(id=waiting.audience_id, import_id=waiting.id)
    assert (ended.status, ended.added) == ("failed", 0)
    assert "cancelled" in (ended.status_reason or "")
    assert not Uploads(timed.services.settings).path_of(waiting.id).exists()
    refused(await sender.delete(url), 404, "not_found")
    refused(await sender.put(url, content=DATA), 404, "not_found")
    assert (await timed.client.deployments.start(id=campaign.id)).stats.contacts == 3


@pytest.mark.requirement("UP-10")
async def test_an_upload_of_which_nothing_comes_ends_by_itself_after_a_quarter_of_an_hour(
    timed: Tenant, sender: AsyncClient, wall: Wall
) -> None:
    campaign = await draft(timed, people(3, sim_outcome="busy"), retry_policy=ONCE)
    waiting, url = await begun(timed, audience_of(campaign))
    assert (await after(timed, wall, BEGINS_MS - MINUTE, waiting)).status == "uploading"
    assert (await sender.head(url)).status_code == 200
    assert (await sender.put(url, headers={"Content-Range": "bytes */*"})).status_code == 308
    ended = await after(timed, wall, MINUTE, waiting)
    assert ended.status == "failed"
    assert "nothing of its file" in (ended.status_reason or "")
    assert "15 minutes" in (ended.status_reason or "")
    refused(await sender.put(url, content=DATA), 404, "not_found")
    assert (await timed.client.deployments.start(id=campaign.id)).stats.contacts == 3


@pytest.mark.requirement("UP-10")
async def test_an_upload_goes_on_while_bytes_come_and_ends_an_hour_after_the_last_one(
    timed: Tenant, sender: AsyncClient, wall: Wall
) -> None:
    made = await timed.client.audiences.create(name="People")
    waiting, url = await begun(timed, made.id)
    assert waiting.expires_at is not None
    assert (waiting.expires_at - waiting.created_at).total_seconds() * 1_000 == BEGINS_MS
    for sent in range(3):
        answer = await sender.put(url, content=DATA[sent : sent + 1], headers=part(sent, sent + 1))
        assert answer.status_code == 308
        assert (await after(timed, wall, GOES_ON_MS - 10 * MINUTE, waiting)).status == "uploading"
    late = await sender.put(url, content=DATA[1:3], headers=part(1, 3))
    assert (late.status_code, late.headers["Upload-Offset"]) == (308, "3")
    ended = await after(timed, wall, 10 * MINUTE, waiting)
    assert ended.status == "failed"
    assert "for an hour nothing more came" in (ended.status_reason or "")
    assert not Uploads(timed.services.settings).path_of(waiting.id).exists()
    assert (await timed.client.audiences.get(id=made.id)).status == "failed"


@pytest.mark.requirement("UP-10")
async def test_no_upload_takes_longer_than_three_hours_however_often_bytes_come(
    timed: Tenant, sender: AsyncClient, wall: Wall
) -> None:
    waiting, url = await begun(timed, (await timed.client.audiences.create(name="People")).id)
    ended: AudienceImport = waiting
    for sent in range(LONGEST_MS // (HOUR // 2)):
        assert (await sender.put(url, content=DATA[sent : sent + 1], headers=part(sent, sent + 1))).status_code == 308
        ended = await after(timed, wall, HOUR // 2, waiting)
    assert ended.status == "failed"
    assert "within 3 hours" in (ended.status_reason or "")


@pytest.mark.requirement("UP-10")
async def test_an_upload_whose_key_is_revoked_ends_at_the_next_sweep(timed: Tenant, wall: Wall) -> None:
    waiting, _ = await begun(timed, (await timed.client.audiences.create(name="People")).id)
    gone = api_keys.update().where(api_keys.c.id == waiting.created_by_key_id).values(revoked_at=1)
    kept = api_keys.update().where(api_keys.c.id == waiting.created_by_key_id).values(revoked_at=None)
    await timed.database.write(lambda connection: connection.execute(gone).rowcount)
    await sweeps.run(timed.services)
    await timed.database.write(lambda connection: connection.execute(kept).rowcount)
    ended = await after(timed, wall, 0, waiting)
    assert ended.status == "failed"
    assert "revoked" in (ended.status_reason or "")


@pytest.mark.requirement("UP-10")
async def test_an_empty_file_is_refused_with_what_happens_next(timed: Tenant, sender: AsyncClient) -> None:
    waiting, url = await begun(timed, (await timed.client.audiences.create(name="People")).id)
    said = refused(await sender.put(url, content=b""), 400, "invalid_field", "body")["message"]
    assert waiting.expires_at is not None
    assert waiting.expires_at.isoformat().replace("+00:00", "Z") in said
    assert "DELETE" in said
    assert (await sender.put(url, content=DATA)).status_code == 200


@pytest.mark.requirement("UP-10")
async def test_delete_also_ends_an_import_whose_file_is_there_and_nothing_of_it_is_read(
    timed: Tenant, sender: AsyncClient
) -> None:
    audience = (await timed.client.audiences.create(name="People")).id
    waiting, url = await begun(timed, audience)
    assert (await sender.put(url, content=DATA)).status_code == 200
    assert (await sender.delete(url)).status_code == 204
    ended = await timed.client.audiences.get_import(id=audience, import_id=waiting.id)
    assert (ended.status, ended.added) == ("failed", 0)
    assert "it was ended before all rows were read" in (ended.status_reason or "")
    assert not Uploads(timed.services.settings).path_of(waiting.id).exists()
    assert "Another file needs an import of its own" in refused(await sender.delete(url), 404, "not_found")["message"]
    assert not await imports.work_on_one(timed.services, "worker")
