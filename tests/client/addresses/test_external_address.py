"""Addresses out of answers: where the key goes, where nothing goes, and what is taken from there."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import anyio
import pytest

from callwright.client import AddressUnreadable, AnswerTooLarge, Client
from callwright.client.compat.external_address import json_type, sound_type, transcript_type
from callwright.client.transport import AsyncByteStream, MockTransport, Request, Response, httpx
from tests.client.scripted import KEY

BASE = "https://voice.example/v1"
PUBLIC, OTHER_PUBLIC = "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"
NAMES: Mapping[str, list[str]] = {
    "media.example": [PUBLIC],
    "voice.example": [PUBLIC],
    "voice.example.media.example": [PUBLIC],
    "two.example": [OTHER_PUBLIC, PUBLIC],
    "inside.example": ["10.0.0.7"],
    "both.example": [PUBLIC, "10.0.0.7"],
    "meta.example": ["169.254.169.254"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "translated.example": ["64:ff9b::7f00:1"],
    "here.example": ["127.0.0.1"],
    "localhost": ["127.0.0.1"],
    "office.example": ["10.1.1.1"],
}


async def looked_up(host: str, port: int) -> list[str]:
    del port
    if host not in NAMES:
        raise OSError("no such host")
    return NAMES[host]


def text(content: str = "Hello.", media_type: str = "text/plain", **headers: str) -> Response:
    return Response(200, content=content, headers={"content-type": media_type, **headers})


class Hosts:
    """The service itself, and every other host. Keeps what each was sent."""

    def __init__(self, answer: Callable[[Request], Response] = lambda request: text(), *, base: str = BASE) -> None:
        self.own: list[Request] = []
        self.others: list[Request] = []
        self._answer, self._base = answer, base

    def _kept(self, place: list[Request]) -> MockTransport:
        def handler(request: Request) -> Response:
            place.append(request)
            return self._answer(request)

        return MockTransport(handler)

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        own, others = self._kept(self.own), self._kept(self.others)
        async with Client(self._base, KEY, transport=own, other_hosts=others, resolve=looked_up) as client:
            yield client

    async def read(self, url: str, *, accepts: Callable[[str], bool] = transcript_type, most: int = 1_000) -> bytes:
        with anyio.fail_after(5):
            async with self.client() as client, client.open_address(url, accepts=accepts) as found:
                return await found.read(most)

    async def refused(self, url: str, *, accepts: Callable[[str], bool] = transcript_type) -> str:
        with pytest.raises(AddressUnreadable) as caught:
            await self.read(url, accepts=accepts)
        assert KEY not in str(caught.value)
        return str(caught.value)


def keyed(request: Request) -> bool:
    # The representation of headers hides the key, so their values are looked at.
    return any(KEY in value for value in (*request.headers.values(), str(request.url)))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://voice.example/v1/calls/cal_1/text", "/v1/calls/cal_1/text"),
        ("https://VOICE.example:443/files/1", "/files/1"),
        ("/files/1", "/files/1"),
        ("calls/cal_1/text", "/v1/calls/cal_1/text"),
    ],
)
async def test_the_services_own_address_is_asked_with_the_key(url: str, path: str) -> None:
    hosts = Hosts()
    assert await hosts.read(url) == b"Hello."
    (request,) = hosts.own
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.url.path == path
    assert hosts.others == []


@pytest.mark.parametrize(
    "url",
    [
        "https://media.example/1?signature=abc",
        "https://voice.example:8443/v1/1",
        "https://voice.example.media.example/1",
        "//media.example/1",
    ],
)
async def test_another_host_or_port_is_asked_without_the_key(url: str) -> None:
    hosts = Hosts()
    assert await hosts.read(url) == b"Hello."
    assert hosts.own == []
    assert [keyed(request) for request in hosts.others] == [False]


async def test_the_connection_goes_to_the_address_that_was_looked_at() -> None:
    hosts = Hosts()
    await hosts.read("https://media.example/1?signature=abc")
    (request,) = hosts.others
    assert request.url.host == PUBLIC
    assert request.headers["host"] == "media.example"
    assert request.extensions["sni_hostname"] == "media.example"
    assert request.url.raw_path == b"/1?signature=abc"


async def test_an_address_that_cannot_be_reached_gives_way_to_the_next_one() -> None:
    def answer(request: Request) -> Response:
        if request.url.host == OTHER_PUBLIC:
            raise httpx.ConnectError("no route")
        return text()

    hosts = Hosts(answer)
    assert await hosts.read("https://two.example/1") == b"Hello."
    assert [request.url.host for request in hosts.others] == [OTHER_PUBLIC, PUBLIC]


@pytest.mark.parametrize(
    "url",
    [
        "https://inside.example/1",
        "https://both.example/1",
        "https://meta.example/latest/meta-data",
        "https://mapped.example/1",
        "https://translated.example/1",
        "https://here.example/1",
        "https://127.0.0.1/1",
        "https://[::1]/1",
        "https://[fe80::1]/1",
        "https://0.0.0.0/1",
        "https://192.168.1.1/1",
        "https://100.64.0.1/1",
        "https://169.254.169.254/latest",
    ],
)
async def test_a_host_inside_is_not_asked(url: str) -> None:
    hosts = Hosts()
    assert "not open to this service" in await hosts.refused(url)
    assert hosts.own == hosts.others == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://media.example/1", "without https"),
        ("ftp://media.example/1", "does not begin with http"),
        ("file://localhost/etc/hosts", "does not begin with http"),
        ("https://me:secret@media.example/1", "a user and a password"),
        ("https://nowhere.example/1", "does not exist"),
        ("https://" + "a" * 5_000, "too long"),
        ("https://me\x00dia.example/1", "the address is not a URL"),
        ("https://[::1/1", "the address is not a URL"),
    ],
)
async def test_an_address_that_is_none_is_not_asked(url: str, why: str) -> None:
    hosts = Hosts()
    assert why in await hosts.refused(url)
    assert hosts.own == hosts.others == []


@pytest.mark.parametrize("base", ["http://127.0.0.1:8080/v1", "http://localhost:8080/v1"])
async def test_a_service_on_this_machine_may_name_others_on_it(base: str) -> None:
    hosts = Hosts(base=base)
    assert await hosts.read("http://127.0.0.1:9000/1") == b"Hello."
    assert not keyed(hosts.others[0])
    assert "without https" in await hosts.refused("http://media.example/1")
    assert "not open" in await hosts.refused("https://inside.example/1")


async def test_a_service_on_this_machine_over_https_names_none_over_http() -> None:
    hosts = Hosts(base="https://127.0.0.1:8443/v1")
    assert await hosts.read("https://127.0.0.1:9443/1") == b"Hello."
    assert "without https" in await hosts.refused("http://127.0.0.1:9000/1")


async def test_a_service_in_a_private_network_may_name_hosts_in_it() -> None:
    hosts = Hosts(base="https://office.example/v1")
    assert await hosts.read("https://inside.example/1") == b"Hello."
    assert "not open" in await hosts.refused("https://here.example/1")
    assert "not open" in await hosts.refused("https://meta.example/1")


# Redirects


def redirecting(*targets: str, status: int = 302) -> Callable[[Request], Response]:
    """Sends the first request to the first target, the second to the second, and then answers."""
    left = list(targets)

    def answer(request: Request) -> Response:
        return Response(status, headers={"location": left.pop(0)}) if left else text()

    return answer


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_without_the_key(status: int) -> None:
    hosts = Hosts(redirecting("https://media.example/1", status=status))
    assert await hosts.read("/files/1") == b"Hello."
    assert [keyed(request) for request in (*hosts.own, *hosts.others)] == [True, False]


async def test_no_key_is_sent_to_the_service_after_a_redirect() -> None:
    hosts = Hosts(redirecting("https://voice.example/v1/calls"))
    await hosts.read("https://media.example/1")
    assert not any(keyed(request) for request in (*hosts.own, *hosts.others))


async def test_a_relative_redirect_stays_at_its_host() -> None:
    hosts = Hosts(redirecting("../2"))
    await hosts.read("https://media.example/a/1")
    assert [request.headers["host"] for request in hosts.others] == ["media.example"] * 2
    assert hosts.others[1].url.path == "/2"


@pytest.mark.parametrize("target", ["https://inside.example/1", "http://media.example/1", "https://169.254.169.254/"])
async def test_the_rules_hold_for_each_redirect(target: str) -> None:
    hosts = Hosts(redirecting("https://media.example/2", target))
    await hosts.refused("https://media.example/1")
    assert len(hosts.others) == 2


async def test_three_redirects_are_followed_and_no_more() -> None:
    targets = [f"https://media.example/{number}" for number in range(4)]
    assert await Hosts(redirecting(*targets[:3])).read("https://media.example/") == b"Hello."
    assert "more than 3 redirects" in await Hosts(redirecting(*targets)).refused("https://media.example/")


# What comes back


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 500, 304])
async def test_a_refusal_is_named_by_its_status(status: int) -> None:
    hosts = Hosts(lambda request: Response(status, text="<Error>secret</Error>"))
    said = await hosts.refused("https://media.example/1")
    assert said == f"media.example answered with status {status}"


@pytest.mark.parametrize(
    ("accepts", "good", "bad"),
    [
        (transcript_type, ["application/json", "text/vtt", "text/plain", "", "application/octet-stream"], "text/html"),
        (transcript_type, ["application/problem+json", "application/x-subrip"], "audio/mpeg"),
        (sound_type, ["audio/mpeg", "audio/wav", "binary/octet-stream"], "text/html"),
        (sound_type, ["audio/ogg"], "video/mp4"),
        (json_type, ["application/json", "application/vnd.oai.openapi+json"], "text/html"),
    ],
)
async def test_only_useful_types_are_taken(accepts: Callable[[str], bool], good: list[str], bad: str) -> None:
    assert all(accepts(media_type) for media_type in good)
    hosts = Hosts(lambda request: text(media_type=bad))
    assert f"of type {bad}" in await hosts.refused("https://media.example/1", accepts=accepts)


class Endless(AsyncByteStream):
    """Bytes without end."""

    def __init__(self) -> None:
        self.given, self.closed = 0, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.given += 1
            yield b"x" * 1_000

    async def aclose(self) -> None:
        self.closed = True


async def test_too_many_bytes_are_not_read() -> None:
    endless = Endless()
    hosts = Hosts(lambda request: Response(200, stream=endless))
    with pytest.raises(AnswerTooLarge):
        await hosts.read("https://media.example/1", most=10_000)
    assert (endless.given, endless.closed) == (11, True)


async def test_too_many_bytes_that_are_announced_are_not_begun() -> None:
    endless = Endless()
    hosts = Hosts(lambda request: Response(200, stream=endless, headers={"content-length": "5000000000"}))
    with pytest.raises(AnswerTooLarge):
        await hosts.read("https://media.example/1", most=10_000)
    assert endless.given == 0


class Silent(AsyncByteStream):
    """Never gives a byte."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"x"
        await anyio.sleep_forever()


