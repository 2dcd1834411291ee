"""What is kept of a call that came in, beside what every call has: who decided what, and how it stands on the lines."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, cast

import orjson
from pydantic import TypeAdapter

from callwright.service.inbound.decision import RoutedBy
from callwright.service.telephony.answering import AnsweringAction
from callwright.service.telephony.engine import CallRequest


@dataclass(frozen=True)
class InboundDetails:
    """How a caller was routed. Moments are by the clock of the deployment."""

    routed_by: RoutedBy
    action: AnsweringAction
    reason: str | None = None
    waited_s: float = 0.0
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    line_until_ms: int | None = None
    """Until when the call has a line of the deployment; None if it never has one."""
    waits_until_ms: int | None = None
    """Until when the caller waits; None if they do not."""

    @classmethod
    def read(cls, text: str) -> "InboundDetails":
        """The details as they are stored."""
        kept = cast("dict[str, Any]", orjson.loads(text))
        return cls(**{name: value for name, value in kept.items() if name != "request"})


@cache
def _requests() -> TypeAdapter[CallRequest]:
    return TypeAdapter(CallRequest)


def stored(details: InboundDetails, request: CallRequest) -> str:
    """The details as a call under way has them: with its request, by which another process goes on with it."""
    return orjson.dumps(asdict(details) | {"request": _requests().dump_python(request, mode="json")}).decode()


def request_in(text: str) -> CallRequest:
    """The request of a call that is under way."""
    return _requests().validate_python(orjson.loads(text)["request"])


def of_ended(text: str) -> str:
    """The details of a call that has ended, without its request."""
    kept = cast("dict[str, Any]", orjson.loads(text))
    return orjson.dumps({name: value for name, value in kept.items() if name != "request"}).decode()
