"""When a circuit breaker opens, by calls that are named here."""

import pytest

from callwright.contract.deployments.dialling import CircuitBreaker
from callwright.service.rules.circuit_breaker import MOST_JUDGED, EndedCall, opens

BREAKER = CircuitBreaker()


def calls(outcomes: str, *, apart_ms: int = 1_000) -> list[EndedCall]:
    """Calls that ended one after another; `x` failed."""
    return [EndedCall(index * apart_ms, outcome == "x") for index, outcome in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("outcomes", "is_open"),
    [("xxxx", False), ("xxxxx", True), ("..xxx", True), ("..xx", False), ("...xxx", False), ("...xxxx", True)],
)
def test_more_than_half_of_at_least_five_calls_have_to_fail(outcomes: str, is_open: bool) -> None:
    assert opens(BREAKER, calls(outcomes), from_ms=0) is is_open


def test_calls_older_than_the_window_do_not_count() -> None:
    assert not opens(BREAKER, calls("xxxxx", apart_ms=30_000), from_ms=0)
    assert opens(BREAKER, calls("xxxxx", apart_ms=29_999), from_ms=0)


def test_calls_that_end_together_are_judged_as_one_by_one() -> None:
    assert opens(BREAKER, calls("xxxxx....."), from_ms=0)
    assert not opens(BREAKER, calls("xxxxx......x"), from_ms=5_000)


def test_of_many_calls_the_newest_are_judged() -> None:
    wide = CircuitBreaker(window_seconds=3_600)
    before = "." * (3 * MOST_JUDGED)
    assert not opens(wide, calls(before + "x" * (MOST_JUDGED // 2), apart_ms=1), from_ms=0)
    assert opens(wide, calls(before + "x" * (MOST_JUDGED // 2 + 1), apart_ms=1), from_ms=0)
