"""Every way of finding words gives the same calls, in the same order, with the same total."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.domain.search_words import read_query
from callwright.service.storage import transcript_search
from callwright.service.storage.transcript_search import said_in, searchable
from tests.service.doors import Door, open_service
from tests.service.handlers.test_calls import DIALLED_MS
from tests.service.handlers.test_transcripts import put_talk

WAYS = {
    "looked up": {"FEW": 1_000, "NARROW": 0, "FREQUENT": 1_000},
    "read where filters leave few": {"FEW": 0, "NARROW": 1_000, "FREQUENT": 1_000},
    "walked in order": {"FEW": 0, "NARROW": 0, "FREQUENT": 1_000},
    "read from the newest on": {"FEW": 0, "NARROW": 0, "FREQUENT": 1},
}
TALKS = (
    ("It costs 90 dollars.", "That is too expensive for me."),
    ("Is it too early?", "No. An expensive car, too."),
    ("Thursday?", 'Too\nexpensive, "really\\" \ttoo expensive!'),
    ("Grüße aus Köln", "zu teuer, Thursday"),
    ("क्या गुरुवार ठीक है?", "too expensive"),
    ("The end of turn is endofturn.", "index role text agent contact 0 1 2"),
    ("𝓉𝑜𝑜 expensive", "ﬁne"),
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
)
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"outcome": ["answered"]},
    {"deployment_id": "dep_1"},
    {"to": "+12125550100"},
)


async def answers(door: Door) -> list[tuple[list[str], list[int | None]]]:
    """What every query finds under every filter: ids page by page, and totals."""
    found: list[tuple[list[str], list[int | None]]] = []
    for query in QUERIES:
        for filters in FILTERS:
            pages = [page async for page in door.client.transcripts.search(query=query, per_page=3, **filters).pages()]
            ids = [match.call_id for page in pages for match in page.data]
            found.append((ids, [page.pagination.total for page in pages]))
    return found


@pytest.mark.parametrize("alone", [True, False], ids=["one organization", "two organizations"])
async def test_every_way_of_finding_words_gives_the_same_answers(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        for place, (agent, contact) in enumerate(TALKS):
            outcome = "answered" if place % 2 else "transferred"
            fields = {"created_at": DIALLED_MS + place // 2, "deployment_id": f"dep_{place % 2}", "outcome": outcome}
            await put_talk(door, ("agent", agent), ("contact", contact), contact_id=f"ctc_{place}", **fields)
        if not alone:
            async with door.another_organization() as other:
                await put_talk(other, ("agent", "too expensive"), created_at=DIALLED_MS + 9)
        found: dict[str, Any] = {}
        for way, limits in WAYS.items():
            for name, value in limits.items():
                monkeypatch.setattr(transcript_search, name, value)
            found[way] = await answers(door)
    first = found["looked up"]
    assert [way for way, said in found.items() if said != first] == []
    assert len(first[QUERIES.index('"too expensive"') * len(FILTERS)][0]) == 4
    assert sum(bool(ids) for ids, _ in first) > len(first) // 2


TEXTS = st.text(max_size=30) | st.text(alphabet='ab1 ,."\\\n', max_size=12)


@given(said=st.lists(TEXTS, min_size=1, max_size=4), query=TEXTS)
def test_reading_a_transcript_finds_what_its_index_holds(said: list[str], query: str) -> None:
    read = read_query(query)
    if read is None:
        return
    words = f" {searchable(said)} "
    indexed = all(f" {' '.join(phrase)} " in words for phrase in read.phrases)
    try:
        stored = orjson.dumps([{"text": text, "role": "agent", "index": 0} for text in said]).decode()
    except orjson.JSONEncodeError:  # half a character, which no transcript can hold
        return
    assert said_in(read)(stored) is indexed
