"""Failed attempts by address."""

import pytest

from callwright.service.rest.authentication.auth_throttle import (
    ALLOWED,
    MOST_ADDRESSES,
    WINDOW_MS,
    FailedAttempts,
    counted_as,
)


def test_the_thirty_first_attempt_of_a_minute_has_to_wait_for_its_end() -> None:
    attempts = FailedAttempts()
    assert [attempts.note("192.0.2.1", 500) for _ in range(ALLOWED)] == [None] * ALLOWED
    limit_state = attempts.note("192.0.2.1", 500)
    assert limit_state is not None
    assert [limit_state.retry_after_s(at_ms) for at_ms in (500, 500 + WINDOW_MS - 1)] == [60, 1]
    assert limit_state.headers() == {
        "X-RateLimit-Limit": str(ALLOWED),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "61",
    }
    assert attempts.note("192.0.2.1", 500 + WINDOW_MS - 1) == limit_state
    assert attempts.note("192.0.2.1", 500 + WINDOW_MS) is None


def test_another_address_is_counted_for_itself() -> None:
    attempts = FailedAttempts()
    for _ in range(ALLOWED + 1):
        attempts.note("192.0.2.1", 0)
    assert attempts.note("192.0.2.2", 0) is None


def test_of_too_many_addresses_the_one_that_began_first_is_forgotten() -> None:
    attempts = FailedAttempts()
    for _ in range(ALLOWED):
        attempts.note("first", 0)
    for number in range(MOST_ADDRESSES - 1):
        attempts.note(str(number), 1)
    assert attempts.note("first", 1) is not None
    attempts.note("one more", 1)
    assert attempts.note("first", 1) is None


def test_a_clock_that_goes_back_begins_a_new_window() -> None:
    attempts = FailedAttempts()
    for _ in range(ALLOWED):
        attempts.note("192.0.2.1", 10_000)
    assert attempts.note("192.0.2.1", 0) is None


@pytest.mark.requirement("DASH-89")
@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff:ffff:ffff:ffff", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("192.0.2.1", "192.0.2.1"),
        ("no address", "no address"),
        ("", ""),
    ],
)
def test_an_ipv6_address_counts_as_its_network_and_any_other_as_itself(address: str, counted: str) -> None:
    assert counted_as(address) == counted


@pytest.mark.requirement("DASH-89")
def test_what_was_right_is_taken_back_from_the_network() -> None:
    attempts = FailedAttempts()
    for number in range(ALLOWED):
        attempts.note(f"2001:db8::{number:x}", 0)
    attempts.take_back("2001:db8::ffff")
    assert attempts.note("2001:db8::1:1", 0) is None
    assert attempts.note("2001:db8::1:2", 0) is not None
