import base64
from typing import Any

import pytest

from callwright.client import InvalidArguments, Listing, UnexpectedAnswer
from callwright.client.transport import Request, Response
from callwright.contract.agents.agents import Agent, ListAgents, list_agents
from tests.client.scripted import AGENT, ScriptedService, client_of, many, scripted


class NewestFirst:
    """Serves agents newest first by a cursor that names the last one given. After each page comes one of `arrivals`."""

    def __init__(self, numbers: list[int], arrivals: list[int] | None = None) -> None:
        self.numbers, self.arrivals = numbers, arrivals or []
        self.queries: list[dict[str, str]] = []

    def __call__(self, request: Request) -> Response:
        query = dict(request.url.params)
        self.queries.append(query)
        per_page = int(query.get("per_page", "50"))
        newest = sorted(self.numbers, reverse=True)
        if "cursor" in query:
            last = int(base64.b64decode(query["cursor"]))
            newest = [number for number in newest if number < last]
        else:
            newest = newest[(int(query.get("page", "1")) - 1) * per_page :]
        given = newest[:per_page]
        more = len(newest) > per_page
        cursor = base64.b64encode(str(given[-1]).encode()).decode() if more else None
        if self.arrivals:
            self.numbers.append(self.arrivals.pop(0))
        return many([agent(number) for number in given], next_cursor=cursor, per_page=per_page)


def agent(number: int) -> dict[str, Any]:
    return AGENT | {"id": f"agt_{number}"}


def ids(agents: list[Agent]) -> list[int]:
    return [int(one.id.removeprefix("agt_")) for one in agents]


async def test_awaiting_a_list_gives_the_one_page_that_was_asked_for() -> None:
    service = NewestFirst(list(range(120)))
    async with client_of(service) as client:
        page = await client.agents.list(page=2, per_page=3)
    assert ids(page.data) == [116, 115, 114]
    assert page.pagination.has_more
    assert service.queries == [{"page": "2", "per_page": "3"}]


async def test_a_loop_gives_every_entry_and_follows_the_cursor() -> None:
    service = NewestFirst(list(range(7)))
    async with client_of(service) as client:
        found = [agent async for agent in client.agents.list(per_page=3, language="en-US")]
    assert ids(found) == [6, 5, 4, 3, 2, 1, 0]
    assert [set(query) for query in service.queries] == [
        {"per_page", "filter[language]"},
        {"per_page", "filter[language]", "cursor"},
        {"per_page", "filter[language]", "cursor"},
    ]
    assert {query["filter[language]"] for query in service.queries} == {"en-US"}


async def test_entries_that_arrive_between_pages_neither_repeat_nor_hide_any() -> None:
    service = NewestFirst(list(range(7)), arrivals=[100, 101, 102])
    async with client_of(service) as client:
        found = [agent async for agent in client.agents.list(per_page=2)]
    assert ids(found) == [6, 5, 4, 3, 2, 1, 0]


async def test_a_loop_asks_for_the_largest_pages_unless_told_otherwise() -> None:
    service = NewestFirst(list(range(250)))
    async with client_of(service) as client:
        found = [agent async for agent in client.agents.list()]
    assert len(found) == 250
    assert [query["per_page"] for query in service.queries] == ["200", "200"]


async def test_pages_gives_page_after_page() -> None:
    async with client_of(NewestFirst(list(range(5)))) as client:
        pages = [ids(page.data) async for page in client.agents.list(per_page=2).pages()]
    assert pages == [[4, 3], [2, 1], [0]]


async def test_a_walk_that_begins_at_a_page_goes_on_by_cursor_alone() -> None:
    service = NewestFirst(list(range(6)))
    async with client_of(service) as client:
        found = [agent async for agent in client.agents.list(page=2, per_page=2)]
    assert ids(found) == [3, 2, 1, 0]
    assert ["page" in query for query in service.queries] == [True, False]


async def test_a_loop_that_stops_early_asks_for_no_further_page() -> None:
    service = NewestFirst(list(range(6)))
    async with client_of(service) as client:
        async for agent in client.agents.list(per_page=2):
            assert agent.id == "agt_5"
            break
    assert len(service.queries) == 1


async def test_a_list_can_be_looped_over_again() -> None:
    service = NewestFirst(list(range(3)))
    async with client_of(service) as client:
        listing = client.agents.list()
        assert [ids([agent async for agent in listing]) for _ in range(2)] == [[2, 1, 0]] * 2
        assert ids((await listing).data) == [2, 1, 0]
    assert len(service.queries) == 3


async def test_a_cursor_that_leads_in_a_circle_ends_the_walk() -> None:
    circle = [many([AGENT], next_cursor="a"), many([], next_cursor="b"), many([], next_cursor="a")]
    async with scripted(*circle, AssertionError("a fourth page was asked for")) as (service, client):
        with pytest.raises(UnexpectedAnswer, match="given before"):
            async for _ in client.agents.list():
                pass
    assert len(service.requests) == 3


async def test_more_without_a_cursor_is_not_taken_for_the_end() -> None:
    found: list[Agent] = []
    async with client_of(ScriptedService(many([AGENT], has_more=True))) as client:
        walk = aiter(client.agents.list())
        found.append(await anext(walk))
        with pytest.raises(UnexpectedAnswer, match="without next_cursor"):
            await anext(walk)
    assert ids(found) == [1]


async def test_arguments_that_do_not_fit_are_refused_when_the_list_is_named() -> None:
    async with client_of(NewestFirst([])) as client:
        with pytest.raises(InvalidArguments, match="per_page"):
            client.agents.list(per_page=201)


async def test_any_operation_of_a_list_gives_a_page_and_a_walk() -> None:
    async with client_of(NewestFirst([1, 2])) as client:
        page = await client.page(list_agents, ListAgents(per_page=1))
        walk = client.walk(list_agents, ListAgents(per_page=1))
        assert isinstance(walk, Listing)
        assert ids(page.data) == [2]
        assert ids([agent async for agent in walk]) == [2, 1]