async def test_the_time_is_bounded_to_the_last_byte() -> None:
    hosts = Hosts(lambda request: Response(200, stream=Silent()))
    with anyio.fail_after(5):
        async with hosts.client() as client:
            with pytest.raises(AddressUnreadable, match=r"media\.example did not answer in time"):
                async with client.open_address(
                    "https://media.example/1", accepts=transcript_type, limit_s=0.05
                ) as found:
                    await found.read(100)


async def test_a_lost_connection_is_explained() -> None:
    def answer(request: Request) -> Response:
        raise httpx.ReadError("lost")

    assert await Hosts(answer).refused("https://media.example/1") == "media.example cannot be reached"


async def test_the_description_of_an_answer_is_known_before_it_is_read() -> None:
    hosts = Hosts(lambda request: text("abc", "Audio/MPEG; x=1", etag='"7"'))
    async with hosts.client() as client, client.open_address("https://media.example/1", accepts=sound_type) as found:
        assert (found.media_type, found.size, found.etag) == ("audio/mpeg", 3, '"7"')


async def test_an_address_that_the_person_chose_may_lie_anywhere_and_gets_no_key() -> None:
    hosts = Hosts(lambda request: text("{}", "application/json"))
    async with hosts.client() as client:
        async with client.open_address("http://10.0.0.7/openapi.json", accepts=json_type, chosen_by_user=True) as found:
            assert await found.read(10) == b"{}"
    assert not keyed(hosts.others[0])
