"""What one key and one address may hold of the tool server, over the network."""

from pathlib import Path

import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.types import Message, Receive, Scope, Send

from callwright.server.transport import bodies, key_limits
from callwright.server.transport import http as web
from callwright.server.transport.key_limits import SESSION_IDLE_S, SOON_S, KeyLimits
from callwright.server.transport.key_sessions import IdentifiedKey, token_of
from callwright.service.accounts.principals import new_secret
from callwright.service.rest.authentication.auth_throttle import ALLOWED
from tests.support.http.raw_requests import AsyncClient, Response
from tests.support.http.sockets import Wire
from tests.support.mcp.over_http import INITIALIZE, LIST, OLDER, Served, open_served, post

SESSION = "Mcp-Session-Id"
LIMITED = ("Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def limited(served: Served, answer: Response, most: int, *, within_s: int = 1) -> bool:
    """Whether an answer is a 429 that says which limit was reached, and when to come again."""
    wait_s, limit, remaining, reset_s = (int(answer.headers[name]) for name in LIMITED)
    ahead_s = reset_s - served.tenant.services.clock.now_ms() / 1_000
    return (answer.status_code, limit, remaining) == (429, most, 0) and 0 < wait_s <= within_s >= ahead_s - 1


async def test_a_key_cannot_take_the_sessions_of_the_others(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_limits, "MOST_SESSIONS", 3)
    greedy, other = await served.personal_key("analyst"), await served.personal_key("analyst")
    async with served.raw_client(greedy.secret) as http, served.raw_client(other.secret) as others:
        opened = [await http.post("/mcp", json=INITIALIZE, headers=OLDER) for _ in range(3)]
        assert {answer.status_code for answer in opened} == {200}
        refused = await http.post("/mcp", json=INITIALIZE, headers=OLDER)
        assert limited(served, refused, 3, within_s=1_800)
        assert int(refused.headers["Retry-After"]) > 1_700
        assert "DELETE" in refused.text
        assert (await others.post("/mcp", json=INITIALIZE, headers=OLDER)).status_code == 200
        assert (await post(http, "tools/list")).status_code == 200  # the newer protocol needs no session
        mine = {**OLDER, SESSION: opened[0].headers[SESSION]}
        assert (await http.post("/mcp", json=LIST, headers=mine)).status_code == 200
        assert (await http.delete("/mcp", headers=mine)).status_code == 200
        assert (await http.post("/mcp", json=INITIALIZE, headers=OLDER)).status_code == 200
        assert (await http.post("/mcp", json=INITIALIZE, headers=OLDER)).status_code == 429


async def test_sessions_beyond_those_of_all_keys_are_told_to_come_again(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "MOST_OLDER_SESSIONS", 1)
    async with open_served(database_url, tmp_path, workers=False) as served, served.raw_client() as http:
        assert (await http.post("/mcp", json=INITIALIZE, headers=OLDER)).status_code == 200
        refused = await http.post("/mcp", json=INITIALIZE, headers=OLDER)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")


async def test_an_opening_that_fails_takes_no_place(http: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_limits, "MOST_SESSIONS", 1)
    for _ in range(3):
        assert (await http.post("/mcp", json=LIST, headers=OLDER)).status_code == 400
    assert (await http.post("/mcp", json=INITIALIZE, headers=OLDER)).status_code == 200


async def test_a_key_cannot_take_the_open_requests_of_the_others(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_limits, "MOST_OPEN", 1)
    other = await served.live_key()
    async with served.raw_client() as http, served.raw_client(other.secret) as others:
        async with http.stream("GET", "/sse") as listening:
            assert listening.status_code == 200
            assert limited(served, await http.get("/sse"), 1)
            assert limited(served, await post(http, "tools/list"), 1)
            assert (await post(others, "tools/list")).status_code == 200


async def test_a_session_that_was_not_used_for_half_an_hour_counts_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_limits, "MOST_SESSIONS", 1)
    now_s, status = 0.0, 0
    user = AuthenticatedUser(token_of(IdentifiedKey("key_1", "org_1", False, None, "secret")))
    scope: Scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [], "user": user}

    async def opens(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"mcp-session-id", b"1")]})

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    waits: list[float] = []

    def limit_headers(most: int, wait_s: float) -> dict[str, str]:
        waits.append(wait_s)
        return {"X-RateLimit-Limit": str(most)}

    limits = KeyLimits(opens, path="/mcp", limit_headers=limit_headers, now=lambda: now_s)
    found: list[int] = []
    for moment in (0.0, 100.0, SESSION_IDLE_S - 0.5, SESSION_IDLE_S + 1):
        now_s = moment
        await limits(scope, receive, send)
        found.append(status)
    assert found == [200, 429, 429, 200]
    assert waits == [SESSION_IDLE_S - 100, SOON_S]


async def test_wrong_keys_are_limited_by_address_here_and_at_rest_together(served: Served) -> None:
    async with served.raw_client(new_secret()) as http, served.raw_client() as own:
        paths = ("/mcp", "/sse", "/messages/", "/v1/wallet")
        answers = [(await http.get(paths[number % 4])).status_code for number in range(ALLOWED)]
        assert set(answers) == {401}
        for path in paths:
            refused = await http.get(path)
            assert limited(served, refused, ALLOWED, within_s=60), path
        assert (await post(own, "tools/list")).status_code == 200  # a key that works is not held up
        assert (await own.get("/v1/wallet")).status_code == 200


@pytest.mark.parametrize("target", [b"/mcp", b"/messages/?session_id=1"])
async def test_a_body_that_does_not_arrive_is_given_up(
    served: Served, monkeypatch: pytest.MonkeyPatch, target: bytes
) -> None:
    monkeypatch.setattr(bodies, "BODY_LIMIT_S", 0.05)
    wire = Wire(served)
    whole = wire.post(target, b'{"a": "' + b"b" * 100 + b'"}')
    for sent in (whole[:-50], whole[: whole.index(b"\r\n\r\n") + 4]):
        async with wire.line() as line:
            await line.say(sent)
            heard = await line.hear("POST")
            assert heard is not None
            assert heard.status == 408
            assert await line.has_ended()
    await wire.goes_on()


@pytest.mark.parametrize("target", [b"/mcp", b"/messages/?session_id=1"])
async def test_a_body_is_bound_by_the_size_that_rest_has(served: Served, target: bytes) -> None:
    wire = Wire(served)
    whole = wire.post(target, b'"' + b"a" * bodies.MOST_BODY + b'"')
    pieces = wire.head(b"POST " + target, b"Transfer-Encoding: chunked", b"Content-Type: application/json")
    chunk = b"%x\r\n%b\r\n" % (100_000, b"a" * 100_000)
    for sent in (whole, pieces + chunk * 11 + b"0\r\n\r\n"):
        heard = await wire.asked(sent, method="POST")
        assert heard is not None
        assert heard.status == 413
    await wire.goes_on()


async def test_the_limits_of_bodies_are_those_of_rest() -> None:
    from callwright.service.rest import incoming

    assert (bodies.MOST_BODY, bodies.BODY_LIMIT_S) == (incoming.MAX_BODY, incoming.BODY_LIMIT_S)
