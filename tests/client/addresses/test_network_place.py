"""Where addresses lead."""

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.client.compat.network_place import place_of, places_of
from callwright.contract.checks.address_ranges import forbidden_range


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("93.184.216.34", "public"),
        ("2606:2800:220:1:248:1893:25c8:1946", "public"),
        ("127.0.0.1", "loopback"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("2002:7f00:1::", "loopback"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.0.1", "private"),
        ("100.64.0.1", "private"),
        ("fd00::1", "private"),
        ("::ffff:10.0.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("0.0.0.0", "reserved"),
        ("::", "reserved"),
        ("224.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("ff02::1", "reserved"),
        ("::ffff:8.8.8.8", "public"),
        ("64:ff9b::808:808", "public"),
        ("2002:808:808::1", "private"),
        ("2001:0:808:808:0:0:f7f7:f7f7", "private"),
        ("168.63.129.16", "private"),
        ("192.88.99.1", "private"),
        ("192.0.0.9", "private"),
        ("2001:20::1", "private"),
        ("3fff::1", "private"),
    ],
)
def test_an_address_leads_where_it_leads(address: str, place: str) -> None:
    assert place_of(address) == place


@given(st.ip_addresses())
def test_what_is_public_here_is_what_the_service_sends_to(address: IPv4Address | IPv6Address) -> None:
    if address not in ip_network("64:ff9b::/96"):
        assert (place_of(str(address)) == "public") == (forbidden_range(address) is None)


async def test_a_name_leads_where_all_its_addresses_do() -> None:
    async def look_up(host: str, port: int) -> list[str]:
        assert (host, port) == ("media.example", 443)
        return ["93.184.216.34", "10.0.0.1"]

    found = await places_of("media.example", 443, look_up)
    assert found == {"93.184.216.34": "public", "10.0.0.1": "private"}


async def test_an_address_is_not_looked_up() -> None:
    async def look_up(host: str, port: int) -> list[str]:
        raise AssertionError

    assert await places_of("127.0.0.1", 80, look_up) == {"127.0.0.1": "loopback"}


async def test_a_name_that_cannot_be_one_has_no_address() -> None:
    async def look_up(host: str, port: int) -> list[str]:
        raise AssertionError

    with pytest.raises(OSError, match="no such host"):
        await places_of("a" * 300, 443, look_up)
