"""Imports of an audience in the dashboard: those that have not ended, what became of each, and refused rows."""

import csv
import io
import re
from dataclasses import replace

import pytest

from callwright.client.transport import httpx
from callwright.service.platform.uploads import Uploads
from callwright.service.workers import imports
from tests.support.campaigns import Interrupted, phone
from tests.support.dashboard import ORIGIN, Visit, logged_in, text_of
from tests.support.imports import FailingIds, carry_out_import
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
_MIXED = "name,phone\nAnn,+14155550100\nBob,12\nCec,+14155550101\nDee,+14155550100\n"
_CLEAN = "name,phone\nEve,+14155550102\n"


async def begun(visit: Visit, audience: str, **fields: str) -> httpx.Response:
    """The answer to the beginning of an upload."""
    fields |= {"form_token": await visit.token()}
    return await visit.http.post(f"/audiences/{audience}/upload", data=fields, headers={"Origin": ORIGIN})


async def part_of(visit: Visit, upload: str) -> None:
    """Sends the first bytes of a file."""
    answer = await visit.http.put(upload, content=b"phon", headers={"Content-Range": "bytes 0-3/40"})
    assert answer.status_code == 308


@pytest.mark.requirement("DASH-86")
async def test_a_beginning_that_is_sent_twice_makes_one_import_with_one_address(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People")
    async with logged_in(tenant, role="member") as visit:
        first, again = [(await begun(visit, audience.id, once="a1b2" * 6)).json() for _ in range(2)]
        other = (await begun(visit, audience.id, once="c3d4" * 6)).json()
        await part_of(visit, again["upload"])
    assert first == again
    found = await tenant.client.audiences.get(id=audience.id)
    assert sorted(found.open_imports) == sorted([first["import_id"], other["import_id"]])


@pytest.mark.requirement("DASH-82")
async def test_an_import_that_waits_for_its_file_stands_on_the_page_and_is_ended_after_a_question(
    tenant: Tenant,
) -> None:
    audience = await tenant.client.audiences.create(name="People")
    async with logged_in(tenant, role="member") as visit:
        made = (await begun(visit, audience.id)).json()
        page, end = f"/audiences/{audience.id}", f"/audiences/{audience.id}/imports/{made['import_id']}/end"
        assert "Waits for its file. Nothing of it has come." in text_of(await visit.page(page))
        await part_of(visit, made["upload"])
        assert f'href="{end}"' in await visit.page(page)
        assert f'href="{end}"' in await visit.page(f"{page}/upload")
        question = text_of(await visit.page(end))
        assert "Waits for the rest of its file. 1 kB have come." in question
        assert "thrown away" in question
        assert (await tenant.client.audiences.get(id=audience.id)).open_imports == [made["import_id"]]
        assert (await visit.send(end)).headers["location"] == page
        assert (await visit.http.head(made["upload"])).status_code == 404
        assert not Uploads(tenant.services.settings).path_of(made["import_id"]).exists()
        after = text_of(await visit.page(page))
        twice = await visit.http.post(end, data={"form_token": await visit.token()}, headers={"Origin": ORIGIN})
        assert (twice.status_code, "This import has ended already" in twice.text) == (409, True)
        assert "This import has ended already" in await visit.page(end, status=409)
    assert "Failed: cancelled: its upload was ended before the file had come" in after
    assert "End this import" not in after
    found = await tenant.client.audiences.get(id=audience.id)
    assert (found.open_imports, found.status) == ([], "failed")
    entries = [entry async for entry in tenant.client.audit_log.list() if entry.action == "audience.imported"]
    assert [entry.actor_id.startswith("usr_") for entry in entries] == [True]


@pytest.mark.requirement("DASH-82")
async def test_an_import_that_is_read_is_ended_and_the_people_whom_it_has_added_stay(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People", dedupe="none")
    people = "".join(f"{phone(index)}\n" for index in range(2_300))
    job = await tenant.client.audiences.import_csv(id=audience.id, csv=f"phone\n{people}")
    services = tenant.services
    with pytest.raises(Interrupted):
        await imports.work_on_one(replace(services, ids=FailingIds(services.clock.now_ms, 1_700)), "first")
    async with logged_in(tenant, role="member") as visit:
        page, end = f"/audiences/{audience.id}", f"/audiences/{audience.id}/imports/{job.id}/end"
        assert f'href="{end}"' in await visit.page(page)
        question = text_of(await visit.page(end))
        assert "1,000 of 2,300 rows: 1,000 added" in question
        assert "stay there" in question
        assert (await visit.send(end)).headers["location"] == page
        after = text_of(await visit.page(page))
        assert "This import has ended already" in await visit.page(end, status=409)
    assert "Failed: cancelled: it was ended before all rows were read; rows that had been added stay." in after
    assert "Before that: 1,000 added, 0 refused, 0 doubles." in after
    assert not await imports.work_on_one(services, "second")
    found = await tenant.client.audiences.get(id=audience.id)
    assert (found.open_imports, found.status, found.valid_count) == ([], "ready", 1_000)


@pytest.mark.requirement("DASH-82")
async def test_an_import_is_ended_only_once_and_only_by_a_member_of_its_organization(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People")
    over = await carry_out_import(tenant, _CLEAN, audience_id=audience.id)
    async with logged_in(tenant, role="member") as visit:
        made = (await begun(visit, audience.id)).json()
        fields = {"form_token": await visit.token()}
        for each, status in ((over.id, 409), ("imp_0", 404)):
            path = f"/audiences/{audience.id}/imports/{each}/end"
            answer = await visit.http.post(path, data=fields, headers={"Origin": ORIGIN})
            assert (each, answer.status_code) == (each, status)
        other = await tenant.client.audiences.create(name="Others")
        wrong = f"/audiences/{other.id}/imports/{made['import_id']}/end"
        assert (await visit.http.post(wrong, data=fields, headers={"Origin": ORIGIN})).status_code == 404
    end = f"/audiences/{audience.id}/imports/{made['import_id']}/end"
    async with logged_in(tenant, role="viewer") as viewer:
        assert "Your role is viewer" in await viewer.page(end, status=403)
        assert "End this import" not in await viewer.page(f"/audiences/{audience.id}")
    assert (await tenant.client.audiences.get(id=audience.id)).open_imports == [made["import_id"]]


@pytest.mark.requirement("DASH-83")
async def test_the_page_of_an_audience_keeps_what_became_of_each_import(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People")
    mixed = await carry_out_import(tenant, _MIXED, audience_id=audience.id)
    clean = await carry_out_import(tenant, _CLEAN, audience_id=audience.id)
    failed = await carry_out_import(tenant, 'name,phone\nAnn,"+1415\n', audience_id=audience.id)
    assert [each.status for each in (mixed, clean, failed)] == ["completed_with_errors", "completed", "failed"]
    async with logged_in(tenant, role="viewer") as visit:
        html = await visit.page(f"/audiences/{audience.id}")
        page, rejects = text_of(html), f"/audiences/{audience.id}/rejects"
        assert "2 added, 1 refused, 1 double, of 4 rows, read as CSV, UTF-8, commas." in page
        assert "1 added, 0 refused, 0 doubles, of 1 row, read as" in page
        assert f"Failed: {(failed.status_reason or '').rstrip('.')}." in page
        links = re.findall(r'rejects\?import_id=(imp_\w+)"', html)
        assert links == [mixed.id]
        assert "invalid phone this is not a phone number" in text_of(
            await visit.page(f"{rejects}?import_id={mixed.id}")
        )
        assert "Every row of this import was taken." in await visit.page(f"{rejects}?import_id={clean.id}")
        newest = text_of(await visit.page(rejects))
    assert "Every row" not in newest
    assert "see above why the import failed" in newest


@pytest.mark.requirement("DASH-83")
async def test_older_imports_are_on_pages_of_their_own(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People")
    made = [await tenant.client.audiences.import_csv(id=audience.id, csv=_CLEAN) for _ in range(23)]
    shown: list[str] = []
    async with logged_in(tenant) as visit:
        path: str | None = f"/audiences/{audience.id}"
        while path is not None:
            html = await visit.page(path)
            shown += re.findall(
                r"1 row, read as|waits until|is read next", html.partition("<h2>Imports</h2>")[2] or html
            )
            older = re.search(r'href="(/audiences/\w+/imports\?before=\w+)"', html)
            path = older and older[1]
    assert len(shown) == len(made)


@pytest.mark.requirement("DASH-84")
async def test_refused_rows_are_downloaded_whole_by_members_and_without_the_cells_by_viewers(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People")
    mixed = await carry_out_import(tenant, _MIXED, audience_id=audience.id)
    file = f"/audiences/{audience.id}/imports/{mixed.id}/refused.csv"
    async with logged_in(tenant, role="member") as visit:
        assert f'href="{file}"' in await visit.page(f"/audiences/{audience.id}/rejects")
        answer = await visit.http.get(file)
        assert (await visit.http.get(file.replace(mixed.id, "imp_0"))).status_code == 404
    assert answer.headers["content-disposition"] == f'attachment; filename="{mixed.id}-refused.csv"'
    assert "no-store" in answer.headers["cache-control"]
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [(row["line"], row["code"], row["column"]) for row in rows] == [
        ("3", "invalid_phone", "phone"),
        ("5", "duplicate_in_file", ""),
    ]
    assert rows[0]["message"].startswith("this is not a phone number")
    assert rows[0]["value_redacted"] == "••"
    async with logged_in(tenant, role="viewer") as viewer:
        masked = (await viewer.http.get(file)).content.decode("utf-8-sig")
    assert list(csv.DictReader(io.StringIO(masked))) == [
        {"row_number": "2", "line": "3", "code": "invalid_phone"},
        {"row_number": "4", "line": "5", "code": "duplicate_in_file"},
    ]


@pytest.mark.requirement("DASH-83", "DASH-84")
async def test_imports_of_another_organization_are_not_there(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People")
    mixed = await carry_out_import(tenant, _MIXED, audience_id=audience.id)
    async with tenant.another_organization() as stranger, logged_in(stranger, role="member") as visit:
        for path in ("", f"/{mixed.id}", f"/{mixed.id}/end", f"/{mixed.id}/refused.csv"):
            await visit.page(f"/audiences/{audience.id}/imports{path}", status=404)


@pytest.mark.requirement("DASH-85")
async def test_an_import_says_in_words_what_it_does(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="People")
    async with logged_in(tenant, role="member") as visit:
        made = (await begun(visit, audience.id)).json()
        at = f"/audiences/{audience.id}/imports"

        async def words(import_id: str) -> str:
            return (await visit.http.get(f"{at}/{import_id}")).json()["words"]

        assert await words(made["import_id"]) == "Waits for its file. Nothing of it has come."
        first, second, third = [await tenant.client.audiences.import_csv(id=audience.id, csv=_CLEAN) for _ in range(3)]
        assert await words(first.id) == "The file is there. It is read next."
        assert "waits until 1 other list of your organization is imported" in await words(second.id)
        assert "waits until 2 other lists of your organization are imported" in await words(third.id)
        await carry_out_import(tenant, _CLEAN, audience_id=audience.id)
        done = (await visit.http.get(f"{at}/{first.id}")).json()
        assert (done["is_over"], done["added"], done["percent"]) == (True, 1, 100)
        assert done["words"] == "1 added, 0 refused, 0 doubles, of 1 row, read as CSV, UTF-8, commas."
