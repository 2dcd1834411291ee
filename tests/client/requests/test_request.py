import traceback
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from callwright.client import InvalidArguments
from callwright.client.request import beta_headers
from callwright.contract.agents.agents import GetAgent
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.voices import get_voice
from tests.client.scripted import AGENT, AT, ScriptedService, body_of, client_of, many, nested, one, scripted


async def test_a_patch_sends_only_what_was_given_and_null_where_null_was_given() -> None:
    async with scripted(one(AGENT)) as (service, client):
        await client.agents.update(id="agt_1", name="Eve", metadata=None)
        await client.agents.update(id="agt_1")
    first, second = service.requests
    assert (first.method, first.url.raw_path) == ("PATCH", b"/v1/agents/agt_1")
    assert body_of(first) == {"name": "Eve", "metadata": None}
    assert body_of(second) == {}


async def test_a_part_inside_a_patch_sends_only_its_given_fields() -> None:
    async with scripted(nested(404, "not_found")) as (service, client):
        with pytest.raises(Exception, match="not_found"):
            await client.deployments.update(
                id="dep_1",
                retry_policy=RetryPolicy(max_attempts=5),
                end_at=datetime(2026, 11, 21, 10, 30, tzinfo=timezone(timedelta(hours=1))),
            )
    assert body_of(service.only) == {"retry_policy": {"max_attempts": 5}, "end_at": AT}


async def test_a_creation_sends_its_fields_as_json_and_leaves_defaults_to_the_service() -> None:
    async with scripted(one(AGENT, 201)) as (service, client):
        await client.agents.create(name="Zoë", voice_id="v", language="en-US", system_prompt="p")
    assert service.only.headers["content-type"] == "application/json"
    assert body_of(service.only) == {"name": "Zoë", "voice_id": "v", "language": "en-US", "system_prompt": "p"}


async def test_an_action_has_no_body() -> None:
    async with scripted(nested(404, "not_found")) as (service, client):
        with pytest.raises(Exception, match="not_found"):
            await client.deployments.pause(id="dep_1")
    assert service.only.url.raw_path == b"/v1/deployments/dep_1/pause"
    assert service.only.content == b""
    assert "content-type" not in service.only.headers


async def test_filters_lists_and_moments_travel_in_the_query() -> None:
    async with scripted(many([])) as (service, client):
        await client.calls.list(
            status=["queued", "in_progress"],
            to="+12025550100",
            created_from=datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
            disposition=None,
            sort="-created_at,ended_at",
            per_page=20,
        )
    assert dict(service.only.url.params) == {
        "filter[status]": "queued,in_progress",
        "filter[to]": "+12025550100",
        "filter[created_from]": AT,
        "sort": "-created_at,ended_at",
        "per_page": "20",
    }
    assert b"filter%5Bto%5D=%2B12025550100" in service.only.url.raw_path


async def test_a_list_without_arguments_has_no_query() -> None:
    async with scripted(many([])) as (service, client):
        await client.agents.list()
    assert service.only.url.raw_path == b"/v1/agents"


@pytest.mark.parametrize("entries", [["a,b"], [""], []])
async def test_a_filter_that_would_be_read_as_other_entries_is_refused(entries: list[str]) -> None:
    async with scripted(many([])) as (service, client):
        with pytest.raises(InvalidArguments, match="audience_id"):
            await client.calls.list(audience_id=entries)
    assert service.requests == []


@pytest.mark.parametrize(
    ("given", "segment"),
    [
        ("a?b=c", b"a%3Fb%3Dc"),
        ("a#b", b"a%23b"),
        ("a b", b"a%20b"),
        ("..\\x", b"..%5Cx"),
        ("%2e%2e", b"%252e%252e"),
        ("%2F", b"%252F"),
        ("é;@:", b"%C3%A9%3B%40%3A"),
        ("...", b"..."),
        ("\r\nX: y", b"%0D%0AX%3A%20y"),
    ],
)
async def test_an_id_stays_one_segment_of_the_path(given: str, segment: bytes) -> None:
    async with scripted(one(AGENT)) as (service, client):
        await client.agents.get(id=given)
    assert service.only.url.raw_path == b"/v1/agents/" + segment


@pytest.mark.parametrize("given", ["", ".", "..", "agt_1/rows", "/"])
async def test_an_id_that_would_reach_another_path_is_refused_before_it_is_sent(given: str) -> None:
    async with scripted(one(AGENT)) as (service, client):
        for asking in (client.agents.get(id=given), client.agents.delete(id=given)):
            with pytest.raises(InvalidArguments, match="id: must not be"):
                await asking
    assert service.requests == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"id": "agt_1", "nick": "+12025550100"}, "nick"),
        ({}, "id"),
        ({"id": "agt_1", "language": "+12025550100"}, "language"),
        ({"id": "agt_1", "name": "\ud800"}, "name"),
    ],
)
async def test_arguments_that_do_not_fit_are_named_without_their_values(arguments: dict[str, Any], field: str) -> None:
    async with scripted(one(AGENT)) as (service, client):
        with pytest.raises(InvalidArguments) as caught:
            await client.agents.update(**arguments)
    assert f"update_agent: {field}: " in str(caught.value)
    assert "+12025550100" not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert service.requests == []


async def test_a_value_json_cannot_hold_is_refused() -> None:
    async with scripted(nested(404, "not_found")) as (service, client):
        with pytest.raises(InvalidArguments, match="add_audience_rows"):
            await client.audiences.add_rows(id="aud_1", rows=[{"share": float("nan")}])
    assert service.requests == []


async def test_arguments_too_long_for_a_url_are_refused() -> None:
    async with client_of(ScriptedService(many([]))) as client:
        ids = ["x" * 250] * 100
        with pytest.raises(InvalidArguments, match="URL"):
            await client.calls.list(contact_id=ids, agent_id=ids, audience_id=ids, deployment_id=ids)


async def test_an_input_of_another_operation_is_refused() -> None:
    operation: Any = get_voice
    async with client_of(ScriptedService(one(AGENT))) as client:
        with pytest.raises(InvalidArguments, match="get_voice takes GetVoice, not GetAgent"):
            await client.ask(operation, GetAgent(id="agt_1"))


@pytest.mark.requirement("VER-04", "VER-10")
async def test_beta_features_are_switched_on_with_every_request() -> None:
    service = ScriptedService(one(AGENT))
    async with client_of(service, beta=("ratelimit_fields", "next_thing")) as client:
        await client.agents.get(id="agt_1")
        await client.agents.create(name="Ada", voice_id="v", language="en-US", system_prompt="p")
    sent = [request.headers["x-service-beta"] for request in service.requests]
    assert sent == ["enable=ratelimit_fields,next_thing"] * 2


async def test_without_beta_features_no_header_is_sent() -> None:
    async with scripted(one(AGENT)) as (service, client):
        await client.agents.get(id="agt_1")
    assert "x-service-beta" not in service.only.headers


@pytest.mark.parametrize("features", ["ratelimit_fields", ["A"], ["a\r\nb"], [""], ["a" * 41], ["a"] * 21])
def test_a_feature_that_cannot_be_one_is_refused(features: Any) -> None:
    with pytest.raises(InvalidArguments, match="beta must"):
        beta_headers(features)
