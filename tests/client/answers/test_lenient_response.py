"""Answers that the contract's models fit, and answers that they do not."""

import json
from typing import Any, cast

import pytest

from callwright.client.compat.lenient_response import LenientResponse, lenient_response
from callwright.client.errors import DoesNotFit, UnexpectedAnswer
from callwright.contract.agents.agents import Agent, create_agent, delete_agent, get_agent, list_agents
from callwright.contract.calls.calls import get_call, list_calls
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.voices import get_voice
from callwright.contract.wallet import get_wallet
from tests.client.scripted import AGENT, ScriptedService, client_of, one, scripted
from tests.support.tools.samples import call

PAGING = {"page": 1, "per_page": 50, "total": 1, "has_more": False}


def read(operation: AnyOperation, body: Any) -> LenientResponse[Any]:
    return lenient_response(operation, json.dumps(body).encode(), status=200)


@pytest.mark.parametrize("body", [{"data": AGENT}, AGENT])
def test_a_resource_is_read_in_an_envelope_and_bare(body: Any) -> None:
    found = read(get_agent, body)
    assert isinstance(found.answer, Agent)
    assert found.data == AGENT


def test_unknown_fields_are_kept_at_any_depth_and_nulls_are_left_out() -> None:
    found = read(get_agent, {"data": {**AGENT, "x": {"y": [{"z": None, "w": 1}]}, "n": None}})
    assert found.data == {**AGENT, "x": {"y": [{"w": 1}]}}
    assert found.answer is not None
    assert found.answer.x == {"y": [{"z": None, "w": 1}]}


def test_a_missing_field_leaves_the_data_alone() -> None:
    found = read(get_agent, {"data": {"id": "agt_1", "name": "Ada"}})
    assert found == LenientResponse(answer=None, data={"id": "agt_1", "name": "Ada"})


def test_a_default_that_the_service_did_not_say_is_not_put_in() -> None:
    voice = {"id": "v", "name": "V", "provider": "p", "gender": "female", "language": "en-US"}
    assert read(get_voice, voice) == LenientResponse(answer=None, data=voice)
    whole = {**voice, "tier": "standard", "status": "active", "is_custom": False}
    assert read(get_voice, whole).answer is not None


def test_another_word_for_a_state_does_not_fit() -> None:
    record = call().model_dump(mode="json", by_alias=True)
    assert read(get_call, {"data": record}).answer is not None
    found = read(get_call, {"data": {**record, "outcome": "voicemail_dropped"}})
    assert found.answer is None
    assert found.data["outcome"] == "voicemail_dropped"


@pytest.mark.parametrize("missing", ["id", "call_id"])
def test_a_call_is_known_by_either_name_of_its_id(missing: str) -> None:
    record = call().model_dump(mode="json", by_alias=True)
    del record[missing]
    found = read(get_call, {"data": record})
    assert found.answer is not None
    assert found.answer.id == found.answer.call_id == "cal_1"
    assert missing not in found.data


@pytest.mark.parametrize(
    "body",
    [
        [AGENT],
        {"data": [AGENT]},
        {"data": [AGENT], "pagination": PAGING},
        {"data": [AGENT], "pagination": {"page": "one"}},
        {"agents": [AGENT]},
        {"items": [AGENT], "has_more": False},
        {"data": {"results": [AGENT]}},
        {"whatever": [AGENT]},
    ],
)
def test_a_list_is_found_in_any_envelope(body: Any) -> None:
    found = read(list_agents, body)
    assert found.data["data"] == [AGENT]
    fits = isinstance(body, dict) and cast("dict[str, Any]", body).get("pagination") == PAGING
    assert (found.answer is not None) == fits


def test_a_list_of_which_one_entry_does_not_fit_is_given_as_data() -> None:
    found = read(list_calls, {"data": [{"call_id": "cal_1"}], "pagination": PAGING})
    assert found == LenientResponse(answer=None, data={"data": [{"call_id": "cal_1"}], "pagination": PAGING})


def test_a_list_in_place_of_one_thing_is_given_as_it_is() -> None:
    assert read(get_wallet, {"data": [{"balance": "1"}]}).data == {"data": [{"balance": "1"}]}


@pytest.mark.parametrize("body", [3, "text", True, None])
def test_a_value_alone_is_given_under_a_name(body: Any) -> None:
    assert read(get_agent, body).answer is None


def test_what_stands_beside_the_data_is_kept() -> None:
    found = read(get_agent, {"data": {"id": "a"}, "request_id": "req_1"})
    assert found.data == {"id": "a", "request_id": "req_1"}


def test_a_data_field_of_a_bare_resource_stays_where_it_is() -> None:
    body = {"id": "evt_1", "data": {"x": 1}}
    assert read(get_agent, body).data == body


def test_an_empty_body_is_an_empty_answer() -> None:
    assert lenient_response(create_agent, b"", status=202) == LenientResponse(answer=None, data={})
    assert lenient_response(delete_agent, b"gone", status=200) == LenientResponse(answer=None, data={})


@pytest.mark.parametrize("body", [b"<html>", b"{", b"\xff", b"[" * 100_000])
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(UnexpectedAnswer, match="not JSON"):
        lenient_response(get_agent, body, status=200, request_id="req_1")


async def test_the_typed_client_stays_strict_and_hands_over_what_came() -> None:
    async with client_of(ScriptedService(one({"id": "agt_1", "x": None}))) as client:
        with pytest.raises(DoesNotFit) as caught:
            await client.agents.get(id="agt_1")
    assert (caught.value.operation, caught.value.data) == ("get_agent", {"id": "agt_1"})


async def test_further_fields_travel_in_the_body() -> None:
    async with scripted(one(AGENT, 201)) as (service, client):
        asked = create_agent.takes(name="Ada", voice_id="v", language="en-US", system_prompt="p")
        await client.ask_lenient(create_agent, asked, extra={"mood": "kind", "name": "no"})
    assert json.loads(service.only.content)["mood"] == "kind"
    assert json.loads(service.only.content)["name"] == "Ada"
