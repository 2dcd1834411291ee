"""The prefix, the spelling and the operations of a service, found out by its answers."""

from typing import Any

import pytest

from callwright.client import CallwrightError, NotFound, NotOffered, Retries
from callwright.client.compat.paths import PREFIXES
from callwright.client.transport import Request, Response
from callwright.contract.agents.agents import GetAgent, get_agent
from tests.client.scripted import AGENT, ScriptedService, client_of, many, nested, one, scripted

ORIGIN = "http://service.test"
PAGE = Response(200, html="<html>Welcome</html>")
ABSENT = Response(404, text="Not Found")


class Routes:
    """A service that knows some methods and paths, and answers every other one as frameworks do."""

    def __init__(self, *known: str, absent: Response = ABSENT) -> None:
        self.known = known
        self.absent = absent
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Response:
        route = f"{request.method} {request.url.path}"
        self.asked.append(route)
        if route in self.known:
            return many([]) if request.method == "GET" else nested(400, "missing_field")
        return self.absent


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_the_prefix_is_found_and_remembered(prefix: str) -> None:
    service = Routes(f"GET {prefix}/agents", f"GET {prefix}/voices")
    async with client_of(service, base_url=ORIGIN) as client:
        await client.agents.list()
        tried = len(service.asked)
        await client.voices.list()
        assert client.compat.prefix == prefix
    assert tried == 1 + PREFIXES.index(prefix)
    assert service.asked[tried:] == [f"GET {prefix}/voices"]


@pytest.mark.parametrize(("status", "code"), [(401, "invalid_api_key"), (408, "http_408"), (429, "rate_limited")])
async def test_what_is_refused_before_its_route_is_looked_for_proves_no_prefix(status: int, code: str) -> None:
    service = ScriptedService(nested(status, code), ABSENT, many([]))
    async with client_of(service, base_url=ORIGIN, retries=Retries(attempts=1)) as client:
        with pytest.raises(CallwrightError):
            await client.agents.list()
        assert client.compat.prefix is None
        await client.agents.list()
        assert client.compat.prefix == "/api/v1"


async def test_a_page_for_people_in_place_of_the_service_is_no_answer() -> None:
    service = Routes("GET /api/v1/agents", absent=PAGE)
    async with client_of(service, base_url=ORIGIN) as client:
        await client.agents.list()
    assert service.asked == ["GET /v1/agents", "GET /api/v1/agents"]


async def test_a_base_address_with_a_path_is_taken_as_it_is() -> None:
    service = Routes("GET /v1/agents")
    async with client_of(service, base_url=f"{ORIGIN}/rest") as client:
        with pytest.raises(NotOffered) as caught:
            await client.agents.list()
    assert service.asked == ["GET /rest/agents"]
    assert caught.value.nothing_found
    assert caught.value.tried == ("GET /agents",)


async def test_when_the_first_way_works_nothing_more_is_sent() -> None:
    service = Routes("GET /v1/phone_numbers")
    async with client_of(service) as client:
        await client.phone_numbers.list()
        await client.phone_numbers.list()
    assert service.asked == ["GET /v1/phone_numbers"] * 2


async def test_each_method_has_its_own_spelling() -> None:
    service = Routes("GET /v1/phone-numbers", "POST /v1/phone_numbers")
    async with client_of(service) as client:
        for _ in range(2):
            await client.phone_numbers.list()
            with pytest.raises(CallwrightError, match="missing_field"):
                await client.phone_numbers.rent(country="US")
    assert service.asked == [
        "GET /v1/phone_numbers",
        "GET /v1/phone-numbers",
        "POST /v1/phone_numbers",
        "GET /v1/phone-numbers",
        "POST /v1/phone_numbers",
    ]


async def test_a_spelling_that_worked_is_tried_first_for_other_operations_of_the_method() -> None:
    service = Routes("GET /v1/phone-numbers", "GET /v1/phone-numbers/num_1")
    async with client_of(service) as client:
        await client.phone_numbers.list()
        with pytest.raises(CallwrightError):
            await client.phone_numbers.get(id="num_1")
    assert service.asked[2:] == ["GET /v1/phone-numbers/num_1"]


