"""Passkeys in a browser, whose virtual authenticator stands for a device with a fingerprint reader."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.browser.appearance import overhang, pale_texts
from tests.browser.browser import needs_browser
from tests.browser.seats import seated

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.requirement("DASH-30")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_passkey_is_added_and_logs_in(browser: Browser, database_url: str, tmp_path: Path) -> None:
    async with seated(browser, database_url, tmp_path, width=360, host="localhost") as seat:
        tab = seat.tab
        device = await tab.context.new_cdp_session(tab)
        await device.send("WebAuthn.enable")  # pyright: ignore[reportUnknownMemberType] -- Playwright does not say of what
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        await device.send("WebAuthn.addVirtualAuthenticator", {"options": options})  # pyright: ignore[reportUnknownMemberType]
        await seat.open("/settings/account/passkeys")
        assert (await overhang(seat), await pale_texts(seat)) == (0, [])
        await tab.fill("[name=name]", "my laptop")
        await seat.press("Add a passkey")
        await tab.locator("#passkeys .row strong", has_text="my laptop").wait_for()
        assert "not used yet" in await tab.locator("#passkeys").inner_text()
        await tab.fill("[name=name]", "the same again")
        await seat.press("Add a passkey")
        await tab.locator("[data-said]", has_text="has a passkey for you here already").wait_for()
        await seat.open("/settings/session")
        await seat.press("Log out here")
        await tab.wait_for_url("**/login")
        await seat.open("/login?next=%2Fcalls")
        assert (await overhang(seat), await pale_texts(seat)) == (0, [])
        await seat.press("Log in with a passkey")
        await tab.wait_for_url("**/calls")
        await seat.open("/settings/account/passkeys")
        assert "last used" in await tab.locator("#passkeys").inner_text()
        assert seat.complaints == []
