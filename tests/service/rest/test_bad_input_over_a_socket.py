"""Bad input over a real socket: a declared problem, never a failure, never a hang, and the service goes on.

Where the bytes are no HTTP, the HTTP server answers by itself (`code` is None): 400 in plain text, and the connection
ends. No request was made, so there is nothing to name in an envelope.
"""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from sqlalchemy import select

from callwright.service.rest import incoming
from callwright.service.tables.schema import audit_log
from tests.support.fixtures import held
from tests.support.http.sockets import Wire
from tests.support.mcp.over_http import open_served

AGENT = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
BODY = json.dumps(AGENT).encode()
DRAFT = b'{"name":"D","agent_id":"agt_x","audience_id":"aud_x","phone_number_id":"num_x",%s}'
MEGABYTE = 1_000_000


@pytest.fixture
async def wire(database_url: str, tmp_path: Path) -> AsyncGenerator[Wire]:
    """A service that is served over a socket."""
    async with held(open_served(database_url, tmp_path, workers=False)) as served:
        yield Wire(served)


@pytest.mark.requirement("BODY-02", "BODY-11", "BODY-12", "BODY-13", "BODY-16")
async def test_bodies_that_are_no_good_json_are_refused_as_such(wire: Wire) -> None:
    bodies = [
        b'{"a":' * 150_000 + b"1" + b"}" * 150_000,
        b"[" * 990_000,
        b'{"a":' * 190_000,
        b'{"a":' + b"[" * 1_100 + b"]" * 1_100 + b"}",
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":1e400}',
        b'{"a":-1e400}',
        b'{"a":' + b"9" * 5_000 + b"}",
        b'{"a":1e999999999999}',
        b'{"a":01}',
        b'{"a":"\\ud800"}',
        b'{"a":"\\udc00\\ud800"}',
        b'{"\\ud800":1}',
        b'{"a":"\xff"}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\xc0\x80"}',
        b'{"a":"\x00"}',
        b'{"name":"A","name":"B"}',
        b'{"a":{"b":1,"b":1}}',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":1}{"a":1}',
        b'{"a":1}\x00',
        b"\x00",
        b"\x1f\x8b\x08\x00",
        b"null",
        b'"{}"',
    ]
    for body in bodies:
        for target in (b"/v1/agents", b"/v1/audiences/aud_x/rows"):
            await wire.refused(wire.post(target, body), 400, "invalid_json")


@pytest.mark.requirement("BODY-16")
async def test_values_that_no_field_can_have_are_refused_by_field(wire: Wire) -> None:
    numbers = [b"9" * 30, b"1e300", b"-0.0", b"1.5", b"1e2", b"true", b'"3"', b"[]", b"{}", b"-9223372036854775809"]
    for number in numbers:
        request = wire.post(b"/v1/deployments", DRAFT % (b'"max_concurrency":' + number))
        heard = await wire.refused(request, 400, "invalid_field")
        assert json.loads(heard.body)["error"]["field"] == "max_concurrency"
    for part in (b'"metadata":{"\\u0000":"a"}', b'"welcome_message":"\\u0000"', b'"na\\u0000me":"a"', b'"":1'):
        await wire.refused(wire.post(b"/v1/agents", BODY[:-1] + b"," + part + b"}"), 400, "invalid_field")
    for body in (b"", b"{}"):
        await wire.refused(wire.post(b"/v1/agents", body), 400, "missing_field")
    await wire.refused(wire.post(b"/v1/agents", b" \r\n\t"), 400, "invalid_json")
    await wire.refused(wire.head(b"POST /v1/agents"), 400, "missing_field")


@pytest.mark.requirement("BODY-08")
async def test_a_media_type_that_is_not_json_is_refused(wire: Wire) -> None:
    kinds = [b"text/plain", b"", b";", b"application/jsonp", b"application/json/x", b"*/*", b"\xff\xfe;=", b"a" * 9_000]
    for kind in kinds:
        request = wire.post(b"/v1/agents", BODY, media_type=kind)
        await wire.refused(request, 415, "unsupported_media_type")
    multipart = wire.post(b"/v1/agents", b"--x\r\n\r\n{}\r\n--x--", media_type=b"multipart/form-data; boundary=x")
    await wire.refused(multipart, 400, "invalid_json")


