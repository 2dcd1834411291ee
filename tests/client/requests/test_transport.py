import logging
import traceback
from collections.abc import AsyncGenerator

import anyio
import pytest

from callwright.client import (
    AnswerTooLarge,
    CallwrightError,
    Client,
    InvalidArguments,
    Retries,
    ServiceTimeout,
    ServiceUnreachable,
    UnexpectedAnswer,
)
from callwright.client.transport import (
    ApiKey,
    AsyncByteStream,
    MockTransport,
    Request,
    Response,
    Transport,
    httpx,
    tool_name,
)
from tests.client.scripted import AGENT, BASE, KEY, ScriptedService, client_of, nested, one, scripted


@pytest.mark.parametrize("base_url", [BASE, BASE + "/", "http://service.test/v1//"])
async def test_the_prefix_is_kept_with_and_without_a_trailing_slash(base_url: str) -> None:
    service = ScriptedService(one(AGENT))
    async with client_of(service, base_url=base_url) as client:
        await client.agents.get(id="agt_1")
    assert str(service.only.url) == "http://service.test/v1/agents/agt_1"


async def test_the_key_travels_as_a_bearer_token() -> None:
    async with scripted(one(AGENT)) as (service, client):
        await client.agents.get(id="agt_1")
    assert service.only.headers["authorization"] == f"Bearer {KEY}"


async def test_the_tool_that_runs_goes_along_and_none_elsewhere() -> None:
    async with scripted(one(AGENT), one(AGENT)) as (service, client):
        running = tool_name.set("get_agent")
        await client.agents.get(id="agt_1")
        tool_name.reset(running)
        await client.agents.get(id="agt_1")
    assert [request.headers.get("x-callwright-tool") for request in service.requests] == ["get_agent", None]


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "service.test/v1",
        "ftp://service.test",
        "http://",
        "http://h:port/v1",
        "http://me:secret@h/v1",
        "http://secret@h/v1",
        "http://h/v1?secret=1",
        "http://h/v1#secret",
        "http://h\x00secret/v1",
    ],
)
def test_a_base_url_that_cannot_be_one_is_refused_without_repeating_it(base_url: str) -> None:
    with pytest.raises(InvalidArguments, match="base_url") as caught:
        Client(base_url, KEY)
    assert "secret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("key", ["", "svc_live_secret\n", "svc_live_secret é", "a secret"])
def test_a_key_that_cannot_stand_in_a_header_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(InvalidArguments, match="API key") as caught:
        Client(BASE, key)
    assert "secret" not in "".join(traceback.format_exception(caught.value))


async def test_the_key_is_in_no_representation() -> None:
    key = ApiKey(KEY)
    async with client_of(ScriptedService(one(AGENT))) as client:
        shown = [repr(key), str(key), f"{key}", repr(client), str(client), repr(Transport(BASE, key))]
        shown += [repr(client.agents), repr(client.idempotent("k")), repr(client.calls.get_recording(call_uuid="c"))]
    assert [text for text in shown if KEY[9:] in text] == []
    assert repr(client) == "Client('http://service.test/v1')"


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("broken"),
        httpx.DecodingError("bad"),
        nested(401, "invalid_api_key"),
        Response(500, content=f"Authorization: Bearer {KEY}".encode()),
        Response(302, headers={"Location": f"http://elsewhere.test/?key={KEY}"}),
        Response(200, content=KEY.encode()),
    ],
    ids=lambda failure: type(failure).__name__ + str(getattr(failure, "status_code", "")),
)
async def test_the_key_is_in_no_error_trace_or_log(
    failure: Response | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with client_of(ScriptedService(failure)) as client:
        with pytest.raises(CallwrightError) as caught:
            await client.agents.get(id="agt_1")
    seen = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value)) + caplog.text
    assert KEY not in seen


async def test_an_error_names_the_origin_and_not_the_path_or_query() -> None:
    async with client_of(ScriptedService(httpx.ConnectError("refused"))) as client:
        with pytest.raises(ServiceUnreachable) as caught:
            await client.calls.list(to="+12025550100")
    assert str(caught.value) == "cannot connect to http://service.test"


