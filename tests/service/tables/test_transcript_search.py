"""The index of what was said finds what reading every transcript finds, in the same order, on both engines."""

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, select, text, update

from callwright.contract.calls import transcripts as contract
from callwright.contract.calls.transcripts import SearchTranscripts
from callwright.service.handlers.calls import transcripts as handlers
from callwright.service.handlers.calls.calls import COLUMNS
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database.listing import Listing, wanted_of
from callwright.service.platform.database.sqlite import full_text
from callwright.service.platform.database.sqlite.full_text import IN_A_MILLISECOND, MarkedIndex
from callwright.service.platform.search_words import read_query
from callwright.service.tables import transcript_search
from callwright.service.tables.schema import calls, transcript_words, transcripts
from callwright.service.tables.transcript_search import MARKED, searchable
from tests.support.calls.stored_calls import DIALLED_MS, put_call, put_conversation
from tests.support.database.indexed_words import indexed
from tests.support.service import Tenant

mark = MarkedIndex(calls, transcript_words, MARKED).mark
TALKS = (
    ("It costs 90 dollars.", "That is too expensive for me."),
    ("Is it too early?", "No. An expensive car, too."),
    ("Thursday?", 'Too\nexpensive, "really\\" \ttoo expensive!'),
    ("Grüße aus Köln", "zu teuer, Thursday"),
    ("क्या गुरुवार ठीक है?", "too expensive"),
    ("The end of turn is endofturn.", "index role text agent contact 0 1 2"),
    ("𝓉𝑜𝑜 expensive", "ﬁne"),
    ("AND OR NOT NEAR too words marks", "outx616e737765726564"),
)
QUERIES = (
    "too",
    "too expensive",
    '"too expensive"',
    '"expensive no"',
    "90",
    "endofturn",
    "agent",
    "grusse",
    "ठीक",
    "fine",
    "NOT AND",
    "outx616e737765726564",
    mark("outcome", "answered"),
    mark("agent_id", "agt_1"),
)
ODD = "dep_'\" OR words : (x) *é"
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"outcome": ["answered"]},
    {"outcome": ["answered", "busy", "transferred", "answered"]},
    {"outcome": ["busy"]},
    {"answered_by": ["human", 'it\'s "odd" ) OR é']},
    {"disposition": ["goal_met", "interested"]},
    {"deployment_id": "dep_1"},
    {"deployment_id": "DEP_1"},
    {"deployment_id": ODD},
    {"to": "+12125550100", "status": ["completed"], "call_type": "outbound", "language": "en-US"},
    {"contact_id": "ctc_3", "audience_id": "aud_1", "agent_id": "agt_1", "answered_by": "human"},
    {"created_from": moment(DIALLED_MS + 1_000)},
    {"created_before": moment(DIALLED_MS + 1_000), "created_from": moment(DIALLED_MS)},
    {"created_before": moment(DIALLED_MS), "outcome": ["answered"]},
    {"created_from": datetime.fromisoformat("9998-12-31T23:59:59Z")},
    {"created_before": datetime.fromisoformat("1970-01-02T00:00:00Z")},
)
SORTS = (None, "created_at", "-created_at", "created_at,-created_at")


