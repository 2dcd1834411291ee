"""Uploading a list in a browser, over connections that break, pages that are old and files that are none."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect

from callwright.client.transport import httpx
from callwright.contract.audiences import AudienceImport
from tests.browser.browser import needs_browser
from tests.browser.seats import Seat, seated

pytestmark = [
    needs_browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.parametrize("engine", ["sqlite"], indirect=True),
]
_NUMBERS = [f"+1415555{at:04}" for at in range(400)]
_LIST = "name,phone\n" + "".join(f"Person {at},{number}\n" for at, number in enumerate(_NUMBERS))
_BROKEN_AFTER = 2_500
"""Bytes of the file that arrive before its connection breaks."""


@dataclass
class Line:
    """The connection of a page to the address of its upload, which is cut in the middle of a request."""

    cuts: int
    answers_lost: bool = False
    """Whether all of the request arrives, and its answer does not."""
    ranges: list[str] = field(default_factory=list[str])
    begun: list[str] = field(default_factory=list[str])
    begins_lost: int = 0
    """How many answers to the beginning of an import get lost."""

    async def carry(self, route: Route) -> None:
        """Carries a part; of one that is cut only the beginning."""
        request = route.request
        if request.method != "PUT":
            return await route.continue_()
        said = request.headers["content-range"]
        self.ranges.append(said)
        if not self.cuts:
            return await route.continue_()
        self.cuts -= 1
        body = request.post_data_buffer or b""
        async with httpx.AsyncClient() as http:
            if self.answers_lost:
                await http.put(request.url, content=body, headers={"Content-Range": said})
            else:
                begin = int(said.split("-")[0].removeprefix("bytes "))
                total = said.partition("/")[2]
                came = body[:_BROKEN_AFTER]
                part = f"bytes {begin}-{begin + len(came) - 1}/{total}"
                await http.put(request.url, content=came, headers={"Content-Range": part})
        return await route.abort("connectionreset")

    async def begin(self, route: Route) -> None:
        """Carries the beginning of an import."""
        if route.request.method != "POST":
            return await route.continue_()
        answer = await route.fetch()
        self.begun.append((await answer.json())["import_id"])
        if self.begins_lost:
            self.begins_lost -= 1
            return await route.abort("connectionreset")
        return await route.fulfill(response=answer)


@asynccontextmanager
async def uploading(
    browser: Browser, database_url: str, folder: Path, line: Line, *, width: int = 1280
) -> AsyncGenerator[tuple[Seat, str]]:
    """Somebody at the page that uploads into a new audience, over this line; with the id of the audience."""
    async with seated(browser, database_url, folder, width=width) as seat:
        audience = await seat.tenant.client.audiences.create(name="Autumn")
        await seat.tab.route("**/uploads/upl_*", line.carry)
        await seat.tab.route("**/audiences/*/upload", line.begin)
        await seat.open(f"/audiences/{audience.id}/upload")
        yield seat, audience.id


async def choose(seat: Seat, folder: Path, content: str = _LIST, name: str = "people.csv") -> None:
    """Chooses a file."""
    file = folder / name
    file.write_text(content, encoding="utf-8")
    await seat.tab.set_input_files("input[type=file]", file)


async def imports_of(seat: Seat, audience: str, line: Line) -> list[AudienceImport]:
    """The imports that the page has begun."""
    get = seat.tenant.client.audiences.get_import
    return [await get(id=audience, import_id=each) for each in dict.fromkeys(line.begun)]


async def numbers_in(seat: Seat, audience: str) -> list[str]:
    """The numbers of an audience, in their order."""
    return [row.phone_number async for row in seat.tenant.client.audiences.list_rows(id=audience)]


@pytest.mark.requirement("DASH-80")
@pytest.mark.parametrize(("cuts", "answers_lost", "begins_lost"), [(2, False, 0), (1, True, 0), (0, False, 1)])
async def test_an_upload_whose_connection_breaks_goes_on_and_brings_each_row_once(
    browser: Browser, database_url: str, tmp_path: Path, cuts: int, answers_lost: bool, begins_lost: int
) -> None:
    line = Line(cuts, answers_lost, begins_lost=begins_lost)
    async with uploading(browser, database_url, tmp_path, line) as (seat, audience):
        await choose(seat, tmp_path)
        await seat.press("Upload")
        said = seat.tab.locator("form [data-said]")
        await expect(said).to_contain_text("The connection is broken", timeout=30_000)
        await expect(said).to_contain_text("Done. 400 added, 0 refused, 0 doubles", timeout=30_000)
        await expect(said).to_contain_text("read as CSV, UTF-8")
        (done,) = await imports_of(seat, audience, line)
        assert (done.status, done.added, done.duplicates) == ("completed", 400, 0)
        assert await numbers_in(seat, audience) == _NUMBERS
        begins = [int(each.split("-")[0].removeprefix("bytes ")) for each in line.ranges]
        assert begins == [_BROKEN_AFTER * at for at in range(1 if answers_lost else cuts + 1)]
        assert (await seat.tenant.client.audiences.get(id=audience)).open_imports == []


@pytest.mark.requirement("DASH-80")
async def test_another_file_after_a_broken_upload_ends_the_first_import(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    line = Line(1)
    async with uploading(browser, database_url, tmp_path, line) as (seat, audience):
        tab = seat.tab
        await tab.clock.install()
        await choose(seat, tmp_path)
        await seat.press("Upload")
        said = tab.locator("form [data-said]")
        await expect(said).to_contain_text("Trying again")
        await tab.unroute("**/uploads/upl_*")
        await tab.route("**/uploads/upl_*", lambda route: route.abort("connectionreset"))
        for _ in range(14):
            await expect(said).to_contain_text(re.compile("Trying again|Press Upload"))
            await tab.clock.run_for(31_000)
            await tab.wait_for_timeout(100)
        await expect(said).to_contain_text("What has arrived is kept. Press Upload to go on with the same file.")
        await tab.unroute("**/uploads/upl_*")
        await choose(seat, tmp_path, "phone\n+14155559999\n", "other.csv")
        await seat.press("Upload")
        await tab.clock.resume()
        await expect(said).to_contain_text("Done. 1 added", timeout=30_000)
        first, second = await imports_of(seat, audience, line)
        assert (first.status, second.status) == ("failed", "completed")
        assert "cancelled" in (first.status_reason or "")
        assert await numbers_in(seat, audience) == ["+14155559999"]


@pytest.mark.requirement("DASH-81")
async def test_an_empty_file_and_two_files_begin_no_import_and_a_page_without_a_session_says_so(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    line = Line(0)
    async with uploading(browser, database_url, tmp_path, line, width=360) as (seat, audience):
        said = seat.tab.locator("form [data-said]")
        await choose(seat, tmp_path, "", "empty.csv")
        await seat.press("Upload")
        await expect(said).to_have_text(re.compile("^empty.csv is empty: nothing was begun"))
        await seat.tab.evaluate(
            """() => {
                const files = new DataTransfer();
                for (const name of ["a.csv", "b.csv"]) files.items.add(new File(["phone"], name));
                const drop = new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true });
                document.querySelector("form.drop").dispatchEvent(drop);
            }"""
        )
        await expect(said).to_have_text(re.compile("^You dropped 2 files"))
        await choose(seat, tmp_path)
        await seat.tab.context.clear_cookies()
        await seat.tab.unroute("**/audiences/*/upload")
        await seat.press("Upload")
        await expect(said).to_have_text(re.compile("^You are logged out. Nothing was sent."))
        await expect(seat.tab.get_by_role("link", name="Log in in another tab")).to_be_visible()
        assert (await seat.tenant.client.audiences.get(id=audience)).last_import_id is None


@pytest.mark.requirement("DASH-82")
async def test_leaving_the_page_ends_an_upload_that_is_not_complete(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    line = Line(1_000)
    async with uploading(browser, database_url, tmp_path, line) as (seat, audience):
        seat.tab.on("dialog", lambda dialog: dialog.accept())
        await choose(seat, tmp_path)
        await seat.press("Upload")
        await expect(seat.tab.locator("form [data-said]")).to_contain_text("Trying again")
        await seat.open(f"/audiences/{audience}")
        await expect(seat.tab.get_by_role("region", name="Imports").locator(".state")).to_have_text("failed")
        (ended,) = await imports_of(seat, audience, line)
        assert (ended.status, ended.added) == ("failed", 0)
