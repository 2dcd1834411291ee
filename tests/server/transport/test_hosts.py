"""The names under which the tool server may be called."""

import pytest
from starlette.types import Scope

from callwright.server.transport.hosts import UNNAMED, BadHostName, HostNames, names_for


def scope(host: str | None, origin: str | None = None) -> Scope:
    sent = {"host": host, "origin": origin}
    headers = [(name.encode(), value.encode()) for name, value in sent.items() if value is not None]
    return {"type": "http", "method": "GET", "path": "/mcp", "headers": headers, "query_string": b""}


async def status(names: HostNames, host: str | None, origin: str | None = None) -> int | None:
    refusal = await names.refusal(scope(host, origin))
    return None if refusal is None else refusal.status_code


@pytest.mark.parametrize("bound", ["127.0.0.1", "localhost", "::1"])
async def test_a_server_on_the_loopback_knows_the_names_of_the_loopback(bound: str) -> None:
    names = names_for(bound)
    for host in ("127.0.0.1:8080", "localhost:8080", "[::1]:8080", "localhost"):
        assert await status(names, host) is None
    for host in (
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example:8080",
        "127.0.0.1.evil.example",
        "",
        None,
    ):
        assert await status(names, host) == 421


@pytest.mark.parametrize("host", ["localhost:evil.example", 'localhost:80"', "localhost:", "localhost:123456", "[::1"])
async def test_what_is_no_host_and_port_is_turned_away(host: str) -> None:
    assert await status(names_for("127.0.0.1"), host) == 421


async def test_a_page_of_another_origin_is_turned_away() -> None:
    names = names_for("127.0.0.1", ("mcp.example.com",))
    for origin in ("http://localhost:6274", "https://mcp.example.com", "https://mcp.example.com:8443", None):
        assert await status(names, "localhost:8080", origin) is None
    for origin in ("https://evil.example", "http://mcp.example.com.evil.example", "null", "file://"):
        assert await status(names, "localhost:8080", origin) == 403


@pytest.mark.parametrize("bound", ["0.0.0.0", "::", ""])
async def test_a_server_that_listens_everywhere_lets_nobody_in_before_it_has_a_name(bound: str) -> None:
    for host in ("127.0.0.1:8080", "0.0.0.0:8080", "mcp.example.com"):
        refusal = await names_for(bound).refusal(scope(host))
        assert refusal is not None
        assert (refusal.status_code, bytes(refusal.body).decode()) == (421, UNNAMED)
    assert "--allowed-host" in UNNAMED
    named = names_for(bound, ("mcp.example.com", "other.example:8443"))
    for host in ("mcp.example.com", "mcp.example.com:9000", "other.example:8443", "127.0.0.1:8080"):
        assert await status(named, host) is None
    for host in ("other.example", "other.example:9", "evil.example", "0.0.0.0:8080"):
        assert await status(named, host) == 421


async def test_an_address_of_this_machine_is_a_name_of_it() -> None:
    assert await status(names_for("192.0.2.7"), "192.0.2.7:8080") is None
    assert await status(names_for("2001:db8::7"), "[2001:db8::7]:8080") is None
    assert await status(names_for("192.0.2.7"), "192.0.2.8:8080") == 421


@pytest.mark.parametrize(
    "name", ["", "*", "https://mcp.example.com", "mcp.example.com/mcp", "a b", "x:y", "a\n", "*:80"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(BadHostName, match="--allowed-host"):
        names_for("127.0.0.1", (name,))
