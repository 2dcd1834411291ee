"""Addresses to which nothing is sent."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.webhooks.forbidden_addresses import FORBIDDEN_ADDRESSES

from callwright.contract.checks.address_ranges import forbidden_range, is_opened

ALLOWED = (
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "128.0.0.1",
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.1",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1",
    "3ffe::1",
)


@pytest.mark.parametrize("text", FORBIDDEN_ADDRESSES)
def test_nothing_is_sent_to_an_address_that_is_not_the_internets(text: str) -> None:
    assert forbidden_range(ip_address(text)) is not None


@pytest.mark.parametrize("text", ALLOWED)
def test_the_neighbours_of_forbidden_ranges_are_allowed(text: str) -> None:
    assert forbidden_range(ip_address(text)) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("127.0.0.1", "127.0.0.0/8 (loopback)"),
        ("::ffff:10.1.2.3", "10.0.0.0/8 (private)"),
        ("169.254.169.254", "169.254.0.0/16 (link-local and cloud metadata)"),
        ("168.63.129.16", "168.63.129.16/32 (a cloud's host service)"),
        ("2001:0:1::1", "2001::/32 (Teredo)"),
        ("64:ff9b::8.8.8.8", "64:ff9b::/96 (NAT64)"),
        ("fd00:ec2::254", "fc00::/7 (private and cloud metadata)"),
        ("4000::1", "a range that is not global (only 2000::/3 is)"),
        ("8.8.8.8", None),
    ],
)
def test_the_range_is_named(text: str, said: str | None) -> None:
    assert forbidden_range(ip_address(text)) == said


@pytest.mark.parametrize("text", ["127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1", "::1"])
def test_opened_ranges_are_allowed_and_their_neighbours_are_not(text: str) -> None:
    opened = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    assert forbidden_range(ip_address(text), opened) is None
    assert is_opened(ip_address(text), opened)
    for other in ("10.0.0.1", "::2", "::ffff:10.0.0.1", "169.254.169.254"):
        assert forbidden_range(ip_address(other), opened) is not None
        assert not is_opened(ip_address(other), opened)


def test_a_public_address_is_allowed_without_being_opened() -> None:
    assert not is_opened(IPv4Address("8.8.8.8"), (ip_network("127.0.0.0/8"),))


@given(st.ip_addresses(v=4))
def test_a_mapped_address_is_judged_by_what_is_in_it(address: IPv4Address) -> None:
    mapped = IPv6Address(f"::ffff:{address}")
    assert (forbidden_range(mapped) is None) == (forbidden_range(address) is None)


@given(st.ip_addresses(v=4))
def test_whatever_the_registry_calls_private_is_forbidden(address: IPv4Address) -> None:
    assert forbidden_range(address) is not None or (
        address.is_global and not address.is_multicast and not address.is_reserved
    )


@given(st.ip_addresses(v=6))
def test_no_address_is_allowed_outside_the_global_range(address: IPv6Address) -> None:
    assert forbidden_range(address) is not None or address in ip_network("2000::/3") or address.ipv4_mapped
