"""Addresses are judged where the connection is made: whatever a name says, and whenever it says it."""

import socket
import threading
from collections.abc import AsyncGenerator, Iterator, Sequence
from ipaddress import IPv4Network

import anyio
import pytest

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.webhooks.transport.endpoints import Endpoints
from tests.support.tasks import tasks_within
from tests.support.webhooks.endpoints import Sink, sink
from tests.support.webhooks.forbidden_addresses import FORBIDDEN_ADDRESSES, FORBIDDEN_HOSTS

PUBLIC = "127.0.0.2"
"""Stands for the internet: nothing else is opened."""
PRIVATE = "127.0.0.1"
OPENED = (IPv4Network(PUBLIC),)
NAME = "hooks.example.com"
LONG_S = 30.0
SHORT_S = 0.15


class Book:
    """Answers lookups in turn; the last answer stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def __call__(self, name: str) -> Sequence[str]:
        self.asked.append(name)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
async def inside() -> AsyncGenerator[Sink]:
    async with sink(host=PRIVATE) as made:
        yield made
        assert made.connections == 0


async def post(endpoints: Endpoints, url: str) -> Posted:
    return await endpoints.post(url, b"{}", {"Content-Type": "application/json"})


@pytest.mark.requirement("HOOK-13")
@pytest.mark.parametrize("address", FORBIDDEN_ADDRESSES)
async def test_a_name_that_leads_to_a_forbidden_address_is_not_connected_to(address: str, inside: Sink) -> None:
    book = Book([address])
    async with Endpoints(look_up=book, deadline_s=LONG_S) as endpoints:
        posted = await post(endpoints, inside.url(NAME, "https"))
    assert (posted.outcome, posted.status, book.asked) == ("forbidden_address", None, [NAME])
    assert posted.detail.startswith("The host leads to ")
    assert posted.detail.endswith(" Nothing is sent there.")


@pytest.mark.parametrize("host", FORBIDDEN_HOSTS)
async def test_no_spelling_of_a_forbidden_address_is_connected_to(host: str, inside: Sink) -> None:
    def as_resolvers_read_it(name: str) -> list[str]:
        return [socket.inet_ntoa(socket.inet_aton(name.rstrip(".")))]

    async with Endpoints(look_up=as_resolvers_read_it, deadline_s=LONG_S) as endpoints:
        posted = await post(endpoints, inside.url(host, "https"))
    assert posted.outcome in ("forbidden_address", "dns_failed")
    assert posted.status is None


async def test_the_range_is_named_and_the_address_is_not(inside: Sink) -> None:
    async with Endpoints(look_up=Book(["10.20.30.40"])) as endpoints:
        posted = await post(endpoints, inside.url(NAME, "https"))
    assert posted.detail == "The host leads to 10.0.0.0/8 (private). Nothing is sent there."


@pytest.mark.requirement("HOOK-13")
async def test_a_name_that_changes_its_answer_gains_nothing() -> None:
    async with sink(host=PUBLIC) as outside, sink(host=PRIVATE, port=outside.port) as private:
        book = Book([PUBLIC], [PRIVATE], [PUBLIC], [f"::ffff:{PRIVATE}"])
        async with Endpoints(opened=OPENED, look_up=book, deadline_s=LONG_S) as endpoints:
            posted = [await post(endpoints, outside.url(NAME)) for _ in range(4)]
        assert [one.outcome for one in posted] == ["succeeded", "forbidden_address", "succeeded", "forbidden_address"]
        assert (outside.connections, private.connections) == (2, 0)
        assert book.asked == [NAME] * 4


@pytest.mark.parametrize("answer", [(PUBLIC, PRIVATE), (PRIVATE, PUBLIC), ("::1", PRIVATE, "10.0.0.1", PUBLIC)])
async def test_of_several_addresses_only_the_allowed_ones_are_connected_to(answer: Sequence[str]) -> None:
    async with sink(host=PUBLIC) as outside, sink(host=PRIVATE, port=outside.port) as private:
        async with Endpoints(opened=OPENED, look_up=Book(answer), deadline_s=LONG_S) as endpoints:
            posted = await post(endpoints, outside.url(NAME))
        assert posted.outcome == "succeeded"
        assert (outside.connections, private.connections) == (1, 0)


async def test_where_the_allowed_address_refuses_the_others_stay_forbidden(inside: Sink) -> None:
    async with Endpoints(opened=OPENED, look_up=Book([PUBLIC, PRIVATE]), deadline_s=LONG_S) as endpoints:
        posted = await post(endpoints, inside.url(NAME))
    assert posted.outcome == "connection_failed"


async def test_a_name_with_very_many_addresses_is_looked_at_in_part(inside: Sink) -> None:
    book = Book([f"10.0.{high}.{low}" for high in range(256) for low in range(256)])
    async with Endpoints(look_up=book, deadline_s=LONG_S) as endpoints:
        with anyio.fail_after(LONG_S):
            posted = await post(endpoints, inside.url(NAME, "https"))
    assert posted.outcome == "forbidden_address"


@pytest.mark.parametrize("host", ["8.8.8.8", "[2606:4700:4700::1111]", NAME])
async def test_plain_http_reaches_opened_ranges_alone(host: str) -> None:
    async with Endpoints(opened=OPENED, look_up=Book(["8.8.8.8", PRIVATE]), deadline_s=LONG_S) as endpoints:
        posted = await post(endpoints, f"http://{host}:9/")
    assert posted.outcome == "forbidden_address"
    assert posted.detail == "The host leads to an address where plain HTTP is not allowed. Nothing is sent there."


async def test_nothing_is_opened_by_default(inside: Sink) -> None:
    async with Endpoints(deadline_s=LONG_S) as endpoints:
        for scheme in ("http", "https"):
            assert (await post(endpoints, inside.url(scheme=scheme))).outcome == "forbidden_address"
            assert (await post(endpoints, inside.url("localhost", scheme))).outcome == "forbidden_address"


async def test_proxies_of_the_environment_have_no_effect(monkeypatch: pytest.MonkeyPatch, inside: Sink) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, inside.url())
        monkeypatch.setenv(name.lower(), inside.url())
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with sink(host=PUBLIC) as outside, Endpoints(opened=OPENED, deadline_s=LONG_S) as endpoints:
        assert (await post(endpoints, outside.url(PUBLIC))).outcome == "succeeded"
        assert (await post(endpoints, inside.url("8.8.8.8"))).outcome == "forbidden_address"


@pytest.mark.parametrize(
    ("number", "said"),
    [(socket.EAI_NONAME, "There is no address"), (socket.EAI_AGAIN, "its name servers do not answer")],
)
async def test_a_name_that_cannot_be_looked_up_is_a_failure_of_names(number: int, said: str) -> None:
    def fail(_: str) -> Sequence[str]:
        raise socket.gaierror(number, "said by the system")

    async with Endpoints(look_up=fail, deadline_s=LONG_S) as endpoints:
        posted = await post(endpoints, f"https://{NAME}/")
    assert (posted.outcome, posted.status) == ("dns_failed", None)
    assert said in posted.detail


async def test_a_lookup_that_breaks_ends_the_wait_for_it_too() -> None:
    def broken(_: str) -> Sequence[str]:
        raise UnicodeError("a label is too long")

    async with Endpoints(look_up=broken, deadline_s=LONG_S) as endpoints:
        assert (await post(endpoints, f"https://{NAME}/")).outcome == "dns_failed"
        assert (await post(endpoints, f"https://{NAME}/")).outcome == "dns_failed"


async def test_a_system_without_threads_to_spare_is_a_failure_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async with Endpoints(look_up=Book([PUBLIC]), deadline_s=LONG_S) as endpoints:
        await post(endpoints, f"https://{NAME}/")  # the first one imports the HTTP client in a thread
        monkeypatch.setattr(threading.Thread, "start", none_left)
        assert (await post(endpoints, f"https://{NAME}/")).outcome == "dns_failed"
        monkeypatch.undo()
        assert (await post(endpoints, f"https://{NAME}/")).outcome == "forbidden_address"


async def test_a_name_without_addresses_is_a_failure_of_names() -> None:
    async with Endpoints(look_up=Book([]), deadline_s=LONG_S) as endpoints:
        assert (await post(endpoints, f"https://{NAME}/")).outcome == "dns_failed"


@pytest.fixture
def silence() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_silent_name_servers_cost_their_own_endpoint_its_time(silence: threading.Event) -> None:
    def wait(_: str) -> Sequence[str]:
        silence.wait(LONG_S)
        return [PUBLIC]

    async with Endpoints(opened=OPENED, look_up=wait, deadline_s=SHORT_S) as endpoints:
        posted = await post(endpoints, f"https://{NAME}/")
    assert (posted.outcome, posted.status) == ("timeout", None)
    assert posted.detail == "The name of the host could not be looked up within 0.15 seconds."


async def test_silent_name_servers_keep_nobody_else_waiting(silence: threading.Event) -> None:
    asked: list[str] = []

    def look_up(name: str) -> Sequence[str]:
        asked.append(name)
        if name != NAME:
            silence.wait(LONG_S)
        return [PUBLIC]

    outcomes: list[str] = []
    async with sink(host=PUBLIC) as outside:
        async with Endpoints(opened=OPENED, look_up=look_up, deadline_s=LONG_S) as endpoints:

            async def send(host: str) -> None:
                outcomes.append((await post(endpoints, outside.url(host))).outcome)

            async with tasks_within(LONG_S) as tasks:
                for number in range(20):
                    tasks.start_soon(send, "dead.example.com")
                    tasks.start_soon(send, f"dead-{number}.example.com")
                await anyio.wait_all_tasks_blocked()
                await send(NAME)
                assert outcomes == ["succeeded"]
                silence.set()
        assert outcomes == ["succeeded"] * 41
        assert asked.count("dead.example.com") == 1


async def test_lookups_beyond_the_bound_wait_and_come_to_their_turn(silence: threading.Event) -> None:
    under_way: set[str] = set()
    most: list[int] = []

    def look_up(name: str) -> Sequence[str]:
        under_way.add(name)
        most.append(len(under_way))
        silence.wait(LONG_S)
        under_way.discard(name)
        return [PRIVATE]

    outcomes: list[str] = []
    async with Endpoints(look_up=look_up, deadline_s=LONG_S) as endpoints:

        async def send(number: int) -> None:
            outcomes.append((await post(endpoints, f"https://{number}.example.com/")).outcome)

        async with tasks_within(LONG_S) as tasks:
            for number in range(100):
                tasks.start_soon(send, number)
            await anyio.wait_all_tasks_blocked()
            silence.set()
    assert outcomes == ["forbidden_address"] * 100
    assert max(most) <= 64


def test_loopback_is_what_localhost_means() -> None:
    assert [str(network) for network in LOOPBACK] == ["127.0.0.0/8", "::1/128"]