@pytest.mark.requirement("BODY-15", "LIMIT-06")
async def test_a_body_over_the_limit_is_refused_before_it_has_arrived(wire: Wire) -> None:
    chunked = b"Transfer-Encoding: chunked"
    head = wire.head(b"POST /v1/agents", chunked)
    pieces = [b"186a0\r\n" + b" " * 100_000 + b"\r\n"] * 11
    await wire.refused([head, *pieces], 413, "payload_too_large")
    await wire.refused([head, b"F4241\r\n", b"x" * (MEGABYTE + 1)], 413, "payload_too_large")
    for length in (b"1000001", b"9999999999999999999"):
        request = wire.head(b"POST /v1/agents", b"Content-Length: " + length)
        await wire.refused(request, 413, "payload_too_large")
    in_one_byte_chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n"
    kind = b"Content-Type: application/json"
    heard = await wire.asked(wire.head(b"POST /v1/agents", chunked, kind), in_one_byte_chunks)
    assert heard is not None
    assert heard.status == 201


@pytest.mark.requirement("BODY-14")
async def test_a_body_that_comes_too_slowly_ends_the_connection(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "BODY_LIMIT_S", 0.05)
    for head, begun in (
        (wire.head(b"POST /v1/agents", b"Content-Length: 100"), b""),
        (wire.head(b"POST /v1/agents", b"Content-Length: 100"), b'{"name":'),
        (wire.head(b"PATCH /v1/agents/x", b"Transfer-Encoding: chunked"), b"5\r\n{"),
    ):
        async with wire.line() as line:
            await line.say(head + begun)
            heard = await line.hear()
            assert heard is not None
            assert (heard.status, heard.problem()) == (408, "request_timeout")
            assert heard.headers["connection"] == "close"
            assert await line.has_ended()
        await wire.goes_on()


async def test_a_body_that_ends_early_is_no_request(wire: Wire) -> None:
    async with wire.line() as line:
        await line.say(wire.head(b"POST /v1/agents", b"Content-Length: 1000"), BODY)
    await wire.goes_on()
    heard = await wire.asked(wire.head(b"GET /v1/agents"))
    assert heard is not None
    assert json.loads(heard.body)["data"] == []


@pytest.mark.requirement("ERR-99")
async def test_headers_carry_nothing_further(wire: Wire) -> None:
    """Line breaks and NUL in a header are no HTTP; what is only written like them stays text."""
    for name in (b"X-Callwright-Tool", b"Idempotency-Key", b"X-Service-Beta", b"X-Anything", b"Content-Type"):
        for value in (b"a\r\n b", b"a\nSet-Cookie: b=c", b"a\rSet-Cookie: b=c", b"a\x00b", b"a\r\n\tb", b"\x7f"):
            await wire.refused(wire.head(b"POST /v1/agents", name + b": " + value), 400, "malformed_request")
    for value in (b"a%0d%0a b", b"\xff\xfe", b"", b'""', b"a b", b"k" * 256, b"\xc3\xa9"):
        request = wire.post(b"/v1/agents", BODY, b"Idempotency-Key: " + value)
        await wire.refused(request, 400, "invalid_field")
    for value in (b"enable=a%0d%0ab", b"\xff", b"", b"enable=", b"enable=" + b"a," * 3_000):
        await wire.refused(wire.head(b"GET /v1/wallet", b"X-Service-Beta: " + value), 400, "invalid_field")
    for value in (b"\xff", b"null", b"https://a.example\x85"):
        await wire.refused(wire.head(b"GET /v1/wallet", b"Origin: " + value), 403, "origin_not_allowed")


async def test_the_name_of_a_tool_is_kept_only_where_it_is_one(wire: Wire) -> None:
    said = [b"create_agent", b"create%0d%0aagent", b"<script>", b"\xff", b"a" * 65, b""]
    for number, value in enumerate(said):
        body = json.dumps({**AGENT, "name": str(number)}).encode()
        heard = await wire.asked(wire.post(b"/v1/agents", body, b"X-Callwright-Tool: " + value))
        assert heard is not None
        assert heard.status == 201
    kept = select(audit_log.c.tool).where(audit_log.c.action == "create_agent").order_by(audit_log.c.id)
    rows = await wire.served.service.services.database.read(lambda connection: connection.execute(kept).all())
    assert [row.tool for row in rows] == ["create_agent", *[None] * 5]


