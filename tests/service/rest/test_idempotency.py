"""Idempotency keys: the same request again gets the first answer again, and nothing is done twice."""

import pytest
from sqlalchemy import update

from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.idempotency import read_key, request_fingerprint
from callwright.service.tables.schema import idempotency_keys
from tests.support import resources
from tests.support.clock_set_by_test import Process
from tests.support.http.raw_requests import AsyncClient, Response, raw_client, refused
from tests.support.service import Tenant
from tests.support.tasks import all_at_once

AGENT = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
ONCE = {"Idempotency-Key": "once"}


def replayed(response: Response) -> bool:
    """Whether the answer is a stored one."""
    return response.headers.get("idempotent-replayed") == "true"


@pytest.mark.requirement("IDEM-01", "IDEM-02", "IDEM-04", "IDEM-10")
async def test_the_same_request_again_gets_the_first_answer_again(http: AsyncClient) -> None:
    first = await http.post("/v1/agents", json=AGENT, headers=ONCE)
    await http.patch(f"/v1/agents/{first.json()['data']['id']}", json={"name": "Bea"})
    second = await http.post("/v1/agents", json=AGENT, headers=ONCE)
    quoted = await http.post("/v1/agents", json=AGENT, headers={"Idempotency-Key": ' "once" '})
    for again in (second, quoted):
        assert (again.status_code, again.content) == (201, first.content)
        assert replayed(again)
        assert again.headers["content-type"] == first.headers["content-type"]
        assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert not replayed(first)
    assert (await http.get("/v1/agents")).json()["pagination"]["total"] == 1


@pytest.mark.requirement("IDEM-05", "ERR-72")
async def test_a_key_of_another_request_is_refused(http: AsyncClient) -> None:
    await http.post("/v1/agents", json=AGENT, headers=ONCE)
    for path, body in (
        ("/v1/agents", {**AGENT, "name": "Bea"}),
        ("/v1/agents", {}),
        ("/v1/audiences", AGENT),
        ("/v1/deployments/dep_x/start", None),
    ):
        answer = await http.post(path, json=body, headers=ONCE)
        refused(answer, 422, "idempotency_key_reused", "Idempotency-Key")
    other_bytes = await http.post("/v1/agents", content=b'{"name": "Ada"}', headers=ONCE)
    refused(other_bytes, 422, "idempotency_key_reused", "Idempotency-Key")
    assert (await http.get("/v1/agents")).json()["pagination"]["total"] == 1


@pytest.mark.requirement("IDEM-08")
async def test_a_refusal_frees_the_key(tenant: Tenant, http: AsyncClient) -> None:
    refused(await http.post("/v1/agents", json={}, headers=ONCE), 400, "missing_field", "name")
    taken = await resources.agent(tenant)
    refused(await http.post("/v1/agents", json=AGENT, headers=ONCE), 409, "duplicate_name", "name")
    await tenant.client.agents.delete(id=taken.id)
    made = await http.post("/v1/agents", json=AGENT, headers=ONCE)
    assert (made.status_code, replayed(made)) == (201, False)


@pytest.mark.requirement("IDEM-06", "PATH-20")
async def test_the_spellings_of_a_path_are_one_request(http: AsyncClient) -> None:
    first = await http.post("/v1/phone_numbers", json={"country": "US"}, headers=ONCE)
    for path in ("/v1/phone-numbers", "/api/v1/phone_numbers", "/api/v1/phone-numbers", "/v1/phone_numbers/"):
        again = await http.post(path, json={"country": "US"}, headers=ONCE)
        assert replayed(again), path
        assert again.content == first.content
    assert (await http.get("/v1/phone_numbers")).json()["pagination"]["total"] == 1


@pytest.mark.requirement("IDEM-10")
@pytest.mark.parametrize("key", ["", "two words", "x" * 256, '""', "umläut", "tab\there"])
async def test_a_key_of_a_bad_form_is_refused(http: AsyncClient, key: str) -> None:
    headers = [(b"idempotency-key", key.encode("latin-1"))]
    answer = await http.post("/v1/agents", json=AGENT, headers=headers)
    refused(answer, 400, "invalid_field", "Idempotency-Key")
    assert (await http.get("/v1/agents", headers=headers)).status_code == 200


@pytest.mark.requirement("IDEM-10")
async def test_a_key_may_have_255_visible_characters(http: AsyncClient) -> None:
    headers = {"Idempotency-Key": "~!" + "x" * 253}
    first = await http.post("/v1/agents", json=AGENT, headers=headers)
    assert (await http.post("/v1/agents", json=AGENT, headers=headers)).content == first.content


