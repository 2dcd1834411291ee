"""What the address of a tool can do to whoever asks it: answer late, redirect, send too much, or send nonsense."""

import json
from ipaddress import ip_network

import pytest

from callwright.contract.agents.call_tools import HttpTool
from callwright.service.platform.outgoing.names import Names
from callwright.service.telephony.media.tools.http_answers import MOST_BYTES, asked
from callwright.service.telephony.media.tools.http_request import HttpRequest, UnfitArgument, request_of
from callwright.service.telephony.media.tools.results import LONGEST_RESULT, ToolResult
from tests.support.calendar_service import SECRET, Calendar, calendar

OPENED = (ip_network("127.0.0.0/8"),)
TOKEN = SECRET.removeprefix("Bearer ")


async def answer_of(
    service: Calendar, url: str | None = None, *, opened: bool = True, within_s: float = 5
) -> ToolResult:
    request = HttpRequest("GET", url or f"{service.url}/free", {}, None)
    return await asked(request, within_s=within_s, opened=OPENED if opened else (), names=Names())


@pytest.mark.requirement("CALLTOOL-10")
async def test_an_address_that_hangs_is_given_up_in_time() -> None:
    async with calendar() as service:
        service.delay_s = 30
        result = await answer_of(service, within_s=1.5)
    assert (result.ok, "within 1.5 seconds" in result.text) == (False, True)


@pytest.mark.requirement("CALLTOOL-10")
async def test_a_redirect_is_not_followed() -> None:
    async with calendar() as service, calendar() as inside:
        service.location = f"{inside.url}/free"
        result = await answer_of(service)
    assert (result.ok, "redirects" in result.text) == (False, True)
    assert inside.asked == []


@pytest.mark.requirement("CALLTOOL-10")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_an_address_inside_a_network_is_not_asked(host: str) -> None:
    async with calendar() as service:
        result = await answer_of(service, service.url.replace("127.0.0.1", host) + "/free", opened=False)
        secure = service.url.replace("http:", "https:").replace("127.0.0.1", host) + "/free"
        other = await answer_of(service, secure, opened=False)
    assert (result.ok, other.ok) == (False, False)
    assert "Nothing is sent there" in other.text
    assert service.asked == []


@pytest.mark.requirement("CALLTOOL-10")
@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://example.com/", "198.51.100.7"),
        ("http://example.com/", "8.8.8.8"),
        ("https://metadata.google.internal/x", "169.254.169.254"),
        ("http://metadata.google.internal/x", "169.254.169.254"),
        ("https://intranet.example.com/", "10.0.0.5"),
    ],
)
async def test_where_the_own_machine_is_opened_nothing_else_is(url: str, address: str) -> None:
    result = await asked(HttpRequest("GET", url, {}, None), within_s=5, opened=OPENED, names=Names(lambda _: [address]))
    assert not result.ok
    assert "Nothing is sent there" in result.text


@pytest.mark.requirement("CALLTOOL-10")
async def test_of_a_megabyte_64_kb_are_read_and_the_model_gets_the_beginning_with_a_note() -> None:
    async with calendar() as service:
        service.answer = b"a" * 1_000_000
        result = await answer_of(service)
    assert result.ok
    assert result.text.startswith("a" * LONGEST_RESULT + "…")
    assert f"only the first {MOST_BYTES:,} bytes were read" in result.text
    assert len(result.text) < LONGEST_RESULT + 200


@pytest.mark.requirement("CALLTOOL-02")
async def test_what_is_no_text_or_a_failure_is_said_in_a_sentence() -> None:
    async with calendar() as service:
        service.answer = bytes(range(256))
        nonsense = await answer_of(service)
        service.answer = None
        service.status = 500
        broken = await answer_of(service)
        service.status, service.answer = 200, b"plain words"
        plain = await answer_of(service)
    assert (nonsense.ok, "is no text" in nonsense.text) == (False, True)
    assert (broken.ok, "answered 500" in broken.text, "the calendar is broken" in broken.text) == (False, True, True)
    assert (plain.ok, plain.text, plain.answer) == (True, "plain words", "plain words")


@pytest.mark.requirement("CALLTOOL-09")
@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"headers": {"Authorization": SECRET}, "token": TOKEN, TOKEN: 1}),
        json.dumps({"token": TOKEN}).replace("c4l", "\\u0063\\u0034l"),
        f'{{"token": "{TOKEN}", "token": 1}}',
        f"You sent {SECRET}, and again {TOKEN}.",
    ],
)
async def test_a_secret_that_the_address_repeats_is_blanked(answer: str, status: int) -> None:
    async with calendar() as service:
        service.answer, service.status = answer.encode(), status
        sent = HttpRequest("GET", f"{service.url}/free", {}, None, {"Authorization": SECRET})
        result = await asked(sent, within_s=5, opened=OPENED, names=Names())
    assert TOKEN not in f"{result.text} {result.answer}"
    assert "u0034" not in result.text
    assert result.ok == (status == 200)


@pytest.mark.requirement("CALLTOOL-02")
async def test_half_a_character_of_an_answer_is_replaced() -> None:
    async with calendar() as service:
        service.answer = b'{"name": "Ada \\ud800", "\\udfff": ["\\ud83d\\ude00"]}'
        result = await answer_of(service)
    assert result.answer == {"name": "Ada \ufffd", "\ufffd": ["\U0001f600"]}
    assert result.text.encode()


def tool(**fields: object) -> HttpTool:
    plain = {"type": "http", "name": "free", "description": "Free.", "url": "https://a.example/free"}
    schema = {"type": "object", "properties": {"day": {"type": "string"}, "count": {"type": "integer"}}}
    return HttpTool.model_validate({**plain, "parameters": schema, **fields})


def test_arguments_and_columns_are_encoded_for_their_place() -> None:
    url = "https://a.example/of/{{Name}}/on/{{day}}?again={{day}}"
    made = request_of(tool(url=url, columns=["Name"]), {"day": "a/b?&c", "count": 2}, {"Name": "Ada & Bo"}, {})
    assert made.url == "https://a.example/of/Ada%20%26%20Bo/on/a%2Fb%3F%26c?again=a%2Fb%3F%26c&count=2"
    body = {"day": "{{day}}", "note": "on {{day}}", "count": "{{count}}", "list": ["{{count}}"]}
    sent = request_of(tool(method="POST", body=body), {"day": 'a"b', "count": 2}, {}, {"X-Key": "s"})
    assert sent.body == b'{"day": "a\\"b", "note": "on a\\"b", "count": 2, "list": [2]}'
    assert sent.headers == {
        "Accept": "application/json, text/*",
        "Content-Type": "application/json",
        "X-Key": "s",
    }


@pytest.mark.requirement("CALLTOOL-13")
@pytest.mark.parametrize(
    ("fields", "day"),
    [
        ({"url": "https://a.example/{{day}}/x"}, ".."),
        ({"url": "https://a.example/{{day}}/x"}, ""),
        ({"headers": {"X-Day": "{{day}}"}}, "a\r\nX-Other: b"),
        ({"headers": {"X-Day": "{{day}}"}}, "Grüße"),
        ({"url": "https://a.example/{{day}}"}, "a" * 10_000),
    ],
)
def test_an_argument_that_leads_elsewhere_or_ends_a_header_is_not_sent(fields: dict[str, object], day: str) -> None:
    with pytest.raises(UnfitArgument, match="Call again"):
        request_of(tool(**fields), {"day": day}, {}, {})