async def test_keys_in_strange_letters_are_unknown_keys(wire: Wire) -> None:
    tokens = [b"svc_live_" + rest for rest in (b"\xff\xfe", b"0" * 60_000, b"%00", "\u0660".encode() * 48)]
    for token in tokens:
        request = b"GET /v1/wallet HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token + b"\r\n\r\n"
        await wire.refused(request, 401, "invalid_api_key")
    for request in (b"GET /v1/wallet HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /v1/wallet\r\n\r\n"):
        await wire.refused(request, 401, "api_key_required")


async def test_queries_that_make_no_sense_are_refused_by_name(wire: Wire) -> None:
    not_text = [b"filter%5Bname%5D=%ff%fe", b"filter%5Bname%5D=%ed%a0%80", b"%ff=1", b"page=1&a=%c0%80"]
    wrong = {
        b"filter%5Bname%5D=%00": "filter[name]",
        b"%00=1": "\x00",
        b"&&=&": "",
        b"page=1e400": "page",
        b"page=inf": "page",
        b"page=-0.5": "page",
        b"page=" + b"9" * 5_000: "page",
        b"page=%d9%a1": "page",
        b"page=1&page=2": "page",
        b"per_page=0": "per_page",
        b"cursor=": "cursor",
        b"sort=" + b"a," * 90: "sort",
        b"filter%5Bname%5D%5B%5D=a": "filter[name][]",
        b"filter[created_from]=0000-00-00": "filter[created_from]",
        b"filter[created_from]=9999-12-31T23:59:59%2B00:01": "filter[created_from]",
        b"sort=" + b"a" * 16_379: "sort",
        b"sort=" + b"a" * 16_380: "query",
        b"sort=" + b"a" * 60_000: "query",
        b"a=1&" * 200: "query",
    }
    for query in not_text:
        heard = await wire.refused(wire.head(b"GET /v1/agents?" + query), 400, "invalid_field")
        assert json.loads(heard.body)["error"]["message"] == "query: is not UTF-8"
    for query, field in wrong.items():
        heard = await wire.refused(wire.head(b"GET /v1/agents?" + query), 400, "invalid_field")
        assert json.loads(heard.body)["error"]["field"] == field
    for size, status, code in ((65_600, 400, "malformed_request"), (1_000_000, 431, "headers_too_large")):
        await wire.refused(wire.head(b"GET /v1/agents?sort=" + b"a" * size), status, code)
    await wire.refused(wire.head(b"GET /v1/agents?filter[name]=\xff"), 400, "malformed_request")


async def test_paths_lead_nowhere_else(wire: Wire) -> None:
    """Dots are no way up, and an address that is whole counts by its path."""
    missing = [
        b"/v1/../healthz",
        b"/v1/agents/../wallet",
        b"/v1/%2e%2e/healthz",
        b"/v1/agents/%2e%2e/%2e%2e/healthz",
        b"/v1/agents/agt%2F..%2F..%2Fetc%2Fpasswd",
        b"/v1/agents%2Fagt_x",
        b"/v1/agents/%ff%fe",
        b"/v1/agents/%ed%a0%80",
        b"/v1/agents/%f0%9f%92%a9",
        b"/v1/agents/" + b"a" * 60_000,
        b"/v1" + b"/a" * 20_000,
        b"//v1/wallet",
        b"/v1/wallet;a=b",
        b"/v1/wallet%3fa=b",
        b"/v1",
        b"/v1/",
        b"//",
        b"/v11/wallet",
        b"/V1/wallet",
        b"http://elsewhere.example/nowhere",
    ]
    for target in missing:
        await wire.refused(wire.head(b"GET " + target), 404, "not_found")
    await wire.refused(wire.head(b"GET /v1/agents/%00"), 400, "invalid_field")
    await wire.refused(wire.head(b"OPTIONS *"), 404, "not_found")
    for target in (b"/v1/agents/\xff", b"/v1/agents/\x00", b"", b"v1/wallet", b"/v1/wallet a"):
        await wire.refused(wire.head(b"GET " + target), 400, "malformed_request")
    for target in (b"http://elsewhere.example/v1/wallet", b"/v1/wallet#a", b"/v1/wallet?"):
        heard = await wire.asked(wire.head(b"GET " + target))
        assert heard is not None
        assert heard.status == 200


