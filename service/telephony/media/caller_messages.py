"""What a line host and a media process say to each other of people who call in over SIP; the rest is in `messages`."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

CALLER_WAITS_S = 5.0
"""Seconds in which a caller over SIP must be answered or refused."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TakeCallers(_Message):
    """Lets callers in from a SIP trunk, from now on; given to one process of a host, before its first call."""

    type: Literal["take_callers"] = "take_callers"
    carrier_options: Mapping[str, str] = Field(repr=False)
    """As those of a call over SIP."""


class RefuseCaller(_Message):
    """Refuses a caller who is `Incoming`, with the busy tone: the SIP stack has no other answer."""

    type: Literal["refuse_caller"] = "refuse_caller"
    handle: str


class CallersTaken(_Message):
    """What came of `TakeCallers`, told again when it changes."""

    type: Literal["callers_taken"] = "callers_taken"
    problem: str = ""
    """Why nobody gets in; empty: callers do."""


class Incoming(_Message):
    """Somebody calls over SIP, and hears it ring until they are answered or refused: by the process itself after
    `CALLER_WAITS_S`."""

    type: Literal["incoming"] = "incoming"
    handle: str
    """Names the caller in this process."""
    called: tuple[str, ...]
    """What the trunk calls the number, the likeliest first: the user of the request's address and of others."""
    caller: str = Field(repr=False)
    """The caller's number as the trunk writes it; empty if it is withheld."""
    provider_call_id: str
    """The SIP Call-ID."""
