"""Where the other side of a call comes to whose sound is a websocket."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from callwright.service.telephony.engine import CallRequest


@dataclass(frozen=True)
class Opening:
    """Where the other side of a call comes to: once, with this token."""

    call: CallRequest
    port: int
    token: str


OtherSide = Callable[[Opening], Coroutine[Any, Any, None]]
"""Brings the other side of a call, and returns when it is over for it."""