async def test_methods_that_a_path_does_not_have_are_refused(wire: Wire) -> None:
    for method in (b"OPTIONS", b"TRACE", b"CONNECT", b"PUT", b"PROPFIND", b"DELETE"):
        heard = await wire.refused(wire.head(method + b" /v1/wallet"), 405, "method_not_allowed")
        assert heard.headers["allow"] == "GET, PATCH"
    for method in (b"FROB", b"get", b"\xff", b""):
        await wire.refused(wire.head(method + b" /v1/wallet"), 400, "malformed_request")
    for target, status in ((b"/v1/wallet", 200), (b"/v1/agents/agt_x", 404), (b"/nowhere", 404)):
        async with wire.line() as line:
            await line.say(wire.head(b"HEAD " + target), wire.head(b"GET /v1/wallet"))
            headed, got = await line.hear("HEAD"), await line.hear()
        assert headed is not None
        assert got is not None
        assert (headed.status, got.status) == (status, 200)
        assert headed.headers["x-request-id"] != got.headers["x-request-id"]


async def test_lengths_that_contradict_each_other_are_no_http(wire: Wire) -> None:
    """So no proxy before the service can take a part of one request for another one."""
    lengths = [
        (b"Content-Length: -1",),
        (b"Content-Length: +5",),
        (b"Content-Length: 0x5",),
        (b"Content-Length: 5, 5",),
        (b"Content-Length: 5 5",),
        (b"Content-Length:",),
        (b"Content-Length: 99999999999999999999999",),
        (b"Content-Length: 5", b"Content-Length: 6"),
        (b"Content-Length: 5", b"Content-Length: 5"),
        (b"Content-Length: 5", b"Transfer-Encoding: chunked"),
        (b"Transfer-Encoding: chunked", b"Content-Length: 5"),
        (b"Transfer-Encoding: gzip",),
        (b"Transfer-Encoding: chunked, gzip",),
    ]
    sizes = [b"zz\r\n", b"-2\r\n", b"ffffffffffffffffff\r\n", b"2\r\n{}X", b"\r\n"]
    for headers in lengths:
        await wire.refused(wire.head(b"POST /v1/agents", *headers) + b"0\r\n\r\n", 400, "malformed_request")
    for size in sizes:
        chunked = wire.head(b"POST /v1/agents", b"Transfer-Encoding: chunked")
        await wire.refused(chunked + size + b"{}\r\n0\r\n\r\n", 400, "malformed_request")


async def test_requests_behind_one_another_are_answered_in_order(wire: Wire) -> None:
    async with wire.line() as line:
        requests = [
            wire.head(b"GET /v1/wallet"),
            wire.post(b"/v1/agents", BODY),
            wire.post(b"/v1/agents", b"{"),
            wire.head(b"GET /v1/agents"),
            wire.head(b"GET /nowhere"),
            wire.post(b"/v1/agents", BODY),
        ]
        await line.say(b"".join(requests))
        heard = [await line.hear() for _ in requests]
    assert [found and found.status for found in heard] == [200, 201, 400, 200, 404, 409]


async def test_bytes_that_are_no_http_are_answered_and_forgotten(wire: Wire) -> None:
    noise = [
        b"\x00\x01\x02\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/wallet HTTP/9.9\r\n\r\n",
        b"GET /v1/wallet HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /v1/wallet HTTP/1.1\r\nA B: c\r\n\r\n",
        b"GET /v1/wallet HTTP/1.1\r\n: c\r\n\r\n",
        b"{}",
    ]
    for sent in noise:
        await wire.refused(sent, 400, "malformed_request")
    for sent in (b"", b"\r\n\r\n", b"G", b"GET /v1/wal"):
        async with wire.line() as line:
            await line.say(sent)
        await wire.goes_on()
