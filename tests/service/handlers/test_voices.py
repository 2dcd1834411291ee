"""Voices over the typed client."""

import pytest

from callwright.service.speech.voices import VOICES
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant


@pytest.mark.requirement("SERV-06", "PATH-16")
async def test_the_whole_catalogue_is_listed_in_a_steady_order(tenant: Tenant) -> None:
    first = await tenant.client.voices.list(per_page=200)
    again = await tenant.client.voices.list(per_page=200, sort="language,name,id")
    assert first == again
    assert {voice.id for voice in first.data} == {voice.id for voice in VOICES}
    assert first.pagination.total == len(VOICES)
    keys = [(voice.language, voice.name, voice.id) for voice in first.data]
    assert keys == sorted(keys)
    assert {voice.status for voice in first.data} == {"active"}


@pytest.mark.requirement("PATH-32")
async def test_every_listed_voice_can_be_read_and_used(tenant: Tenant) -> None:
    for listed in (await tenant.client.voices.list(per_page=200)).data:
        assert await tenant.client.voices.get(id=listed.id) == listed
    agent = await tenant.client.agents.create(
        name="Ada", voice_id=VOICES[-1].id, language=VOICES[-1].language, system_prompt="Hello."
    )
    assert [said for said in agent.warnings if "the voice speaks" in said] == []
    async with refusal(404, "not_found"):
        await tenant.client.voices.get(id="en-US-nobody")


async def test_voices_are_found_by_language_gender_and_provider(tenant: Tenant) -> None:
    voices = tenant.client.voices
    english = (await voices.list(language="en", per_page=200)).data
    american = (await voices.list(language="en-us")).data
    assert {voice.language for voice in american} == {"en-US"}
    assert {"en-US", "en-GB"} <= {voice.language for voice in english}
    assert all(voice.language.startswith("en") for voice in english)
    assert (await voices.list(language="e")).data == []
    women = (await voices.list(language="en-US", gender="female")).data
    assert {voice.gender for voice in women} == {"female"}
    assert len(women) < len(american)
    assert (await voices.list(provider="nobody")).data == []
    assert (await voices.list(provider="simulated")).pagination.total == len(VOICES)


async def test_voices_are_paged_by_number_and_by_cursor(tenant: Tenant, http: AsyncClient) -> None:
    seen: list[str] = []
    for number in range(1, len(VOICES)):
        page = await tenant.client.voices.list(page=number, per_page=7)
        seen.extend(voice.id for voice in page.data)
        assert (page.pagination.next_cursor is not None) == page.pagination.has_more
        if not page.pagination.has_more:
            break
    walked = [voice.id async for voice in tenant.client.voices.list(per_page=7)]
    assert walked == seen
    assert len(seen) == len(set(seen)) == len(VOICES)
    assert (await tenant.client.voices.list(page=1_000)).data == []
    refused(await http.get("/v1/voices?cursor=abc"), 400, "invalid_cursor", "cursor")
    refused(await http.get("/v1/voices?sort=price"), 400, "invalid_field", "sort")
    refused(await http.get("/v1/voices?filter[gender]=robot"), 400, "invalid_field", "filter[gender]")
    descending = (await tenant.client.voices.list(sort="-id", per_page=200)).data
    assert [voice.id for voice in descending] == sorted((voice.id for voice in VOICES), reverse=True)


@pytest.mark.requirement("PATH-32")
async def test_a_voice_can_be_heard(tenant: Tenant) -> None:
    heard: dict[str, bytes] = {}
    for voice_id in ("en-US-ada", "en-US-ben", "hi-IN-priya"):
        async with tenant.client.voices.get_preview(id=voice_id) as download:
            assert (download.status, download.media_type) == (200, "audio/mpeg")
            heard[voice_id] = await download.read(200_000)
    assert all(4_000 < len(sound) < 40_000 for sound in heard.values())
    assert len(set(heard.values())) == len(heard)
    async with refusal(404, "not_found"):
        async with tenant.client.voices.get_preview(id="en-US-nobody"):
            pass


async def test_a_preview_says_that_it_is_simulated_and_is_made_once(http: AsyncClient) -> None:
    first, again = [await http.get("/v1/voices/en-GB-harry/preview") for _ in range(2)]
    assert first.headers["x-service-simulated"] == "true"
    assert (first.headers["etag"], first.content) == (again.headers["etag"], again.content)
