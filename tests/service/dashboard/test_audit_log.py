"""The audit log as people read it: who, what, about which thing, before and after."""

import pytest

from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant


@pytest.mark.requirement("DASH-70")
async def test_who_did_what_is_chosen_by_name_and_shows_what_was_before_and_after(tenant: Tenant) -> None:
    agent = await tenant.client.agents.create(
        name="Ada", voice_id="en-US-ada", language="en-US", system_prompt="Say hello."
    )
    async with logged_in(tenant, role="member") as member:
        words = {"name": "Bob", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
        await member.send(f"/agents/{agent.id}/edit", **words)
    async with logged_in(tenant) as owner:
        page = await owner.page("/audit")
        (entry,) = [entry async for entry in tenant.client.audit_log.list(action="update_agent")]
        assert f'<option value="{entry.actor_id}">member</option>' in page
        assert f'<a href="/agents/{agent.id}">' in page
        theirs = text_of(await owner.page(f"/audit?actor_id={entry.actor_id}"))
    assert "Name: Ada → Bob" in theirs
    assert "create agent" not in theirs