async def put_talks(tenant: Tenant) -> list[dict[str, Any]]:
    """Calls of which several begin in the same millisecond, indexed in another order than that of their ids."""
    put: list[dict[str, Any]] = []
    for place, (agent, contact) in enumerate(TALKS * 3):
        facts: dict[str, Any] = {
            "created_at": DIALLED_MS + (0, 1, 1_000, 1_001)[place * 5 % 24 // 6],
            "deployment_id": ("dep_1", "dEp_1", ODD, None)[place % 4],
            "outcome": "answered" if place % 3 else "transferred",
            "answered_by": (None, "human", 'it\'s "odd" ) OR é')[place % 3],
            "disposition": (None, "goal_met", "interested")[place % 3],
            "contact_id": f"ctc_{place}",
            "audience_id": "aud_1" if place % 2 else None,
            "attempt_number": place,
        }
        facts["id"] = f"cal_{Random(place).randrange(10**9):09d}"
        await put_conversation(tenant, ("agent", agent), ("contact", contact), **facts)
        words = f" {searchable((agent, contact))} "
        put.append({**facts, "words": words, "call_type": "outbound", "to_number": "+12125550100"})
        put[-1] |= {"status": "completed", "language": "en-US", "agent_id": "agt_1"}
    return put


def expected(put: Sequence[dict[str, Any]], query: str, filters: dict[str, Any], sort: str | None) -> list[str]:
    """The ids that reading every transcript gives."""
    read = read_query(query)
    assert read is not None
    wanted = wanted_of(SearchTranscripts(query=query, **filters))

    def meant(call: dict[str, Any]) -> bool:
        if not all(f" {' '.join(phrase)} " in call["words"] for phrase in read.phrases):
            return False
        for one in wanted:
            value = call[one.column]
            if one.test == "equals" and value not in one.values:
                return False
            if one.test == "from" and value < one.values[0]:
                return False
            if one.test == "before" and value >= one.values[0]:
                return False
        return True

    chosen = sorted((call for call in put if meant(call)), key=lambda call: call["id"])
    ids_down = sort is None or sort.endswith("-created_at")
    if ids_down:
        chosen.reverse()
    chosen.sort(key=lambda call: call["created_at"], reverse=sort in (None, "-created_at"))
    return [call["id"] for call in chosen]


@pytest.mark.parametrize("few", [0, 5, 1_000])
async def test_every_question_finds_what_reading_every_transcript_finds(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(full_text, "FEW", few)
    put = await put_talks(tenant)
    async with tenant.another_organization() as other:
        await put_conversation(other, ("agent", "too expensive"), created_at=DIALLED_MS + 1)
        await put_conversation(other, ("agent", mark("org_id", tenant.org_id) + " too"), created_at=DIALLED_MS + 1)
    found = 0
    filters: dict[str, Any]
    for query, filters in product(QUERIES, FILTERS):
        listed = tenant.client.transcripts.search(query=query, per_page=3, **filters)
        pages = [page async for page in listed.pages()]
        ids = [match.call_id for page in pages for match in page.data]
        wanted = expected(put, query, filters, None)
        assert ids == wanted, (query, filters)
        assert {page.pagination.total for page in pages} == {len(wanted)}
        found += len(ids)
    assert found > 200
    none: list[str] = expected(put, mark("org_id", tenant.org_id), {}, None)
    assert [match.call_id async for match in tenant.client.transcripts.search(query="orgx")] == none == []


@pytest.mark.parametrize("few", [0, 1_000])
@pytest.mark.parametrize("sort", SORTS)
async def test_calls_of_one_millisecond_are_each_shown_once_and_in_order(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, sort: str | None, few: int
) -> None:
    monkeypatch.setattr(full_text, "FEW", few)
    put = await put_talks(tenant)
    wanted = expected(put, "too", {}, sort)
    assert len({call["created_at"] for call in put if call["id"] in wanted}) < len(wanted) // 2
    for per_page in (1, 2, 5, 7, 200):
        listed = tenant.client.transcripts.search(query="too", per_page=per_page, sort=sort)
        assert [match.call_id async for match in listed] == wanted
        numbered: list[str] = []
        for number in range(1, len(wanted) // per_page + 3):
            page = await tenant.client.transcripts.search(query="too", per_page=per_page, sort=sort, page=number)
            numbered += [match.call_id for match in page.data]
            assert page.pagination.has_more == (number * per_page < len(wanted))
        assert numbered == wanted


@pytest.mark.parametrize("few", [0, 1_000])
async def test_more_calls_than_are_counted_are_all_shown(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(full_text, "FEW", few)
    monkeypatch.setattr(handlers, "MOST_COUNTED", 3)
    put = await put_talks(tenant)
    wanted = expected(put, "too", {}, None)
    assert len(wanted) > 6
    pages = [page async for page in tenant.client.transcripts.search(query="too", per_page=2).pages()]
    assert [match.call_id for page in pages for match in page.data] == wanted
    assert {page.pagination.total for page in pages} == {3}
    assert [page.pagination.has_more for page in pages] == [True] * (len(pages) - 1) + [False]
    third = await tenant.client.transcripts.search(query="too", per_page=2, page=3)
    assert [match.call_id for match in third.data] == wanted[4:6]
    rare = await tenant.client.transcripts.search(query="grusse", per_page=2, deployment_id="dep_1")
    assert rare.pagination.total == len(expected(put, "grusse", {"deployment_id": "dep_1"}, None)) < 3


@pytest.mark.parametrize("most", [1, 5, 1_000])
async def test_matches_are_counted_up_to_a_bound(tenant: Tenant, most: int) -> None:
    put = await put_talks(tenant)
    listing = Listing(contract.search_transcripts, select(calls), COLUMNS, calls.c.id)
    nothing: dict[str, Any] = {"disposition": []}
    answered: dict[str, Any] = {"outcome": ["answered"]}

    def total(connection: Connection, query: str, asked: SearchTranscripts) -> int:
        read = read_query(query)
        assert read is not None
        found = transcript_search.finder(connection, read, listing, asked, org_id=tenant.org_id, most=most)
        return found.total()

    filters: dict[str, Any]
    for query, filters in (("too", {}), ("too", answered), ("too", nothing), ("fine", {}), ("unsaid", {})):
        counted = await tenant.database.read(total, query, SearchTranscripts(query=query, **filters))
        assert counted == min(most, len(expected(put, query, filters, None)))


async def test_calls_of_one_millisecond_are_numbered_one_after_the_other(tenant: Tenant) -> None:
    for _ in range(2):
        ids = [await put_call(tenant, created_at=DIALLED_MS + place % 2) for place in range(4)]
        rows = [{"call_id": call_id, "words": "hello"} for call_id in ids]
        await tenant.database.write(transcript_search.add, rows)
    found = [match.call_id async for match in tenant.client.transcripts.search(query="hello", per_page=3)]
    assert len(set(found)) == 8
    if not tenant.database.is_shared:
        numbers = select(text("place")).select_from(text("transcript_words_places"))
        rowids = await tenant.database.read(lambda c: list(c.execute(numbers).scalars()))
        firsts = [(DIALLED_MS + place) * IN_A_MILLISECOND for place in (0, 1)]
        assert sorted(rowids) == [first + number for first in firsts for number in range(4)]


@pytest.mark.parametrize("changed", [None, {"turns": "[]"}, {"to_number": "+13035550100"}])
async def test_words_are_taken_out_even_if_they_or_the_call_have_changed(
    tenant: Tenant, changed: dict[str, Any] | None
) -> None:
    await put_talks(tenant)
    before = await tenant.database.read(indexed)
    gone = [row.call_id for row in before[::3]]
    if changed is not None:
        table = transcripts if "turns" in changed else calls
        await tenant.database.write(lambda connection: connection.execute(update(table).values(**changed)))
    await tenant.database.write(transcript_search.remove, gone[1:])
    await tenant.database.write(transcript_search.remove, gone[:2])
    left = [row for row in before if row.call_id not in gone]
    assert await tenant.database.read(indexed) == left
    found = [match.call_id async for match in tenant.client.transcripts.search(query="too", per_page=200)]
    assert set(found) == {row.call_id for row in left if "too" in row.words.split()}


async def test_nothing_is_indexed_of_a_call_that_is_not_there(tenant: Tenant) -> None:
    await tenant.database.write(transcript_search.add, [])
    if not tenant.database.is_shared:
        with pytest.raises(KeyError, match="cal_1"):
            await tenant.database.write(transcript_search.add, [{"call_id": "cal_1", "words": "hello"}])
    assert (await tenant.client.transcripts.search(query="hello")).data == []


def test_every_filter_of_a_search_has_a_mark_or_is_a_moment() -> None:
    given: dict[str, Any] = dict.fromkeys(SearchTranscripts.model_fields, "x")
    given |= {"created_from": moment(DIALLED_MS), "created_before": moment(DIALLED_MS)}
    wanted = wanted_of(SearchTranscripts(query="x").model_copy(update=given))
    assert {one.column for one in wanted if one.test == "equals"} == set(MARKED) - {"org_id"}
    assert {one.column for one in wanted if one.test != "equals"} == {"created_at"}


FACTS = st.tuples(st.sampled_from(sorted(MARKED)), st.text(max_size=20))


@given(one=FACTS, other=FACTS)
def test_a_mark_is_one_word_and_stands_for_one_fact(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert mark(*one).isascii()
    assert mark(*one).isalnum()
    assert mark(*one) == mark(*one).lower()
    assert (mark(*one) == mark(*other)) is (one == other)
