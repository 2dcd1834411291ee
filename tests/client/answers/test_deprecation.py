import warnings
from typing import Any

import pytest

from callwright.client import InvalidRequest
from callwright.client.deprecation import deprecation_words
from callwright.client.transport import Response
from tests.client.scripted import AGENT, ScriptedService, client_of, many, nested, one, scripted

GOING = {
    "Deprecation": "@1798761600",
    "Sunset": "Sat, 01 Jan 2028 00:00:00 GMT",
    "Link": '</v1/agents?cursor=x>; rel="next", <https://voice.example.com/docs/v2>; rel="sunset"',
}
WORDS = "list_agents is deprecated since 2027-01-01 and ends on 2028-01-01; see https://voice.example.com/docs/v2"


def going(response: Response) -> Response:
    """The answer of an operation that is going to be taken away."""
    return Response(response.status_code, content=response.content, headers={**response.headers, **GOING})


def caught(found: list[warnings.WarningMessage]) -> list[str]:
    assert {warning.category for warning in found} <= {DeprecationWarning}
    return [str(warning.message) for warning in found]


@pytest.mark.requirement("VER-03", "VER-08")
async def test_a_deprecated_operation_warns_once_at_the_line_that_calls_it() -> None:
    async with scripted(going(many([AGENT]))) as (service, client):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            await client.agents.list()
            await client.agents.list(per_page=3)
    assert len(service.requests) == 2
    assert caught(found) == [WORDS]
    assert found[0].filename == __file__


async def test_a_loop_over_a_deprecated_list_warns_at_the_loop() -> None:
    async with client_of(ScriptedService(going(many([AGENT])))) as client:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert [agent.id async for agent in client.agents.list()] == ["agt_1"]
    assert caught(found) == [WORDS]
    assert found[0].filename == __file__


async def test_each_operation_warns_for_itself_also_when_it_is_refused_or_gives_bytes() -> None:
    sound = Response(200, headers={"Content-Type": "audio/mpeg"}, content=b"x")
    service = ScriptedService(*map(going, (nested(400, "invalid_field"), one(AGENT), sound)))
    async with client_of(service) as client:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with pytest.raises(InvalidRequest):
                await client.agents.list(sort="x")
            await client.agents.get(id="agt_1")
            async with client.calls.get_recording(call_uuid="cal_1") as download:
                assert await download.read(10) == b"x"
    assert [words.split()[0] for words in caught(found)] == ["list_agents", "get_agent", "get_recording"]
    assert {warning.filename for warning in found} == {__file__}


async def test_an_operation_that_stays_warns_of_nothing() -> None:
    async with client_of(ScriptedService(many([AGENT]))) as client:
        await client.agents.list()


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"deprecation": "@1798761600"}, "x is deprecated since 2027-01-01"),
        ({"deprecation": "true", "sunset": "soon"}, "x is deprecated"),
        ({"sunset": "Sat, 01 Jan 2028 00:00:00 GMT"}, "x is deprecated and ends on 2028-01-01"),
        (
            {"deprecation": "@1", "link": "<https://a/b>; rel=deprecation"},
            "x is deprecated since 1970-01-01; see https://a/b",
        ),
        ({"deprecation": "", "link": '<https://a/b>; rel="next"'}, "x is deprecated"),
    ],
)
def test_headers_that_say_less_give_fewer_words(headers: dict[str, Any], words: str) -> None:
    assert deprecation_words("x", headers) == words
