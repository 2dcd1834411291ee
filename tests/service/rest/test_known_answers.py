"""Answers that are given again while nothing has changed, and never once something has."""

import json

import pytest

from callwright.client import Client
from callwright.service.rest.answers import Answer
from callwright.service.rest.known_answers import LIFETIME_MS, MOST_ANSWERS, MOST_BYTES, KnownAnswers
from tests.support import resources
from tests.support.clock_set_by_test import process_with_fixed_clock
from tests.support.database.databases import Engine
from tests.support.http.raw_requests import AsyncClient, raw_client
from tests.support.service import Tenant

PLACE = ("org_1", "/agents/agt_1", b"")
ANSWER = Answer(200, b"{}", {})


def test_an_answer_is_given_again_in_the_same_state_and_second_alone() -> None:
    known = KnownAnswers()
    known.keep(PLACE, 7, 5_000, ANSWER)
    assert known.find(PLACE, 7, 5_000 + LIFETIME_MS - 1) is ANSWER
    assert known.find(PLACE, 7, 5_000 + LIFETIME_MS) is None
    assert known.find(PLACE, 7, 4_999) is None
    assert known.find(PLACE, 8, 5_000) is None
    assert known.find(("org_2", *PLACE[1:]), 7, 5_000) is None
    assert known.find((*PLACE[:2], b"a=b"), 7, 5_000) is None


def test_a_new_state_forgets_what_was_kept() -> None:
    known = KnownAnswers()
    known.keep(PLACE, 7, 0, ANSWER)
    known.keep(("org_1", "/agents/agt_2", b""), 8, 0, ANSWER)
    assert known.find(PLACE, 7, 0) is None
    assert known.find(PLACE, 8, 0) is None


def test_where_nobody_can_tell_the_state_nothing_is_kept() -> None:
    known = KnownAnswers()
    known.keep(PLACE, None, 0, ANSWER)
    assert known.find(PLACE, None, 0) is None


def test_neither_long_answers_nor_too_many_are_kept() -> None:
    known = KnownAnswers()
    known.keep(PLACE, 7, 0, Answer(200, b" " * (MOST_BYTES + 1), {}))
    assert known.find(PLACE, 7, 0) is None
    for number in range(MOST_ANSWERS + 1):
        known.keep(("org_1", str(number), b""), 7, 0, ANSWER)
    assert known.find(("org_1", "0", b""), 7, 0) is None
    assert known.find(("org_1", str(MOST_ANSWERS), b""), 7, 0) is ANSWER


async def test_a_change_is_seen_by_the_next_request_whichever_process_made_it(tenant: Tenant) -> None:
    async with process_with_fixed_clock(tenant) as other:
        agent = await resources.agent(tenant)
        path = f"/v1/agents/{agent.id}"
        for number in range(20):
            assert (await other.http.get(path)).json()["data"]["metadata"] == (
                {"turn": str(number - 1)} if number else agent.metadata
            )
            await tenant.client.agents.update(id=agent.id, metadata={"turn": str(number)})
            first, second = await other.http.get(path), await other.http.get(path)
            assert first.json()["data"]["metadata"] == {"turn": str(number)}
            assert first.content == second.content
            assert first.headers["x-request-id"] != second.headers["x-request-id"]


async def test_what_was_deleted_is_gone_at_once(tenant: Tenant, http: AsyncClient) -> None:
    agent = await resources.agent(tenant)
    assert (await http.get(f"/v1/agents/{agent.id}")).status_code == 200
    await tenant.client.agents.delete(id=agent.id)
    assert (await http.get(f"/v1/agents/{agent.id}")).status_code == 404


async def test_an_answer_of_one_organization_is_never_given_to_another(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    async with tenant.another_organization() as stranger, raw_client(stranger) as http, raw_client(tenant) as own:
        assert (await own.get(f"/v1/agents/{agent.id}")).status_code == 200
        assert (await http.get(f"/v1/agents/{agent.id}")).status_code == 404
        balances = [json.loads((await each.get("/v1/wallet")).content)["data"] for each in (own, http)]
        assert balances[0]["updated_at"]


@pytest.mark.parametrize("per_page", [1])
async def test_lists_are_always_read_anew(engine: Engine, tenant: Tenant, per_page: int) -> None:
    client: Client = tenant.client
    assert (await client.agents.list(per_page=per_page)).pagination.total == 0
    await resources.agent(tenant)
    assert (await client.agents.list(per_page=per_page)).pagination.total == 1
