"""Calls in the dashboard: filters, sound in parts, the transcript, and files."""

import re
from html import unescape

import pytest

from tests.support.campaigns import ONCE, people, phone, run
from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


@pytest.mark.requirement("DASH-14")
async def test_a_call_can_be_heard_read_and_explained(tenant: Tenant) -> None:
    made = await run(tenant, people(6))
    calls = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    heard = next(call for call in calls if call.outcome == "answered")
    turns = (await tenant.client.calls.get_transcript(call_uuid=heard.id)).turns
    async with logged_in(tenant) as visit:
        html = await visit.page(f"/calls/{heard.id}")
        text = text_of(html)
        assert all(" ".join(turn.text.split()) in text for turn in turns)
        assert html.count("data-seek=") == len(turns)
        assert "Why this call was allowed" in text
        assert heard.to not in html
        part = await visit.http.get(f"/calls/{heard.id}/recording.mp3", headers={"Range": "bytes=0-99"})
        assert (part.status_code, len(part.content), part.headers["content-type"]) == (206, 100, "audio/mpeg")
        wave = await visit.http.get(f"/calls/{heard.id}/recording.wav")
        assert wave.content[:4] == b"RIFF"


@pytest.mark.requirement("DASH-14")
async def test_calls_are_filtered_as_in_the_api_and_a_wrong_filter_is_said(tenant: Tenant) -> None:
    made = await run(tenant, people(6))
    async with logged_in(tenant) as visit:
        everything = await visit.page("/calls")
        outcomes = {call.outcome async for call in tenant.client.calls.list(deployment_id=made.id)}
        assert all(str(outcome).replace("_", " ") in everything for outcome in outcomes)
        some = await visit.page(f"/calls?outcome=answered&deployment_id={made.id}")
        assert "no answer" not in text_of(some.split("<tbody>")[1])
        answer = await visit.http.get("/calls?outcome=excellent")
        assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)


async def test_words_that_were_said_are_found(tenant: Tenant) -> None:
    await run(tenant, people(4))
    async with logged_in(tenant) as visit:
        found = await visit.page("/calls/said?q=hello")
        assert "/calls/cal_" in found
        assert "Nobody said that" in await visit.page("/calls/said?q=zyzzyva")


async def test_contacts_and_calls_of_a_campaign_come_as_files(tenant: Tenant) -> None:
    made = await run(tenant, people(3))
    async with logged_in(tenant) as visit:
        for of in ("contacts", "calls", "outcomes"):
            answer = await visit.http.get(f"/campaigns/{made.id}/export?of={of}")
            assert (answer.status_code, answer.headers["content-type"]) == (200, "text/csv; charset=utf-8")
            assert len(answer.text.splitlines()) >= 2
        assert (await visit.http.get(f"/campaigns/{made.id}/export?of=secrets")).status_code == 400
        assert phone(0) not in await visit.page("/calls")
        assert phone(0) in (await visit.http.get(f"/campaigns/{made.id}/export?of=contacts")).text
    async with logged_in(tenant, role="viewer") as viewer:
        assert phone(0) not in (await viewer.http.get(f"/campaigns/{made.id}/export?of=contacts")).text


async def test_the_next_page_of_a_list_keeps_its_filters(tenant: Tenant) -> None:
    await run(tenant, people(60, sim_outcome="busy"), retry_policy=ONCE)
    async with logged_in(tenant) as visit:
        first = await visit.page("/calls?outcome=busy")
        (following,) = re.findall(r'rel="next" href="([^"]+)"', first)
        second = await visit.page(f"/calls{unescape(following)}")
        assert (first.count("<tr>") - 1, second.count("<tr>") - 1) == (50, 10)
        assert '<option value="busy" selected>' in second
