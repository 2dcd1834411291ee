"""Values in words: money and moments as people write them, the rest by name."""

from typing import Any

import pytest

from callwright.server.commands.tool_commands.cells import said


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""),
        (True, "yes"),
        (12, "12"),
        (30.286, "30.286"),
        ("2026-11-27T10:56:53Z", "2026-11-27 10:56Z"),
        ("2026-11-27T10:56:53+02:00", "2026-11-27 08:56Z"),
        ({"amount": "-0.005600", "currency": "USD"}, "-0.0056 USD"),
        ({"amount": "12.000000", "currency": "USD"}, "12.00 USD"),
        ({"amount": "1.5", "currency": "USD", "per": "minute"}, "1.50 USD (per minute)"),
        ({"type": "call", "id": "cal_1"}, "call cal_1"),
        ({"voice_inbound": True, "sms": False}, "voice inbound"),
        ({"answered": 3, "busy": 0}, "answered 3"),
        ({"role": "agent", "text": "Hello"}, "agent: Hello"),
        (["a", "b"], "a, b"),
        ([{"name": "a"}, {"name": "b"}], "name a; name b"),
    ],
)
def test_a_value_is_said_as_a_person_reads_it(value: Any, words: str) -> None:
    assert said(value) == words
