"""Requests for calls that come in on the simulated network, and what must hold for every result."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from callwright.service.telephony.answering import Answering
from callwright.service.telephony.engine import CallRequest, CallResult
from tests.support.calls.simulated_calls import assert_sound, call

OWN_NUMBER = "+4930123456"
CALLER = "+4915112345678"
WELCOME = "Hello {{name}}, this is Ada from Northwind Dental. How can I help you?"
BY_AGENT = Answering("agent")


def incoming(
    answering: Answering = BY_AGENT,
    *,
    caller: str = CALLER,
    to: str = OWN_NUMBER,
    welcome: str = WELCOME,
    variables: Mapping[str, str] | None = None,
    **more: Any,
) -> CallRequest:
    """A call that has come in, from an unknown caller unless `variables` say more."""
    made = call(to=to, welcome=welcome, variables=variables or {}, **more)
    return replace(made, answering=answering, from_=caller)


def assert_sound_call(result: CallResult, request: CallRequest) -> None:
    """What holds for every call that comes in."""
    assert_sound(result, request)
    assert result.answered_by is None
    assert (result.answered_s is None) == (not result.turns)
    if result.turns:
        assert result.turns[0].speaker == "agent"
    transfer = result.transfer
    if transfer is not None:
        assert transfer.is_over
        assert transfer.is_bridged == (result.outcome == "transferred")
        assert 0 <= transfer.started_s <= transfer.at_s <= result.duration_s