async def test_a_redirect_is_not_followed() -> None:
    async with scripted(Response(302, headers={"Location": "http://elsewhere.test/", "X-Request-Id": "req_4"})) as (
        service,
        client,
    ):
        with pytest.raises(UnexpectedAnswer, match="302") as caught:
            await client.agents.get(id="agt_1")
    assert [request.url.host for request in service.requests] == ["service.test"]
    assert (caught.value.status, caught.value.request_id) == (302, "req_4")


async def test_an_attempt_that_takes_too_long_is_ended_and_tried_again() -> None:
    asked: list[Request] = []

    async def never(request: Request) -> Response:
        asked.append(request)
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.fail_after(5):
        async with client_of(never, timeout_s=0.001, retries=Retries(attempts=2)) as client:
            with pytest.raises(ServiceTimeout) as caught:
                await client.agents.get(id="agt_1")
    assert len(asked) == 2
    assert str(caught.value) == "http://service.test did not answer in time"
    assert caught.value.request_sent


async def test_a_body_that_does_not_come_is_bound_by_the_same_time() -> None:
    class Stalled(AsyncByteStream):
        closed = False

        async def __aiter__(self) -> AsyncGenerator[bytes, None]:
            yield b'{"data":'
            await anyio.sleep_forever()

        async def aclose(self) -> None:
            self.closed = True

    stalled = Stalled()
    with anyio.fail_after(5):
        async with client_of(
            lambda request: Response(200, stream=stalled), timeout_s=0.001, retries=Retries(attempts=1)
        ) as client:
            with pytest.raises(ServiceTimeout):
                await client.agents.get(id="agt_1")
    assert stalled.closed


async def test_a_connection_that_is_not_accepted_in_time_says_that_nothing_was_sent() -> None:
    async with client_of(ScriptedService(httpx.ConnectTimeout("x"))) as client:
        with pytest.raises(ServiceTimeout) as caught:
            await client.agents.delete(id="agt_1")
    assert not caught.value.request_sent
    assert caught.value.retryable


async def test_cancelling_ends_a_request_and_is_not_an_error() -> None:
    started = anyio.Event()

    async def never(request: Request) -> Response:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    outcomes: list[str] = []

    async def ask(client: Client) -> None:
        await client.agents.get(id="agt_1")
        outcomes.append("answered")

    with anyio.fail_after(5):
        async with client_of(never) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(ask, client)
            await started.wait()
            tasks.cancel_scope.cancel()
    assert outcomes == []


class Endless(AsyncByteStream):
    """A body that never ends, and counts what was taken of it."""

    def __init__(self) -> None:
        self.given, self.closed = 0, False

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        while True:
            self.given += 1
            yield b" " * 1000

    async def aclose(self) -> None:
        self.closed = True


async def test_a_huge_answer_is_given_up_at_the_bound() -> None:
    endless = Endless()
    async with client_of(lambda request: Response(200, stream=endless), max_answer_bytes=10_000) as client:
        with pytest.raises(AnswerTooLarge, match="larger than 10000 bytes") as caught:
            await client.agents.get(id="agt_1")
    assert caught.value.limit_bytes == 10_000
    assert (endless.given, endless.closed) == (11, True)


async def test_a_huge_problem_is_a_problem_by_its_status() -> None:
    endless = Endless()
    async with client_of(lambda request: Response(410, stream=endless)) as client:
        with pytest.raises(CallwrightError, match="410 http_410: Gone"):
            await client.agents.get(id="agt_1")
    assert endless.closed


async def test_leaving_the_client_closes_the_transport() -> None:
    closed: list[bool] = []

    class Closing(MockTransport):
        async def aclose(self) -> None:
            closed.append(True)

    async with Client(BASE, KEY, transport=Closing(lambda request: one(AGENT))) as client:
        assert (await client.agents.get(id="agt_1")).name == "Ada"
    assert closed == [True]


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "ftp://proxy.test:1")  # the HTTP library refuses this proxy when it reads it
    assert repr(Client(BASE, KEY)) == "Client('http://service.test/v1')"
    with pytest.raises(ValueError, match="proxy"):
        httpx.AsyncClient()
