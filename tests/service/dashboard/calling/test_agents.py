"""Agents in the dashboard: made without words of programs, their versions brought back, talked to with columns."""

import re
from html import unescape

import pytest

from callwright.service.dashboard.html.field_names import field_name
from tests.support.dashboard import ORIGIN, Visit, logged_in, text_of
from tests.support.service import Tenant

WORDS = {"name": "Ada", "voice_id": "es-419-valeria", "language": "", "system_prompt": "Say hello."}


async def _made(visit: Visit, **words: str) -> str:
    return (await visit.send("/agents/new", **{**WORDS, **words})).headers["location"]


@pytest.mark.requirement("DASH-71")
async def test_the_language_of_a_new_agent_follows_its_voice_unless_one_is_chosen(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        pages = [await _made(visit), await _made(visit, name="Bob", language="en-GB")]
    agents = [await tenant.client.agents.get(id=page.removeprefix("/agents/")) for page in pages]
    assert [agent.language for agent in agents] == ["es-419", "en-GB"]


@pytest.mark.requirement("DASH-71")
async def test_the_form_of_an_agent_offers_languages_by_name_and_begins_with_the_voice_of_the_newest(
    tenant: Tenant,
) -> None:
    async with logged_in(tenant) as visit:
        assert '<option value="en-US-ada" selected>' in await visit.page("/agents/new")
        await _made(visit)
        form = unescape(await visit.page("/agents/new"))
    assert '<option value="es-419">Spanish (Latin America)</option>' in form
    assert '<option value="es-419-valeria" selected>Spanish (Latin America): Valeria</option>' in form
    assert "BCP-47" not in form


@pytest.mark.requirement("DASH-71")
async def test_a_language_that_no_voice_speaks_stays_when_something_else_is_changed(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        agent = await tenant.client.agents.create(
            name="Ada", voice_id="en-US-ada", language="en-AU", system_prompt="Say hello."
        )
        assert '<option value="en-AU" selected>' in await visit.page(f"/agents/{agent.id}/edit")


@pytest.mark.requirement("DASH-71")
async def test_every_voice_can_be_heard(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        page = await visit.page("/agents/voices")
        sound = await visit.http.get("/agents/voices/en-US-ada.mp3")
    assert '"/agents/voices/en-US-ada.mp3"' in page
    assert (sound.status_code, sound.headers["content-type"]) == (200, "audio/mpeg")


@pytest.mark.requirement("DASH-70")
async def test_a_field_of_an_agent_is_called_the_same_in_its_form_on_its_page_and_in_its_versions(
    tenant: Tenant,
) -> None:
    async with logged_in(tenant) as visit:
        page = await _made(visit, welcome_message="Good morning.")
        texts = [text_of(await visit.page(path)) for path in ("/agents/new", page, f"{page}/versions/1")]
    for name in ("voice_id", "language", "system_prompt", "welcome_message"):
        assert [field_name(name).label in text for text in texts] == [True] * 3
    assert not [text for text in texts if "System prompt" in text or "system_prompt" in text]


@pytest.mark.requirement("DASH-72")
async def test_an_earlier_version_is_opened_compared_and_brought_back_by_a_user_who_is_named(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        page = await _made(visit)
        await visit.send(f"{page}/edit", **{**WORDS, "language": "es-419", "system_prompt": "Say goodbye."})
        assert f'href="{page}/versions/1"' in await visit.page(page)
        first = text_of(await visit.page(f"{page}/versions/1"))
        assert "Say hello. → Say goodbye." in first
        answer = await visit.send(f"{page}/versions/1/restore", shown_at=f"{page}/versions/1")
        assert (answer.status_code, answer.headers["location"]) == (303, page)
        listed = text_of(await visit.page(page))
        await visit.page(f"{page}/versions/9", status=404)
    agent = await tenant.client.agents.get(id=page.removeprefix("/agents/"))
    assert (agent.version, agent.system_prompt) == (3, "Say hello.")
    assert listed.count("Operator") >= 3


@pytest.mark.requirement("DASH-72")
async def test_a_viewer_opens_versions_and_brings_none_back(tenant: Tenant) -> None:
    async with logged_in(tenant) as owner:
        page = await _made(owner)
        await owner.send(f"{page}/edit", **{**WORDS, "language": "es-419", "system_prompt": "Say goodbye."})
    async with logged_in(tenant, role="viewer") as viewer:
        assert "Bring this version back" not in await viewer.page(f"{page}/versions/1")
        fields = {"form_token": await viewer.token()}
        refused = await viewer.http.post(f"{page}/versions/1/restore", data=fields, headers={"Origin": ORIGIN})
        assert refused.status_code == 403
    assert (await tenant.client.agents.get(id=page.removeprefix("/agents/"))).version == 2


@pytest.mark.requirement("DASH-73")
async def test_a_talk_asks_for_the_columns_of_the_agents_words_and_leads_to_a_page_that_leads_back(
    tenant: Tenant,
) -> None:
    async with logged_in(tenant) as visit:
        page = await _made(visit, welcome_message="Hello {{First Name}}, {{Clinic|our clinic}} calls.")
        form = unescape(await visit.page(f"{page}/talk"))
        assert re.findall(r'name="(column-[^"]+)"', form) == ["column-First Name", "column-Clinic"]
        refused = await visit.send(f"{page}/talk")
        assert refused.status_code == 400
        assert "The agent has no value for {{First Name}}" in unescape(refused.text)
        talk = await visit.send(f"{page}/talk", **{"column-First Name": "Maria"})
        assert talk.status_code == 303, text_of(talk.text)
        assert "?dashboard#tlk_" in talk.headers["location"]
        shown = await visit.http.get(talk.headers["location"].partition("#")[0])
    assert 'id="back" hidden><a id="call">' in shown.text
    calls = [call async for call in tenant.client.calls.list()]
    assert calls[0].variables == {"First Name": "Maria"}
