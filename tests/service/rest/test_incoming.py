"""Bodies that come slowly, in pieces, too large or not at all."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio
import pytest

from callwright.service.platform.refusals import Refusal
from callwright.service.rest import incoming
from callwright.service.rest.incoming import MAX_BODY, Incoming
from tests.support.http.raw_requests import AsyncClient, raw_client, refused
from tests.support.service import Tenant

JSON = {"Content-Type": "application/json"}


def request(receive: Callable[[], Any], **headers: str) -> Incoming:
    """A POST whose messages come from `receive`."""
    found = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "root_path": "", "query_string": b"", "headers": found}
    return Incoming(scope, receive)


def pieces(*parts: bytes, ends: bool = True) -> Callable[[], Any]:
    """Messages with these parts; without an end nothing more ever comes."""
    left = list(parts)

    async def receive() -> dict[str, Any]:
        if not left:
            await anyio.sleep_forever()
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or not ends}

    return receive


@pytest.mark.requirement("BODY-14", "ERR-81")
async def test_a_body_that_does_not_arrive_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "BODY_LIMIT_S", 0.01)
    for receive in (pieces(ends=False), pieces(b'{"name":', ends=False), pieces(b"{", b"}", ends=False)):
        with anyio.fail_after(5), pytest.raises(Refusal) as caught:
            await request(receive).body()
        assert caught.value.problem.code == "request_timeout"
        assert caught.value.headers == {"Connection": "close"}


@pytest.mark.requirement("BODY-15")
async def test_a_body_in_pieces_is_refused_as_soon_as_it_is_too_large() -> None:
    half = b" " * (MAX_BODY // 2)
    assert len(await request(pieces(half, half)).body()) == MAX_BODY
    with anyio.fail_after(5), pytest.raises(Refusal) as caught:
        await request(pieces(half, half, b" ", ends=False)).body()
    assert caught.value.problem.code == "payload_too_large"


async def test_a_declared_size_that_is_too_large_is_refused_unread() -> None:
    with anyio.fail_after(5), pytest.raises(Refusal) as caught:
        await request(pieces(ends=False), content_length=str(MAX_BODY + 1)).body()
    assert caught.value.problem.code == "payload_too_large"


async def test_of_two_headers_alike_the_first_one_counts() -> None:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": [(b"authorization", b"one"), (b"authorization", b"two")],
    }
    assert Incoming(scope, pieces()).header(b"authorization") == "one"


async def test_a_client_that_leaves_in_mid_body_gets_no_failure() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(Refusal) as caught:
        await request(receive).body()
    assert caught.value.problem.code == "invalid_json"


@pytest.mark.requirement("BODY-13")
@pytest.mark.parametrize(
    "body",
    [
        b'{"name":"A","name":"B"}',
        b'{"name" : "A", "name"\n: "B"}',
        b'{"metadata":{"a":"1","a":"2"}}',
        b'{"a":[{"b":1},{"c":1,"c":1}]}',
        b'{"\\u0061":1,"a":1}',
    ],
)
async def test_a_key_that_stands_twice_in_an_object_is_bad_json(tenant: Tenant, body: bytes) -> None:
    async with raw_client(tenant, key=None) as http:
        refused(await http.post("/v1/agents", content=body, headers=JSON), 400, "invalid_json")


async def test_a_chunked_body_over_the_limit_is_refused(http: AsyncClient) -> None:
    async def chunks() -> AsyncGenerator[bytes]:
        for _ in range(12):
            yield b" " * 100_000

    refused(await http.post("/v1/agents", content=chunks(), headers=JSON), 413, "payload_too_large")


async def test_an_enormous_query_is_refused_in_words(http: AsyncClient) -> None:
    refused(await http.get(f"/v1/agents?sort={'a' * 20_000}"), 400, "invalid_field", "query")
    refused(await http.get("/v1/agents?" + "a=1&" * 200), 400, "invalid_field", "query")
