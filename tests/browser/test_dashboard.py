"""The dashboard in a browser: the whole story by hand, and each page at two widths and in both colour schemes."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.browser.appearance import axe_faults, overhang, pale_texts
from tests.browser.browser import needs_browser
from tests.browser.seats import seated
from tests.support.campaigns import people, phone, run
from tests.support.dashboard import PASSWORD, is_page, logged_in, reached

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.requirement("DASH-17")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("width", [360, 1280], ids=["narrow", "wide"])
async def test_every_page_fits_and_can_be_read_and_used_by_everybody(
    browser: Browser, database_url: str, tmp_path: Path, width: int
) -> None:
    async with seated(browser, database_url, tmp_path, width=width) as seat:
        tenant = seat.tenant
        await run(tenant, people(6))
        await tenant.client.webhooks.create(url="https://hooks.example.com/a", events=["*"])
        await tenant.client.do_not_call.add(entries=[{"number": phone(99)}])  # pyright: ignore[reportArgumentType]
        async with logged_in(tenant) as visit:
            found = await reached(visit, of_each_kind=1)
        pages = [path for path, answer in found.items() if is_page(answer) and answer.status_code == 200]
        assert len(pages) > 30
        faults: list[tuple[str, str, object]] = []
        for path in pages:
            await seat.open(path)
            for scheme in ("dark", "light"):
                await seat.tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                looks = {
                    "overhang": await overhang(seat),
                    "pale": await pale_texts(seat),
                    "axe": await axe_faults(seat, only_colours=scheme == "light"),
                }
                faults += [(path, f"{scheme} {what}", fault) for what, fault in looks.items() if fault]
        assert not faults, "\n".join(map(str, faults))
        assert seat.complaints == []


@pytest.mark.requirement("DASH-17", "DASH-25")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_an_invitation_is_opened_accepted_and_its_code_leaves_the_address(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with seated(browser, database_url, tmp_path, width=360) as seat:
        tab = seat.tab
        await seat.open("/settings/people")
        await tab.fill("[name=email]", "ann@example.com")
        await seat.press("Invite")
        link = await tab.locator("#link").inner_text()
        await seat.press("Leave")
        await tab.wait_for_url("**/settings/people/usr_*")
        await seat.tab.context.clear_cookies()
        faults: list[tuple[str, object]] = []
        for path in ("/login", "/forgot", "/reset", link.removeprefix(seat.root)):
            await seat.open(path)
            if "#" in path:
                await tab.locator("[name=new_password]").wait_for()
                assert tab.url == f"{seat.root}/invitation"
            for scheme in ("dark", "light"):
                await tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                looks = (await overhang(seat), await pale_texts(seat), await axe_faults(seat))
                faults += [(path.partition("#")[0], fault) for fault in looks if fault]
        assert not faults, "\n".join(map(str, faults))
        await tab.fill("[name=name]", "Ann Lee")
        for name in ("new_password", "again"):
            await tab.fill(f"[name={name}]", PASSWORD)
        await seat.press("Join")
        await seat.press("To the campaigns")
        await tab.wait_for_url("**/campaigns")
        assert seat.complaints == []
