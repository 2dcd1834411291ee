"""Parts of a file, sent to the address of an upload: where they go, without the key, and what the answer says."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from callwright.client import AddressUnreadable, Client
from callwright.client.compat.upload_address import UploadState
from callwright.client.errors import NotFound, ServiceUnreachable, UnexpectedAnswer
from callwright.client.transport import MockTransport, Request, Response, httpx
from tests.client.scripted import KEY

BASE = "https://voice.example/v1"
OWN = "https://voice.example/uploads/upl_1"
NAMES = {"voice.example": ["93.184.216.34"], "files.example": ["93.184.216.35"], "inside.example": ["10.0.0.7"]}
Answers = Callable[[Request], Response]


async def looked_up(host: str, port: int) -> list[str]:
    del port
    return NAMES[host]


class Service:
    """The service and every other host. Keeps what each was sent."""

    def __init__(self, answer: Answers) -> None:
        self.own: list[Request] = []
        self.others: list[Request] = []
        self._answer = answer

    def _kept(self, place: list[Request]) -> MockTransport:
        def handler(request: Request) -> Response:
            place.append(request)
            return self._answer(request)

        return MockTransport(handler)

    async def sent(self, url: str, content: bytes = b"abc", *, begin: int = 2, total: int = 9) -> UploadState:
        own, others = self._kept(self.own), self._kept(self.others)
        async with Client(BASE, KEY, transport=own, other_hosts=others, resolve=looked_up) as client:
            return await client.send_part(url, content, begin=begin, total=total)


def arrived(said: str | None = "bytes=0-4", status: int = 308) -> Answers:
    return lambda _: Response(status, headers={} if said is None else {"Range": said})


async def test_a_part_goes_without_the_key_and_the_answer_says_what_has_arrived() -> None:
    service = Service(arrived())
    assert await service.sent(OWN) == UploadState(5, is_complete=False)
    request = service.own[0]
    assert (request.method, str(request.url), request.content) == ("PUT", OWN, b"abc")
    assert request.headers["content-range"] == "bytes 2-4/9"
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("body", "expires_at"),
    [
        ('{"data": {"expires_at": "2026-11-27T15:00:00Z"}}', datetime(2026, 11, 27, 15, tzinfo=UTC)),
        ('{"data": {"expires_at": null}}', None),
        ('{"data": {"expires_at": "2026-11-27"}}', None),
        ("[]", None),
        ("not JSON", None),
        (f'"{"x" * 200_000}"', None),
    ],
)
async def test_the_answer_says_until_when_the_rest_is_waited_for_or_nothing_of_it(
    body: str, expires_at: datetime | None
) -> None:
    service = Service(lambda _: Response(308, headers={"Range": "bytes=0-4"}, text=body))
    assert await service.sent(OWN) == UploadState(5, is_complete=False, expires_at=expires_at)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (arrived(None), UploadState(0, is_complete=False)),
        (arrived("bytes=0-8", 200), UploadState(9, is_complete=True)),
    ],
)
async def test_no_bytes_ask_what_has_arrived(answer: Answers, state: UploadState) -> None:
    service = Service(answer)
    assert await service.sent(OWN, b"") == state
    assert service.own[0].headers["content-range"] == "bytes */9"


async def test_another_host_that_is_public_gets_the_part_at_the_address_that_was_looked_at() -> None:
    service = Service(arrived())
    await service.sent("https://files.example/uploads/upl_1")
    request = service.others[0]
    assert (request.url.host, request.headers["host"], request.content) == ("93.184.216.35", "files.example", b"abc")
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    "url", ["https://inside.example/uploads/1", "http://files.example/uploads/1", "ftp://files.example/x"]
)
async def test_an_address_in_a_private_network_or_without_https_gets_nothing(url: str) -> None:
    service = Service(arrived())
    with pytest.raises(AddressUnreadable):
        await service.sent(url)
    assert service.own == service.others == []


async def test_a_refusal_is_the_problem_of_the_service() -> None:
    with pytest.raises(NotFound):
        await Service(lambda _: Response(404)).sent(OWN)


async def test_a_broken_connection_is_told_as_one() -> None:
    def broken(request: Request) -> Response:
        raise httpx.ReadError("gone", request=request)

    with pytest.raises(ServiceUnreachable, match=r"voice\.example"):
        await Service(broken).sent(OWN)


@pytest.mark.parametrize("said", ["bytes=3-4", "bytes=0-9", "all"])
async def test_an_answer_that_does_not_say_what_has_arrived_is_no_answer(said: str) -> None:
    with pytest.raises(UnexpectedAnswer):
        await Service(arrived(said)).sent(OWN)
