"""Search over everything: groups, ids that lead straight to their pages, and groups that fail alone."""

import re
from html import unescape
from urllib.parse import quote

import pytest

from callwright.contract.calls import transcripts
from callwright.contract.calls.transcripts import search_transcripts
from callwright.contract.problems import SERVICE_UNAVAILABLE
from callwright.service.dashboard.pages import search
from callwright.service.handlers.request_context import HANDLERS
from callwright.service.platform.refusals import Refusal
from tests.support.campaigns import ONCE, people, phone, run
from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


@pytest.mark.requirement("DASH-51")
async def test_one_field_finds_names_people_words_and_numbers_and_leads_to_them(tenant: Tenant) -> None:
    made = await run(tenant, people(3, sim_outcome="answered"))
    agent = await tenant.client.agents.get(id=made.agent_id)
    await tenant.client.do_not_call.add(entries=[{"number": phone(1)}])  # pyright: ignore[reportArgumentType]
    (own,) = [number async for number in tenant.client.phone_numbers.list()]
    async with logged_in(tenant) as visit:
        assert f'href="/campaigns/{made.id}"' in await visit.page(f"/search?q={made.name[1:6].upper()}")
        assert f'href="/agents/{agent.id}"' in await visit.page(f"/search?q={agent.name}")
        assert f'href="/audiences/{made.audience_id}"' in await visit.page("/search?q=peopl")
        by_name = await visit.page("/search?q=Person+1")
        assert re.search(r'href="/calls/cal_\w+/person">Person 1<', by_name)
        by_number = await visit.page(f"/search?q=%2B{phone(1)[1:]}")
        assert re.search(r'href="/calls/cal_\w+/person"', by_number)
        assert 'href="/do-not-call/dnc_' in by_number
        assert by_number.count(phone(1)) == 1  # in the field, where it was typed
        assert re.search(r'href="/calls/cal_\w+#turn-\d+"', await visit.page("/search?q=automated+assistant"))
        assert f'href="/numbers/{own.id}"' in await visit.page(f"/search?q={own.number[-6:]}")
        assert "Nothing is called that" in text_of(await visit.page("/search?q=zyzzyva"))


@pytest.mark.requirement("DASH-51")
async def test_an_id_leads_straight_to_its_page_and_the_turn_that_was_found_is_there(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    call = (await tenant.client.calls.list(deployment_id=made.id)).data[0]
    async with logged_in(tenant) as visit:
        for id_, page in ((call.id, "/calls/"), (made.id, "/campaigns/"), (made.agent_id, "/agents/")):
            answer = await visit.http.get(f"/search?q={id_}")
            assert (answer.status_code, answer.headers["location"]) == (303, page + id_)
        found = await visit.page("/search?q=automated+assistant")
        (address, turn) = re.findall(r'href="(/calls/cal_\w+)#(turn-\d+)"', found)[0]
        assert f'id="{turn}"' in await visit.page(address)


@pytest.mark.requirement("DASH-51")
async def test_a_group_has_at_most_five_and_leads_to_all_of_them(tenant: Tenant) -> None:
    await run(tenant, people(8, sim_outcome="answered"), retry_policy=ONCE)
    async with logged_in(tenant) as visit:
        page = await visit.page("/search?q=automated")
        said = page.split('aria-label="What was said"')[1].split("</section>")[0]
        assert said.count("<li>") == 5
        (everything,) = re.findall(r'href="(/calls/said\?[^"]+)"', said)
        assert (await visit.page(everything)).split("<main")[1].count("<li><a href") == 8


@pytest.mark.requirement("DASH-51")
async def test_a_group_that_fails_says_so_and_the_others_are_shown(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))

    def broken(asked: transcripts.SearchTranscripts, context: object) -> None:
        raise Refusal(SERVICE_UNAVAILABLE, "The words cannot be searched now.")

    monkeypatch.setitem(HANDLERS, search_transcripts.name, broken)
    async with logged_in(tenant) as visit:
        page = await visit.page(f"/search?q={made.name}")
    assert "The words cannot be searched now." in page
    assert f'href="/campaigns/{made.id}"' in page


@pytest.mark.requirement("DASH-51")
async def test_the_old_address_of_the_search_leads_to_the_new_one(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        answer = await visit.http.get("/calls/search?q=hello")
        assert (answer.status_code, answer.headers["location"]) == (303, "/search?q=hello")


@pytest.mark.requirement("DASH-51")
async def test_a_search_says_how_far_it_looked_and_finds_an_older_thing_by_its_whole_name(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_AT_A_TIME", 2)
    monkeypatch.setattr(search, "_LOOKED_THROUGH", 4)
    made = [await tenant.client.audiences.create(name=f"Patients {index}") for index in range(6)]
    links = [f'href="/audiences/{one.id}"' for one in made]
    async with logged_in(tenant) as visit:
        part = await visit.page("/search?q=patients")
        assert [link in part for link in links] == [False, False, True, True, True, True]
        assert "among the newest 4 of 6" in text_of(part)
        whole = await visit.page("/search?q=Patients+0")
        assert [link in whole for link in links] == [True, *[False] * 5]
        assert "among the newest 4 of 6" in text_of(await visit.page("/search?q=zyzzyva"))
        monkeypatch.setattr(search, "_LOOKED_THROUGH", 6)
        assert "among the newest" not in text_of(await visit.page("/search?q=zyzzyva"))


@pytest.mark.requirement("DASH-51")
async def test_an_excerpt_is_the_turn_with_what_was_looked_for_and_marks_it(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    (call,) = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
    later = next(turn for turn in turns[1:] if turn.role == "agent" and len(turn.text.split()) >= 4)
    words = " ".join(later.text.split()[:4]).strip(".,?!")
    async with logged_in(tenant) as visit:
        said = (await visit.page(f"/search?q={quote(words)}")).split('aria-label="What was said"')[1]
    assert f"/calls/{call.id}#turn-{later.index}" in said
    assert f"<mark>{words.split()[0]}</mark>" in unescape(said)


@pytest.mark.requirement("DASH-51")
async def test_a_number_is_found_as_people_of_the_own_country_say_it(tenant: Tenant) -> None:
    await run(tenant, people(1, sim_outcome="answered"))
    async with logged_in(tenant) as visit:
        page = text_of(await visit.page(f"/search?q={phone(0)[2:]}"))
    assert "Person 0" in page