@pytest.mark.parametrize("answer", [Response(404, json={"detail": "Not Found"}), Response(405), nested(405, "no")])
async def test_a_post_is_sent_again_where_the_answer_proves_that_nothing_was_done(answer: Response) -> None:
    service = Routes("POST /v1/phone-numbers", absent=answer)
    async with client_of(service) as client:
        with pytest.raises(CallwrightError, match="missing_field"):
            await client.phone_numbers.rent(country="US")
    assert service.asked == ["POST /v1/phone_numbers", "POST /v1/phone-numbers"]


@pytest.mark.parametrize(
    "answer",
    [
        nested(404, "number_not_found"),
        nested(400, "missing_field"),
        nested(409, "number_unavailable"),
        nested(501, "not_implemented"),
        Response(501),
        Response(410),
        Response(200, html="<html>Done</html>"),
    ],
)
async def test_a_post_that_something_answered_is_not_sent_again(answer: Response) -> None:
    async with scripted(answer) as (service, client):
        with pytest.raises(CallwrightError):
            await client.phone_numbers.rent(country="US")
    assert len(service.requests) == 1


async def test_the_second_try_carries_the_same_idempotency_key() -> None:
    async with scripted(ABSENT, nested(400, "missing_field")) as (service, client):
        with pytest.raises(CallwrightError, match="missing_field"):
            await client.phone_numbers.rent(country="US")
    assert service.keys == ["key-1", "key-1"]


@pytest.mark.parametrize(
    "answer",
    [
        ABSENT,
        Response(404, json={"detail": "Not Found"}),
        Response(404, json={"statusCode": 404, "message": "Cannot GET /v1/agents", "error": "Not Found"}),
        Response(405),
        Response(501),
        nested(404, "not_found"),
        PAGE,
    ],
)
async def test_a_list_that_is_not_there_is_not_offered(answer: Response) -> None:
    async with client_of(ScriptedService(answer)) as client:
        with pytest.raises(NotOffered, match="does not offer list_agents") as caught:
            await client.agents.list()
    assert caught.value.operation == "list_agents"
    assert caught.value.tried == ("GET /agents",)
    assert not caught.value.retryable


async def test_a_thing_that_is_not_there_is_not_found() -> None:
    async with client_of(ScriptedService(nested(404, "agent_missing"))) as client:
        with pytest.raises(NotFound, match="agent_missing"):
            await client.agents.get(id="agt_9")


async def test_once_an_operation_has_worked_a_bare_404_means_the_thing() -> None:
    async with client_of(ScriptedService(one(AGENT), ABSENT)) as client:
        await client.agents.get(id="agt_1")
        with pytest.raises(NotFound) as caught:
            await client.agents.get(id="agt_9")
    assert (caught.value.code, caught.value.field) == ("not_found", "id")


async def test_what_the_services_description_names_is_there() -> None:
    async with scripted(many([]), ABSENT) as (service, client):
        client.compat.learn_documented({"get_agent": "agents", "list_phone_numbers": "phone-numbers"})
        await client.phone_numbers.list()
        with pytest.raises(NotFound):
            await client.agents.get(id="agt_9")
    assert service.requests[0].url.path == "/v1/phone-numbers"


async def test_a_refused_key_says_nothing_about_the_prefix() -> None:
    service = ScriptedService(Response(401, json={"error": "invalid_api_key", "message": "No."}))
    async with client_of(service, base_url=ORIGIN) as client:
        with pytest.raises(CallwrightError, match="invalid_api_key"):
            await client.agents.list()
        assert client.compat.prefix is None
    assert len(service.requests) == 1


async def test_a_recording_is_asked_for_below_the_prefix_that_was_found() -> None:
    service = Routes("GET /v1/agents", absent=ABSENT)
    async with client_of(service, base_url=ORIGIN) as client:
        await client.agents.list()
        with pytest.raises(NotOffered):
            async with client.calls.get_recording(call_uuid="cal_1"):
                raise AssertionError
    assert service.asked[-1] == "GET /v1/calls/cal_1/recording"


async def test_answers_are_also_read_as_they_come() -> None:
    short: dict[str, Any] = {"id": "agt_1", "name": "Ada", "mood": None, "deep": {"a": None, "b": 1}}
    async with client_of(ScriptedService(one(short))) as client:
        found = await client.ask_lenient(get_agent, GetAgent(id="agt_1"))
    assert found.answer is None
    assert found.data == {"id": "agt_1", "name": "Ada", "deep": {"b": 1}}