@pytest.mark.requirement("IDEM-07")
async def test_fifty_creations_at_once_with_one_key_make_one_agent(http: AsyncClient) -> None:
    answers: list[Response] = []

    async def create() -> None:
        answers.append(await http.post("/v1/agents", json=AGENT, headers=ONCE))

    await all_at_once(50, create, within_s=30)
    assert (await http.get("/v1/agents")).json()["pagination"]["total"] == 1
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert [replayed(answer) for answer in answers].count(False) == 1


async def test_fifty_creations_at_once_of_one_name_make_one_agent(http: AsyncClient) -> None:
    answers: list[Response] = []

    async def create() -> None:
        answers.append(await http.post("/v1/agents", json=AGENT))

    await all_at_once(50, create, within_s=30)
    assert (await http.get("/v1/agents")).json()["pagination"]["total"] == 1
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 49


@pytest.mark.requirement("IDEM-09")
async def test_the_same_word_is_another_key_for_another_api_key(tenant: Tenant, other: Tenant) -> None:
    second = await tenant.new_key("second")
    async with raw_client(tenant) as mine, raw_client(tenant, key=second.secret) as ours, raw_client(other) as theirs:
        first = await mine.post("/v1/agents", json=AGENT, headers=ONCE)
        refused(await ours.post("/v1/agents", json=AGENT, headers=ONCE), 409, "duplicate_name", "name")
        foreign = await theirs.post("/v1/agents", json=AGENT, headers=ONCE)
        assert (foreign.status_code, replayed(foreign)) == (201, False)
        assert foreign.json()["data"]["id"] != first.json()["data"]["id"]


@pytest.mark.requirement("IDEM-03", "IDEM-11", "LIMIT-03")
async def test_a_key_is_new_again_after_24_hours(tenant: Tenant, process: Process) -> None:
    http = process.http
    await http.post("/v1/audiences", json={"name": "One"}, headers=ONCE)

    async def age(hours: int) -> None:
        older = update(idempotency_keys).values(created_at=idempotency_keys.c.created_at - hours * HOUR)
        await tenant.database.write(lambda connection: connection.execute(older).rowcount)

    await age(23)
    assert replayed(await http.post("/v1/audiences", json={"name": "One"}, headers=ONCE))
    await age(1)
    refused(await http.post("/v1/audiences", json={"name": "One"}, headers=ONCE), 409, "duplicate_name", "name")
    made = await http.post("/v1/audiences", json={"name": "Two"}, headers=ONCE)
    assert (made.status_code, replayed(made)) == (201, False)


@pytest.mark.requirement("IDEM-14")
async def test_actions_take_a_key_too(tenant: Tenant, http: AsyncClient) -> None:
    deployment = (await resources.draft(tenant)).deployment.id
    started = await http.post(f"/v1/deployments/{deployment}/start", headers=ONCE)
    assert (await http.post(f"/v1/deployments/{deployment}/cancel")).status_code == 200
    again = await http.post(f"/v1/deployments/{deployment}/start", headers=ONCE)
    assert (started.status_code, again.content) == (200, started.content)
    assert replayed(again)


@pytest.mark.requirement("IDEM-02")
async def test_renting_twice_with_one_key_charges_once(tenant: Tenant) -> None:
    before = (await tenant.client.wallet.get()).balance.amount
    rented = [await tenant.client.idempotent("rent").phone_numbers.rent(country="US") for _ in range(3)]
    assert len({number.id for number in rented}) == 1
    after = (await tenant.client.wallet.get()).balance.amount
    assert (before, after) == ("100.000000", "98.850000")


def test_reading_a_key_takes_quotes_off_once() -> None:
    assert read_key(None) is None
    assert read_key('"a"') == "a"
    assert read_key('"') == '"'
    assert read_key('""a""') == '"a"'
    with pytest.raises(Refusal):
        read_key("")


def test_a_fingerprint_differs_by_method_path_and_body() -> None:
    parts = [("POST", "/a", b""), ("PUT", "/a", b""), ("POST", "/b", b""), ("POST", "/a", b"{}")]
    assert len({request_fingerprint(*part) for part in parts}) == len(parts)
    assert request_fingerprint(*parts[0]) == request_fingerprint(*parts[0])


async def test_a_replayed_creation_says_again_where_the_resource_is(http: AsyncClient) -> None:
    first = await http.post("/v1/audiences", json={"name": "People"}, headers=ONCE)
    again = await http.post("/v1/audiences", json={"name": "People"}, headers=ONCE)
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["location"] == f"/v1/audiences/{first.json()['data']['id']}"
